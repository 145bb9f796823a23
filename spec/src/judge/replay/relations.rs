//! The judges of two replays at a time.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

use super::super::canary::{Class, Kind};
use super::super::context::{Piece, outputs};
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::json::to_line;
use crate::op::Constraint;
use crate::record::{CompactionStage, Event, Row};
use crate::rule::Rule;
use crate::text::Text;
use crate::wire::{Body, Part, WireMessage, WireRole};

/// The same question, comparable.
fn question(crossing: &Crossing<'_>) -> String {
    let replay = to_line(crossing.asked.replay).unwrap_or_default();
    let asked = (&crossing.asked.facts, &crossing.asked.stretch);
    replay + &to_line(&asked).unwrap_or_default()
}

/// `replay.deterministic`: the same record and the same question give the same
/// bytes.
pub(in super::super) fn deterministic(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut earlier: BTreeMap<(usize, usize, usize, String), &Crossing<'_>> = BTreeMap::new();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let Some(held) = evidence.holdings.before[step] else { continue };
        let key = (held.generation, held.rows, held.cuts, question(crossing));
        let Some(before) = earlier.insert(key, crossing) else { continue };
        ruling.witnesses += usize::from(!crossing.context.pieces.is_empty());
        let (a, b) = (before.asked.replayed, crossing.asked.replayed);
        let differs = if a.payload.get() != b.payload.get() {
            "the payload"
        } else if a.anomalies != b.anomalies {
            "what is reported"
        } else if a.constraints != b.constraints {
            "what the request must respect"
        } else {
            continue;
        };
        let message =
            format!("the same replay as in step {} differs in {differs}", before.asked.step);
        ruling.find(Finding::new(Rule::ReplayDeterministic, step, message));
    }
    ruling
}

/// `replay.prefix-stable`: what was on the wire stays as it was when rows are
/// appended, but for the answers of open calls and what stands at the tail only
/// for the time being.
pub(in super::super) fn prefix_stable(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut earlier: BTreeMap<(usize, usize, String), &Crossing<'_>> = BTreeMap::new();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let Some(held) = evidence.holdings.before[step] else { continue };
        if crossing.asked.stretch.is_some() {
            continue;
        }
        // What is let go of without a row that says so begins another wire.
        let same = (held.generation, held.cuts, question(crossing));
        let Some(before) = earlier.insert(same, crossing) else {
            continue;
        };
        if before.rows.len() >= crossing.rows.len() || before.context.pieces.is_empty() {
            continue;
        }
        ruling.witness();
        if let Some((message, path)) = first_change(before, crossing) {
            ruling.find(Finding::new(Rule::ReplayPrefixStable, step, message).at(&path));
        }
    }
    ruling
}

/// Why a part of the earlier wire may be another one in the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excuse {
    /// It must be there as it was.
    None,
    /// It is the answer of a call that was open: another may take its place.
    OpenAnswer,
    /// It may be gone, or grown: a message added at the end, a result that
    /// waited for its call, a message that was still being streamed.
    ForNow,
}

/// The first part of the earlier wire that is neither there nor excused.
fn first_change(before: &Crossing<'_>, now: &Crossing<'_>) -> Option<(String, String)> {
    let limit = unchanged_until(before, now);
    let excuses = Excuses::of(before, now);
    let thinking_changed = before.asked.replayed.constraints.contains(&Constraint::ThinkingOff)
        != now.asked.replayed.constraints.contains(&Constraint::ThinkingOff);
    let skips = |part: &Part| thinking_changed && matches!(part.body, Body::Reasoning(_));
    let old = before.wire.parts().enumerate().filter(|(_, (_, part))| !skips(part));
    let mut new = now.wire.parts().enumerate().filter(|(_, (_, part))| !skips(part)).peekable();
    let mut answered = false;
    for (at, (message, part)) in old {
        if limit.is_some_and(|limit| at >= limit) {
            return None;
        }
        // What a result that came late brought along stands behind it.
        while let Some((place, (other, held))) = new.peek() {
            let same = other.role == message.role && held.sent == part.sent;
            if same || !answered || !is_brought(now, *place, held) {
                break;
            }
            new.next();
        }
        let same = new.peek().is_some_and(|(_, (other, held))| {
            other.role == message.role && (held.sent == part.sent || was_trimmed(part, held))
        });
        if same {
            new.next();
            continue;
        }
        match excuses.of_part(at, part) {
            Excuse::OpenAnswer => {
                answered = true;
                if new.peek().is_some_and(|(_, (_, held))| answers_the_same(held, part)) {
                    new.next();
                    continue;
                }
            }
            Excuse::ForNow => {
                // A message that is still streamed grows in its place.
                if new.peek().is_some_and(|(_, (_, held))| has_grown(part, held)) {
                    new.next();
                }
                continue;
            }
            // What the former answer had brought along goes with it.
            Excuse::None if answered && is_brought(before, at, part) => continue,
            Excuse::None => {}
        }
        return Some(told(part, new.peek().map(|(_, pair)| *pair)));
    }
    None
}

