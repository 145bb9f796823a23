//! An older store, read: the rows of its two tables, and what is wrong with them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{carries, same};
use crate::json::{Json, RawValue};
use crate::judge::held::{Fault, fault_of};
use crate::op::{Key, Older, Refusal, RefusalCode};
use crate::record::{Header, Row};
use crate::text::Text;

/// The two tables of an older store.
pub(super) struct Tables<'a> {
    /// False if the header is at fault: then the rows are not looked at.
    pub has_header: bool,
    given: Vec<&'a RawValue>,
    /// The rows of both tables in their places, each once.
    merged: BTreeMap<u64, (Row, &'a Json)>,
    /// The seqs of those that stand in the side table alone.
    moved: BTreeSet<u64>,
    /// The seqs that two different rows claim, over both tables.
    claimed_twice: BTreeSet<u64>,
}

impl<'a> Tables<'a> {
    pub fn of(older: &'a Older) -> Self {
        let header = older.header.as_deref();
        let mut tables = Self {
            has_header: header.is_none_or(|header| Header::decode(header).is_ok()),
            given: older.rows.iter().chain(&older.side).map(|raw| &**raw).collect(),
            merged: BTreeMap::new(),
            moved: BTreeSet::new(),
            claimed_twice: BTreeSet::new(),
        };
        for raw in &older.rows {
            // One that stands there twice never had a place.
            tables.put(raw, |_| false);
        }
        for raw in &older.side {
            if let Some(seq) = tables.put(raw, |there| same(there, raw)) {
                tables.moved.insert(seq);
            }
        }
        tables
    }

    /// Puts a row to its place. Gives its seq if nothing stood there.
    fn put(&mut self, raw: &'a Json, is_there: impl Fn(&RawValue) -> bool) -> Option<u64> {
        let row = Row::decode(raw).ok()?;
        let seq = row.seq;
        match self.merged.get(&seq) {
            None => {
                self.merged.insert(seq, (row, raw));
                return Some(seq);
            }
            Some((_, there)) if is_there(there) => {}
            Some(_) => {
                self.claimed_twice.insert(seq);
            }
        }
        None
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.merged.len()
    }

    /// How many of them stand in the side table alone.
    pub fn moved(&self) -> usize {
        self.moved.len()
    }

    pub fn was_moved(&self, seq: u64) -> bool {
        self.moved.contains(&seq)
    }

    /// Why the store must be refused: any of these, in no order. First what is no row
    /// at all, then two rows that claim one place, then what the rows are together.
    pub fn faults(&self) -> Vec<Fault> {
        let unreadable = self.given.iter().filter(|raw| Row::decode(raw).is_err());
        let mut faults: Vec<Fault> =
            unreadable.filter_map(|raw| fault_of(&[], core::iter::once(*raw))).collect();
        let twice = self.claimed_twice.iter();
        faults.extend(twice.map(|seq| Fault { code: RefusalCode::WrongSeq, seq: Some(*seq) }));
        if faults.is_empty() {
            faults.extend(fault_of(&[], self.merged.values().map(|(_, raw)| &***raw)));
        }
        faults
    }

    /// True if the rows were refused for a range, and one may be at fault.
    pub fn may_be_refused_for_ranges(&self, refusal: &Refusal) -> bool {
        use RefusalCode::{NotInContext, NotOneResult, Uncited};
        matches!(refusal.code, Uncited | NotOneResult)
            || refusal.code == NotInContext && !self.has_plain_ranges()
    }

    /// True if each replacement cites rows before it, in their order, which nobody took
    /// before.
    fn has_plain_ranges(&self) -> bool {
        // Where each row stands: a replacement where its first row did.
        let mut stands: BTreeMap<&Text, (u64, u64)> = BTreeMap::new();
        for (seq, (row, _)) in &self.merged {
            let mut place = (*seq, *seq);
            if let Some(replaces) = &row.replaces {
                let cited: Vec<_> = replaces.rows.iter().map(|id| stands.remove(id)).collect();
                let ends = replaces.rows.first() == Some(&replaces.first)
                    && replaces.rows.last() == Some(&replaces.last);
                let Some(Some(first)) = cited.first().copied() else { return false };
                if !ends || cited.contains(&None) || !cited.is_sorted() {
                    return false;
                }
                place = (first.0, *seq);
            }
            stands.insert(&row.id, place);
        }
        true
    }

    /// The rows of the side table alone, each with the row that took it, if one did.
    pub fn returned(&self) -> impl Iterator<Item = (&Row, Option<&Row>)> {
        let takers = self.merged.values().rev();
        let by: BTreeMap<&Text, &Row> = takers
            .flat_map(|(row, _)| {
                let cited = row.replaces.iter().flat_map(|replaces| &replaces.rows);
                cited.map(move |id| (id, row))
            })
            .collect();
        let moved = self.moved.iter().filter_map(|seq| self.merged.get(seq));
        moved.map(move |(row, _)| (row, by.get(&row.id).copied()))
    }

    /// The row that is found under a key, if it came from the side table: the first
    /// that carries it.
    pub fn first_with(&self, key: &Key) -> Option<(&Row, &'a Json)> {
        let (seq, (row, raw)) = self.merged.iter().find(|(_, (row, _))| carries(row, key))?;
        self.was_moved(*seq).then_some((row, *raw))
    }
}
