//! The judges of a landing: the marker that it leaves in the log, and the rows
//! that came while it was under way.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::canary::{Kind, canary};
use super::super::context::What;
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use super::asked::{Asked, Given, compactions, landed, step_of, whole_crossings};
use super::ground::Ground;
use crate::finding::{Finding, Ruling};
use crate::op::{Context, Ending, Op, Outcome};
use crate::record::{CompactionOutcome, CompactionStage, CompactionStep, Replaces, Row};
use crate::rule::Rule;
use crate::text::Text;
use crate::wire::WireRole;

/// `compaction.log-marker`: the end of a landed compaction says who compacted,
/// how, how many rows, which, and with which words.
pub(in super::super) fn log_marker(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionLogMarker;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        let Some(given) = asked.given(evidence) else { continue };
        let mine = &asked.compact.id;
        let finding = |message: String| Finding::new(rule, asked.step, message);
        if let (Some(Ending::Summary(_)), Some((row, range))) =
            (&asked.compact.end, given.landed(mine))
        {
            ruling.witness();
            let markers: Vec<_> = given.steps(mine, CompactionStage::Ended).collect();
            if let [(marker, step)] = markers.as_slice() {
                let wrong = wrong_marker(evidence, &asked, (row, range), step);
                let wrongs = wrong.into_iter();
                ruling.findings.extend(wrongs.map(|what| finding(what).row(marker.seq)));
            } else {
                ruling.find(finding(format!("{} markers for one landing", markers.len())));
            }
        }
        for (row, step) in given.rows.iter().filter_map(|row| Some((row, step_of(row)?))) {
            let ended = step.step == CompactionStage::Ended;
            if !ended || step.outcome == Some(CompactionOutcome::Landed) {
                continue;
            }
            ruling.witness();
            if step.summary.is_some() || step.text.is_some() {
                let message = "it did not land, and names a summary";
                ruling.find(Finding::new(rule, asked.step, message).row(row.seq));
            }
        }
    }
    no_other_markers(evidence, &mut ruling);
    ruling
}

/// An upgrade and a clearing leave no marker of a landing.
fn no_other_markers(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Upgrade(_), Outcome::Changed(_), Some(held), Some(now)) = (
            &taken.op,
            &taken.outcome,
            evidence.holdings.before[step],
            evidence.holdings.after[step],
        ) else {
            continue;
        };
        for row in &evidence.holdings.rows(now)[held.rows..] {
            ruling.witness();
            if step_of(row).is_some_and(|step| step.step == CompactionStage::Ended) {
                let message = "nothing landed, and it is a marker of a landing";
                let finding = Finding::new(Rule::CompactionLogMarker, step, message);
                ruling.find(finding.row(row.seq));
            }
        }
    }
}

/// What is wrong with the marker of a landing.
fn wrong_marker(
    evidence: &Evidence<'_>,
    asked: &Asked<'_>,
    (row, range): (&Row, &Replaces),
    marker: &CompactionStep,
) -> Vec<String> {
    let begun = asked.begun(CompactionStage::Started).map(|(_, step)| step);
    let whole = asked.compact.cut.is_some();
    let agent = if whole {
        asked.compact.agent.as_ref()
    } else {
        begun.and_then(|step| step.agent.as_ref())
    };
    let mode = if whole { Some(asked.compact.mode) } else { begun.and_then(|step| step.mode) };
    let mut wrong = Vec::new();
    if agent.is_some() && marker.agent.as_ref() != agent {
        wrong.push(String::from("does not name the agent"));
    }
    if mode.is_some() && marker.mode != mode {
        wrong.push(format!("names the mode {:?}; it was {mode:?}", marker.mode));
    }
    let taken = range.rows.len() as u64;
    let kept = kept(evidence, asked, row);
    if !marker.counts.is_some_and(|counts| counts.taken == taken && counts.kept == kept) {
        wrong.push(format!("counts {:?}; it took {taken} and left {kept}", marker.counts));
    }
    if marker.summary.as_ref() != Some(&row.id) {
        wrong.push(String::from("does not name the summary's row"));
    }
    if let Some(Ending::Summary(summary)) = &asked.compact.end
        && marker.text.as_ref() != Some(&summary.text)
    {
        wrong.push(String::from("does not hold the summary's full text"));
    }
    if marker.rows.as_ref() != Some(&range.rows) {
        wrong.push(String::from("does not hold the ids of the rows taken"));
    }
    wrong
}

