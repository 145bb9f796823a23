//! Events: what a row holds.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::block::{Block, ToolResult};
use crate::json::{Extra, Fields, Json, Malformed, RawValue};
use crate::text::Text;

/// What a row holds.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// Something said, thought, asked or shown: one stored message.
    Message(Message),
    /// A tool has really begun to work on a call (`record.call-started`).
    CallStarted(CallStarted),
    /// A tool's result in a row of its own.
    Result(ToolResult),
    /// A step of a compaction other than the replacement itself, which is a
    /// message row that names a range.
    Compaction(CompactionStep),
    /// A turn begins, ends or is interrupted.
    Turn(TurnBoundary),
    /// A piece of a message that is still being streamed.
    Delta(Delta),
    /// A kind that this version does not know, in a row that says it may be
    /// passed over (`record.unknown-row`). Kept raw.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown(Json),
}

/// One stored message.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// Whose voice it is.
    pub role: Role,
    /// How its making ended; absent means complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Whose voice a message is.
///
/// `user` does not mean a human: summaries, reminders and results ride it too.
/// Who a row is for is its audience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The side that the model listens to.
    User,
    /// The model.
    Assistant,
}

/// How the making of a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was finished.
    Complete,
    /// It was cancelled; what it had delivered stays and crosses
    /// (`record.interrupted-kept`, bug B041).
    Interrupted,
    /// The attempt failed and another took its place. It stays in the record
    /// and never crosses (`record.interrupted-kept`, bugs B020, B022).
    Failed,
}

/// The mark that a tool has begun.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallStarted {
    /// The id of the call, raw.
    pub call: Text,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One step of a compaction's bracket. What it says depends on the step; a field
/// that another step would have is absent, or kept and not read.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactionStep {
    /// Which compaction it belongs to.
    pub compaction: Text,
    /// Which step it is.
    pub step: CompactionStage,
    /// Who compacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text>,
    /// How the summary is made. Of `started`, and of `ended` where it landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<CompactionMode>,
    /// How it ended. Of `ended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CompactionOutcome>,
    /// Why it did not land. Of `ended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// How many rows it took and left. Of `ended` where it landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The id of the summary's row. Of `ended` where it landed, and of `upgraded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Text>,
    /// The summary's full text. Of `ended` where it landed, and of `upgraded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
    /// The ids of the rows: of `provenance` those that it will take, of `ended`
    /// where it landed those that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Text>>,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The steps of a compaction's bracket, the replacement left out
/// (`compaction.bracket`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompactionStage {
    /// It began.
    Started,
    /// What the summary will cover.
    Provenance,
    /// It ended. Where it landed, this is the log's marker
    /// (`compaction.log-marker`).
    Ended,
    /// The text of a summary was made better (`compaction.upgrade`).
    Upgraded,
}

/// How a summary is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompactionMode {
    /// By a model, while the turn waits.
    #[default]
    Model,
    /// By code, at once; a model may upgrade it later.
    Digest,
    /// By a model, while the conversation goes on.
    Background,
}

/// How a compaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompactionOutcome {
    /// Its summary stands in the context.
    Landed,
    /// It failed; nothing changed.
    Failed,
    /// It was stopped; nothing changed.
    Cancelled,
    /// An earlier lifetime of the process left it open; nothing changed
    /// (`compaction.one-at-a-time`).
    Abandoned,
}

/// The counts of a landed compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// How many rows it took.
    pub taken: u64,
    /// How many rows of the context it left where they were.
    pub kept: u64,
}

/// The edge of a turn.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnBoundary {
    /// Which edge.
    pub edge: TurnEdge,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The edges of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TurnEdge {
    /// The turn begins.
    Started,
    /// It came to rest.
    Ended,
    /// It was stopped; no call of it will complete.
    Interrupted,
}

/// A piece of a message that is still being streamed. The whole message, when it
/// comes, is a row with the id that the pieces name.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delta {
    /// The id of the row that will hold the whole message.
    pub message: Text,
    /// What it is a piece of.
    pub part: DeltaPart,
    /// The piece.
    pub text: Text,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a stream delta is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeltaPart {
    /// Of the text.
    Text,
    /// Of the reasoning.
    Reasoning,
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventError {
    /// Its type is none that this version knows.
    UnknownType(String),
    /// Its type is known and its shape is wrong.
    Malformed(Malformed),
}

impl From<Malformed> for EventError {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl Event {
    /// Reads an event. Never yields [`Event::Unknown`]: whether an unknown kind
    /// may be passed over is the row's to say.
    pub fn decode(raw: &RawValue) -> Result<Self, EventError> {
        let mut fields = Fields::open(raw)?;
        let kind: Text = fields.need("type", "the name of an event kind")?;
        let event = match kind.as_str() {
            Some("message") => Message::decode(fields).map(Self::Message),
            Some("call-started") => CallStarted::decode(fields).map(Self::CallStarted),
            Some("result") => ToolResult::decode(fields).map(Self::Result),
            Some("compaction") => CompactionStep::decode(fields).map(Self::Compaction),
            Some("turn") => TurnBoundary::decode(fields).map(Self::Turn),
            Some("delta") => Delta::decode(fields).map(Self::Delta),
            Some(_) | None => return Err(EventError::UnknownType(kind.to_unicode().into_owned())),
        };
        event.map_err(EventError::Malformed)
    }
}

impl Message {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        let blocks = fields.need_raw("blocks", "an array of blocks")?;
        Ok(Self {
            role: fields.need("role", "`user` or `assistant`")?,
            status: fields.take("status", "`complete`, `interrupted` or `failed`")?,
            blocks: Block::decode_all(blocks).map_err(|error| error.inside("blocks"))?,
            extra: fields.rest()?,
        })
    }

    /// True if this attempt failed and was retried: kept, and never replayed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.status == Some(Status::Failed)
    }
}

impl CallStarted {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            call: fields.need("call", "a string: the id of the call")?,
            extra: fields.rest()?,
        })
    }
}

impl CompactionStep {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            compaction: fields.need("compaction", "a string")?,
            step: fields.need("step", "`started`, `provenance`, `ended` or `upgraded`")?,
            agent: fields.take("agent", "a string: who compacts")?,
            mode: fields.take("mode", "`model`, `digest` or `background`")?,
            outcome: fields.take("outcome", "`landed`, `failed`, `cancelled` or `abandoned`")?,
            reason: fields.take("reason", "a string")?,
            counts: fields.take("counts", "an object of taken and kept")?,
            summary: fields.take("summary", "a string: the id of a row")?,
            text: fields.take("text", "a string: the text of the summary")?,
            rows: fields.take("rows", "a list of row ids")?,
            extra: fields.rest()?,
        })
    }
}

impl TurnBoundary {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            edge: fields.need("edge", "`started`, `ended` or `interrupted`")?,
            extra: fields.rest()?,
        })
    }
}

impl Delta {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            message: fields.need("message", "a string: the id of the row to come")?,
            part: fields.need("part", "`text` or `reasoning`")?,
            text: fields.need("text", "a string")?,
            extra: fields.rest()?,
        })
    }
}
