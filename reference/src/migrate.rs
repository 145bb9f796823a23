//! Migration: the rows of a side table go back to their place.
//!
//! An older version moved the rows that a compaction took to a side table and left
//! holes in `seq`. The replacement says what it took, so the rows need nothing but
//! their place: the flags follow from the record (`migration.side-table`).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use onrecord_spec::json::{Json, Tree};
use onrecord_spec::op::{Older, Refusal, RefusalCode};

use crate::record::{Record, decode, refusal};

/// A store of the older shape, on its way.
#[derive(Debug, Clone)]
pub struct Migration {
    header: Option<Json>,
    /// The rows of the main table, by seq.
    rows: BTreeMap<u64, Json>,
    /// The rows of the side table, each with its seq.
    side: Vec<(u64, Json)>,
}

impl Migration {
    /// Begins on a store of the older shape. Refused if it holds what is no row, or
    /// two rows for one place; nothing was touched then.
    ///
    /// A row that stands in both tables, since the older version died between copying
    /// and deleting it, is in its place already.
    pub fn begin(older: &Older) -> Result<Self, Refusal> {
        let mut begun =
            Self { header: older.header.clone(), rows: BTreeMap::new(), side: Vec::new() };
        for raw in &older.rows {
            let seq = decode(raw)?.seq;
            if begun.rows.insert(seq, raw.clone()).is_some() {
                return Err(claimed_twice(seq));
            }
        }
        let mut moved: BTreeMap<u64, &Json> = BTreeMap::new();
        for raw in &older.side {
            let seq = decode(raw)?.seq;
            match begun.rows.get(&seq).or_else(|| moved.get(&seq).copied()) {
                Some(there) if same(there, raw) => {}
                Some(_) => return Err(claimed_twice(seq)),
                None => {
                    moved.insert(seq, raw);
                    begun.side.push((seq, raw.clone()));
                }
            }
        }
        Ok(begun)
    }

    /// How many rows the side table still holds.
    #[must_use]
    pub fn side(&self) -> usize {
        self.side.len()
    }

    /// Puts one row of the side table back to its place, and does not yet take it out
    /// of there: where a crash hurts most.
    pub fn put_back(&mut self) {
        let Some((seq, raw)) = self.side.last() else { return };
        self.rows.entry(*seq).or_insert_with(|| raw.clone());
    }

    /// Takes the row that was put back out of the side table.
    pub fn take_out(&mut self) {
        self.side.pop();
    }

    /// Puts all rows back. A row that is in its place already, because an earlier
    /// start died behind putting it there, is put there once.
    pub fn finish(&mut self) -> Result<Record, Refusal> {
        let mut folded = self.clone();
        while folded.side() > 0 {
            folded.put_back();
            folded.take_out();
        }
        let rows: Vec<Json> = folded.rows.values().cloned().collect();
        let record = Record::load(folded.header.as_deref(), &rows)?;
        *self = folded;
        Ok(record)
    }
}

/// The same stored value: the older version may have written it anew.
fn same(a: &Json, b: &Json) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// To keep one of the two would be to lose the other.
fn claimed_twice(seq: u64) -> Refusal {
    let detail = format!("two different rows have seq {seq} (record.seq-gap-free)");
    refusal(RefusalCode::WrongSeq, Some(seq), detail)
}