/// How many rows of the context a landing left where they were.
fn kept(evidence: &Evidence<'_>, asked: &Asked<'_>, summary: &Row) -> u64 {
    let after = Ground::of(evidence.holdings, asked.after);
    let own = |row: &Row| {
        row.id == summary.id || step_of(row).is_some_and(|step| step.compaction == asked.compact.id)
    };
    after.rows().filter(|row| !own(row)).count() as u64
}

/// A landing, with what came between its beginning and it.
struct Landing<'a> {
    summary: &'a Row,
    between: Vec<&'a Row>,
}

/// The landings in a record that have a bracket, with what came while it was open;
/// and behind one that a step of the trace made, with what came since.
fn landings<'a>(rows: &'a [Row], made: &BTreeSet<u64>) -> Vec<Landing<'a>> {
    let landed = rows.iter().filter_map(|row| Some((row, row.compacts()?.compaction.as_ref()?)));
    let landings = landed.filter_map(|(summary, compaction)| {
        let mine = |row: &Row| step_of(row).is_some_and(|step| step.compaction == *compaction);
        let started = rows.iter().find(|row| {
            mine(row) && step_of(row).is_some_and(|step| step.step == CompactionStage::Started)
        })?;
        let until = if made.contains(&summary.seq) { u64::MAX } else { summary.seq };
        let came = rows.iter().filter(|row| started.seq < row.seq && row.seq < until);
        let came = came.filter(|row| row.is_append() && !mine(row));
        Some(Landing { summary, between: came.collect() })
    });
    landings.filter(|landing| !landing.between.is_empty()).collect()
}

/// `compaction.concurrent-append`: what was appended while a compaction was under
/// way stays, behind the summary and in order; and rows that changed meanwhile
/// are not taken.
pub(in super::super) fn concurrent_append(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionConcurrentAppend;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        asked.judge_refusal(rule, &mut ruling);
        if let Some(given) = asked.given(evidence) {
            took_what_came(&asked, &given, &mut ruling);
        }
    }
    let made = landed(evidence);
    let made = |of: usize| made.iter().filter(|(at, _)| *at == of).map(|(_, seq)| *seq).collect();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if let (Outcome::Context(context), Some(held)) =
            (&taken.outcome, evidence.holdings.before[step])
        {
            let ground = Ground::of(evidence.holdings, held);
            for landing in landings(evidence.holdings.rows(held), &made(held.generation)) {
                let Some(behind) = behind(&ground, &landing) else { continue };
                ruling.witness();
                if let Some((row, message)) = misplaced(context, landing.summary, &behind) {
                    ruling.find(Finding::new(rule, step, message).row(row.seq));
                }
            }
        }
    }
    for crossing in whole_crossings(evidence) {
        let Some(held) = evidence.holdings.before[crossing.asked.step] else { continue };
        let ground = Ground::of(evidence.holdings, held);
        for landing in landings(crossing.rows, &made(held.generation)) {
            if let Some(behind) = behind(&ground, &landing) {
                crosses_behind(crossing, landing.summary, &behind, &mut ruling);
            }
        }
    }
    ruling
}

