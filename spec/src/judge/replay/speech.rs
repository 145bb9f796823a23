//! The judges of speech: what was said crosses as it was said, and a call and a
//! sentence about a call are two things.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::super::canary::{self, Class, Kind};
use super::super::context::What;
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use super::super::words::looks_like_call;
use crate::finding::{Finding, Ruling};
use crate::record::Role;
use crate::rule::Rule;
use crate::wire::WireRole;

/// `replay.text-as-speech`: each text crosses in its own role, as often as it was
/// said, whole, and in the order in which it was said.
pub(in super::super) fn text_as_speech(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let mut said: BTreeMap<(&str, WireRole2), Vec<u64>> = BTreeMap::new();
        let mut order = Vec::new();
        for piece in &crossing.context.pieces {
            if let What::Said(role, text) = &piece.what {
                let text = canary::canary(text);
                if !text.is_empty() {
                    said.entry((text, (*role).into())).or_default().push(piece.seq);
                    order.push((text, piece.seq));
                }
            }
        }
        ruling.witnesses += order.len();
        for ((text, role), rows) in &said {
            let seen = crossing.seen.of_text(text).filter(|sighting| {
                crossing.seen.place(sighting).kind == Kind::Speech((*role).into())
            });
            let times = seen.count();
            let message = if times < rows.len() && rows.len() == 1 {
                elsewhere(crossing, text, *role)
            } else if times < rows.len() || times > rows.len() && !also_output(crossing, text) {
                format!("said {} times, crosses {times} times: {text:?}", rows.len())
            } else {
                continue;
            };
            ruling.find(finding(crossing, rows[0], message));
        }
        ruling.findings.extend(out_of_order(crossing, &order, &said));
    }
    ruling
}

fn finding(crossing: &Crossing<'_>, seq: u64, message: alloc::string::String) -> Finding {
    Finding::new(Rule::ReplayTextAsSpeech, crossing.asked.step, message).row(seq)
}

/// What became of a text that does not cross in its role.
fn elsewhere(crossing: &Crossing<'_>, text: &str, role: WireRole2) -> alloc::string::String {
    let role: WireRole = role.into();
    match crossing.seen.of_text(text).next() {
        Some(sighting) => {
            let place = crossing.seen.place(sighting);
            format!("said as {role:?}, crosses as {:?} at {}: {text:?}", place.kind, place.path)
        }
        None => format!("said as {role:?} and does not cross whole: {text:?}"),
    }
}

/// True if the same text is also what a tool gave back: then it may cross more
/// often than it was said.
fn also_output(crossing: &Crossing<'_>, text: &str) -> bool {
    crossing.seen.needles.find(text).is_some_and(|needle| {
        crossing.seen.needles.sources[needle].iter().any(|(_, class)| *class == Class::Output)
    })
}

/// The first text that crosses before one that was said earlier. Only texts that
/// were said once tell an order.
fn out_of_order(
    crossing: &Crossing<'_>,
    order: &[(&str, u64)],
    said: &BTreeMap<(&str, WireRole2), Vec<u64>>,
) -> Option<Finding> {
    let once = |text: &str| {
        said.range((text, WireRole2::User)..=(text, WireRole2::Assistant))
            .map(|(_, rows)| rows.len())
            .sum::<usize>()
            == 1
    };
    let mut latest = 0;
    for (text, seq) in order.iter().filter(|(text, _)| once(text)) {
        let speech = crossing
            .seen
            .of_text(text)
            .find(|sighting| matches!(crossing.seen.place(sighting).kind, Kind::Speech(_)));
        let Some(sighting) = speech else { continue };
        let here = sighting.place * 2;
        if here + 1 < latest {
            let message = format!("crosses before what was said earlier: {text:?}");
            let path = crossing.seen.place(sighting).path;
            return Some(finding(crossing, *seq, message).at(path));
        }
        latest = latest.max(here);
    }
    None
}

/// A speaking role that can be ordered; see [`Role`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WireRole2 {
    User,
    Assistant,
}

impl From<Role> for WireRole2 {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

impl From<WireRole2> for WireRole {
    fn from(role: WireRole2) -> Self {
        match role {
            WireRole2::User => Self::User,
            WireRole2::Assistant => Self::Assistant,
        }
    }
}

/// `replay.doing-not-saying`: no text of the wire tells a call: not its
/// arguments, and nothing that is shaped like a call.
pub(in super::super) fn doing_not_saying(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let speech: Vec<usize> = (0..crossing.seen.places.len())
            .filter(|at| matches!(crossing.seen.places[*at].kind, Kind::Speech(_)))
            .collect();
        let mut names: BTreeMap<alloc::string::String, u64> = BTreeMap::new();
        for (_, piece, call) in crossing.context.calls() {
            ruling.witness();
            names.entry(call.name.to_unicode().into_owned()).or_insert(piece.seq);
            for argument in canary::arguments(&call.arguments.to_unicode()) {
                if let Some(path) = told_argument(crossing, &argument) {
                    let message =
                        format!("the arguments of {} cross as text: {argument:?}", told(call));
                    let finding = Finding::new(Rule::ReplayDoingNotSaying, step, message);
                    ruling.find(finding.row(piece.seq).at(path));
                }
            }
        }
        for at in speech {
            let words = crossing.seen.own_words(at);
            if words.trim().is_empty() {
                continue;
            }
            if let Some((name, seq)) = names.iter().find(|(name, _)| looks_like_call(&words, name))
            {
                let message =
                    format!("this text is shaped like a call of `{name}`: {:?}", words.trim());
                let finding = Finding::new(Rule::ReplayDoingNotSaying, step, message);
                ruling.find(finding.row(*seq).at(crossing.seen.places[at].path));
            }
        }
    }
    ruling
}

/// Where an argument crosses as text, though the record holds it as no text.
fn told_argument<'c>(crossing: &'c Crossing<'_>, argument: &str) -> Option<&'c str> {
    let needle = crossing.seen.needles.find(argument)?;
    let only_argument =
        crossing.seen.needles.sources[needle].iter().all(|(_, class)| *class == Class::Argument);
    if !only_argument || !crossing.seen.needles.is_strong(needle) {
        return None;
    }
    crossing
        .seen
        .of_text(argument)
        .map(|sighting| crossing.seen.place(sighting))
        .find(|place| matches!(place.kind, Kind::Speech(_)))
        .map(|place| place.path)
}

/// `replay.saying-not-doing`: every call on the wire is one of the context's.
pub(in super::super) fn saying_not_doing(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let mut known = alloc::vec![false; crossing.calls.len()];
        crossing.wire_call.values().for_each(|call| known[*call] = true);
        let says_a_call =
            crossing.context.pieces.iter().any(
                |piece| matches!(&piece.what, What::Said(_, text) if looks_like_call(text, "")),
            );
        ruling.witnesses += crossing.calls.len() + usize::from(says_a_call);
        for (call, _) in crossing.calls.iter().zip(known).filter(|(_, known)| !known) {
            let message = format!(
                "a call is declared that the context does not hold: {} with {}",
                call.call.name, call.call.arguments
            );
            let step = crossing.asked.step;
            ruling.find(Finding::new(Rule::ReplaySayingNotDoing, step, message).at(call.path));
        }
    }
    ruling
}
