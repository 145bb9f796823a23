//! The judges of chapter `page`.

mod cursors;
mod pages;
mod windows;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub(super) use cursors::{covers_once, cursor_strict};
pub(super) use pages::{
    contiguous, cost, counts_append_origin, never_mid_message, provenance_together, says_more,
};
pub(super) use windows::{display_order, limits, no_summaries, windows};

use super::evidence::Evidence;
use super::held::Snapshot;
use crate::json::{Fields, Json, RawValue, Tree};
use crate::op::{Op, Outcome};
use crate::page::Page;
use crate::record::{CompactionStage, Event, Row};
use crate::text::Text;

/// A page that came back.
struct Told<'a> {
    step: usize,
    held: Snapshot,
    limit: usize,
    /// The seq at which it must end.
    end: usize,
    page: &'a Page,
    rows: &'a [Row],
    raw: &'a [Json],
}

impl Told<'_> {
    /// True if the page is not the whole record: whoever hands over all rows
    /// decides nothing.
    fn is_part(&self) -> bool {
        self.page.rows.len() != self.rows.len()
    }

    /// The seq at which the page begins, if it is of this record at all.
    fn start(&self) -> Option<usize> {
        self.end.checked_sub(self.page.rows.len())
    }
}

/// Every page of the trace whose end is known: the newest, or the one before a
/// cursor that was given out.
fn told<'a>(evidence: &'a Evidence<'_>) -> Vec<Told<'a>> {
    let mut ends: BTreeMap<(usize, &Text), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Page { limit, before }, Outcome::Page(page)) = (&taken.op, &taken.outcome) else {
            continue;
        };
        let Some(held) = evidence.holdings.before[step] else { continue };
        let end = match before {
            None => Some(held.rows),
            Some(cursor) => ends.get(&(held.generation, cursor)).copied(),
        };
        let (Some(end), Ok(limit)) = (end, usize::try_from(*limit)) else { continue };
        if limit == 0 {
            continue;
        }
        if let Some(cursor) = &page.before {
            let start = first_seq(&page.rows).unwrap_or(end);
            ends.entry((held.generation, cursor)).or_insert(start);
        }
        let (rows, raw) = (evidence.holdings.rows(held), evidence.holdings.raw(held));
        found.push(Told { step, held, limit, end, page, rows, raw });
    }
    found
}

fn first_seq(rows: &[Json]) -> Option<usize> {
    usize::try_from(seq(rows.first()?)?).ok()
}

fn seq(raw: &RawValue) -> Option<u64> {
    Fields::open(raw).ok()?.take("seq", "a number").ok()?
}

/// The same stored value.
fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// What no page separates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A message and the pieces that it was streamed in.
    Streamed,
    /// A compaction's provenance and the replacement that cites it.
    Provenance,
}

/// The stretches that no page separates: kind, first and last row.
fn units(rows: &[Row]) -> Vec<(Unit, usize, usize)> {
    let places: BTreeMap<&Text, usize> =
        rows.iter().enumerate().map(|(place, row)| (&row.id, place)).collect();
    let mut streams: BTreeMap<&Text, (usize, usize)> = BTreeMap::new();
    let mut provenance: BTreeMap<&Text, usize> = BTreeMap::new();
    let mut units = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        if let Event::Delta(delta) = &row.event {
            let whole = places.get(&delta.message).copied();
            if whole.is_none_or(|whole| whole > place) {
                let last = whole.unwrap_or(place);
                let stream = streams.entry(&delta.message).or_insert((place, last));
                stream.1 = stream.1.max(last);
            }
        }
        if let Event::Compaction(step) = &row.event
            && step.step == CompactionStage::Provenance
        {
            provenance.insert(&step.compaction, place);
        }
        let cites = row.replaces.as_ref().and_then(|replaces| replaces.compaction.as_ref());
        if let Some(first) = cites.and_then(|id| provenance.get(id)) {
            units.push((Unit::Provenance, *first, place));
        }
    }
    units.extend(streams.into_values().map(|(first, last)| (Unit::Streamed, first, last)));
    units
}

/// True for what counts towards a page's limit.
pub(super) fn counts(row: &Row) -> bool {
    row.replaces.is_none() && matches!(row.event, Event::Message(_))
}

/// Where a page that ends at `end` must begin: so many messages, and then as far
/// back as what belongs to its first row.
pub(super) fn due_start(rows: &[Row], end: usize, limit: usize) -> usize {
    let newest_first = (0..end).rev().filter(|place| counts(&rows[*place]));
    let mut start = newest_first.clone().nth(limit - 1).unwrap_or(0);
    let units = units(rows);
    let straddling = |start: usize| {
        let cut = units.iter().filter(|(_, first, last)| *first < start && start <= *last);
        cut.map(|(_, first, _)| *first).min()
    };
    while let Some(first) = straddling(start) {
        start = first;
    }
    start
}

/// The ids of rows.
fn ids(rows: &[Json]) -> BTreeSet<Text> {
    let id = |raw: &Json| Fields::open(raw).ok()?.take::<Text>("id", "a string").ok()?;
    rows.iter().filter_map(id).collect()
}
