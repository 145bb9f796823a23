//! What pages and windows need to know of a record, kept up as it grows, so that
//! they cost what they hand over and not what the record holds (`page.cost`).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use onrecord_spec::json::to_line;
use onrecord_spec::record::{CompactionStage, Event, Row};
use onrecord_spec::text::Text;

use crate::input::authority_left_out;

/// The indexes of a record. Rows are known by their place in it.
#[derive(Debug, Clone, Default)]
pub struct Views {
    /// The messages of append origin: what counts towards a page's limit
    /// (`page.counts-append-origin`).
    messages: Vec<usize>,
    /// Stretches of rows that no page separates: first and last row. They do not
    /// touch each other.
    units: BTreeMap<usize, usize>,
    /// The first piece of each message that has not come yet.
    streams: BTreeMap<Text, usize>,
    /// Where each compaction says what it will take.
    provenance: BTreeMap<Text, usize>,
    /// The rows that a window shows, each with the bytes of its JSON.
    shown: Vec<(usize, usize)>,
}

impl Views {
    /// Takes note of a row. `came` says whether the message that a piece is of
    /// has come already; `bytes` is the length of the row's JSON.
    pub(crate) fn admit(&mut self, row: &Row, place: usize, bytes: usize, came: bool) {
        if let Some(first) = self.streams.remove(&row.id) {
            self.join(first, place);
        }
        match &row.event {
            Event::Message(_) if row.is_append() => self.messages.push(place),
            Event::Delta(delta) if !came => {
                let first = *self.streams.entry(delta.message.clone()).or_insert(place);
                self.join(first, place);
            }
            Event::Compaction(step) if step.step == CompactionStage::Provenance => {
                self.provenance.insert(step.compaction.clone(), place);
            }
            Event::Message(_)
            | Event::CallStarted(_)
            | Event::Result(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => {}
        }
        let cited = row.replaces.as_ref().and_then(|replaces| replaces.compaction.as_ref());
        if let Some(provenance) = cited.and_then(|id| self.provenance.get(id).copied()) {
            self.join(provenance, place);
        }
        if is_shown(row) {
            let bytes = match authority_left_out(row) {
                Some(row) => to_line(&row).map_or(bytes, |line| line.len()),
                None => bytes,
            };
            self.shown.push((place, bytes));
        }
    }

    /// The rows from `first` to `last` belong together: joined with every stretch
    /// that they touch.
    fn join(&mut self, mut first: usize, mut last: usize) {
        if first == last {
            return;
        }
        while let Some((from, to)) = self.units.range(..=last).next_back() {
            let (from, to) = (*from, *to);
            if to < first {
                break;
            }
            self.units.remove(&from);
            first = first.min(from);
            last = last.max(to);
        }
        self.units.insert(first, last);
    }

    /// Where a page that ends before row `end` begins, if it is to hold `limit`
    /// messages.
    pub(crate) fn page_before(&self, end: usize, limit: usize) -> usize {
        let counted = self.messages.partition_point(|message| *message < end);
        let start = match counted.checked_sub(limit) {
            Some(first) => self.messages[first],
            None => 0,
        };
        // Never between the rows of a unit (`page.never-mid-message`,
        // `page.provenance-together`).
        match self.units.range(..start).next_back() {
            Some((first, last)) if start <= *last => *first,
            Some(_) | None => start,
        }
    }

    /// The rows that a window shows: the place of each, and its bytes.
    pub(crate) fn shown(&self) -> &[(usize, usize)] {
        &self.shown
    }

    /// How many rows that a window shows stand before this place.
    pub(crate) fn shown_before(&self, place: usize) -> usize {
        self.shown.partition_point(|(shown, _)| *shown < place)
    }
}

/// True for the rows that a window shows: messages and results of append origin
/// that are for people. No summary is among them (`page.no-summaries`).
fn is_shown(row: &Row) -> bool {
    row.is_append()
        && row.is_for_people()
        && match &row.event {
            Event::Message(_) | Event::Result(_) => true,
            Event::CallStarted(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => false,
        }
}
