//! The judges of what is kept: rows come back as they were stored, in order, and
//! nothing that is asked changes them.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::{Snapshot, event_type};
use crate::finding::{Finding, Ruling};
use crate::json::{Json, RawValue, Tree, excerpt};
use crate::op::{Op, Outcome};
use crate::record::{Block, Event};
use crate::rule::Rule;

/// A `read` that was answered, with the rows that were held.
struct ReadBack<'a> {
    step: usize,
    snapshot: Snapshot,
    /// The seq of the first row that was asked for.
    from: usize,
    /// What was held of what was asked for.
    held: &'a [Json],
    rows: &'a [Json],
}

fn reads<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = ReadBack<'a>> {
    evidence.trace.steps.iter().enumerate().filter_map(|(step, taken)| {
        let (Op::Read { from, limit }, Outcome::Rows { rows }) = (&taken.op, &taken.outcome) else {
            return None;
        };
        let snapshot = evidence.holdings.before[step]?;
        let all = evidence.holdings.raw(snapshot);
        let from = usize::try_from(from.unwrap_or(0)).unwrap_or(usize::MAX).min(all.len());
        let limit = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let held = &all[from..all.len().min(from.saturating_add(limit))];
        Some(ReadBack { step, snapshot, from, held, rows })
    })
}

fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// `record.append-only`: whatever was done in between, a later read begins with
/// the rows of an earlier one, and a later log with the bytes of an earlier one.
pub fn append_only(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let rule = Rule::RecordAppendOnly;
    let mut earlier: Option<ReadBack<'_>> = None;
    for read in reads(evidence).filter(|read| read.from == 0) {
        if let Some(before) = earlier.filter(|b| b.snapshot.generation == read.snapshot.generation)
        {
            ruling.witnesses += usize::from(read.step > before.step + 1 && !before.rows.is_empty());
            for (seq, row) in before.rows.iter().enumerate() {
                let finding = match read.rows.get(seq) {
                    Some(now) if same(row, now) => continue,
                    Some(_) => "this row was changed since it was read before",
                    None if read.held.len() <= seq => continue,
                    None => "this row is gone since it was read before",
                };
                ruling.find(Finding::new(rule, read.step, finding).row(seq as u64));
            }
        }
        earlier = Some(read);
    }
    let mut log: Option<(usize, usize, &[u8])> = None;
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Outcome::Log { bytes }, Some(held)) = (&taken.outcome, evidence.holdings.before[step])
        else {
            continue;
        };
        if let Some((before, generation, earlier)) = log
            && generation == held.generation
        {
            ruling.witnesses += usize::from(step > before + 1 && !earlier.is_empty());
            if !bytes.0.starts_with(earlier) {
                ruling.find(Finding::new(
                    rule,
                    step,
                    format!("the log does not begin with its bytes of step {before}"),
                ));
            }
        }
        log = Some((step, held.generation, &bytes.0));
    }
    ruling
}

/// `record.one-history`: the same question about the same record has the same
/// answer, whatever was asked in between.
pub fn one_history(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let steps = &evidence.trace.steps;
    for (step, taken) in steps.iter().enumerate() {
        let Some(held) = evidence.holdings.before[step] else { continue };
        let Some(answer) = projection(&taken.outcome) else { continue };
        let question = told(&taken.op);
        let earlier = (0..step).rev().find(|before| {
            evidence.holdings.before[*before] == Some(held) && told(&steps[*before].op) == question
        });
        let Some(before) = earlier else { continue };
        ruling.witnesses += usize::from(held.rows > 0 && !answer.is_empty());
        if projection(&steps[before].outcome).is_none_or(|earlier| earlier != answer) {
            ruling.find(Finding::new(
                Rule::RecordOneHistory,
                step,
                format!("the same question as in step {before} has another answer"),
            ));
        }
    }
    ruling
}

fn told(op: &Op) -> String {
    crate::json::to_line(op).unwrap_or_default()
}

