//! The judges of what must be refused: whole, with the reason and the row, and
//! with nothing of it stored.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::{Fault, event_type, fault_of, is_for_another_chapter};
use super::super::{log, lookup};
use super::kept::{ignorable_lost, stored_though_refused};
use crate::finding::{Finding, Ruling};
use crate::json::{Fields, Json, RawValue};
use crate::op::{Op, Outcome, RefusalCode};
use crate::record::{FORMAT_VERSION, Row};
use crate::rule::Rule;

/// Rows that were given to be stored, and what must come of it.
struct Given<'a> {
    step: usize,
    rows: Vec<Json>,
    due: Option<Fault>,
    outcome: &'a Outcome,
}

impl Given<'_> {
    /// True if it was refused for a fault that section `record` does not know, in a
    /// row that comes first or in the same.
    fn is_refused_elsewhere(&self) -> bool {
        let Outcome::Refused(refusal) = self.outcome else { return false };
        let until = self.due.as_ref().and_then(|due| due.seq);
        let rows = self.rows.iter().map(|raw| &**raw);
        is_for_another_chapter(refusal, rows, until)
    }
}

/// Every step that gives rows to store, with what is due. An append to the wrong
/// place is left out: that is `record.expected-seq`. So is one of what is stored
/// already: that is `record.keyed-append`, and comes before everything else.
fn given<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = Given<'a>> {
    evidence.trace.steps.iter().enumerate().filter_map(|(step, taken)| {
        let held: &[Row] = match (&taken.op, evidence.holdings.before[step]) {
            (Op::Append { expect, .. }, Some(held)) if *expect == held.rows as u64 => {
                evidence.holdings.rows(held)
            }
            (Op::Append { .. }, _) => return None,
            _load => &[],
        };
        let rows = match &taken.op {
            Op::Load { rows, .. } | Op::Append { rows, .. } => rows.clone(),
            Op::Open { log } => log::read(&log.0).rows.into_iter().map(|(raw, _)| raw).collect(),
            Op::Read { .. }
            | Op::Log {}
            | Op::Restart {}
            | Op::Replay(_)
            | Op::Request { .. }
            | Op::Context {}
            | Op::Input { .. }
            | Op::Compact(_)
            | Op::Clear(_)
            | Op::Upgrade(_)
            | Op::Transcript {}
            | Op::Follow { .. }
            | Op::Page { .. }
            | Op::Window { .. }
            | Op::Enter { .. }
            | Op::Lookup(_)
            | Op::Status { .. }
            | Op::Delete { .. }
            | Op::Stamp {}
            | Op::Sync { .. }
            | Op::Recall { .. }
            | Op::Archive { .. }
            | Op::Parts { .. }
            | Op::Migrate(_) => {
                return None;
            }
        };
        let unsupported = matches!(taken.outcome, Outcome::Unsupported { .. });
        if unsupported || !has_header(&taken.op) || lookup::is_known(evidence, step) {
            return None;
        }
        let due = fault_of(held, rows.iter().map(|raw| &**raw));
        Some(Given { step, rows, due, outcome: &taken.outcome })
    })
}

/// False for a load whose header is at fault: then its rows are not looked at.
fn has_header(op: &Op) -> bool {
    let sound =
        |raw: Option<&RawValue>| raw.is_some_and(|raw| crate::record::Header::decode(raw).is_ok());
    match op {
        Op::Load { header, .. } => header.is_none() || sound(header.as_deref()),
        Op::Open { log } => sound(log::read(&log.0).header.as_deref()),
        Op::Append { .. }
        | Op::Read { .. }
        | Op::Log {}
        | Op::Restart {}
        | Op::Replay(_)
        | Op::Request { .. }
        | Op::Context {}
        | Op::Input { .. }
        | Op::Compact(_)
        | Op::Clear(_)
        | Op::Upgrade(_)
        | Op::Transcript {}
        | Op::Follow { .. }
        | Op::Page { .. }
        | Op::Window { .. }
        | Op::Enter { .. }
        | Op::Lookup(_)
        | Op::Status { .. }
        | Op::Delete { .. }
        | Op::Stamp {}
        | Op::Sync { .. }
        | Op::Recall { .. }
        | Op::Archive { .. }
        | Op::Parts { .. }
        | Op::Migrate(_) => true,
    }
}

