//! The record: the append-only log of one conversation, made of rows.
//!
//! On disk it is JSON Lines: a [`Header`], then one [`Row`] a line. Reading and
//! writing lose nothing (`record.verbatim`): what this version does not know is
//! kept raw beside what it does. How a log becomes a record, and what happens to
//! a damaged one, is an implementation's work and not this crate's.

mod block;
mod event;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

pub use block::{
    Block, Call, Content, Image, ImageSource, Provenance, Reasoning, StoredAuthority, TextBlock,
    ToolResult,
};
pub use event::{
    CallStarted, CompactionMode, CompactionOutcome, CompactionStage, CompactionStep, Counts, Delta,
    DeltaPart, Event, EventError, Message, Role, Status, TurnBoundary, TurnEdge,
};

use crate::json::{Extra, Fields, Malformed, RawValue, to_line};
use crate::text::Text;

/// The version of the on-disk form that this crate reads and writes.
pub const FORMAT_VERSION: u64 = 1;

/// The first line of a log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// The format's version (`record.version`).
    pub onrecord: u64,
    /// The conversation that the log holds.
    pub conversation: Text,
    /// True if every start of a tool is recorded as a `call-started` row, so
    /// that a call without one never started (`replay.never-started`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_call_starts: Option<bool>,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One stored envelope, with one event in it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The row's place: 0 for the first, then one more each
    /// (`record.seq-gap-free`).
    pub seq: u64,
    /// The row's name, unique in the record.
    pub id: Text,
    /// When it was made, as its maker wrote it. Data only: nothing is ordered
    /// by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Text>,
    /// The id of the row that it hangs from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Text>,
    /// The sender's key for the request that it stores (`record.keyed-append`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Text>,
    /// The sender's key for the report that it stores (`record.keyed-append`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Text>,
    /// The range that it stands for. Absent in a row of append origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaces>,
    /// Who it is for; absent means both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// True if a reader that does not know the event may pass over the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignorable: Option<bool>,
    /// What it holds.
    pub event: Event,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A range of the context that a row stands for from now on, for the model only.
/// Named by its ends: a range is a stretch of the context as it stands when the
/// row is appended, not of seqs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replaces {
    /// The id of the range's first row.
    pub first: Text,
    /// The id of the range's last row; the same as `first` for one row.
    pub last: Text,
    /// The ids of all rows that it takes, in the order of the context.
    pub rows: Vec<Text>,
    /// What kind of replacement it is, as its maker declares. A summary is known
    /// by this and never by its shape (`compaction.declared-checkpoint`).
    pub source: ReplacementSource,
    /// The id of the compaction whose provenance it cites, where it has a bracket
    /// (`compaction.bracket`, `page.provenance-together`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Text>,
}

/// What kind of replacement a row declares itself to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementSource {
    /// A summary that stands for the range.
    Compaction,
    /// A result whose bulk was cleared.
    Clearing,
    /// A message made anew.
    Regeneration,
    /// Another producer's replacement.
    Other,
}

/// Who a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// People alone: it never crosses to a model.
    People,
    /// The model alone: it never shows as conversation.
    Model,
    /// Both.
    Both,
}

/// Why a line is no row, or no header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowError {
    /// The format is newer than this version.
    Newer {
        /// The version that the header names.
        found: u64,
    },
    /// The event's type is unknown and the row does not say `ignorable`.
    UnknownType {
        /// The row's seq.
        seq: u64,
        /// The type's name.
        kind: String,
    },
    /// The shape is wrong.
    Malformed {
        /// The row's seq, if that much could be read.
        seq: Option<u64>,
        /// Where and what.
        error: Malformed,
    },
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { found } => write!(
                f,
                "the log has format version {found}; this reads up to version {FORMAT_VERSION}"
            ),
            Self::UnknownType { seq, kind } => write!(
                f,
                "row {seq} has the unknown event type `{kind}` and does not say `ignorable`"
            ),
            Self::Malformed { seq: Some(seq), error } => write!(f, "row {seq}: {error}"),
            Self::Malformed { seq: None, error } => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for RowError {}

impl Header {
    /// A header for a new log.
    #[must_use]
    pub fn new(conversation: impl Into<Text>) -> Self {
        Self {
            onrecord: FORMAT_VERSION,
            conversation: conversation.into(),
            records_call_starts: None,
            extra: Extra::default(),
        }
    }