/// True if a part can be what a result brought along, standing behind the results
/// of its round: an image, or words of its maker alone.
fn is_brought(crossing: &Crossing<'_>, at: usize, part: &Part) -> bool {
    match part.body {
        Body::Image(_) => true,
        Body::Text(_) => !crossing.seen.is_sighted(at),
        Body::Reasoning(_) | Body::Call(_) | Body::Result(_) | Body::Foreign(_) => false,
    }
}

/// True if a text was sent without the white space at its end, since it was the
/// last one and the target refuses that (ANT-12).
fn was_trimmed(before: &Part, now: &Part) -> bool {
    match (&before.body, &now.body) {
        (Body::Text(before), Body::Text(now)) => now.trim_end() == before,
        _other => false,
    }
}

/// True if a text is the same and more.
fn has_grown(before: &Part, now: &Part) -> bool {
    match (&before.body, &now.body) {
        (Body::Text(before), Body::Text(now)) => now.starts_with(before.as_str()),
        _other => false,
    }
}

fn answers_the_same(a: &Part, b: &Part) -> bool {
    match (&a.body, &b.body) {
        (Body::Result(a), Body::Result(b)) => a.call == b.call,
        _other => false,
    }
}

fn told(part: &Part, now: Option<(&WireMessage, &Part)>) -> (String, String) {
    let stood = format!("{} was {}", part.path, part.sent);
    match now {
        Some((_, now)) => {
            (format!("{stood}; after rows were appended it is {}", now.sent), now.path.clone())
        }
        None => (format!("{stood}; after rows were appended it is gone"), part.path.clone()),
    }
}

/// The parts of a wire that may change when rows are appended.
struct Excuses {
    open_answers: BTreeSet<usize>,
    for_now: BTreeSet<usize>,
    /// From here on no stored string is seen: what stands there was added.
    tail: usize,
}

impl Excuses {
    fn of(crossing: &Crossing<'_>, now: &Crossing<'_>) -> Self {
        let context = &crossing.context;
        let lost = lost_answers(crossing, now);
        let open = context
            .calls()
            .filter(|(at, _, call)| !context.result_of.contains_key(at) || lost.contains(&call.id));
        let open_answers = open
            .filter_map(|(at, _, _)| crossing.wire_call.get(&at))
            .flat_map(|call| &crossing.answers[*call])
            .map(|result| crossing.results[*result].part)
            .collect();
        let waiting: BTreeSet<u64> =
            context.waiting.iter().map(|at| context.pieces[*at].seq).collect();
        let streaming: BTreeSet<u64> =
            context.pieces.iter().filter(|piece| piece.streamed).map(|piece| piece.seq).collect();
        let mut for_now = BTreeSet::new();
        let mut tail = 0;
        for sighting in &crossing.seen.all {
            let part = crossing.seen.place(sighting).part;
            let sources = &crossing.seen.needles.sources[sighting.needle];
            tail = tail.max(part + 1);
            let passing = sources.iter().any(|(seq, class)| match class {
                Class::Output | Class::Image => waiting.contains(seq),
                Class::Said(_) => streaming.contains(seq),
                Class::Thought | Class::Token | Class::Argument | Class::Authority => false,
            });
            if passing {
                for_now.insert(part);
            }
        }
        for call in &crossing.calls {
            tail = tail.max(call.part + 1);
        }
        for result in &crossing.results {
            tail = tail.max(result.part + 1);
        }
        for_now.extend(markers_of_waiting(crossing, &for_now));
        for_now.extend(opener_of_a_stream(crossing, &for_now));
        Self { open_answers, for_now, tail }
    }

    fn of_part(&self, at: usize, part: &Part) -> Excuse {
        if self.open_answers.contains(&at) {
            return Excuse::OpenAnswer;
        }
        let added = at >= self.tail && matches!(part.body, Body::Text(_) | Body::Image(_));
        // An image label or an unseen marker of a result that waits has no string
        // of its own.
        if added || self.for_now.contains(&at) { Excuse::ForNow } else { Excuse::None }
    }
}