/// What is wrong with an outcome where a refusal was due.
fn not_as_due(due: &Fault, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Refused(refusal) if refusal.code != due.code => {
            Some(format!("refused as {:?}; the reason is {:?}", refusal.code, due.code))
        }
        Outcome::Refused(refusal) if due.seq.is_some() && refusal.seq != due.seq => Some(format!(
            "refused at row {}; the fault is in row {}",
            place(refusal.seq),
            place(due.seq)
        )),
        Outcome::Refused(_) => None,
        Outcome::Loaded { .. }
        | Outcome::Appended { .. }
        | Outcome::Rows { .. }
        | Outcome::Log { .. }
        | Outcome::Replayed(_)
        | Outcome::Changed(_)
        | Outcome::Context(_)
        | Outcome::Input(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Known { .. }
        | Outcome::Found { .. }
        | Outcome::Status { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Migrated(_)
        | Outcome::Crashed {}
        | Outcome::Unsupported { .. } => {
            Some(format!("was taken; it must be refused as {:?}", due.code))
        }
    }
}

fn place(seq: Option<u64>) -> String {
    seq.map_or_else(|| String::from("(none named)"), |seq| seq.to_string())
}

/// Judges the refusals that are due for one of these codes, and that nothing is
/// refused for them without reason.
fn refusals(evidence: &Evidence<'_>, rule: Rule, codes: &[RefusalCode]) -> Ruling {
    let mut ruling = Ruling::default();
    for given in given(evidence) {
        if given.is_refused_elsewhere() {
            continue;
        }
        match (&given.due, given.outcome) {
            (Some(due), outcome) if codes.contains(&due.code) => {
                ruling.witness();
                if let Some(message) = not_as_due(due, outcome) {
                    let finding = Finding::new(rule, given.step, message);
                    ruling.find(due.seq.map_or(finding.clone(), |seq| finding.row(seq)));
                }
            }
            (None, Outcome::Refused(refusal)) if codes.contains(&refusal.code) => {
                let message = format!("rows in order were refused: {}", refusal.detail);
                ruling.find(Finding::new(rule, given.step, message));
            }
            _other => {}
        }
    }
    for (step, refused) in stored_though_refused(evidence) {
        let dues = given(evidence).filter(|given| given.step == refused);
        if dues.filter_map(|given| given.due).any(|due| codes.contains(&due.code)) {
            let message = format!("step {refused} was refused, and something of it was stored");
            ruling.find(Finding::new(rule, step, message));
        }
    }
    ruling
}

/// `record.seq-gap-free`: a gap, a repeat or a step back is refused at its row.
/// Timestamps decide nothing.
pub fn seq_gap_free(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = refusals(evidence, Rule::RecordSeqGapFree, &[RefusalCode::WrongSeq]);
    let sound = |given: &Given<'_>| given.due.is_none() && !given.is_refused_elsewhere();
    for given in given(evidence).filter(sound) {
        let times: Vec<Option<String>> = given.rows.iter().map(|raw| time(raw)).collect();
        let rises = times.windows(2).all(|pair| pair[0].is_some() && pair[0] < pair[1]);
        if !rises && times.iter().any(Option::is_some) {
            ruling.witness();
            if let Outcome::Refused(refusal) = given.outcome {
                let message = format!("refused over its timestamps: {}", refusal.detail);
                ruling.find(Finding::new(Rule::RecordSeqGapFree, given.step, message));
            }
        }
    }
    ruling
}

fn time(raw: &RawValue) -> Option<String> {
    Fields::open(raw).ok()?.take("at", "a string").ok()?
}

/// `record.expected-shape`: a malformed row is refused with its seq and reason.
pub fn expected_shape(evidence: &Evidence<'_>) -> Ruling {
    let codes = [RefusalCode::Malformed, RefusalCode::DuplicateId, RefusalCode::UnknownParent];
    refusals(evidence, Rule::RecordExpectedShape, &codes)
}

/// `record.unknown-row`: an unknown type is refused by name; an ignorable row of
/// one is kept.
pub fn unknown_row(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::RecordUnknownRow;
    let mut ruling = refusals(evidence, rule, &[RefusalCode::UnknownType]);
    for given in given(evidence).filter(|given| !given.is_refused_elsewhere()) {
        if let (Some(due), Outcome::Refused(refusal)) = (&given.due, given.outcome)
            && due.code == RefusalCode::UnknownType
            && let Some(raw) = given.rows.iter().find(|raw| seq(raw) == due.seq)
            && let Some(kind) = event_type(raw)
            && !refusal.detail.contains(&*kind.to_unicode())
        {
            let message = format!("the refusal does not name the type `{kind}`");
            let finding = Finding::new(rule, given.step, message);
            ruling.find(due.seq.map_or(finding.clone(), |seq| finding.row(seq)));
        }
        let ignorable = given.rows.iter().filter(|raw| is_unknown(raw));
        if given.due.is_none() && ignorable.count() > 0 {
            ruling.witness();
            if let Outcome::Refused(refusal) = given.outcome {
                let message = format!("an ignorable row was refused: {}", refusal.detail);
                ruling.find(Finding::new(rule, given.step, message));
            }
        }
    }
    for (step, seq) in ignorable_lost(evidence) {
        let message = "an ignorable row was stored and does not come back";
        ruling.find(Finding::new(rule, step, message).row(seq));
    }
    ruling
}

fn seq(raw: &RawValue) -> Option<u64> {
    Fields::open(raw).ok()?.take("seq", "a number").ok()?
}

fn is_unknown(raw: &RawValue) -> bool {
    Row::decode(raw).is_ok_and(|row| matches!(row.event, crate::record::Event::Unknown(_)))
}

/// `record.version`: a newer format is refused, and both versions are named.
pub fn version(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let header = match &taken.op {
            Op::Load { header, .. } => header.clone(),
            Op::Open { log } => log::read(&log.0).header,
            Op::Append { .. }
            | Op::Read { .. }
            | Op::Log {}
            | Op::Restart {}
            | Op::Replay(_)
            | Op::Request { .. }
            | Op::Context {}
            | Op::Input { .. }
            | Op::Compact(_)
            | Op::Clear(_)
            | Op::Upgrade(_)
            | Op::Transcript {}
            | Op::Follow { .. }
            | Op::Page { .. }
            | Op::Window { .. }
            | Op::Enter { .. }
            | Op::Lookup(_)
            | Op::Status { .. }
            | Op::Delete { .. }
            | Op::Stamp {}
            | Op::Sync { .. }
            | Op::Recall { .. }
            | Op::Archive { .. }
            | Op::Parts { .. }
            | Op::Migrate(_) => None,
        };
        let Some(found) = header.and_then(|raw| named_version(&raw)) else { continue };
        if found <= FORMAT_VERSION || matches!(taken.outcome, Outcome::Unsupported { .. }) {
            continue;
        }
        ruling.witness();
        let message = match &taken.outcome {
            Outcome::Refused(refusal) if refusal.code != RefusalCode::NewerVersion => {
                format!(
                    "refused as {:?}; the reason is {:?}",
                    refusal.code,
                    RefusalCode::NewerVersion
                )
            }
            Outcome::Refused(refusal) => {
                let names = |version: u64| refusal.detail.contains(&version.to_string());
                if names(found) && names(FORMAT_VERSION) {
                    continue;
                }
                format!(
                    "the refusal names not both versions, {found} and {FORMAT_VERSION}: {}",
                    refusal.detail
                )
            }
            Outcome::Loaded { .. }
            | Outcome::Appended { .. }
            | Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Replayed(_)
            | Outcome::Changed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Followed { .. }
            | Outcome::Page(_)
            | Outcome::Window(_)
            | Outcome::Known { .. }
            | Outcome::Found { .. }
            | Outcome::Status { .. }
            | Outcome::Deleted { .. }
            | Outcome::Stamp(_)
            | Outcome::Synced(_)
            | Outcome::Recalled { .. }
            | Outcome::Archived(_)
            | Outcome::Parts(_)
            | Outcome::Migrated(_)
            | Outcome::Crashed {}
            | Outcome::Unsupported { .. } => format!("a log of version {found} was taken"),
        };
        ruling.find(Finding::new(Rule::RecordVersion, step, message));
    }
    ruling
}

