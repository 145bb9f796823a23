//! What the ops of a kept store are asked with: lookups, archive writes, and the
//! older shape that a migration starts from.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::text::Text;

/// A lookup of one row by what its sender knows of it
/// (`record.lookup-shadowed`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// What is known of the row.
    pub by: Key,
    /// The conversation to look in; absent means the current one. A row that was
    /// recalled from another one is opened with this (`recall.opens-source`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Text>,
}

/// What a row is looked up by. The three are told apart: a request and a report
/// with one key are two things.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Key {
    /// The row's id.
    Row(Text),
    /// The sender's key for the request that it stores.
    Request(Text),
    /// The sender's key for the report that it stores.
    Report(Text),
}

/// Where an archive write dies (`archive.crash-safe`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ArchiveCrash {
    /// While the part is being written: half of its bytes are there.
    HalfPart,
    /// When the part is whole, and before the manifest names it.
    AfterPart,
}

/// A start of a store: what an older version left in its shape is brought into
/// this one (`migration.side-table`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Migrate {
    /// Forget everything and start on a store of the older shape that holds this.
    /// Absent: start again on what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<Older>,
    /// The process dies in the middle of it, at the place where the
    /// implementation is most easily hurt.
    #[serde(default, skip_serializing_if = "is_false")]
    pub crash: bool,
}

/// One conversation as an older version kept it: a compaction moved the rows that
/// it took to a side table, and left holes in `seq`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Older {
    /// The header; absent means one for a nameless conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Json>,
    /// The rows that stayed, in order. The replacements among them name what they
    /// took.
    pub rows: Vec<Json>,
    /// The rows of the side table, in any order.
    pub side: Vec<Json>,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
