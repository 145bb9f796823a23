//! The one alphabet: the fixture's step, the protocol's request, the fuzzer's
//! alphabet, the benchmark's workload. And the trait of everything under test.

mod bytes;
mod compact;
mod hello;
mod outcome;
mod store;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use bytes::Bytes;
pub use compact::{Budget, Clear, Compact, Cut, Ending, SummaryText, Upgrade};
pub use hello::{Fault, FaultKind, Hello, Implementation, Report, Wordings};
pub use outcome::{
    Anchor, Anomaly, AnomalyName, Changed, Constraint, Context, ContextRow, Damage, Input, Left,
    Migrated, Outcome, Refusal, RefusalCode, Replayed,
};
pub use store::{ArchiveCrash, Key, Lookup, Migrate, Older};

use crate::json::Json;
use crate::page::WindowAt;
use crate::record::Provenance;
use crate::target::{Profile, Target};
use crate::text::Text;

/// One step. Written as `{"<name>": {…}}`; in the protocol the name is the
/// method and the rest its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Op {
    /// Forget everything and hold the record made of these rows.
    Load {
        /// The header; absent means one for a nameless conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Json>,
        /// The rows.
        rows: Vec<Json>,
        /// Forget nothing: the record stands beside those that are held, and is
        /// the current one. Refused if one of its name is held already.
        #[serde(default, skip_serializing_if = "is_false")]
        beside: bool,
    },
    /// Make the conversation of this name the current one: the one that all other
    /// ops are about.
    Enter {
        /// Its name, as its header says.
        conversation: Text,
    },
    /// Forget everything and hold the record that a log file with these bytes
    /// stands for.
    Open {
        /// The file's content.
        log: Bytes,
    },
    /// Add rows at the end: all of them or none. If one of them carries a key that
    /// the conversation holds already, none: what was first stored under it comes
    /// back instead (`record.keyed-append`).
    Append {
        /// The seq that the first of them will have, as the writer believes.
        expect: u64,
        /// The rows.
        rows: Vec<Json>,
    },
    /// Hand over stored rows.
    Read {
        /// The seq of the first; absent means 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
        /// How many at the most; absent means all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    },
    /// Hand over the bytes of the log as they stand on disk.
    Log {},
    /// Forget what is in memory and start again from what was stored: all
    /// conversations, with the current one as it was. What a client of the store
    /// holds (`sync`) is not the store's to forget.
    Restart {},
    /// Project the context to a target's wire.
    Replay(Replay),
    /// A replay with the runtime's own facts, made fresh for this request.
    Request {
        /// The replay.
        replay: Replay,
        /// The facts of this request.
        authority: Facts,
    },
    /// Say which rows stand for the model now, and what became of the others.
    Context {},
    /// Hand over what a summariser is given of a stretch of the context, and what
    /// its model would be sent (`compaction.input-typed`).
    Input {
        /// The id of the stretch's first row.
        first: Text,
        /// The id of its last row.
        last: Text,
        /// The replay of the stretch.
        replay: Replay,
    },
    /// Let a stretch of the context be replaced by a summary.
    Compact(Compact),
    /// Let the bulk of older results be replaced by a notice.
    Clear(Clear),
    /// Make the text of a summary better.
    Upgrade(Upgrade),
    /// Project the record for people.
    Transcript {},
    /// As `transcript`, by the live path: the rows before `join` are there
    /// already, the others come one at a time.
    Follow {
        /// How many rows are there already.
        #[serde(default)]
        join: u64,
    },
    /// Hand over a page of raw rows.
    Page {
        /// How many messages of append origin at the most.
        limit: i64,
        /// The cursor of the page; absent means the newest page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Text>,
    },
    /// Hand over a window of rows for people.
    Window {
        /// How many rows at the most; absent means as many as a window may hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<i64>,
        /// Where it stands.
        #[serde(default)]
        at: WindowAt,
    },
    /// Find one row by its key, whether it is in the context or not.
    Lookup(Lookup),
    /// Say how far the turn of a request is.
    Status {
        /// The sender's key for the request.
        request: Text,
    },
    /// Delete a conversation with all its rows. Its archive stays.
    Delete {
        /// Its name; absent means the current one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<Text>,
    },
    /// Say what a poll compares.
    Stamp {},
    /// Let a client that holds what it held at its last sync of this conversation
    /// look whether something moved, and read it.
    Sync {
        /// How many of the newest messages a poll reads that found the stamp moved;
        /// absent means [`NEWEST`](crate::sync::NEWEST).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<i64>,
    },
    /// Find rows that are not in the current conversation's context: of it those
    /// that left, and all of the others.
    Recall {
        /// Words that a row must hold; absent means every row that recall reaches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<Text>,
    },
    /// Write what is new of the current conversation to its archive.
    Archive {
        /// Where the process dies while it does; absent means nowhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        crash: Option<ArchiveCrash>,
    },
    /// Hand over the archive of a conversation, whether that was deleted or not.
    Parts {
        /// Its name; absent means the current one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<Text>,
    },
    /// Start on a store of an older shape.
    Migrate(Migrate),
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What a replay is made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The target.
    pub target: Target,
    /// What the model behind it can do.
    #[serde(default)]
    pub profile: Profile,
    /// Whether the turn at the tail is still live.
    #[serde(default)]
    pub mode: Mode,
}

