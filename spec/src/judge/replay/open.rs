//! The judges of calls without a result: what the wire says of them is said to
//! be so, and nothing is made up.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::canary::{Class, Kind};
use super::super::context::calls_of;
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use super::super::words::{self, says, surely_says};
use crate::finding::{Finding, Ruling};
use crate::record::{Call, Event};
use crate::rule::Rule;
use crate::text::Text;

/// A call without a result: its piece, row and block.
struct Open<'a> {
    at: usize,
    seq: u64,
    call: &'a Call,
}

fn open_calls<'c>(crossing: &'c Crossing<'_>) -> impl Iterator<Item = Open<'c>> {
    let open = crossing.context.calls();
    open.filter(|(at, _, _)| !crossing.context.result_of.contains_key(at))
        .map(|(at, piece, call)| Open { at, seq: piece.seq, call })
}

/// The results that answer a call on the wire, and nothing where it has none.
fn answers<'c>(crossing: &'c Crossing<'_>, open: &Open<'_>) -> &'c [usize] {
    crossing.wire_call.get(&open.at).map_or(&[], |call| crossing.answers[*call].as_slice())
}

/// A stored output that the results hold though they answer a call without one.
fn stored_output<'c>(crossing: &'c Crossing<'_>, results: &[usize]) -> Option<&'c str> {
    let sighting = crossing.seen.all.iter().find(|sighting| {
        let output = crossing.seen.needles.sources[sighting.needle]
            .iter()
            .any(|(_, of)| *of == Class::Output);
        let place = crossing.seen.place(sighting);
        output && matches!(place.kind, Kind::Output(result) if results.contains(&result))
    })?;
    Some(&crossing.seen.needles.texts[sighting.needle])
}

/// `replay.did-not-complete`: a call that will never have a result is answered by
/// a result that says so, marked as an error where the target has a mark, that
/// names the tool and holds no output.
pub(in super::super) fn did_not_complete(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let pending = crossing.context.pending(crossing.asked.replay.mode);
        for open in open_calls(crossing).filter(|open| !pending.contains(&open.at)) {
            ruling.witness();
            if let Some(message) = not_said(evidence, crossing, &open) {
                let finding =
                    Finding::new(Rule::ReplayDidNotComplete, crossing.asked.step, message);
                ruling.find(finding.row(open.seq));
            }
        }
    }
    ruling
}

fn not_said(evidence: &Evidence<'_>, crossing: &Crossing<'_>, open: &Open<'_>) -> Option<String> {
    let call = told(open.call);
    let Some(on_wire) = crossing.wire_call.get(&open.at) else {
        return Some(format!("{call} has no result, and was taken away instead of answered"));
    };
    let results = answers(crossing, open);
    let Some(result) = results.first() else {
        return Some(format!("{call} has no result, and none says that it did not complete"));
    };
    if let Some(output) = stored_output(crossing, results) {
        return Some(format!("{call} has no result, and crosses with a stored output: {output:?}"));
    }
    if crossing.results[*result].result.error == Some(false) {
        return Some(format!("the did-not-complete result of {call} is not marked as an error"));
    }
    let text = crossing.text_in_result(*result);
    let declared = &evidence.trace.hello.wordings.did_not_complete;
    if !says(&text, declared, words::DID_NOT_COMPLETE) {
        return Some(format!(
            "the result of {call} does not say that it did not complete: {text:?}"
        ));
    }
    if surely_says(&text, &evidence.trace.hello.wordings.still_running) {
        return Some(format!("{call} will never complete, and crosses as still running: {text:?}"));
    }
    let on_wire = &crossing.calls[*on_wire].call.name;
    let stored = open.call.name.to_unicode();
    (!text.contains(on_wire.as_str()) && (stored.is_empty() || !text.contains(&*stored)))
        .then(|| format!("the did-not-complete result of {call} does not name the tool: {text:?}"))
}

/// `replay.never-started`: where the record tells which calls began, a call that
/// never started and one whose outcome is unknown are told in other words.
pub(in super::super) fn never_started(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in evidence.crossings.iter().filter(|crossing| crossing.records_call_starts) {
        let pending = crossing.context.pending(crossing.asked.replay.mode);
        let began = began(crossing);
        let mut told: [Vec<(u64, String)>; 2] = [Vec::new(), Vec::new()];
        for open in open_calls(crossing).filter(|open| !pending.contains(&open.at)) {
            let Some(result) = answers(crossing, &open).first() else { continue };
            let started = began.contains(&(&open.call.id, open.seq));
            told[usize::from(started)]
                .push((open.seq, bare(&crossing.text_in_result(*result), open.call)));
        }
        let [never, unknown] = &told;
        if never.is_empty() || unknown.is_empty() {
            continue;
        }
        ruling.witness();
        for (seq, words) in never {
            if unknown.iter().any(|(_, other)| other == words) {
                let message = format!(
                    "a call that never started is told as one whose outcome is unknown: {words:?}"
                );
                let finding = Finding::new(Rule::ReplayNeverStarted, crossing.asked.step, message);
                ruling.find(finding.row(*seq));
            }
        }
    }
    ruling
}

/// The calls that began, by id and row: of the calls with the id, the last before
/// the mark, whether it still stands in the context or not.
fn began<'c>(crossing: &'c Crossing<'_>) -> BTreeSet<(&'c Text, u64)> {
    let mut latest: BTreeMap<&Text, u64> = BTreeMap::new();
    let mut began = BTreeSet::new();
    for row in crossing.rows {
        for call in calls_of(row) {
            latest.insert(&call.id, row.seq);
        }
        if let Event::CallStarted(started) = &row.event
            && let Some(seq) = latest.get(&started.call)
        {
            began.insert((&started.call, *seq));
        }
    }
    began
}

/// A marker without the call's own name and id.
fn bare(text: &str, call: &Call) -> String {
    let mut bare = text.to_lowercase();
    for own in [&call.name, &call.id] {
        let own = own.to_unicode().to_lowercase();
        if !own.is_empty() {
            bare = bare.replace(&own, "");
        }
    }
    bare
}

/// `replay.running-or-cold`: a call that still runs is answered as such, and not
/// as failed.
pub(in super::super) fn running_or_cold(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let pending = crossing.context.pending(crossing.asked.replay.mode);
        for open in open_calls(crossing).filter(|open| pending.contains(&open.at)) {
            ruling.witness();
            let Some(result) = answers(crossing, &open).first() else {
                let message = format!("{} still runs, and nothing says so", told(open.call));
                let finding = Finding::new(Rule::ReplayRunningOrCold, crossing.asked.step, message);
                ruling.find(finding.row(open.seq));
                continue;
            };
            let text = crossing.text_in_result(*result);
            let wordings = &evidence.trace.hello.wordings;
            let message = if crossing.results[*result].result.error == Some(true) {
                format!("{} still runs, and crosses as failed: {text:?}", told(open.call))
            } else if surely_says(&text, &wordings.did_not_complete) {
                format!("{} still runs, and crosses as one that failed: {text:?}", told(open.call))
            } else if !says(&text, &wordings.still_running, words::STILL_RUNNING) {
                format!("{} still runs, and its result does not say so: {text:?}", told(open.call))
            } else {
                continue;
            };
            let finding = Finding::new(Rule::ReplayRunningOrCold, crossing.asked.step, message);
            ruling.find(finding.row(open.seq));
        }
    }
    ruling
}