fn took_what_came(asked: &Asked<'_>, given: &Given<'_>, ruling: &mut Ruling) {
    let Some((summary, range)) = given.landed(&asked.compact.id) else { return };
    let Some((started, _)) = asked.begun(CompactionStage::Started) else { return };
    let cited: BTreeSet<&Text> = range.rows.iter().collect();
    for row in asked.rows.iter().filter(|row| started.seq < row.seq && row.seq < summary.seq) {
        if cited.contains(&row.id) {
            let message = format!("took `{}`, which came after the compaction began", row.id);
            let finding = Finding::new(Rule::CompactionConcurrentAppend, asked.step, message);
            ruling.find(finding.row(row.seq));
        }
    }
}

/// The rows that came meanwhile and are still in the context, if the summary is
/// too and there are any.
fn behind<'a>(ground: &Ground<'_>, landing: &Landing<'a>) -> Option<Vec<&'a Row>> {
    ground.place(&landing.summary.id)?;
    let rows = landing.between.iter().copied();
    let rows: Vec<&Row> = rows.filter(|row| ground.place(&row.id).is_some()).collect();
    (!rows.is_empty()).then_some(rows)
}

/// The first of these rows that is not where it must be in the context.
fn misplaced<'a>(
    context: &Context,
    summary: &Row,
    behind: &[&'a Row],
) -> Option<(&'a Row, String)> {
    let place = |row: &Row| context.rows.iter().position(|held| held.id == row.id);
    let mut before = place(summary)?;
    for row in behind {
        match place(row) {
            None => {
                return Some((row, String::from("came since a compaction began, and is gone")));
            }
            Some(here) if here < before => {
                let message =
                    "came since a compaction began, and is not behind its summary in order";
                return Some((row, String::from(message)));
            }
            Some(here) => before = here,
        }
    }
    None
}

/// What these rows say crosses behind the words of the summary, in order.
fn crosses_behind(crossing: &Crossing<'_>, summary: &Row, behind: &[&Row], ruling: &mut Ruling) {
    let finding = |seq: u64, message: String| {
        Finding::new(Rule::CompactionConcurrentAppend, crossing.asked.step, message).row(seq)
    };
    let said: Vec<(u64, &str)> = crossing.context.pieces.iter().filter_map(spoken).collect();
    let once = |text: &str| said.iter().filter(|(_, other)| other.contains(text)).count() == 1;
    let mut followed: Vec<(u64, &str)> = said
        .iter()
        .copied()
        .filter(|(seq, text)| behind.iter().any(|row| row.seq == *seq) && once(text))
        .collect();
    followed.sort_by_key(|(seq, _)| *seq);
    let words = said.iter().find(|(seq, _)| *seq == summary.seq);
    let stands = words.and_then(|(_, text)| place_of(crossing, text)).unwrap_or(0);
    let mut before = stands;
    for (seq, text) in followed {
        // All in one text proves no order.
        ruling.witnesses += usize::from(place_of(crossing, text) > Some(stands));
        match place_of(crossing, text) {
            None => ruling.find(finding(
                seq,
                format!("came since a compaction began, and does not cross: {text:?}"),
            )),
            Some(here) if here < before => {
                ruling
                    .find(finding(seq, format!("crosses before what it stands behind: {text:?}")));
            }
            Some(here) => before = here,
        }
    }
}

/// What was said in a piece, if it is long enough to be known by.
fn spoken<'p>(piece: &'p super::super::context::Piece<'_>) -> Option<(u64, &'p str)> {
    match &piece.what {
        What::Said(_, text) => {
            let text = canary(text);
            (text.chars().count() >= 8).then_some((piece.seq, text))
        }
        What::Thought(_)
        | What::Called(_)
        | What::Answered(_)
        | What::Shown(..)
        | What::Edge(_) => None,
    }
}

/// The first place on the wire where this is said.
fn place_of(crossing: &Crossing<'_>, text: &str) -> Option<usize> {
    crossing.seen.places.iter().position(|place| {
        matches!(place.kind, Kind::Speech(WireRole::User | WireRole::Assistant))
            && place.text.contains(text)
    })
}
