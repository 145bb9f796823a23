//! The judges of a compaction's bracket: its rows, that it leaves everything as it
//! was unless it lands, and that there is one at a time.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::fault_of;
use super::asked::{Asked, Given, compactions, lifetime, open_at, step_of};
use super::unchanged::asked_twice;
use crate::finding::{Finding, Ruling};
use crate::op::{Cut, Ending, Op, Outcome, RefusalCode};
use crate::record::{
    Audience, Block, CompactionOutcome, CompactionStage, Event, ReplacementSource, Replaces, Role,
    Row,
};
use crate::rule::Rule;
use crate::text::Text;

/// `compaction.bracket`: started, provenance, replacement, ended; and one that
/// does not land leaves everything as it was.
pub(in super::super) fn bracket(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionBracket;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        asked.judge_refusal(rule, &mut ruling);
        let Some(given) = asked.given(evidence) else { continue };
        if given.is_nothing() {
            let budget = matches!(&asked.compact.cut, Some(Cut::Budget(budget)) if asked.is_within(*budget) != Some(false));
            if asked.due.must.is_empty() && !budget {
                let message = "was taken, and nothing was stored";
                ruling.find(Finding::new(rule, asked.step, message));
            }
            ruling.witnesses +=
                usize::from(asked.is_idle(&given) && !evidence.crossings.is_empty());
            continue;
        }
        if given.is_trim() && matches!(&asked.compact.cut, Some(Cut::Budget(_))) {
            continue;
        }
        ruling.witness();
        if let Some(message) = wrong_rows(&asked, &given) {
            ruling.find(Finding::new(rule, asked.step, message));
        }
    }
    unless_landed(evidence, &mut ruling);
    ruling
}

/// Compares what was projected before and after a compaction that did not land,
/// or has not yet.
fn unless_landed(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    let steps = &evidence.trace.steps;
    for twice in asked_twice(evidence, is_idle) {
        let refused = steps[twice.before..twice.step].iter().any(|taken| {
            matches!((&taken.op, &taken.outcome), (Op::Compact(_), Outcome::Refused(_)))
        });
        if !refused && twice.added.is_empty() {
            continue;
        }
        ruling.witness();
        if let Some(what) = twice.difference() {
            let message = format!(
                "no compaction landed since step {}, and {what} is another now",
                twice.before
            );
            ruling.find(Finding::new(Rule::CompactionBracket, twice.step, message));
        }
    }
}

/// True for a row of a bracket that changes nothing: not landed, or not yet.
fn is_idle(row: &Row) -> bool {
    step_of(row).is_some_and(|step| match step.step {
        CompactionStage::Started | CompactionStage::Provenance => true,
        CompactionStage::Ended => step.outcome != Some(CompactionOutcome::Landed),
        CompactionStage::Upgraded => false,
    })
}

/// What is wrong with the rows that a compaction stored, if anything is.
fn wrong_rows(asked: &Asked<'_>, given: &Given<'_>) -> Option<String> {
    wrong_form(asked, given)
        .or_else(|| wrong_order(asked, given))
        .or_else(|| wrong_ids(asked, given))
        .or_else(|| wrong_summary(asked, given))
        .or_else(|| wrong_end(asked, given))
}

fn wrong_form(asked: &Asked<'_>, given: &Given<'_>) -> Option<String> {
    let raws = &given.changed.rows;
    if let Some(fault) = fault_of(asked.rows, raws.iter().map(|raw| &**raw)) {
        return Some(format!("stored rows that no append could store: {:?}", fault.code));
    }
    let next = asked.rows.len() + raws.len();
    if given.changed.next != next as u64 {
        return Some(format!("the next row is {next}, and it says {}", given.changed.next));
    }
    let late =
        given.rows.iter().find(|row| asked.compact.at.is_some() && row.at != asked.compact.at);
    late.map(|row| format!("row `{}` does not hold the time that was given", row.id))
}

/// What a row is to its bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Started,
    Provenance,
    Replacement,
    Ended(Option<CompactionOutcome>),
    /// The end of a compaction that an earlier lifetime left open.
    Abandoned,
    Other,
}

