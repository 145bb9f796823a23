//! What stands for the model now, and what became of the rest: the context with
//! its parents, the flags, and where summaries stand on screen. All of it is
//! derived, none of it stored.

use onrecord_spec::op::{Anchor, Context, ContextRow, Left};
use onrecord_spec::record::ReplacementSource;
use onrecord_spec::text::Text;

use crate::record::Record;
use crate::tokens;

/// The state of a record's context.
#[must_use]
pub fn context(record: &Record) -> Context {
    let rows = record.rows();
    let live = record.flags().live();
    let in_context = record.places().map(|place| ContextRow {
        id: rows[place].id.clone(),
        parent: parent(record, &live, place).cloned(),
    });
    let left = rows.iter().enumerate().filter_map(|(place, row)| {
        let by = &rows[record.flags().taken_by(place)?];
        let source = by.replaces.as_ref()?.source;
        Some(Left { id: row.id.clone(), by: by.id.clone(), seq: by.seq, source })
    });
    let summaries = rows.iter().enumerate().filter_map(|(place, row)| {
        let span = record.flags().span(place)?;
        match row.replaces.as_ref()?.source {
            ReplacementSource::Compaction => Some(Anchor {
                summary: row.id.clone(),
                follows: rows[span.last].id.clone(),
                replaced: span.cited as u64,
            }),
            ReplacementSource::Clearing
            | ReplacementSource::Regeneration
            | ReplacementSource::Other => None,
        }
    });
    Context {
        rows: in_context.collect(),
        left: left.collect(),
        summaries: summaries.collect(),
        tokens: Some(tokens::of_context(record)),
    }
}

/// The row of the context that this one hangs from (`compaction.reparents-kept`):
/// what stands now for the parent that was stored. A replacement hangs where the
/// first of the rows that it stands for hung. What a row hangs from always stands
/// before it in the context, so that the chain has an end.
fn parent<'a>(record: &'a Record, live: &[usize], place: usize) -> Option<&'a Text> {
    let rows = record.rows();
    let first = record.flags().span(place).map_or(place, |span| span.first);
    let parent = record.place(rows[first].parent.as_ref()?)?;
    rows.get(live[parent]).map(|row| &row.id)
}
