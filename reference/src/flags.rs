//! What became of each row: by which row it was taken out of the context, and
//! what each replacement stands for.
//!
//! All of it is derived from the ranges that rows name (`compaction.flags-rows`).
//! A row leaves the context once, so its flag is set once
//! (`compaction.flag-once`). A row is known by its place in the record.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The flags of a record.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// For each row, the row that took it.
    taken_by: Vec<Option<usize>>,
    /// For each replacement, what it stands for.
    spans: BTreeMap<usize, Span>,
}

/// What a replacement stands for: a stretch of the rows of append origin, through
/// earlier replacements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first row of append origin.
    pub first: usize,
    /// The last one: on screen the replacement would follow it
    /// (`compaction.screen-anchor`).
    pub last: usize,
    /// How many rows the replacement cites.
    pub cited: usize,
}

impl Flags {
    /// Takes note of the record's next row, which takes these, in the order of the
    /// context.
    pub(crate) fn admit(&mut self, taken: &[usize]) {
        let row = self.taken_by.len();
        if let (Some(first), Some(last)) = (taken.first(), taken.last()) {
            let first = self.span(*first).map_or(*first, |span| span.first);
            let last = self.last_append(*last);
            self.spans.insert(row, Span { first, last, cited: taken.len() });
        }
        for place in taken {
            self.taken_by[*place] = Some(row);
        }
        self.taken_by.push(None);
    }

    /// The row that took this one out of the context.
    #[must_use]
    pub fn taken_by(&self, place: usize) -> Option<usize> {
        self.taken_by.get(place).copied().flatten()
    }

    /// What a replacement stands for; none for a row of append origin.
    #[must_use]
    pub fn span(&self, place: usize) -> Option<Span> {
        self.spans.get(&place).copied()
    }

    /// The row itself, or the last row of append origin that it stands for: where
    /// it is on screen.
    #[must_use]
    pub fn last_append(&self, place: usize) -> usize {
        self.span(place).map_or(place, |span| span.last)
    }

    /// For each row, the row of the context that stands for it: itself, or the one
    /// that took it, or the one that took that.
    #[must_use]
    pub fn live(&self) -> Vec<usize> {
        let mut live: Vec<usize> = (0..self.taken_by.len()).collect();
        // Whoever takes a row comes later, so it is settled first.
        for place in (0..live.len()).rev() {
            if let Some(by) = self.taken_by[place] {
                live[place] = live[by];
            }
        }
        live
    }
}
