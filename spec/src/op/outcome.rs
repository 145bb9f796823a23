//! What comes back from a step: an outcome, a refusal with its reason, or
//! "unsupported".

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Bytes;
use crate::archive::{Archived, Parts};
use crate::found::{Found, Hit, Turn};
use crate::item::{Item, Live};
use crate::json::Json;
use crate::page::{Page, Window};
use crate::record::ReplacementSource;
use crate::sync::{Stamp, Synced};
use crate::text::Text;

/// What came back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// Of `load`, `open`, `enter` and `restart`: a record is held.
    Loaded {
        /// The seq that the next row will have.
        next: u64,
        /// What was damaged in the log, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        damage: Vec<Damage>,
    },
    /// Of `append`: the rows are stored.
    Appended {
        /// The seq that the next row will have.
        next: u64,
    },
    /// Of `append`: a row of it carries a key that is stored already, so that
    /// nothing was stored now (`record.keyed-append`).
    Known {
        /// The seq that the next row will have.
        next: u64,
        /// What was first stored under each such key, in the order of the rows that
        /// were to be appended, each row once.
        rows: Vec<Json>,
    },
    /// Of `read`.
    Rows {
        /// The rows, as they were stored.
        rows: Vec<Json>,
    },
    /// Of `log`.
    Log {
        /// The bytes.
        bytes: Bytes,
    },
    /// Of `replay` and `request`.
    Replayed(Replayed),
    /// Of `compact`, `clear` and `upgrade`.
    Changed(Changed),
    /// Of `context`.
    Context(Context),
    /// Of `input`.
    Input(Input),
    /// Of `transcript`.
    Transcript {
        /// What is shown, in order.
        items: Vec<Item>,
    },
    /// Of `follow`.
    Followed {
        /// What each row from the join on changed, in order.
        events: Vec<Live>,
    },
    /// Of `page`.
    Page(Page),
    /// Of `window`.
    Window(Window),
    /// Of `lookup`.
    Found {
        /// The row; absent only if nothing was ever stored under the key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Found>,
    },
    /// Of `status`.
    Status {
        /// The turn; absent only if the request was never stored: then, and only
        /// then, it may be sent again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Turn>,
    },
    /// Of `delete`.
    Deleted {
        /// How many rows went, those included that had left the context.
        rows: u64,
    },
    /// Of `stamp`.
    Stamp(Stamp),
    /// Of `sync`.
    Synced(Synced),
    /// Of `recall`.
    Recalled {
        /// What was found, in any order.
        hits: Vec<Hit>,
    },
    /// Of `archive`.
    Archived(Archived),
    /// Of `parts`.
    Parts(Parts),
    /// Of `migrate`.
    Migrated(Migrated),
    /// Of `archive` and `migrate` that were told to die: they did. What comes next
    /// finds what was stored by then.
    Crashed {},
    /// It was refused, and nothing was changed.
    Refused(Refusal),
    /// The implementation does not do this.
    Unsupported {
        /// Why.
        reason: String,
    },
}

/// Damage in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Damage {
    /// The offset of the first damaged byte, or of the line that holds it.
    pub offset: u64,
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// What a replay yields.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replayed {
    /// The part of the request's body that the history fills: `messages`, and
    /// `system` where the target has it apart.
    pub payload: Json,
    /// Every repair, by name.
    #[serde(default)]
    pub anomalies: Vec<Anomaly>,
    /// What the rest of the request must respect.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
}

/// What a change did.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The seq that the next row will have.
    pub next: u64,
    /// The rows that it appended, as they were stored. An implementation that
    /// keeps no rows, and only lets go of some, gives none.
    #[serde(default)]
    pub rows: Vec<Json>,
    /// The ids of the rows that left the context by it, in the order of the
    /// context.
    #[serde(default)]
    pub taken: Vec<Text>,
}

/// What a start on a store of an older shape did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Migrated {
    /// The seq that the next row will have.
    pub next: u64,
    /// How many rows this start brought back to their place.
    pub returned: u64,
    /// How many rows the side table still holds.
    pub side: u64,
}

/// What stands for the model now, and what became of the rest. All of it is
/// derived from the record; a store that keeps it in columns keeps a cache.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The rows of the context, in order.
    pub rows: Vec<ContextRow>,
    /// The rows that left it, in the order of the record
    /// (`compaction.flags-rows`).
    #[serde(default)]
    pub left: Vec<Left>,
    /// Every landed compaction, in the order of the record
    /// (`compaction.screen-anchor`).
    #[serde(default)]
    pub summaries: Vec<Anchor>,
    /// How many tokens the context takes, by the implementation's own count
    /// (`compaction.tokens-from-context`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// One row of the context.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextRow {
    /// Its id.
    pub id: Text,
    /// The id of the row of the context that it hangs from
    /// (`compaction.reparents-kept`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Text>,
}

