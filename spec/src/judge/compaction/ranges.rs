//! The judge of ranges: what a replacement names must be a stretch of the context.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::log;
use super::super::lookup::is_known;
use crate::finding::{Finding, Ruling};
use crate::json::Json;
use crate::op::{Cut, Op, Outcome, RefusalCode};
use crate::record::{Replaces, Row};
use crate::rule::Rule;
use crate::text::Text;

const RULE: Rule = Rule::CompactionReplacesRange;

/// `compaction.replaces-range`: a range that is absent, crossed or cited in part
/// is refused, and one that is none of these is not refused for it.
pub(in super::super) fn replaces_range(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let held = evidence.holdings.before[step];
        let before = held.map_or(&[][..], |held| evidence.holdings.rows(held));
        let gone = held.map(|held| evidence.holdings.gone(held)).unwrap_or_default();
        let given = match (&taken.op, held) {
            (Op::Load { rows, .. }, _) => given(&[], &BTreeSet::new(), rows),
            (Op::Open { log }, _) => {
                let rows: Vec<Json> =
                    log::read(&log.0).rows.into_iter().map(|(raw, _)| raw).collect();
                given(&[], &BTreeSet::new(), &rows)
            }
            (Op::Append { expect, rows }, Some(held))
                if *expect == held.rows as u64 && !is_known(evidence, step) =>
            {
                given(before, &gone, rows)
            }
            (Op::Compact(compact), Some(_)) => match &compact.cut {
                Some(Cut::Range { first, last } | Cut::Nearest { first, last }) => {
                    let order = order(before, &gone);
                    Given { named: true, fault: stretch_fault(&order, first, last) }
                }
                Some(Cut::Budget(_)) | None => continue,
            },
            (_, _) => continue,
        };
        if !given.named {
            continue;
        }
        judge(&mut ruling, step, &given, &taken.outcome);
    }
    ruling
}

/// What of ranges an op gives.
struct Given {
    /// Whether it names a range at all.
    named: bool,
    /// Why one must be refused: the code, and the seq of the row.
    fault: Option<(RefusalCode, Option<u64>)>,
}

fn judge(ruling: &mut Ruling, step: usize, given: &Given, outcome: &Outcome) {
    let is_of_ranges = |code| matches!(code, RefusalCode::NotInContext | RefusalCode::Uncited);
    let message = match (given.fault, outcome) {
        (_, Outcome::Unsupported { .. }) => return,
        (Some((code, _)), Outcome::Refused(refusal)) if refusal.code == code => {
            return ruling.witness();
        }
        // Another reason may come first.
        (Some(_), Outcome::Refused(refusal)) if !is_of_ranges(refusal.code) => return,
        (Some((code, _)), Outcome::Refused(refusal)) => {
            format!("refused as {:?}; the reason is {code:?}", refusal.code)
        }
        (Some((code, _)), _) => format!("was taken; it must be refused as {code:?}"),
        (None, Outcome::Refused(refusal)) if is_of_ranges(refusal.code) => {
            format!("refused though the range is one: {}", refusal.detail)
        }
        (None, Outcome::Refused(_)) => return,
        (None, _) => return ruling.witness(),
    };
    let mut finding = Finding::new(RULE, step, message);
    finding.seq = given.fault.and_then(|(_, seq)| seq);
    ruling.find(finding);
}

/// The ranges that rows name, and the first fault of one.
fn given(before: &[Row], gone: &BTreeSet<&Text>, raws: &[Json]) -> Given {
    let mut rows: Vec<Row> = before.to_vec();
    let mut named = false;
    for raw in raws {
        let Ok(row) = Row::decode(raw) else { break };
        if let Some(replaces) = &row.replaces {
            named = true;
            if let Some(code) = fault(&order(&rows, gone), replaces) {
                return Given { named, fault: Some((code, Some(row.seq))) };
            }
        }
        rows.push(row);
    }
    Given { named, fault: None }
}

/// The position in the context of each row that stands there. Those that are gone
/// left it without a row that says so.
fn order<'a>(rows: &'a [Row], gone: &BTreeSet<&Text>) -> BTreeMap<&'a Text, usize> {
    let index: BTreeMap<&Text, usize> =
        rows.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
    let mut left: Vec<bool> = rows.iter().map(|row| gone.contains(&row.id)).collect();
    let mut place: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let taken = row.replaces.iter().flat_map(|replaces| &replaces.rows);
        let taken: Vec<usize> = taken.filter_map(|id| index.get(id).copied()).collect();
        place.push(taken.first().map_or(at, |first| place[*first]));
        taken.into_iter().for_each(|taken| left[taken] = true);
    }
    let mut standing: Vec<usize> = (0..rows.len()).filter(|at| !left[*at]).collect();
    standing.sort_by_key(|at| (place[*at], *at));
    standing.into_iter().enumerate().map(|(position, at)| (&rows[at].id, position)).collect()
}

/// Why a replacement's range must be refused.
fn fault(order: &BTreeMap<&Text, usize>, replaces: &Replaces) -> Option<RefusalCode> {
    let cited: Option<Vec<usize>> = replaces.rows.iter().map(|id| order.get(id).copied()).collect();
    let ends = (replaces.rows.first(), replaces.rows.last());
    match cited {
        Some(cited) if ends == (Some(&replaces.first), Some(&replaces.last)) => {
            let rises = cited.windows(2).all(|pair| pair[0] < pair[1]);
            let unbroken = cited.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            match (rises, unbroken) {
                (true, true) => None,
                (true, false) => Some(RefusalCode::Uncited),
                (false, _) => Some(RefusalCode::NotInContext),
            }
        }
        Some(_) | None => Some(RefusalCode::NotInContext),
    }
}

/// Why a stretch that is asked for by its ends is none.
fn stretch_fault(
    order: &BTreeMap<&Text, usize>,
    first: &Text,
    last: &Text,
) -> Option<(RefusalCode, Option<u64>)> {
    match (order.get(first), order.get(last)) {
        (Some(first), Some(last)) if first <= last => None,
        (_, _) => Some((RefusalCode::NotInContext, None)),
    }
}