/// What a projection answered, comparable; None for what is no projection.
fn projection(outcome: &Outcome) -> Option<Vec<Tree>> {
    match outcome {
        Outcome::Rows { rows } => rows.iter().map(|row| Tree::parse(row.get())).collect(),
        Outcome::Log { .. }
        | Outcome::Replayed(_)
        | Outcome::Context(_)
        | Outcome::Input(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Status { .. } => {
            let line = crate::json::to_line(outcome).ok()?;
            Tree::parse(&line).map(|tree| alloc::vec![tree])
        }
        Outcome::Loaded { .. }
        | Outcome::Appended { .. }
        | Outcome::Known { .. }
        | Outcome::Changed(_)
        // These ask of other conversations too, or of a client, an archive, a lifetime.
        | Outcome::Found { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Migrated(_)
        | Outcome::Crashed {}
        | Outcome::Refused(_)
        | Outcome::Unsupported { .. } => None,
    }
}

/// `record.verbatim`: each row comes back as it was stored.
pub fn verbatim(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for read in reads(evidence) {
        for (at, stored) in read.held.iter().enumerate() {
            ruling.witness();
            let message = match read.rows.get(at) {
                Some(row) if same(stored, row) => continue,
                Some(row) => format!("stored as {}, came back as {}", stored.get(), row.get()),
                None => String::from("was stored and does not come back"),
            };
            let finding = Finding::new(Rule::RecordVerbatim, read.step, message);
            ruling.find(finding.row((read.from + at) as u64));
        }
        if let Some(row) = read.rows.get(read.held.len()) {
            let message = format!("a row comes back that was not stored: {}", excerpt(row.get()));
            ruling.find(Finding::new(Rule::RecordVerbatim, read.step, message));
        }
    }
    ruling
}

/// Reads that hand over more rows than were ever taken: the step of the append
/// that was refused before them, and what is there.
pub(super) fn stored_though_refused(
    evidence: &Evidence<'_>,
) -> impl Iterator<Item = (usize, usize)> {
    reads(evidence).filter(|read| read.rows.len() > read.held.len()).filter_map(|read| {
        let refused = (0..read.step).rev().find(|step| {
            let taken = &evidence.trace.steps[*step];
            let refused = matches!(taken.outcome, Outcome::Refused(_));
            refused && matches!(taken.op, Op::Append { .. } | Op::Load { .. } | Op::Open { .. })
        })?;
        Some((read.step, refused))
    })
}

/// `record.blocks-typed`: each row comes back with its event's and its blocks'
/// kinds.
pub fn blocks_typed(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for read in reads(evidence) {
        for (at, stored) in read.held.iter().enumerate() {
            let kinds = kinds(stored);
            let Some(row) = read.rows.get(at) else { continue };
            ruling.witnesses += usize::from(kinds.len() > 1);
            if self::kinds(row) != kinds {
                let finding = Finding::new(
                    Rule::RecordBlocksTyped,
                    read.step,
                    format!("was stored as {kinds:?}, came back as {:?}", self::kinds(row)),
                );
                ruling.find(finding.row((read.from + at) as u64));
            }
        }
    }
    ruling
}

/// The type of a row's event, and those of its blocks.
fn kinds(row: &RawValue) -> Vec<String> {
    let mut kinds = Vec::new();
    let Some(Tree::Object(row)) = Tree::parse(row.get()) else { return kinds };
    let Some(Tree::Object(event)) = row.get(&"event".into()) else { return kinds };
    let mut add = |holder: &alloc::collections::BTreeMap<_, Tree>| {
        if let Some(Tree::Text(kind)) = holder.get(&"type".into()) {
            kinds.push(kind.to_unicode().into_owned());
        }
    };
    add(event);
    for name in ["blocks", "content"] {
        if let Some(Tree::List(blocks)) = event.get(&name.into()) {
            blocks.iter().for_each(|block| {
                if let Tree::Object(block) = block {
                    add(block);
                }
            });
        }
    }
    kinds
}

/// `record.kinds-exhaustive`: of a record that holds every kind of block, or
/// every kind of event, each kind comes back.
pub fn kinds_exhaustive(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for read in reads(evidence).filter(|read| read.from == 0) {
        let held: BTreeSet<String> = read.held.iter().flat_map(|row| kinds(row)).collect();
        let holds = |kinds: &[&str]| kinds.iter().all(|kind| held.contains(*kind));
        let blocks: Vec<&str> =
            Block::KINDS.into_iter().filter(|kind| *kind != "authority").collect();
        if !holds(&blocks) && !holds(&EVENT_KINDS) {
            continue;
        }
        ruling.witness();
        let back: BTreeSet<String> = read.rows.iter().flat_map(|row| kinds(row)).collect();
        for kind in held.difference(&back) {
            let message = format!("the record holds something of kind `{kind}`; none comes back");
            ruling.find(Finding::new(Rule::RecordKindsExhaustive, read.step, message));
        }
    }
    ruling
}

/// The types of events that are not unknown.
const EVENT_KINDS: [&str; 6] = ["message", "call-started", "result", "compaction", "turn", "delta"];

/// Rows of an unknown type that were stored as ignorable and do not come back:
/// the step of the read, and the row.
pub(super) fn ignorable_lost(evidence: &Evidence<'_>) -> Vec<(usize, u64)> {
    let mut lost = Vec::new();
    for read in reads(evidence) {
        let held = evidence.holdings.rows(read.snapshot)[read.from..].iter();
        for (at, row) in held.take(read.held.len()).enumerate() {
            let back = read.rows.get(at).is_some_and(|back| same(&read.held[at], back));
            if matches!(row.event, Event::Unknown(_)) && !back {
                lost.push((read.step, row.seq));
            }
        }
    }
    lost
}

/// `record.call-started`: the rows that say that a tool began come back.
pub fn call_started(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for read in reads(evidence) {
        for (at, stored) in read.held.iter().enumerate() {
            if event_type(stored).is_none_or(|kind| kind != "call-started") {
                continue;
            }
            ruling.witness();
            if read.rows.get(at).is_none_or(|row| !same(stored, row)) {
                let message = "that the tool began was stored and does not come back";
                let finding = Finding::new(Rule::RecordCallStarted, read.step, message);
                ruling.find(finding.row((read.from + at) as u64));
            }
        }
    }
    ruling
}
