//! The judges of pairs: each result with its own call, wherever either was
//! stored.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::canary::{Class, Kind, source};
use super::super::context::{Moved, What, images, outputs};
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::record::{Call, ToolResult};
use crate::rule::Rule;
use crate::text::Text;

/// A call of the context with its own result.
struct Pair<'a> {
    /// The result's row.
    seq: u64,
    call_piece: usize,
    result_piece: usize,
    call: &'a Call,
    result: &'a ToolResult,
}

fn pairs<'c>(crossing: &'c Crossing<'_>) -> impl Iterator<Item = Pair<'c>> {
    crossing.context.result_of.iter().filter_map(|(call_piece, result_piece)| {
        let pieces = &crossing.context.pieces;
        match (&pieces[*call_piece].what, &pieces[*result_piece].what) {
            (What::Called(call), What::Answered(result)) => Some(Pair {
                seq: pieces[*result_piece].seq,
                call_piece: *call_piece,
                result_piece: *result_piece,
                call,
                result,
            }),
            _no_pair => None,
        }
    })
}

/// What is wrong with a pair on the wire, if anything is. A result without
/// anything to follow proves nothing.
fn not_bound(crossing: &Crossing<'_>, pair: &Pair<'_>) -> Option<String> {
    let Some(&on_wire) = crossing.wire_call.get(&pair.call_piece) else {
        // That the call is gone is for `replay.one-declaration`; its result is lost with it.
        let lost = outputs(pair.result).any(|text| crossing.seen.of_text(&text).next().is_none());
        return lost.then(|| format!("the result of {} is lost with its call", told(pair.call)));
    };
    let own = &crossing.answers[on_wire];
    for text in outputs(pair.result) {
        let mut seen =
            crossing.seen.of_text(&text).map(|sighting| crossing.seen.place(sighting)).peekable();
        if seen.peek().is_none() {
            return Some(format!("the result of {} is lost: {text:?}", told(pair.call)));
        }
        let at_home = seen
            .clone()
            .any(|place| matches!(place.kind, Kind::Output(result) if own.contains(&result)));
        if !at_home {
            let place = seen.next()?;
            return Some(match place.kind {
                Kind::Output(result) => format!(
                    "the result of {} crosses under the id {:?}, and not in the result of its own call: {text:?}",
                    told(pair.call),
                    crossing.results[result].result.call
                ),
                Kind::Speech(_)
                | Kind::Thought
                | Kind::Token
                | Kind::Arguments(_)
                | Kind::Image(_) => format!(
                    "the result of {} crosses as {:?} at {}: {text:?}",
                    told(pair.call),
                    place.kind,
                    place.path
                ),
            });
        }
    }
    wrong_mark(crossing, pair, own)
}

/// Tells a result whose error mark is not the stored one, where the target has a
/// mark.
fn wrong_mark(crossing: &Crossing<'_>, pair: &Pair<'_>, own: &[usize]) -> Option<String> {
    let marked = own.iter().find_map(|result| crossing.results[*result].result.error)?;
    let has_output = outputs(pair.result).next().is_some() || images(pair.result).next().is_some();
    (has_output && marked != pair.result.is_error()).then(|| {
        format!(
            "the result of {} is stored with error = {}, and crosses with error = {marked}",
            told(pair.call),
            pair.result.is_error()
        )
    })
}

fn can_be_followed(crossing: &Crossing<'_>, result: &ToolResult) -> bool {
    let strong = |text: &str| {
        crossing
            .seen
            .needles
            .find(text)
            .is_some_and(|needle| crossing.seen.needles.is_strong(needle))
    };
    outputs(result).any(|text| strong(&text)) || images(result).any(|image| strong(&source(image)))
}

/// `replay.result-bound`: what was stored for a call crosses in that call's
/// result.
pub(in super::super) fn result_bound(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        for pair in pairs(crossing).filter(|pair| can_be_followed(crossing, pair.result)) {
            ruling.witnesses += usize::from(crossing.wire_call.contains_key(&pair.call_piece));
            if let Some(message) = not_bound(crossing, &pair) {
                let step = crossing.asked.step;
                ruling.find(Finding::new(Rule::ReplayResultBound, step, message).row(pair.seq));
            }
        }
    }
    ruling
}

