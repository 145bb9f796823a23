//! Step 1: the rows of the context that the model is concerned with, in order.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use onrecord_spec::op::AnomalyName::{Mended, Omitted};
use onrecord_spec::record::{
    Audience, Delta, DeltaPart, Event, Message, Row, ToolResult, TurnEdge,
};
use onrecord_spec::text::Text;

use super::Repairs;
use crate::record::Record;

/// One row, or what several stream rows amount to.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    /// A stored message.
    Message(Said<'a>),
    /// A result in a row of its own.
    Result(Stored<'a>),
    /// The edge of a turn. It does not cross; it bounds what pairs with what.
    Edge(TurnEdge),
    /// The text so far of an assistant message that never came whole
    /// (`record.interrupted-kept`), at the place of its first piece.
    Streamed {
        /// The seq of the first piece.
        seq: u64,
        /// The pieces, joined.
        text: Cow<'a, str>,
    },
}

/// A stored message, with what its row says about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    pub seq: u64,
    pub message: &'a Message,
    /// The row is not for the model alone: in a user's role, people wrote it.
    pub for_people: bool,
    /// No replacement stands before it in the context: the prefix that the
    /// model saw is still there (`replay.reasoning-prefix`).
    pub prefix_kept: bool,
}

/// A result, with the seq of the row that it was stored in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    pub seq: u64,
    pub result: &'a ToolResult,
}

/// The rows that are replayed: the context, or a stretch of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch<I> {
    pub rows: I,
    /// Nothing of the context stands before them, or is gone from there.
    pub prefix_kept: bool,
}

/// Reads the context alone (`replay.context-only`). Rows for people stay out, and
/// so do failed attempts, of which another row holds the answer that counts
/// (`record.interrupted-kept`).
pub(super) fn entries<'a>(
    record: &'a Record,
    stretch: Stretch<impl Iterator<Item = &'a Row>>,
    repairs: &mut Repairs,
) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    let mut streams = BTreeMap::new();
    let mut prefix_kept = stretch.prefix_kept;
    for row in stretch.rows {
        let seq = row.seq;
        if row.is_for_model() {
            match &row.event {
                Event::Message(message) if message.is_failed() => {}
                Event::Message(message) => {
                    let message = record.for_model(row, message);
                    let for_people = row.audience != Some(Audience::Model);
                    entries.push(Entry::Message(Said { seq, message, for_people, prefix_kept }));
                }
                Event::Result(result) => entries.push(Entry::Result(Stored { seq, result })),
                Event::Turn(turn) => entries.push(Entry::Edge(turn.edge)),
                // Of a message that came whole, the message alone counts.
                Event::Delta(delta) if record.holds(&delta.message) => {}
                Event::Delta(delta) => stream(seq, delta, &mut entries, &mut streams, repairs),
                // Bookkeeping: of interest to the record, never content.
                Event::CallStarted(_) | Event::Compaction(_) | Event::Unknown(_) => {}
            }
        }
        prefix_kept &= row.replaces.is_none();
    }
    entries
}

/// Adds a piece of a message to the pieces before it. A reasoning piece has no
/// provenance, so no target takes it (`replay.reasoning-native`).
fn stream<'a>(
    seq: u64,
    delta: &'a Delta,
    entries: &mut Vec<Entry<'a>>,
    streams: &mut BTreeMap<&'a Text, usize>,
    repairs: &mut Repairs,
) {
    match delta.part {
        DeltaPart::Reasoning => return repairs.note(Omitted, seq),
        DeltaPart::Text => {}
    }
    if delta.text.is_broken() {
        repairs.note(Mended, seq);
    }
    let piece = delta.text.to_unicode();
    let begun = streams.get(&delta.message).and_then(|place| entries.get_mut(*place));
    if let Some(Entry::Streamed { text, .. }) = begun {
        text.to_mut().push_str(&piece);
    } else {
        streams.insert(&delta.message, entries.len());
        entries.push(Entry::Streamed { seq, text: piece });
    }
}
