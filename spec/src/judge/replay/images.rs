//! The judges of images: shown where the model sees, and otherwise said not to
//! have been seen.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::canary::{self, Class, Kind};
use super::super::context::{What, images};
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use super::super::words::{self, says};
use crate::finding::{Finding, Ruling};
use crate::json::to_line;
use crate::op::Replay;
use crate::record::{Image, ImageSource, Role};
use crate::rule::Rule;
use crate::wire::{Body, WireRole};

/// The largest image that crosses, in bytes.
const LARGEST: usize = 5 * 1024 * 1024;

/// True if an image is one that a provider can read.
pub(super) fn is_whole(image: &Image) -> bool {
    match &image.source {
        ImageSource::Url(url) => {
            let url = url.to_unicode();
            let address = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            address.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
        }
        ImageSource::Data(data) => {
            let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
            let bytes = STANDARD.decode(&*data.to_unicode()).unwrap_or_default();
            let known = image.media_type.as_str().is_some_and(|kind| kinds.contains(&kind));
            known && !bytes.is_empty() && bytes.len() <= LARGEST
        }
    }
}

/// An image of the context, and the piece of the result that holds it.
struct Held<'a> {
    seq: u64,
    image: &'a Image,
    result: Option<usize>,
    /// Whose message holds it; None inside a result.
    role: Option<Role>,
}

fn held<'c>(crossing: &'c Crossing<'_>) -> Vec<Held<'c>> {
    let mut held = Vec::new();
    for (at, piece) in crossing.context.pieces.iter().enumerate() {
        match &piece.what {
            What::Shown(role, image) => {
                held.push(Held { seq: piece.seq, image, result: None, role: Some(*role) });
            }
            What::Answered(result) => held.extend(images(result).map(|image| Held {
                seq: piece.seq,
                image,
                result: Some(at),
                role: None,
            })),
            What::Said(..) | What::Thought(_) | What::Called(_) | What::Edge(_) => {}
        }
    }
    held
}

/// True if the image crosses as one, on a target whose model sees.
pub(super) fn is_native(replay: &Replay, image: &Image, role: Option<Role>) -> bool {
    replay.profile.vision && is_whole(image) && role != Some(Role::Assistant)
}

/// `replay.image-or-marker`: each image is shown, or a marker stands for it that
/// says that it was not seen. Its bytes are text nowhere.
pub(in super::super) fn image_or_marker(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let mut unmarked = Markers::of(evidence, crossing);
        for held in held(crossing) {
            ruling.witness();
            if let Some(message) = misplaced(crossing, &held, &mut unmarked) {
                let step = crossing.asked.step;
                ruling.find(Finding::new(Rule::ReplayImageOrMarker, step, message).row(held.seq));
            }
        }
    }
    ruling
}

fn misplaced(crossing: &Crossing<'_>, held: &Held<'_>, markers: &mut Markers) -> Option<String> {
    let source = canary::source(held.image);
    let short = crate::json::excerpt(&source);
    let mut seen = crossing.seen.of_text(&source).map(|sighting| crossing.seen.place(sighting));
    let shown = seen.clone().any(|place| matches!(place.kind, Kind::Image(_)));
    let only_image = crossing.seen.needles.find(&source).is_some_and(|needle| {
        crossing.seen.needles.sources[needle].iter().all(|(_, class)| *class == Class::Image)
    });
    let as_text = seen.find(|place| !matches!(place.kind, Kind::Image(_)));
    if let (Some(place), true) = (as_text, only_image) {
        return Some(format!(
            "an image's bytes cross as {:?} at {}: {short}",
            place.kind, place.path
        ));
    }
    match (is_native(crossing.asked.replay, held.image, held.role), shown) {
        (true, true) => None,
        (true, false) => Some(format!("an image that the model could see does not cross: {short}")),
        (false, true) => Some(format!("an image crosses that the model cannot take: {short}")),
        (false, false) => {
            let call = held.result.and_then(|result| crossing.context.call_of.get(&result));
            let own = call.and_then(|call| crossing.wire_call.get(call));
            let in_result = own.and_then(|call| crossing.answers[*call].first()).copied();
            (!markers.take(in_result)).then(|| {
                format!("an image does not cross, and nothing says that it was not seen: {short}")
            })
        }
    }
}

/// The places whose words say that something was not seen: in each result, and
/// in speech.
struct Markers {
    in_results: BTreeMap<usize, usize>,
    in_speech: usize,
}

