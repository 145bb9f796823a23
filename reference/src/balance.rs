//! Balance: what a cut may not separate.
//!
//! A call and its result, paired as for a replay, belong together, and so do the
//! pieces of a message that never came whole. Each such group is a unit, and a
//! stretch of the context is balanced if every unit is in it whole or not at all
//! (`compaction.balanced-cut`). A unit may reach around a stretch: it is outside.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use onrecord_spec::record::{Event, Row};
use onrecord_spec::text::Text;

use crate::record::Record;
use crate::replay::rounds;

/// The context with its units. Rows are known by their position in the context.
pub(crate) struct Balance<'a> {
    pub rows: Vec<&'a Row>,
    /// The rounds: the position of each declaration, and of the results of its
    /// calls.
    pub rounds: Vec<(usize, Vec<Option<usize>>)>,
    /// The pieces of each message that never came whole.
    pub streams: Vec<Vec<usize>>,
    /// For each position, the first and the last one of each unit that it is in.
    units: Vec<Vec<(usize, usize)>>,
}

impl<'a> Balance<'a> {
    pub fn of(record: &'a Record) -> Self {
        let rows: Vec<&Row> = record.context().collect();
        let positions: BTreeMap<u64, usize> =
            rows.iter().enumerate().map(|(at, row)| (row.seq, at)).collect();
        let position = |seq: &u64| positions.get(seq).copied();
        let rounds: Vec<(usize, Vec<Option<usize>>)> = rounds(record)
            .into_iter()
            .filter_map(|(seq, answers)| {
                let answers = answers.iter().map(|seq| position(seq.as_ref()?)).collect();
                Some((position(&seq)?, answers))
            })
            .collect();
        let streams = streams(record, &rows);
        let pairs = rounds.iter().flat_map(|(call, answers)| {
            answers.iter().flatten().map(|answer| vec![*call, *answer])
        });
        let mut units = vec![Vec::new(); rows.len()];
        for unit in pairs.chain(streams.iter().cloned()) {
            if let (Some(first), Some(last)) = (unit.iter().min(), unit.iter().max()) {
                unit.iter().for_each(|at| units[*at].push((*first, *last)));
            }
        }
        Self { rows, rounds, streams, units }
    }

    /// The position of a row of the context.
    pub fn position(&self, id: &Text) -> Option<usize> {
        self.rows.iter().position(|row| row.id == *id)
    }

    /// True if the stretch separates nothing.
    pub fn holds_together(&self, stretch: &RangeInclusive<usize>) -> bool {
        self.nearest(stretch.clone()) == *stretch
    }

    /// The smallest balanced stretch that holds this one: whatever is in it in
    /// part is taken in whole.
    pub fn nearest(&self, stretch: RangeInclusive<usize>) -> RangeInclusive<usize> {
        let (mut first, mut last) = stretch.into_inner();
        let mut pending: Vec<usize> = (first..=last).collect();
        while let Some(at) = pending.pop() {
            for (from, to) in &self.units[at] {
                pending.extend(*from..first);
                pending.extend(last + 1..=*to);
                first = first.min(*from);
                last = last.max(*to);
            }
        }
        first..=last
    }

    /// For each edge (between a position and the one before it), whether a cut
    /// there separates nothing.
    pub fn edges(&self) -> Vec<bool> {
        let mut reach = 0;
        let mut edges = Vec::with_capacity(self.rows.len() + 1);
        for (at, units) in self.units.iter().enumerate() {
            edges.push(reach <= at);
            let furthest = units.iter().map(|(_, last)| *last).max();
            // A unit that ends here leaves the next edge free.
            reach = reach.max(furthest.filter(|last| *last > at).map_or(0, |last| last + 1));
        }
        edges.push(true);
        edges
    }
}

/// The pieces of messages that never came whole, a list for each message.
fn streams(record: &Record, rows: &[&Row]) -> Vec<Vec<usize>> {
    let mut streams: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Event::Delta(delta) = &row.event
            && row.is_for_model()
            && !record.holds(&delta.message)
        {
            streams.entry(&delta.message).or_default().push(at);
        }
    }
    streams.into_values().collect()
}