fn part_of(asked: &Asked<'_>, row: &Row) -> Part {
    let mine = &asked.compact.id;
    if row.compacts().is_some_and(|range| range.compaction.as_ref() == Some(mine)) {
        return Part::Replacement;
    }
    let Some(step) = step_of(row) else { return Part::Other };
    match step.step {
        CompactionStage::Started if step.compaction == *mine => Part::Started,
        CompactionStage::Provenance if step.compaction == *mine => Part::Provenance,
        CompactionStage::Ended if step.compaction == *mine => Part::Ended(step.outcome),
        CompactionStage::Ended if asked.abandoned.contains(&&step.compaction) => Part::Abandoned,
        CompactionStage::Started
        | CompactionStage::Provenance
        | CompactionStage::Ended
        | CompactionStage::Upgraded => Part::Other,
    }
}

fn wrong_order(asked: &Asked<'_>, given: &Given<'_>) -> Option<String> {
    let mut due = Vec::new();
    if asked.compact.cut.is_some() {
        due.extend([Part::Started, Part::Provenance]);
    }
    match &asked.compact.end {
        Some(Ending::Summary(_)) => {
            due.extend([Part::Replacement, Part::Ended(Some(CompactionOutcome::Landed))]);
        }
        Some(Ending::Failed { .. }) => due.push(Part::Ended(Some(CompactionOutcome::Failed))),
        Some(Ending::Cancelled {}) => due.push(Part::Ended(Some(CompactionOutcome::Cancelled))),
        None => {}
    }
    let parts = given.rows.iter().map(|row| part_of(asked, row));
    let parts: Vec<Part> = parts.skip_while(|part| *part == Part::Abandoned).collect();
    (parts != due).then(|| format!("the bracket's rows are {parts:?}; they must be {due:?}"))
}

/// The ids that are cited must be those that are taken, and those that were asked
/// for.
fn wrong_ids(asked: &Asked<'_>, given: &Given<'_>) -> Option<String> {
    let mine = &asked.compact.id;
    let begun = given.steps(mine, CompactionStage::Provenance).next();
    let begun = begun.or_else(|| asked.begun(CompactionStage::Provenance));
    let will = begun.map(|(_, step)| step.rows.as_deref().unwrap_or_default());
    let landed = given.landed(mine).map(|(_, range)| range);
    let taken: &[Text] = landed.map_or(&[], |range| &range.rows);
    if given.changed.taken != taken {
        return Some(String::from("the rows that it says have left are not those that it cites"));
    }
    if let (Some(will), Some(range)) = (will, landed)
        && will != range.rows
    {
        return Some(String::from("it took other rows than its provenance names"));
    }
    if landed.is_some_and(|range| !has_its_ends(range)) {
        return Some(String::from("the ends of the range are not the ends of the cited rows"));
    }
    let named = matches!(&asked.compact.cut, Some(Cut::Range { .. }));
    let range = asked.range.clone().filter(|_| named && asked.due.must.is_empty())?;
    let wanted = range.map(|place| &asked.ground.row(place).id);
    (!will.unwrap_or_default().iter().eq(wanted))
        .then(|| String::from("the rows that it names are not the range that was asked for"))
}

fn has_its_ends(range: &Replaces) -> bool {
    range.rows.first() == Some(&range.first)
        && range.rows.last() == Some(&range.last)
        && range.source == ReplacementSource::Compaction
}

/// The replacement holds the summary, for the model, and nothing else.
fn wrong_summary(asked: &Asked<'_>, given: &Given<'_>) -> Option<String> {
    let (row, _) = given.landed(&asked.compact.id)?;
    let Some(Ending::Summary(summary)) = &asked.compact.end else { return None };
    let Event::Message(message) = &row.event else {
        return Some(String::from("the replacement is no message"));
    };
    let whole =
        matches!(message.blocks.as_slice(), [Block::Text(text)] if text.text == summary.text);
    if !whole || message.role != Role::User {
        return Some(String::from("the replacement does not hold the summary in the user's role"));
    }
    (row.audience != Some(Audience::Model))
        .then(|| String::from("the replacement is not for the model alone"))
}

