//! The judges' own reading of a log's bytes, for `record.torn-tail`.
//!
//! Line by line, and each line is taken as JSON or not: what follows a line's
//! first whole value, and what stands behind the last `{"seq":` of a line that
//! holds none, are tried as rows too.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;

use crate::json::{Json, RawValue};

/// What a log's bytes hold.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The first line, if it is JSON.
    pub header: Option<Json>,
    /// Each whole value after it, with its line, counted from 1.
    pub rows: Vec<(Json, u64)>,
    /// The lines that hold damage: number, and offset of the first byte.
    pub damaged: Vec<(u64, u64)>,
}

/// Reads a log.
pub(super) fn read(log: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut offset = 0;
    for (index, line) in log.split(|byte| *byte == b'\n').enumerate() {
        let number = index as u64 + 1;
        let start = offset;
        offset += line.len() as u64 + 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let (values, whole) = values(line);
        let mut values = values.into_iter();
        if reading.header.is_none() {
            reading.header = values.next();
            if reading.header.is_none() {
                return reading;
            }
        }
        reading.rows.extend(values.map(|value| (value, number)));
        if !whole {
            reading.damaged.push((number, start));
        }
    }
    reading
}

/// The whole JSON objects on a line, and whether the line is just one of them.
fn values(line: &[u8]) -> (Vec<Json>, bool) {
    if let Some(value) = parse(line) {
        return (alloc::vec![value], true);
    }
    let mut found = Vec::new();
    let text = core::str::from_utf8(line).unwrap_or_else(|error| {
        core::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default()
    });
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut end = 0;
    while let Some(Ok(value)) = stream.next() {
        if value.get().starts_with('{') {
            found.push(value.to_owned());
        }
        end = stream.byte_offset();
    }
    const ROW: &[u8] = b"{\"seq\":";
    let torn = &line[end..];
    if let Some(at) = torn.windows(ROW.len()).rposition(|window| window == ROW) {
        found.extend(parse(&torn[at..]));
    }
    (found, false)
}

fn parse(bytes: &[u8]) -> Option<Json> {
    let text = core::str::from_utf8(bytes).ok()?;
    serde_json::from_str::<&RawValue>(text).ok().map(ToOwned::to_owned)
}
