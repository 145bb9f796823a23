//! The judge of clearing rows: each takes one result and differs from it in
//! content alone.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::fault_of;
use super::super::log;
use crate::finding::{Finding, Ruling};
use crate::json::{Fields, Json, RawValue, Tree};
use crate::op::{Op, Outcome, RefusalCode};
use crate::record::{ReplacementSource, Row};
use crate::rule::Rule;
use crate::text::Text;

const RULE: Rule = Rule::CompactionClearingOneResult;

/// `compaction.clearing-one-result`: a clearing row takes exactly one result of
/// the context and may differ from it only in content.
pub(in super::super) fn clearing_one_result(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        match (&taken.op, &taken.outcome) {
            (Op::Clear(_), Outcome::Changed(changed)) => {
                let Some(held) = evidence.holdings.before[step] else { continue };
                ruling.witnesses += changed.rows.len();
                let held = evidence.holdings.raw(held);
                if let Some(fault) = fault_of_cleared(evidence, step, &changed.rows) {
                    ruling.find(Finding::new(RULE, step, fault));
                }
                for (seq, message) in faults(held, &changed.rows, true) {
                    ruling.find(Finding::new(RULE, step, message).row(seq));
                }
            }
            (Op::Load { .. } | Op::Open { .. } | Op::Append { .. }, outcome) => {
                stored(evidence, step, outcome, &mut ruling);
            }
            _other => {}
        }
    }
    ruling
}

/// Tells that a clearing stored rows that no append could store.
fn fault_of_cleared(evidence: &Evidence<'_>, step: usize, rows: &[Json]) -> Option<String> {
    let held = evidence.holdings.rows(evidence.holdings.before[step]?);
    let fault = fault_of(held, rows.iter().map(|raw| &**raw))?;
    (fault.code != RefusalCode::NotOneResult)
        .then(|| format!("stored rows that no append could store: {:?}", fault.code))
}

/// Judges rows that were given to be stored.
fn stored(evidence: &Evidence<'_>, step: usize, outcome: &Outcome, ruling: &mut Ruling) {
    let taken = &evidence.trace.steps[step];
    let (held, rows): (&[Json], Vec<Json>) = match (&taken.op, evidence.holdings.before[step]) {
        (Op::Append { expect, rows }, Some(now)) if *expect == now.rows as u64 => {
            (evidence.holdings.raw(now), rows.clone())
        }
        (Op::Load { rows, .. }, _) => (&[], rows.clone()),
        (Op::Open { log }, _) => {
            (&[], log::read(&log.0).rows.into_iter().map(|(raw, _)| raw).collect())
        }
        _other => return,
    };
    let read: Vec<Row> = held.iter().filter_map(|raw| Row::decode(raw).ok()).collect();
    let other = fault_of(&read, rows.iter().map(|raw| &**raw));
    let other = other.filter(|fault| fault.code != RefusalCode::NotOneResult);
    let due = faults(held, &rows, false).into_iter().next();
    match (outcome, due) {
        (Outcome::Refused(refusal), Some(_)) if refusal.code == RefusalCode::NotOneResult => {
            ruling.witness();
        }
        (Outcome::Refused(refusal), None) if refusal.code == RefusalCode::NotOneResult => {
            let message =
                format!("refused as NotOneResult, and that is not so: {}", refusal.detail);
            ruling.find(Finding::new(RULE, step, message));
        }
        (Outcome::Refused(refusal), Some((seq, what))) if other.is_none() => {
            let message = format!("refused as {:?}, and it {what}", refusal.code);
            ruling.find(Finding::new(RULE, step, message).row(seq));
        }
        (Outcome::Appended { .. } | Outcome::Loaded { .. }, Some((seq, what)))
            if other.is_none() =>
        {
            ruling.find(Finding::new(RULE, step, what).row(seq));
        }
        _other => {}
    }
}

/// The clearing rows that are not one result with other content.
fn faults(held: &[Json], rows: &[Json], all_must_clear: bool) -> Vec<(u64, String)> {
    let mut known: Vec<(Text, &RawValue)> = held.iter().filter_map(|raw| named(raw)).collect();
    let mut faults = Vec::new();
    for raw in rows {
        if let Ok(row) = Row::decode(raw) {
            if let Some(what) = fault(&known, &row, raw, all_must_clear) {
                faults.push((row.seq, String::from(what)));
            }
            known.push((row.id, raw));
        }
    }
    faults
}

fn named(raw: &RawValue) -> Option<(Text, &RawValue)> {
    Some((Fields::open(raw).ok()?.take("id", "a string").ok()??, raw))
}

fn fault(
    known: &[(Text, &RawValue)],
    row: &Row,
    raw: &RawValue,
    must_clear: bool,
) -> Option<&'static str> {
    let clears = |source| source == ReplacementSource::Clearing;
    let Some(range) = row.replaces.as_ref().filter(|range| clears(range.source)) else {
        return must_clear.then_some("is no clearing row");
    };
    let [only] = range.rows.as_slice() else { return Some("takes more than one row, or none") };
    // A row that is not there is refused for that.
    let (_, taken) = known.iter().rev().find(|(id, _)| id == only)?;
    let (taken, now) = (bare(taken)?, bare(raw)?);
    if !taken.holds_result {
        return Some("takes a row that is no result");
    }
    if taken.event != now.event {
        return Some("differs from the result that it takes in more than content");
    }
    (must_clear && taken.audience != now.audience)
        .then_some("is for somebody else than what it takes")
}

/// A row without the contents of its results.
struct Bare {
    event: Tree,
    audience: Option<Tree>,
    holds_result: bool,
}

fn bare(raw: &RawValue) -> Option<Bare> {
    let Some(Tree::Object(mut row)) = Tree::parse(raw.get()) else { return None };
    let mut event = row.remove(&Text::from("event"))?;
    let audience = row.remove(&Text::from("audience"));
    let mut holds_result = empty(&mut event);
    if let Tree::Object(members) = &mut event
        && let Some(Tree::List(blocks)) = members.get_mut(&Text::from("blocks"))
    {
        for block in blocks {
            holds_result |= empty(block);
        }
    }
    Some(Bare { event, audience, holds_result })
}

/// Takes the content out of a result. False for what is none.
fn empty(value: &mut Tree) -> bool {
    let Tree::Object(members) = value else { return false };
    let is_result = members.get(&Text::from("type")) == Some(&Tree::Text(Text::from("result")));
    if is_result {
        members.remove(&Text::from("content"));
    }
    is_result
}