/// `replay.pairs-by-place`: the same where the id alone does not tell the call:
/// it is used again, blank, or there twice in a round.
pub(in super::super) fn pairs_by_place(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let mut uses: BTreeMap<&Text, usize> = BTreeMap::new();
        for (_, _, call) in crossing.context.calls() {
            *uses.entry(&call.id).or_default() += 1;
        }
        let ambiguous =
            |call: &Call| uses.get(&call.id).is_some_and(|uses| *uses > 1) || call.id.is_blank();
        for pair in pairs(crossing).filter(|pair| ambiguous(pair.call)) {
            if !can_be_followed(crossing, pair.result) {
                continue;
            }
            ruling.witnesses += usize::from(crossing.wire_call.contains_key(&pair.call_piece));
            if let Some(message) = not_bound(crossing, &pair) {
                let step = crossing.asked.step;
                ruling.find(Finding::new(Rule::ReplayPairsByPlace, step, message).row(pair.seq));
            }
        }
        ruling.findings.extend(borrowed_results(crossing, &ambiguous));
    }
    ruling
}

/// Tells an unanswered call that crosses with a stored result: one of another
/// call.
fn borrowed_results(crossing: &Crossing<'_>, ambiguous: &impl Fn(&Call) -> bool) -> Vec<Finding> {
    let open = crossing
        .context
        .calls()
        .filter(|(at, _, call)| !crossing.context.result_of.contains_key(at) && ambiguous(call));
    open.filter_map(|(at, piece, call)| {
        let on_wire = crossing.wire_call.get(&at)?;
        let own = &crossing.answers[*on_wire];
        let stored = crossing.seen.all.iter().find(|sighting| {
            let place = crossing.seen.place(sighting);
            let output = crossing.seen.needles.sources[sighting.needle]
                .iter()
                .any(|(_, class)| *class == Class::Output);
            output && matches!(place.kind, Kind::Output(result) if own.contains(&result))
        })?;
        let text = &crossing.seen.needles.texts[stored.needle];
        let message = format!("{} has no result, and crosses with another's: {text:?}", told(call));
        Some(Finding::new(Rule::ReplayPairsByPlace, crossing.asked.step, message).row(piece.seq))
    })
    .collect()
}

/// `replay.late-result`: a result that was stored after other rows crosses
/// directly after its call; what stood between follows it.
pub(in super::super) fn late_result(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        for pair in pairs(crossing) {
            let late = crossing.context.moved(pair.result_piece) == Some(Moved::Late);
            if !late || !can_be_followed(crossing, pair.result) {
                continue;
            }
            ruling.witnesses += usize::from(crossing.wire_call.contains_key(&pair.call_piece));
            let message = not_bound(crossing, &pair).or_else(|| overtaken(crossing, &pair));
            if let Some(message) = message {
                let step = crossing.asked.step;
                ruling.find(Finding::new(Rule::ReplayLateResult, step, message).row(pair.seq));
            }
        }
    }
    ruling
}

/// Tells a text that stood between a call and its result and crosses before the
/// result.
fn overtaken(crossing: &Crossing<'_>, pair: &Pair<'_>) -> Option<String> {
    let round = crossing.context.pieces[pair.call_piece].seq;
    let on_wire = crossing.wire_call.get(&pair.call_piece)?;
    let result = *crossing.answers[*on_wire].first()?;
    let home = crossing.results[result].part;
    let mut between = crossing.context.pieces[pair.call_piece + 1..pair.result_piece].iter();
    between.find_map(|piece| {
        let What::Said(_, text) = &piece.what else { return None };
        if piece.seq == round {
            return None;
        }
        let place = crossing.seen.place(crossing.seen.of_text(text).next()?);
        (place.part < home).then(|| {
            format!(
                "this was said after {} and crosses before its result: {text:?}",
                told(pair.call)
            )
        })
    })
}

/// `replay.early-result`: a result that was stored before its call, in the same
/// turn, crosses as that call's result.
pub(in super::super) fn early_result(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        for pair in pairs(crossing).filter(|pair| pair.result_piece < pair.call_piece) {
            if !can_be_followed(crossing, pair.result) {
                continue;
            }
            ruling.witnesses += usize::from(crossing.wire_call.contains_key(&pair.call_piece));
            if let Some(message) = not_bound(crossing, &pair) {
                let step = crossing.asked.step;
                ruling.find(Finding::new(Rule::ReplayEarlyResult, step, message).row(pair.seq));
            }
        }
    }
    ruling
}
