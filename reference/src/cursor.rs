//! Cursors: opaque places to continue from.
//!
//! A cursor holds a place and a check value over the conversation and the row that
//! stands there. Rows never change, so a cursor stays valid for ever
//! (`page.cursor-strict`); one of another record, or one that was mangled, is
//! refused. The check guards against mistakes, not against malice: whoever can
//! make a cursor up can read the record anyway.

use alloc::format;

use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::text::Text;

use crate::record::{Record, named, refusal};

/// The cursor that stands before the row at this place.
pub(crate) fn write(record: &Record, place: usize) -> Text {
    Text::from(form(record, place))
}

/// The place of a cursor that this record gave out.
pub(crate) fn read(record: &Record, cursor: &Text) -> Result<usize, Refusal> {
    let place = cursor.as_str().and_then(|text| {
        let (place, _check) = text.split_once('-')?;
        usize::from_str_radix(place, 16).ok()
    });
    match place.filter(|place| *place < record.rows().len()) {
        Some(place) if *cursor == *form(record, place) => Ok(place),
        Some(_) | None => {
            let detail = format!(
                "{} is no cursor that this record gave out; ask for the newest page without one \
                 (page.cursor-strict)",
                named(cursor)
            );
            Err(refusal(RefusalCode::BadCursor, None, detail))
        }
    }
}

fn form(record: &Record, place: usize) -> alloc::string::String {
    let row = record.rows().get(place).map(|row| row.id.to_unicode());
    let conversation = record.header().conversation.to_unicode();
    let mut hash = Fnv1a::default();
    hash.add(conversation.as_bytes());
    hash.add(&place.to_le_bytes());
    hash.add(row.unwrap_or_default().as_bytes());
    format!("{place:x}-{:016x}", hash.0)
}

/// The hash FNV-1a of 64 bits, over parts that are told apart.
pub(crate) struct Fnv1a(pub(crate) u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    pub(crate) fn add(&mut self, part: &[u8]) {
        for byte in part.iter().chain(&(part.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