/// A row that left the context: its flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    /// Its id.
    pub id: Text,
    /// The id of the row that took it.
    pub by: Text,
    /// The seq of the row that took it: when.
    pub seq: u64,
    /// What kind of replacement that row is.
    pub source: ReplacementSource,
}

/// Where a summary stands on screen, where it does not show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The id of the summary's row.
    pub summary: Text,
    /// The id of the archived row that it follows: the last row of append origin
    /// that it stands for, through earlier summaries.
    pub follows: Text,
    /// How many rows it took.
    pub replaced: u64,
}

/// What a summariser is given.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The rows of the stretch, typed as they are stored, without authority
    /// blocks.
    pub rows: Vec<Json>,
    /// What the summariser's model would be sent of them.
    pub replayed: Replayed,
}

/// One repair, with the row that needed it (`replay.anomalies-named`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Anomaly {
    /// What was done.
    pub name: AnomalyName,
    /// The seq of the row that it was done for; absent for what belongs to no
    /// row, like a message added at an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// The names of repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AnomalyName {
    /// A call without a result was answered as did-not-complete; the row is the
    /// call's.
    Answered,
    /// A call that still runs was answered as pending; the row is the call's.
    Pending,
    /// A result without a call, or a second one for a call, became prose.
    Degraded,
    /// A result moved to its call from after another row, or from before it.
    Moved,
    /// An id that the target refuses was mapped; the row is the call's.
    Mapped,
    /// Arguments or text that the target refuses cross in a valid form.
    Mended,
    /// Something has no valid form and does not cross: reasoning, an empty
    /// block, a stale authority block.
    Omitted,
    /// An image does not cross, and a marker says so.
    Unseen,
    /// The target demands a form that the record does not fill, and a
    /// documented stand-in does.
    StoodIn,
    /// A message was added before the first one.
    Opened,
    /// A message was added after the last one.
    Closed,
}

/// What a request must respect (`replay.constraints-said`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Constraint {
    /// Thinking must be off: the history's open tool loop does not begin with a
    /// valid thinking block (ANT-15).
    ThinkingOff,
    /// These tools must be declared, inertly at least: the history calls them
    /// (ANT-22).
    DeclareTools(Vec<String>),
    /// A stand-in was used for the row with this seq.
    StandIn(u64),
}

/// Why an op was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The reason.
    pub code: RefusalCode,
    /// The seq of the row that was refused, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The reason in words: what, where, and what would do.
    pub detail: String,
}

/// The reasons for which an op is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCode {
    /// No record is held: nothing was loaded.
    NoRecord,
    /// The log has no readable header.
    NoHeader,
    /// The format is newer (`record.version`).
    NewerVersion,
    /// A row's seq is a gap, a repeat or a step back (`record.seq-gap-free`).
    WrongSeq,
    /// Another writer was there first (`record.expected-seq`).
    Conflict,
    /// Two rows have one id (`record.expected-shape`).
    DuplicateId,
    /// A row hangs from a row that is not there (`record.expected-shape`).
    UnknownParent,
    /// The event's type is unknown (`record.unknown-row`).
    UnknownType,
    /// A row is not of its shape (`record.expected-shape`).
    Malformed,
    /// A range is not in the context: a row that never was or that has left, or
    /// ends that are the wrong way round (`compaction.replaces-range`).
    NotInContext,
    /// A replacement does not cite every row of its range, in order
    /// (`compaction.replaces-range`).
    Uncited,
    /// Another compaction is open (`compaction.one-at-a-time`).
    Busy,
    /// No compaction with this id is open.
    NotOpen,
    /// A range would separate a call from its result
    /// (`compaction.balanced-cut`).
    Unbalanced,
    /// The rows of the range changed since the compaction began
    /// (`compaction.concurrent-append`).
    Changed,
    /// What should be a summary is empty, or an error (`compaction.bracket`).
    EmptySummary,
    /// The range holds what is not answered yet (`compaction.live-round-kept`).
    LiveRound,
    /// A clearing row is not one current result with other content
    /// (`compaction.clearing-one-result`).
    NotOneResult,
    /// A cursor is none that this record gave out (`page.cursor-strict`).
    BadCursor,
    /// A limit is below one (`page.cursor-strict`).
    BadLimit,
    /// A row carries an authority block (`authority.never-stored`).
    AuthorityStored,
    /// Two rows of one append carry one key (`record.keyed-append`).
    DuplicateKey,
    /// A conversation of this name is held already, and was not to be forgotten.
    Exists,
    /// Nothing was archived of a conversation of this name.
    NoArchive,
}