fn wrong_end(asked: &Asked<'_>, given: &Given<'_>) -> Option<String> {
    let Some(Ending::Failed { reason }) = &asked.compact.end else { return None };
    let (_, step) = given.steps(&asked.compact.id, CompactionStage::Ended).next()?;
    (step.reason.as_ref() != Some(reason))
        .then(|| String::from("the end does not hold the reason for which it failed"))
}

/// `compaction.one-at-a-time`: a second one while one is open is refused as busy;
/// one that an earlier lifetime left open blocks nothing.
pub(in super::super) fn one_at_a_time(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionOneAtATime;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        asked.judge_refusal(rule, &mut ruling);
        let Some(given) = asked.given(evidence).filter(|given| !given.is_nothing()) else {
            continue;
        };
        if asked.compact.cut.is_none() || given.is_trim() {
            continue;
        }
        // One that has ended blocks nothing either.
        let earlier = asked.rows.iter().filter_map(step_of);
        let ended = earlier.filter(|step| step.step == CompactionStage::Ended).count();
        ruling.witnesses += usize::from(ended > 0 && asked.due.must.is_empty());
        let left: BTreeSet<&Text> = asked.abandoned.iter().copied().collect();
        for id in left {
            ruling.witness();
            let ended = given.steps(id, CompactionStage::Ended).next();
            if ended.is_none_or(|(_, step)| step.outcome != Some(CompactionOutcome::Abandoned)) {
                let message = format!(
                    "compaction `{id}` of an earlier lifetime is not ended as abandoned when another begins"
                );
                ruling.find(Finding::new(rule, asked.step, message));
            }
        }
    }
    while_open(evidence, &mut ruling);
    appended(evidence, &mut ruling);
    ruling
}

/// What is no compaction goes on while one is open.
fn while_open(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Clear(_) | Op::Upgrade(_), Some(held)) =
            (&taken.op, evidence.holdings.before[step])
        else {
            continue;
        };
        let rows = evidence.holdings.rows(held);
        let open = open_at(&rows[lifetime(evidence, step).min(rows.len())..]).is_some();
        if let Outcome::Changed(changed) = &taken.outcome {
            ruling.witnesses += usize::from(open && !changed.rows.is_empty());
        } else if let Outcome::Refused(refusal) = &taken.outcome
            && refusal.code == RefusalCode::Busy
        {
            let message = "refused as busy; only another compaction is";
            ruling.find(Finding::new(Rule::CompactionOneAtATime, step, message));
        }
    }
}

/// Raw rows that begin a compaction while one is open.
fn appended(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    let rule = Rule::CompactionOneAtATime;
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Append { expect, rows: raws }, Some(held)) =
            (&taken.op, evidence.holdings.before[step])
        else {
            continue;
        };
        let rows = evidence.holdings.rows(held);
        let born = lifetime(evidence, step).min(rows.len());
        let mut lived = rows[born..].to_vec();
        let mut busy = None;
        for row in raws.iter().filter_map(|raw| Row::decode(raw).ok()) {
            let starts = step_of(&row).is_some_and(|step| step.step == CompactionStage::Started);
            if starts && open_at(&lived).is_some() {
                busy = busy.or(Some(row.seq));
            }
            lived.push(row);
        }
        let sound = *expect == rows.len() as u64
            && fault_of(rows, raws.iter().map(|raw| &**raw))
                .is_none_or(|f| f.code == RefusalCode::Busy);
        match (&taken.outcome, busy) {
            (Outcome::Appended { .. }, Some(seq)) if sound => {
                let message = "a compaction begins in this row while another is open";
                ruling.find(Finding::new(rule, step, message).row(seq));
            }
            (Outcome::Refused(refusal), Some(_)) if refusal.code == RefusalCode::Busy => {
                ruling.witness();
            }
            (Outcome::Refused(refusal), None) if refusal.code == RefusalCode::Busy => {
                let message = format!("refused as busy, and none is open: {}", refusal.detail);
                ruling.find(Finding::new(rule, step, message));
            }
            (Outcome::Refused(refusal), Some(seq)) if sound => {
                let message = format!("refused as {:?}; the reason is Busy", refusal.code);
                ruling.find(Finding::new(rule, step, message).row(seq));
            }
            _other => {}
        }
    }
}
