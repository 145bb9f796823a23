//! Lookups: one row by its key, and the turn of a request. They read the record,
//! and never the context (`record.lookup-shadowed`).

use alloc::borrow::ToOwned;

use onrecord_spec::found::{Found, Turn};
use onrecord_spec::op::{Key, Left};
use onrecord_spec::text::Text;

use crate::record::Record;

/// The row with this key, and its flag if it has left the context.
#[must_use]
pub fn lookup(record: &Record, key: &Key) -> Option<Found> {
    let place = match key {
        Key::Row(id) => record.place(id),
        Key::Request(key) => record.keys().request(key),
        Key::Report(key) => record.keys().report(key),
    }?;
    let row = record.read(place as u64, Some(1)).next()?.to_owned();
    Some(Found { row, left: left(record, place) })
}

/// The turn of the request with this key.
#[must_use]
pub fn status(record: &Record, request: &Text) -> Option<Turn> {
    let place = record.keys().request(request)?;
    let row = record.rows().get(place)?.id.clone();
    Some(Turn { row, state: record.keys().turn(place) })
}

/// The flag of the row at this place, if it has left the context
/// (`compaction.flags-rows`).
pub(crate) fn left(record: &Record, place: usize) -> Option<Left> {
    let by = record.rows().get(record.flags().taken_by(place)?)?;
    let source = by.replaces.as_ref()?.source;
    let id = record.rows().get(place)?.id.clone();
    Some(Left { id, by: by.id.clone(), seq: by.seq, source })
}
