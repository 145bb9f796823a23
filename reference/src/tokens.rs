//! How much the context takes: an estimate, four bytes a token.
//!
//! It reads the context, which is what will be sent, reasoning included, and never
//! the transcript (`compaction.tokens-from-context`).

use onrecord_spec::record::{Block, Content, Event, Row, ToolResult};
use onrecord_spec::text::Text;

use crate::record::Record;

/// Bytes of text that make a token.
const BYTES: usize = 4;
/// What an image takes, whatever its size.
const IMAGE: u64 = 1_000;

/// The tokens of the whole context.
pub(crate) fn of_context(record: &Record) -> u64 {
    record.context().map(|row| of_row(record, row)).sum()
}

/// The tokens of one row of it.
pub(crate) fn of_row(record: &Record, row: &Row) -> u64 {
    if !row.is_for_model() {
        return 0;
    }
    match &row.event {
        Event::Message(message) if message.is_failed() => 0,
        Event::Message(message) => record.for_model(row, message).blocks.iter().map(of_block).sum(),
        Event::Result(result) => of_result(result),
        Event::Delta(delta) if record.holds(&delta.message) => 0,
        Event::Delta(delta) => of_text(&delta.text),
        Event::CallStarted(_) | Event::Compaction(_) | Event::Turn(_) | Event::Unknown(_) => 0,
    }
}

fn of_block(block: &Block) -> u64 {
    match block {
        Block::Text(text) => of_text(&text.text),
        Block::Reasoning(reasoning) => {
            of_text(&reasoning.text) + reasoning.token.as_ref().map_or(0, of_text)
        }
        Block::Call(call) => of_text(&call.name) + of_text(&call.arguments),
        Block::Result(result) => of_result(result),
        Block::Image(_) => IMAGE,
        Block::Authority(_) => 0,
    }
}

fn of_result(result: &ToolResult) -> u64 {
    let parts = result.content.iter().map(|part| match part {
        Content::Text(text) => of_text(&text.text),
        Content::Image(_) => IMAGE,
    });
    parts.sum()
}

fn of_text(text: &Text) -> u64 {
    text.to_unicode().len().div_ceil(BYTES) as u64
}