    /// Reads a header. A newer version is refused before anything else is read:
    /// what comes after may be anything (`record.version`).
    pub fn decode(raw: &RawValue) -> Result<Self, RowError> {
        let malformed = |error| RowError::Malformed { seq: None, error };
        let mut fields = Fields::open(raw).map_err(malformed)?;
        let version: u64 = fields.need("onrecord", "a format version").map_err(malformed)?;
        if version > FORMAT_VERSION {
            return Err(RowError::Newer { found: version });
        }
        if version == 0 {
            return Err(malformed(Malformed::new("onrecord: versions start at 1, found 0")));
        }
        let rest = |mut fields: Fields<'_>| {
            Ok(Self {
                onrecord: version,
                conversation: fields.need("conversation", "a string")?,
                records_call_starts: fields.take("records_call_starts", "true or false")?,
                extra: fields.rest()?,
            })
        };
        rest(fields).map_err(malformed)
    }

    /// The header as one line, without its line break.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        to_line(self)
    }
}

impl Row {
    /// Reads a row. Says nothing about the row's place in a record: seq, unique
    /// ids, parents and ranges are for whoever holds the record.
    pub fn decode(raw: &RawValue) -> Result<Self, RowError> {
        let mut fields =
            Fields::open(raw).map_err(|error| RowError::Malformed { seq: None, error })?;
        let seq: u64 = fields
            .need("seq", "a whole number")
            .map_err(|error| RowError::Malformed { seq: None, error })?;
        let malformed = |error| RowError::Malformed { seq: Some(seq), error };
        let ignorable: Option<bool> =
            fields.take("ignorable", "true or false").map_err(malformed)?;
        let event = fields.need_raw("event", "an object").map_err(malformed)?;
        let event = match Event::decode(event) {
            Ok(event) => event,
            Err(_) if ignorable == Some(true) => Event::Unknown(event.to_owned()),
            Err(EventError::UnknownType(kind)) => return Err(RowError::UnknownType { seq, kind }),
            Err(EventError::Malformed(error)) => return Err(malformed(error.inside("event"))),
        };
        let envelope = |mut fields: Fields<'_>| {
            Ok(Self {
                seq,
                id: fields.need("id", "a string")?,
                at: fields.take("at", "a string")?,
                parent: fields.take("parent", "a string: the id of a row")?,
                request: fields.take("request", "a string")?,
                report: fields.take("report", "a string")?,
                replaces: fields.take("replaces", "an object of first, last, rows and source")?,
                audience: fields.take("audience", "`people`, `model` or `both`")?,
                ignorable,
                event,
                extra: fields.rest()?,
            })
        };
        envelope(fields).map_err(malformed)
    }

    /// The row as one line, without its line break.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        to_line(self)
    }

    /// True if the row is for the model, alone or among others.
    #[must_use]
    pub fn is_for_model(&self) -> bool {
        self.audience != Some(Audience::People)
    }

    /// True if the row is of append origin: no replacement of a range.
    #[must_use]
    pub fn is_append(&self) -> bool {
        self.replaces.is_none()
    }

    /// The range that the row stands for as a landed compaction, if it is one, by
    /// its declared source alone (`compaction.declared-checkpoint`).
    #[must_use]
    pub fn compacts(&self) -> Option<&Replaces> {
        self.replaces.as_ref().filter(|replaces| replaces.source == ReplacementSource::Compaction)
    }

    /// True if the row is for people, alone or among others
    /// (`transcript.audience`).
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        self.audience != Some(Audience::Model)
    }

    /// The authority blocks in the row: none, in a conforming append
    /// (`authority.never-stored`).
    #[must_use]
    pub fn holds_authority(&self) -> bool {
        match &self.event {
            Event::Message(message) => {
                message.blocks.iter().any(|block| matches!(block, Block::Authority(_)))
            }
            Event::CallStarted(_)
            | Event::Result(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => false,
        }
    }
}

/// The id of a row is refused when blank: it could not be named.
pub fn check_id(id: &Text) -> Result<(), Malformed> {
    if id.is_blank() {
        Err(Malformed::new(format!("id: must not be blank, found {:?}", id.to_unicode())))
    } else {
        Ok(())
    }
}
