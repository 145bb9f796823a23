//! What tells a client that something moved, and what it holds after it looked.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::text::Text;

/// How many messages a poll reads, where nothing else is asked for
/// (`sync.newest-only`).
pub const NEWEST: i64 = 100;

/// A conversation at one moment: equal to another only if nothing changed in between
/// (`sync.stamp`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// New at each start of the store.
    pub epoch: Text,
    /// Rises on every change while the epoch lasts. A whole number, so that nobody
    /// compares times as text (bug B275).
    pub version: u64,
}

/// A stretch of rows, by seq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The first.
    pub from: u64,
    /// The one behind the last.
    pub upto: u64,
}

/// What a client holds when it has synced, and what that cost.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synced {
    /// The rows that it holds now: one stretch of the record, up to its end.
    pub rows: Vec<Json>,
    /// What it read of the record for this sync, in the order in which it did.
    /// Empty if the stamp had not moved (`sync.cheap`).
    #[serde(default)]
    pub reads: Vec<Span>,
    /// The stamp that it will compare with next time; absent while something that
    /// it read is not settled (`sync.settled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Stamp>,
}
