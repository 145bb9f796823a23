//! What the ops that change the context are asked with.

use serde::{Deserialize, Serialize};

use super::Mode;
use crate::record::CompactionMode;
use crate::text::Text;

/// A compaction, or a part of one: with `cut` alone it begins, with `end` alone
/// the one with this id ends, with both it goes through its whole bracket at one
/// go, and is stored whole or not at all (`compaction.bracket`). Neither is
/// refused as malformed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compact {
    /// The compaction's id, unique in the record. The ids of its rows are made
    /// from it.
    pub id: Text,
    /// What it is to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// How it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Ending>,
    /// Who compacts, for the log's marker. Read with `cut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text>,
    /// How the summary is made, for the log's marker. Read with `cut`.
    #[serde(default)]
    pub mode: CompactionMode,
    /// Whether the turn at the tail is still live: its open calls may still be
    /// answered, and are not to be taken (`compaction.live-round-kept`). In a
    /// cold one they never will be (`compaction.dead-call`). Read with `cut`.
    #[serde(default = "running")]
    pub turn: Mode,
    /// The time, for the rows that are appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Text>,
}

fn running() -> Mode {
    Mode::Running
}

/// What a compaction is to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Cut {
    /// This stretch of the context, and exactly this one.
    Range {
        /// The id of its first row.
        first: Text,
        /// The id of its last row.
        last: Text,
    },
    /// The smallest stretch that holds this one and separates no call from its
    /// result.
    Nearest {
        /// The id of its first row.
        first: Text,
        /// The id of its last row.
        last: Text,
    },
    /// As much as the implementation's own policy takes so that the rest of the
    /// context keeps to this.
    Budget(Budget),
}

/// What may stay in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Budget {
    /// So many message and result rows.
    Messages(u64),
    /// So many tokens, by the implementation's own count.
    Tokens(u64),
}

/// How a compaction ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ending {
    /// The summariser answered: it lands, if what it said is a summary.
    Summary(SummaryText),
    /// The summariser failed.
    Failed {
        /// Why.
        reason: Text,
    },
    /// Somebody stopped it.
    Cancelled {},
}

/// What a summariser answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SummaryText {
    /// Its words.
    pub text: Text,
    /// True if they are an error and no summary (bugs B093, B094).
    #[serde(default, skip_serializing_if = "is_false")]
    pub error: bool,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Clearing: the bulk of older results is replaced by a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clear {
    /// What the ids of the appended rows begin with.
    pub id: Text,
    /// How many of the newest results of the context stay whole.
    pub keep: u64,
    /// The time, for the rows that are appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Text>,
}

/// A better text for a summary that has landed (`compaction.upgrade`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Upgrade {
    /// The id of the row that is appended.
    pub id: Text,
    /// The id of the summary's row.
    pub summary: Text,
    /// The new text.
    pub text: Text,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text>,
    /// The time, for the row that is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Text>,
}