impl Markers {
    fn of(evidence: &Evidence<'_>, crossing: &Crossing<'_>) -> Self {
        let mut markers = Self { in_results: BTreeMap::new(), in_speech: 0 };
        let declared = &evidence.trace.hello.wordings.unseen;
        for (at, place) in crossing.seen.places.iter().enumerate() {
            let words = crossing.seen.own_words(at);
            if !says(&words, declared, words::UNSEEN) {
                continue;
            }
            // One marker may be told more than once in one text.
            let count = declared
                .iter()
                .filter(|phrase| !phrase.trim().is_empty())
                .map(|phrase| words.to_lowercase().matches(&phrase.to_lowercase()).count())
                .max()
                .unwrap_or(1);
            match place.kind {
                Kind::Output(result) => *markers.in_results.entry(result).or_default() += count,
                Kind::Speech(_) => markers.in_speech += count,
                Kind::Thought | Kind::Token | Kind::Arguments(_) | Kind::Image(_) => {}
            }
        }
        markers
    }

    /// Takes a marker for an image: of its result, or else of speech. One marker
    /// in a result speaks for all of that result's images.
    fn take(&mut self, result: Option<usize>) -> bool {
        if result.is_some_and(|result| self.in_results.contains_key(&result)) {
            return true;
        }
        let there = self.in_speech > 0;
        self.in_speech = self.in_speech.saturating_sub(1);
        there
    }
}

/// `replay.vision-only-images`: two replays that differ in vision alone carry the
/// same, images and what stands for them left out.
pub(in super::super) fn vision_only_images(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut earlier: BTreeMap<(usize, usize, String), &Crossing<'_>> = BTreeMap::new();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let Some(snapshot) = evidence.holdings.before[step] else { continue };
        let mut blind = crossing.asked.replay.clone();
        blind.profile.vision = false;
        let request = (&crossing.asked.facts, &crossing.asked.stretch);
        let request = to_line(&request).unwrap_or_default();
        let key = to_line(&blind).unwrap_or_default() + &request;
        let key = (snapshot.generation, snapshot.rows, key);
        let Some(other) = earlier.insert(key, crossing) else { continue };
        let (a, b) = (other.asked.replay.profile.vision, crossing.asked.replay.profile.vision);
        if a == b || held(crossing).is_empty() {
            continue;
        }
        ruling.witness();
        let (before, now) = (carried(other), carried(crossing));
        let differs = before.iter().zip(&now).position(|(a, b)| a != b);
        let at = differs.or((before.len() != now.len()).then_some(before.len().min(now.len())));
        if let Some(at) = at {
            let message = format!(
                "with vision {a} there is {}, with vision {b} there is {}",
                told(before.get(at)),
                told(now.get(at))
            );
            ruling.find(Finding::new(Rule::ReplayVisionOnlyImages, step, message));
        }
    }
    ruling
}

fn told(item: Option<&String>) -> &str {
    item.map_or("nothing more", String::as_str)
}

/// What a wire carries, in order, without images and without its maker's words.
fn carried(crossing: &Crossing<'_>) -> Vec<String> {
    let mut sighted: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for sighting in &crossing.seen.all {
        let place = crossing.seen.place(sighting);
        if !matches!(place.kind, Kind::Image(_)) {
            let text = crossing.seen.needles.texts[sighting.needle].as_str();
            sighted.entry(place.part).or_default().push(text);
        }
    }
    let mut carried = Vec::new();
    for (at, (message, part)) in crossing.wire.parts().enumerate() {
        let texts = sighted.remove(&at).unwrap_or_default();
        match &part.body {
            Body::Text(_) if texts.is_empty() && message.role != WireRole::System => {}
            Body::Text(text) if message.role == WireRole::System => {
                carried.push(format!("system text {text:?}"));
            }
            Body::Text(_) => carried.push(format!("{:?} text {texts:?}", message.role)),
            Body::Reasoning(_) => carried.push(format!("reasoning {texts:?}")),
            Body::Call(call) => {
                carried.push(format!("call {} {} {}", call.id, call.name, call.arguments));
            }
            Body::Result(result) => {
                carried.push(format!("result {} {:?} {texts:?}", result.call, result.error));
            }
            Body::Image(_) => {}
            Body::Foreign(kind) => carried.push(format!("foreign {kind}")),
        }
    }
    carried
}
