//! Display windows: so many rows for people as fit, the newest of them always.

use alloc::format;

use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::page::{Hang, WINDOW_BYTES, WINDOW_ROWS, Window, WindowAt};
use onrecord_spec::text::Text;

use crate::input::without_authority;
use crate::page::check_limit;
use crate::record::{Record, named, refusal};

/// The window that stands there, of at most `limit` rows.
pub fn window(record: &Record, limit: Option<i64>, at: &WindowAt) -> Result<Window, Refusal> {
    let most = usize::try_from(WINDOW_ROWS).unwrap_or(usize::MAX);
    let limit = limit.map_or(Ok(most), check_limit)?.min(most);
    let views = record.views();
    let shown = views.shown();
    let (oldest, end) = match at {
        WindowAt::Newest => (0, shown.len()),
        WindowAt::Before(row) => (0, views.shown_before(place(record, row)?)),
        WindowAt::From(row) => (views.shown_before(place(record, row)?), shown.len()),
    };
    let start = end - fitting(&shown[oldest..end], limit);
    let rows = shown[start..end].iter().map(|(place, _)| &record.rows()[*place]);
    Ok(Window {
        rows: rows.clone().filter_map(|row| without_authority(record, row)).collect(),
        hangs: rows.filter_map(|row| hang(record, &row.id, row.parent.as_ref()?)).collect(),
        older: start > 0,
        newer: end < shown.len(),
        upto: record.next(),
    })
}

/// How many rows fit, counted from the newest back. The newest is there whatever
/// its size (`page.limits`).
fn fitting(shown: &[(usize, usize)], limit: usize) -> usize {
    // Brackets, and a comma before each row but one.
    let mut bytes = 1;
    let newest_first = shown.iter().rev().take(limit).enumerate();
    newest_first
        .take_while(|(count, (_, row))| {
            bytes += row + 1;
            *count == 0 || bytes <= WINDOW_BYTES
        })
        .count()
}

/// A row that hung from a replacement, which no window shows, hangs from the
/// archived row that this follows (`compaction.screen-anchor`).
fn hang(record: &Record, row: &Text, parent: &Text) -> Option<Hang> {
    let parent = record.place(parent)?;
    let span = record.flags().span(parent)?;
    Some(Hang { row: row.clone(), from: record.rows()[span.last].id.clone() })
}

fn place(record: &Record, row: &Text) -> Result<usize, Refusal> {
    record.place(row).ok_or_else(|| {
        let detail = format!(
            "no row has the id {}; ask for the newest window (page.cursor-strict)",
            named(row)
        );
        refusal(RefusalCode::BadCursor, None, detail)
    })
}
