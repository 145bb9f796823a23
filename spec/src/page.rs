//! Pages and windows: what is handed over of a record at a time.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::text::Text;

/// The most rows that a display window holds (`page.limits`).
pub const WINDOW_ROWS: u64 = 1_000;

/// The most bytes that the rows of a display window take as a JSON array without
/// white space between its tokens, brackets and commas included (`page.limits`).
pub const WINDOW_BYTES: usize = 512 * 1024;

/// A history page: one contiguous range of raw rows (`page.contiguous`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The rows, as they were stored.
    pub rows: Vec<Json>,
    /// Whether there are older rows (`page.says-more`).
    pub older: bool,
    /// The cursor of the next older page; absent if there is none. Opaque: its
    /// form is the implementation's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Text>,
    /// How many rows the record held: the page reflects the record up to this
    /// seq, exclusive.
    pub upto: u64,
}

/// A display window: rows for people, in the order of the record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The rows, as they were stored; of imported ones without their authority
    /// blocks.
    pub rows: Vec<Json>,
    /// Where rows hang on screen whose stored parent is no row for people: a
    /// summary (`compaction.screen-anchor`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hangs: Vec<Hang>,
    /// Whether there are older rows for people (`page.says-more`).
    pub older: bool,
    /// Whether there are newer ones.
    pub newer: bool,
    /// How many rows the record held.
    pub upto: u64,
}

/// Where a row hangs on screen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    /// The id of the row.
    pub row: Text,
    /// The id of the row that it hangs from.
    pub from: Text,
}

/// Where a display window stands (`page.windows`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum WindowAt {
    /// At the end of the record.
    #[default]
    Newest,
    /// Directly before the row with this id.
    Before(Text),
    /// From the row with this id on to the end of the record, this row included.
    /// Bounded like any window: what does not fit leaves at the oldest end.
    From(Text),
}