/// The message that was added before the first one because that is the model's, and is
/// still streamed: when the whole comes, both may stand elsewhere.
fn opener_of_a_stream(crossing: &Crossing<'_>, for_now: &BTreeSet<usize>) -> Option<usize> {
    let mut parts = crossing.wire.parts();
    let (_, opener) = parts.next()?;
    let (message, _) = parts.next()?;
    let added = matches!(opener.body, Body::Text(_)) && !crossing.seen.is_sighted(0);
    (added && message.role == WireRole::Assistant && for_now.contains(&1)).then_some(0)
}

/// The parts without a string of their own that stand for results which still
/// wait: a marker behind a part that does, or the prose of one without output.
fn markers_of_waiting(crossing: &Crossing<'_>, for_now: &BTreeSet<usize>) -> BTreeSet<usize> {
    let context = &crossing.context;
    let silent = context
        .results()
        .any(|(at, _, result)| context.waiting.contains(&at) && outputs(result).next().is_none());
    let mut markers = BTreeSet::new();
    for (at, (message, part)) in crossing.wire.parts().enumerate() {
        let own_words = matches!(part.body, Body::Text(_)) && !crossing.seen.is_sighted(at);
        let behind = at > 0 && (for_now.contains(&(at - 1)) || markers.contains(&(at - 1)));
        if own_words && message.role == WireRole::User && (behind || silent) {
            markers.insert(at);
        }
    }
    markers
}

/// The ids of which a result left the context: their calls are open again, or
/// answered by another.
fn lost_answers<'c>(before: &'c Crossing<'_>, now: &Crossing<'_>) -> BTreeSet<&'c Text> {
    let live: BTreeSet<u64> = now.context.pieces.iter().map(|piece| piece.seq).collect();
    let gone = before.context.results().filter(|(_, piece, _)| !live.contains(&piece.seq));
    gone.map(|(_, _, result)| &result.call).collect()
}

/// Where a replacement among the appended rows begins to change the wire: the
/// first part with a string of a row that is no longer in the context.
fn unchanged_until(before: &Crossing<'_>, now: &Crossing<'_>) -> Option<usize> {
    let appended = &now.rows[before.rows.len()..];
    let upgraded = upgraded(appended, now.rows);
    let replaced = appended.iter().any(|row| row.replaces.is_some());
    if !replaced && upgraded.is_empty() {
        return None;
    }
    let live: BTreeSet<u64> = now.context.pieces.iter().map(|piece| piece.seq).collect();
    let gone = |seq: &u64| !live.contains(seq) || upgraded.contains(seq);
    let place = before.context.pieces.iter().position(|piece| gone(&piece.seq));
    let replacing = appended.iter().filter(|row| row.replaces.is_some()).map(|row| row.seq);
    let summaries: BTreeSet<u64> = replacing.chain(upgraded.iter().copied()).collect();
    let summary = now.context.pieces.iter().position(|piece| summaries.contains(&piece.seq));
    let until = |pieces: &[Piece<'_>], place: Option<usize>| -> BTreeSet<u64> {
        pieces[..place.unwrap_or(pieces.len())].iter().map(|piece| piece.seq).collect()
    };
    let before_gone = until(&before.context.pieces, place);
    let before_summary = until(&now.context.pieces, summary);
    let kept: BTreeSet<u64> = before_gone.intersection(&before_summary).copied().collect();
    // Up to the last part that surely belongs to a kept row. A result stands where
    // its call does, so it tells no place of its own.
    let sure = before.seen.all.iter().filter(|sighting| {
        let in_place =
            !matches!(before.seen.place(sighting).kind, Kind::Output(_) | Kind::Image(_));
        let sources = &before.seen.needles.sources[sighting.needle];
        in_place && sources.iter().all(|(seq, _)| kept.contains(seq))
    });
    Some(sure.map(|sighting| before.seen.place(sighting).part).max().map_or(0, |at| at + 1))
}

/// The summaries whose text rows among these made better.
fn upgraded(appended: &[Row], rows: &[Row]) -> BTreeSet<u64> {
    let named = appended.iter().filter_map(|row| match &row.event {
        Event::Compaction(step) if step.step == CompactionStage::Upgraded => step.summary.as_ref(),
        Event::Compaction(_)
        | Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => None,
    });
    let named: BTreeSet<&Text> = named.collect();
    rows.iter().filter(|row| named.contains(&row.id)).map(|row| row.seq).collect()
}
