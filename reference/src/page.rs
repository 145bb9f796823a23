//! History pages: one contiguous range of raw rows at a time, from the newest back.

use alloc::borrow::ToOwned;
use alloc::format;

use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::page::Page;
use onrecord_spec::text::Text;

use crate::cursor;
use crate::record::{Record, refusal};

/// The page that ends where the cursor stands, or at the end of the record. It
/// holds `limit` messages of append origin, and whatever belongs to them.
pub fn page(record: &Record, limit: i64, before: Option<&Text>) -> Result<Page, Refusal> {
    let limit = check_limit(limit)?;
    let end = match before {
        Some(before) => cursor::read(record, before)?,
        None => record.rows().len(),
    };
    let start = record.views().page_before(end, limit);
    let rows = record.read(start as u64, Some((end - start) as u64));
    let older = start > 0;
    Ok(Page {
        rows: rows.map(ToOwned::to_owned).collect(),
        older,
        before: older.then(|| cursor::write(record, start)),
        upto: record.next(),
    })
}

/// A limit below one would hand over nothing, or everything (`page.cursor-strict`).
pub(crate) fn check_limit(limit: i64) -> Result<usize, Refusal> {
    match usize::try_from(limit) {
        Ok(limit) if limit > 0 => Ok(limit),
        Ok(_) | Err(_) => {
            let detail = format!("the limit is {limit}; the least is 1 (page.cursor-strict)");
            Err(refusal(RefusalCode::BadLimit, None, detail))
        }
    }
}
