//! What a summariser is given: a stretch of the context, typed, and what its
//! model is sent of it (`compaction.input-typed`).

use alloc::format;
use alloc::vec::Vec;

use onrecord_spec::json::{Json, to_json};
use onrecord_spec::op::{Refusal, RefusalCode, Replay};
use onrecord_spec::record::{Block, Event, Row};
use onrecord_spec::text::Text;

use crate::record::{Record, named, refusal};
use crate::replay::{self, Replayed};

/// What a summariser is given.
#[derive(Debug)]
pub struct Input<'a> {
    /// The rows, as they are stored, without authority blocks.
    pub rows: Vec<Json>,
    /// What its model is sent.
    pub replayed: Replayed<'a>,
}

/// Gives a stretch of the context, from the row `first` to the row `last`. It is
/// replayed as if it were the whole context.
pub fn input<'a>(
    record: &'a Record,
    first: &Text,
    last: &Text,
    asked: &Replay,
) -> Result<Input<'a>, Refusal> {
    let context: Vec<&Row> = record.context().collect();
    let position = |id: &Text| context.iter().position(|row| row.id == *id);
    let stretch = match (position(first), position(last)) {
        (Some(first), Some(last)) if first <= last => first..=last,
        (_, _) => return Err(no_stretch(first, last)),
    };
    let from_the_start = *stretch.start() == 0;
    let rows = &context[stretch];
    let handed = rows.iter().filter_map(|row| without_authority(record, row));
    Ok(Input {
        rows: handed.collect(),
        replayed: replay::stretch(record, rows.iter().copied(), from_the_start, asked),
    })
}

/// No stretch of the context goes from `first` to `last`.
pub(crate) fn no_stretch(first: &Text, last: &Text) -> Refusal {
    let detail = format!(
        "no stretch of the context goes from {} to {} (compaction.replaces-range)",
        named(first),
        named(last)
    );
    refusal(RefusalCode::NotInContext, None, detail)
}

/// The row as it is stored; a row with authority blocks, which only an imported
/// record holds, without these (`authority.never-stored`).
pub(crate) fn without_authority(record: &Record, row: &Row) -> Option<Json> {
    match authority_left_out(row) {
        Some(row) => to_json(&row).ok(),
        None => {
            let place = usize::try_from(row.seq).ok()?;
            serde_json::from_slice(record.line(place)?).ok()
        }
    }
}

/// The row without its authority blocks, if it has any.
pub(crate) fn authority_left_out(row: &Row) -> Option<Row> {
    if !row.holds_authority() {
        return None;
    }
    let mut row = row.clone();
    if let Event::Message(message) = &mut row.event {
        message.blocks.retain(|block| !matches!(block, Block::Authority(_)));
    }
    Some(row)
}