fn named_version(raw: &RawValue) -> Option<u64> {
    Fields::open(raw).ok()?.take("onrecord", "a number").ok()?
}

/// `record.expected-seq`: an append that expects another seq is refused with the
/// seq that was there, and nothing of it is stored. Of what is stored already under
/// its key, its sender cannot know the place (`record.keyed-append`).
pub fn expected_seq(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::RecordExpectedSeq;
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Append { expect, .. }, Some(held)) = (&taken.op, evidence.holdings.before[step])
        else {
            continue;
        };
        if lookup::is_known(evidence, step) {
            continue;
        }
        let next = held.rows as u64;
        let stale = *expect != next;
        ruling.witnesses += usize::from(stale);
        let message = match &taken.outcome {
            Outcome::Appended { .. } if stale => {
                format!("an append that expects row {expect} was stored as row {next}")
            }
            Outcome::Refused(refusal) if stale && refusal.code != RefusalCode::Conflict => {
                format!("refused as {:?}; the reason is {:?}", refusal.code, RefusalCode::Conflict)
            }
            Outcome::Refused(refusal) if stale && refusal.seq != Some(next) => {
                format!("refused with seq {}; the next row is {next}", place(refusal.seq))
            }
            Outcome::Refused(refusal) if !stale && refusal.code == RefusalCode::Conflict => {
                format!("an append that expects the right row was refused: {}", refusal.detail)
            }
            Outcome::Appended { .. }
            | Outcome::Refused(_)
            | Outcome::Loaded { .. }
            | Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Replayed(_)
            | Outcome::Changed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Followed { .. }
            | Outcome::Page(_)
            | Outcome::Window(_)
            | Outcome::Known { .. }
            | Outcome::Found { .. }
            | Outcome::Status { .. }
            | Outcome::Deleted { .. }
            | Outcome::Stamp(_)
            | Outcome::Synced(_)
            | Outcome::Recalled { .. }
            | Outcome::Archived(_)
            | Outcome::Parts(_)
            | Outcome::Migrated(_)
            | Outcome::Crashed {}
            | Outcome::Unsupported { .. } => continue,
        };
        ruling.find(Finding::new(rule, step, message));
    }
    for (step, refused) in stored_though_refused(evidence) {
        let taken = &evidence.trace.steps[refused];
        let held = evidence.holdings.before[refused].map_or(0, |held| held.rows as u64);
        if matches!(&taken.op, Op::Append { expect, .. } if *expect != held) {
            let message = format!("step {refused} was refused, and something of it was stored");
            ruling.find(Finding::new(rule, step, message));
        }
    }
    ruling
}