/// Whether the turn at the tail is still live (`replay.running-or-cold`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It is: an open call at the tail is pending.
    Running,
    /// It is not: an open call will never complete.
    #[default]
    Cold,
}

/// The runtime's own facts for one request (`authority.fresh`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Whether the agent acts under an account of its own.
    pub mode: AuthorityMode,
    /// The user that the process really runs as.
    pub user: Text,
    /// The account that the agent is meant to have.
    pub expected_account: Text,
    /// Whether that account was admitted.
    pub admitted: bool,
    /// The machine.
    pub node: Text,
    /// How the actual state departs from the expected, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Text>,
}

/// Whether the agent acts under an account of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AuthorityMode {
    /// It does.
    Dedicated,
    /// It borrows a person's.
    Borrowed,
}

impl Op {
    /// The names of all ops, as they are written.
    pub const NAMES: [&'static str; 27] = [
        "load",
        "open",
        "enter",
        "append",
        "read",
        "log",
        "restart",
        "replay",
        "request",
        "context",
        "input",
        "compact",
        "clear",
        "upgrade",
        "transcript",
        "follow",
        "page",
        "window",
        "lookup",
        "status",
        "delete",
        "stamp",
        "sync",
        "recall",
        "archive",
        "parts",
        "migrate",
    ];

    /// The op's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Load { .. } => "load",
            Self::Open { .. } => "open",
            Self::Append { .. } => "append",
            Self::Read { .. } => "read",
            Self::Log {} => "log",
            Self::Restart {} => "restart",
            Self::Replay(_) => "replay",
            Self::Request { .. } => "request",
            Self::Context {} => "context",
            Self::Input { .. } => "input",
            Self::Compact(_) => "compact",
            Self::Clear(_) => "clear",
            Self::Upgrade(_) => "upgrade",
            Self::Transcript {} => "transcript",
            Self::Follow { .. } => "follow",
            Self::Page { .. } => "page",
            Self::Window { .. } => "window",
            Self::Enter { .. } => "enter",
            Self::Lookup(_) => "lookup",
            Self::Status { .. } => "status",
            Self::Delete { .. } => "delete",
            Self::Stamp {} => "stamp",
            Self::Sync { .. } => "sync",
            Self::Recall { .. } => "recall",
            Self::Archive { .. } => "archive",
            Self::Parts { .. } => "parts",
            Self::Migrate(_) => "migrate",
        }
    }

    /// The replay that the op asks for, if it asks for one.
    #[must_use]
    pub fn replay(&self) -> Option<&Replay> {
        match self {
            Self::Replay(replay) | Self::Request { replay, .. } | Self::Input { replay, .. } => {
                Some(replay)
            }
            Self::Load { .. }
            | Self::Open { .. }
            | Self::Append { .. }
            | Self::Read { .. }
            | Self::Log {}
            | Self::Restart {}
            | Self::Context {}
            | Self::Compact(_)
            | Self::Clear(_)
            | Self::Upgrade(_)
            | Self::Transcript {}
            | Self::Follow { .. }
            | Self::Page { .. }
            | Self::Window { .. }
            | Self::Enter { .. }
            | Self::Lookup(_)
            | Self::Status { .. }
            | Self::Delete { .. }
            | Self::Stamp {}
            | Self::Sync { .. }
            | Self::Recall { .. }
            | Self::Archive { .. }
            | Self::Parts { .. }
            | Self::Migrate(_) => None,
        }
    }

    /// Whether the op may add rows to the record that is held.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self {
            Self::Append { .. } | Self::Compact(_) | Self::Clear(_) | Self::Upgrade(_) => true,
            Self::Load { .. }
            | Self::Open { .. }
            | Self::Read { .. }
            | Self::Log {}
            | Self::Restart {}
            | Self::Replay(_)
            | Self::Request { .. }
            | Self::Context {}
            | Self::Input { .. }
            | Self::Transcript {}
            | Self::Follow { .. }
            | Self::Page { .. }
            | Self::Window { .. }
            | Self::Enter { .. }
            | Self::Lookup(_)
            | Self::Status { .. }
            | Self::Delete { .. }
            | Self::Stamp {}
            | Self::Sync { .. }
            | Self::Recall { .. }
            | Self::Archive { .. }
            | Self::Parts { .. }
            | Self::Migrate(_) => false,
        }
    }
}

impl Replay {
    /// A cold replay to a target whose model has the default abilities.
    #[must_use]
    pub fn to(target: Target) -> Self {
        Self { target, profile: Profile::default(), mode: Mode::Cold }
    }

    /// Whose reasoning the model accepts.
    #[must_use]
    pub fn model(&self) -> Option<&Provenance> {
        self.profile.model.as_ref()
    }
}
