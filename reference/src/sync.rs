//! The client's side of a sync: a state machine that knows no store and no wire.
//!
//! A poll begins with the stamp ([`Client::begin`]). If it has not moved, the client
//! is done and has read nothing (`sync.cheap`). If it has, the client asks for the
//! newest messages (`sync.newest-only`) and joins them to what it holds; if the two
//! do not meet, it asks for everything from the first row that it holds
//! (`sync.join`). Each answer goes to [`Client::take`], which says what to ask next.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use onrecord_spec::json::Json;
use onrecord_spec::record::{Event, Row, TurnEdge};
use onrecord_spec::sync::{Stamp, Synced};
use onrecord_spec::text::Text;

/// What a client asks a store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The newest page.
    Newest,
    /// All rows from this seq on.
    From(u64),
}

/// A client of one conversation.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// One stretch of the record, without a gap.
    held: Vec<Json>,
    /// The stamp of what it holds; none if that had not settled.
    cached: Option<Stamp>,
    /// The sync that is under way.
    under_way: Option<UnderWay>,
}

/// A sync under way.
#[derive(Debug, Clone)]
struct UnderWay {
    /// The stamp, asked for before anything was read: what changes after it makes
    /// another stamp, and is read next time.
    stamp: Stamp,
    /// The newest page, if it did not meet what is held.
    newest: Option<Vec<Json>>,
}

impl Client {
    /// Begins a sync, with the stamp as it is now. What to ask for; none if nothing
    /// moved.
    pub fn begin(&mut self, stamp: Stamp) -> Option<Ask> {
        if self.cached.as_ref() == Some(&stamp) {
            return None;
        }
        self.under_way = Some(UnderWay { stamp, newest: None });
        Some(Ask::Newest)
    }

    /// Takes the rows that were asked for. What to ask for next; none if the sync is
    /// done.
    pub fn take(&mut self, rows: Vec<Json>) -> Option<Ask> {
        let mut sync = self.under_way.take()?;
        match (sync.newest.take(), self.held.first()) {
            (None, Some(first)) => match join(&self.held, &rows) {
                Some(joined) => self.held = joined,
                None => {
                    let from = seq(first)?;
                    self.under_way = Some(UnderWay { newest: Some(rows), ..sync });
                    return Some(Ask::From(from));
                }
            },
            // Nothing is held: the page is all there is.
            (None, None) => self.held = rows,
            // Everything from the first held row on, if the record still holds that:
            // if not, it is another record, and what is held is of no use.
            (Some(newest), first) => {
                let meets = first.zip(rows.first()).is_some_and(|(held, read)| same(held, read));
                self.held = if meets { rows } else { newest };
            }
        }
        self.cached = is_settled(&self.held).then_some(sync.stamp);
        None
    }

    /// The rows that it holds.
    #[must_use]
    pub fn held(&self) -> &[Json] {
        &self.held
    }

    /// The outcome of a sync that read these stretches.
    #[must_use]
    pub fn synced(&self, reads: Vec<onrecord_spec::sync::Span>) -> Synced {
        Synced { rows: self.held.clone(), reads, cached: self.cached.clone() }
    }
}

/// What is held before the first held row that the page contains, and the page from
/// there. None if they do not meet.
fn join(held: &[Json], page: &[Json]) -> Option<Vec<Json>> {
    let places: BTreeMap<u64, usize> =
        page.iter().enumerate().filter_map(|(place, row)| Some((seq(row)?, place))).collect();
    held.iter().enumerate().find_map(|(kept, row)| {
        let place = *places.get(&seq(row)?)?;
        same(row, &page[place]).then(|| [&held[..kept], &page[place..]].concat())
    })
}

/// A row never changes, so the same row is the same text.
fn same(a: &Json, b: &Json) -> bool {
    a.get() == b.get()
}

fn seq(row: &Json) -> Option<u64> {
    Row::decode(row).ok().map(|row| row.seq)
}

/// True if no message of these rows is still being streamed (`sync.settled`): the
/// whole of each is there, or its turn is over.
fn is_settled(rows: &[Json]) -> bool {
    let mut open: BTreeSet<Text> = BTreeSet::new();
    let mut came: BTreeSet<Text> = BTreeSet::new();
    for row in rows.iter().filter_map(|row| Row::decode(row).ok()) {
        open.remove(&row.id);
        match row.event {
            Event::Delta(delta) if !came.contains(&delta.message) => {
                open.insert(delta.message);
            }
            Event::Turn(turn) => match turn.edge {
                TurnEdge::Ended | TurnEdge::Interrupted => open.clear(),
                TurnEdge::Started => {}
            },
            Event::Message(_)
            | Event::CallStarted(_)
            | Event::Result(_)
            | Event::Compaction(_)
            | Event::Delta(_)
            | Event::Unknown(_) => {}
        }
        came.insert(row.id);
    }
    open.is_empty()
}
