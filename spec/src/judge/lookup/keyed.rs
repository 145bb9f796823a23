//! The judge of keyed appends: one key, one row.

use alloc::format;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::{Snapshot, fault_of, is_for_another_chapter};
use super::{readable, same, share_a_key};
use crate::finding::{Finding, Ruling};
use crate::json::Json;
use crate::op::{Op, Outcome, Refusal, RefusalCode};
use crate::record::Row;
use crate::rule::Rule;

const RULE: Rule = Rule::RecordKeyedAppend;

/// An append, and what is held when it comes.
struct Asked<'a> {
    step: usize,
    expect: u64,
    raw: &'a [Json],
    rows: Vec<Row>,
    held: &'a [Row],
    stored: &'a [Json],
    outcome: &'a Outcome,
}

impl Asked<'_> {
    /// What was first stored under the keys of these rows: their places, in the
    /// order of these rows, each once.
    fn known(&self) -> Vec<usize> {
        let mut known = Vec::new();
        for row in &self.rows {
            let by_request =
                self.first(|held| row.request.is_some() && held.request == row.request);
            let by_report = self.first(|held| row.report.is_some() && held.report == row.report);
            for place in by_request.into_iter().chain(by_report) {
                if !known.contains(&place) {
                    known.push(place);
                }
            }
        }
        known
    }

    fn first(&self, is: impl Fn(&Row) -> bool) -> Option<usize> {
        self.held.iter().position(is)
    }

    /// The seq of the first row that carries a key of one before it in the append.
    fn doubled(&self) -> Option<u64> {
        let rows = &self.rows;
        let twin = |at: usize| rows[..at].iter().any(|before| share_a_key(before, &rows[at]));
        (0..rows.len()).find(|at| twin(*at)).map(|at| rows[at].seq)
    }

    /// True if every row can be read: what is in one that cannot is nobody's key.
    fn is_readable(&self) -> bool {
        self.rows.len() == self.raw.len()
    }

    fn find(&self, ruling: &mut Ruling, message: alloc::string::String, seq: Option<u64>) {
        let finding = Finding::new(RULE, self.step, message);
        ruling.find(match seq {
            Some(seq) => finding.row(seq),
            None => finding,
        });
    }
}

/// `record.keyed-append`: what is held already under a key comes back, and nothing
/// is stored; two rows of one append do not share one.
pub(in super::super) fn keyed_append(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Append { expect, rows }, Some(held)) = (&taken.op, evidence.holdings.before[step])
        else {
            continue;
        };
        let asked = Asked {
            step,
            expect: *expect,
            raw: rows,
            rows: readable(rows),
            held: evidence.holdings.rows(held),
            stored: evidence.holdings.raw(held),
            outcome: &taken.outcome,
        };
        let known = asked.known();
        match (known.is_empty(), asked.doubled()) {
            (false, _) => comes_back(&mut ruling, &asked, &known),
            (true, Some(seq)) => is_refused(&mut ruling, &asked, seq),
            (true, None) => is_new(&mut ruling, &asked),
        }
    }
    stored_though_known(evidence, &mut ruling);
    ruling
}

/// A key is held: its row comes back, whatever else is wrong with the append.
fn comes_back(ruling: &mut Ruling, asked: &Asked<'_>, known: &[usize]) {
    let first = known.first().map(|place| *place as u64);
    let next = asked.held.len() as u64;
    let message = if let Outcome::Known { next: said, rows } = asked.outcome {
        let due: Vec<&Json> = known.iter().map(|place| &asked.stored[*place]).collect();
        let right =
            rows.len() == due.len() && rows.iter().zip(&due).all(|(row, due)| same(row, due));
        if right && *said == next {
            return ruling.witness();
        }
        if right {
            format!("nothing is stored, so row {next} is next; row {said} is said to be")
        } else {
            format!(
                "what comes back is not what was first stored under the keys: {} rows for {}",
                rows.len(),
                due.len()
            )
        }
    } else if let Outcome::Appended { .. } = asked.outcome {
        format!("row {} holds a key of it already, and it was stored again", first.unwrap_or(0))
    } else if let Outcome::Refused(refusal) = asked.outcome {
        format!(
            "refused as {:?}; row {} holds a key of it already and must come back",
            refusal.code,
            first.unwrap_or(0)
        )
    } else {
        return;
    };
    asked.find(ruling, message, first);
}

/// Two rows of the append share a key: it is refused at the second, unless
/// something is wrong that comes first.
fn is_refused(ruling: &mut Ruling, asked: &Asked<'_>, seq: u64) {
    let due = RefusalCode::DuplicateKey;
    let stale = asked.expect != asked.held.len() as u64;
    let message = if let Outcome::Refused(refusal) = asked.outcome {
        if refusal.code == due && refusal.seq == Some(seq) {
            return ruling.witness();
        }
        if refusal.code != due && (stale || is_for_another(asked, refusal, seq)) {
            return;
        }
        format!(
            "refused as {:?} at {:?}; the reason is {due:?} at row {seq}",
            refusal.code, refusal.seq
        )
    } else if let Outcome::Appended { .. } = asked.outcome {
        format!("two rows of one append carry one key; it must be refused as {due:?}")
    } else if let Outcome::Known { .. } = asked.outcome {
        format!("nothing is held under its keys; it must be refused as {due:?}")
    } else {
        return;
    };
    asked.find(ruling, message, Some(seq));
}

/// True if another rule refuses one of the rows up to this seq.
fn is_for_another(asked: &Asked<'_>, refusal: &Refusal, seq: u64) -> bool {
    let rows = || asked.raw.iter().map(|raw| &**raw);
    let malformed = fault_of(asked.held, rows());
    malformed.is_some_and(|fault| fault.seq.is_none_or(|at| at <= seq))
        || is_for_another_chapter(refusal, rows(), Some(seq))
}

/// No key is held, and no two rows share one: it is not told to be known.
fn is_new(ruling: &mut Ruling, asked: &Asked<'_>) {
    let message = if let Outcome::Known { .. } = asked.outcome {
        if !asked.is_readable() {
            return;
        }
        "this conversation holds none of its keys, and it is said to be known".into()
    } else if let Outcome::Refused(refusal) = asked.outcome {
        if refusal.code != RefusalCode::DuplicateKey {
            return;
        }
        format!("no two rows of it share a key; it was refused for that: {}", refusal.detail)
    } else {
        return;
    };
    asked.find(ruling, message, None);
}

/// What is said to be known is not stored beside.
fn stored_though_known(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    let steps = &evidence.trace.steps;
    for (step, taken) in steps.iter().enumerate() {
        let (Op::Read { from, .. }, Outcome::Rows { rows }, Some(held)) =
            (&taken.op, &taken.outcome, evidence.holdings.before[step])
        else {
            continue;
        };
        let due = (held.rows as u64).saturating_sub(from.unwrap_or(0));
        let known = steps[..step]
            .iter()
            .rposition(|step| matches!(step.op, Op::Append { .. } | Op::Load { .. }))
            .filter(|at| matches!(steps[*at].outcome, Outcome::Known { .. }))
            .filter(|at| evidence.holdings.before[*at].is_some_and(|then| is_one(then, held)));
        if let Some(known) = known
            && rows.len() as u64 > due
        {
            let message =
                format!("step {known} was said to be known, and something of it was stored");
            ruling.find(Finding::new(RULE, step, message));
        }
    }
}

fn is_one(then: Snapshot, now: Snapshot) -> bool {
    then.generation == now.generation
}
