//! The judges of chapter `lookup`: what is stored once, what is found again, and
//! what goes when it is deleted.
//!
//! They ask what is held, row by row from the front. They keep no index of keys:
//! that an index can forget is what they look for.

mod deleted;
mod found;
mod keyed;

use alloc::vec::Vec;

pub(super) use deleted::delete_conversation;
pub(super) use found::lookup_shadowed;
pub(super) use keyed::keyed_append;

use super::evidence::Evidence;
use crate::json::{Json, RawValue, Tree};
use crate::op::Op;
use crate::record::Row;

fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// True if two rows are one request or one report. A request and a report with
/// one key are two things.
fn share_a_key(a: &Row, b: &Row) -> bool {
    a.request.is_some() && a.request == b.request || a.report.is_some() && a.report == b.report
}

/// The rows of an append that can be read.
fn readable(rows: &[Json]) -> Vec<Row> {
    rows.iter().filter_map(|raw| Row::decode(raw).ok()).collect()
}

/// True if the step is an append of which a row carries a key that is held
/// already. Then the rows are not looked at (`record.keyed-append`).
pub(super) fn is_known(evidence: &Evidence<'_>, step: usize) -> bool {
    let (Op::Append { rows, .. }, Some(held)) =
        (&evidence.trace.steps[step].op, evidence.holdings.before[step])
    else {
        return false;
    };
    let held = evidence.holdings.rows(held);
    readable(rows).iter().any(|row| held.iter().any(|stored| share_a_key(row, stored)))
}
