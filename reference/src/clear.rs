//! Clearing: the bulk of older results is replaced by a notice.
//!
//! Each cleared result is a row that takes the place of the one that holds it, and
//! differs from it in the content of results alone
//! (`compaction.clearing-one-result`). The original stays in the record.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::json::{Extra, to_line};
use onrecord_spec::op::{Changed, Clear, Refusal};
use onrecord_spec::record::{
    Block, Content, Event, ReplacementSource, Replaces, Row, TextBlock, ToolResult,
};
use onrecord_spec::text::Text;

use crate::compact::{free_id, row};
use crate::record::Record;
use crate::replay::wording;

impl Record {
    /// Clears all results of the context but the newest `keep`. Calls stay, and so
    /// do the ids, names and error flags of results
    /// (`compaction.clearing-keeps-calls`). What was cleared before, or is no
    /// larger than the notice, stays as it is: to clear twice changes nothing
    /// more.
    pub fn clear(&mut self, asked: &Clear) -> Result<Changed, Refusal> {
        let all: usize = self.context().map(|row| results(row).count()).sum();
        let keep = usize::try_from(asked.keep).unwrap_or(usize::MAX);
        let mut older = all.saturating_sub(keep);
        let mut new: Vec<Row> = Vec::new();
        let mut taken = Vec::new();
        for stored in self.context() {
            let mine = results(stored).count().min(older);
            older -= mine;
            let cleared = cleared(stored, mine);
            let Some(event) = cleared else { continue };
            let number = new.len().to_string();
            // The new ones differ from each other by their number.
            let id = free_id(&asked.id, &number, |id| self.holds(id));
            let seq = self.next() + new.len() as u64;
            new.push(Row {
                id,
                at: asked.at.clone(),
                replaces: Some(in_place_of(stored)),
                audience: stored.audience,
                ..row(seq, event)
            });
            taken.push(stored.id.clone());
        }
        self.append_own(new, taken)
    }
}

/// The results in a row for the model that was not cleared before.
fn results(row: &Row) -> impl Iterator<Item = &ToolResult> {
    let (alone, blocks): (Option<&ToolResult>, &[Block]) = match &row.event {
        _other if !row.is_for_model() => (None, &[]),
        Event::Result(result) => (Some(result), &[]),
        Event::Message(message) => (None, &message.blocks),
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => (None, &[]),
    };
    let inside = blocks.iter().filter_map(|block| match block {
        Block::Result(result) => Some(result),
        Block::Text(_)
        | Block::Reasoning(_)
        | Block::Call(_)
        | Block::Image(_)
        | Block::Authority(_) => None,
    });
    alone.into_iter().chain(inside)
}

/// The row's event with its first `older` results cleared; none if nothing of it
/// is to be cleared.
fn cleared(row: &Row, older: usize) -> Option<Event> {
    let was_cleared =
        row.replaces.as_ref().map(|replaces| replaces.source) == Some(ReplacementSource::Clearing);
    if older == 0 {
        return None;
    }
    let mut event = row.event.clone();
    let results: Vec<&mut ToolResult> = match &mut event {
        Event::Result(result) => vec![result],
        Event::Message(message) => message.blocks.iter_mut().filter_map(as_result).collect(),
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => vec![],
    };
    let mut changed = false;
    for (at, result) in results.into_iter().take(older).enumerate() {
        let notice = wording::cleared(result.name.as_ref(), &row.id, at);
        let notice = Text::from(notice);
        let notice = vec![Content::Text(TextBlock { text: notice, extra: Extra::default() })];
        if size(&result.content) > size(&notice) && !(was_cleared && is_notice(&result.content)) {
            result.content = notice;
            changed = true;
        }
    }
    changed.then_some(event)
}

fn as_result(block: &mut Block) -> Option<&mut ToolResult> {
    match block {
        Block::Result(result) => Some(result),
        Block::Text(_)
        | Block::Reasoning(_)
        | Block::Call(_)
        | Block::Image(_)
        | Block::Authority(_) => None,
    }
}

/// How many bytes a content takes as JSON.
fn size(content: &[Content]) -> usize {
    to_line(content).map_or(0, |line| line.len())
}

/// True for what a clearing puts in the place of a content.
fn is_notice(content: &[Content]) -> bool {
    matches!(content, [Content::Text(text)] if text.text.to_unicode().contains(wording::CLEARED))
}

fn in_place_of(row: &Row) -> Replaces {
    Replaces {
        first: row.id.clone(),
        last: row.id.clone(),
        rows: vec![row.id.clone()],
        source: ReplacementSource::Clearing,
        compaction: None,
    }
}
