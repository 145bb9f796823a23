//! The transcript: the projection of the record for people, as a list of items;
//! and the events by which it grows.
//!
//! Contents are handed over verbatim (`transcript.verbatim-hydration`): the JSON
//! of the stored block, or of the stored result.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::record::{DeltaPart, Status};
use crate::text::Text;

/// One thing that is shown. Known by its row and its block.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The id of the row that it shows, or, of pieces that are still streamed, of
    /// the row that will hold the whole.
    pub row: Text,
    /// The seq of the row that it shows; of pieces, that of the first.
    pub seq: u64,
    /// The id of the row that it hangs from on screen: the stored parent, or,
    /// where that is a summary, the archived row that the summary follows
    /// (`compaction.screen-anchor`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Text>,
    /// How the making of its message ended; absent means complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What it shows.
    pub shows: Shows,
}

/// What an item shows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shows {
    /// A person's text or image.
    UserMessage {
        /// The block's place in its message, from 0.
        block: u64,
        /// The block as it is stored.
        content: Json,
    },
    /// The model's text or image.
    AssistantMessage {
        /// The block's place in its message, from 0.
        block: u64,
        /// The block as it is stored.
        content: Json,
    },
    /// Reasoning (`transcript.reasoning-typed`).
    ReasoningMessage {
        /// The block's place in its message, from 0.
        block: u64,
        /// The block as it is stored.
        content: Json,
    },
    /// A tool's card.
    ToolCall {
        /// The block's place in its message, from 0.
        block: u64,
        /// The block as it is stored.
        content: Json,
        /// The return that belongs to it, once it is shown
        /// (`transcript.tool-pairing`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returned: Option<Place>,
    },
    /// What a tool returned.
    ToolReturn {
        /// The block's place in its message, from 0; 0 for a result in a row of
        /// its own.
        block: u64,
        /// The result block or the result event as it is stored.
        content: Json,
        /// The card that it belongs to, if that is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Place>,
    },
    /// The pieces of a message that came so far, joined.
    Pieces {
        /// What they are pieces of.
        part: DeltaPart,
        /// The pieces, joined.
        text: Text,
        /// False once the whole has come and holds nothing of this part.
        open: bool,
    },
    /// A landed compaction (`transcript.marker-per-landing`).
    Marker {
        /// How many rows it took.
        rows: u64,
    },
}

/// The place of an item: its row and its block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The row's id.
    pub row: Text,
    /// The block's place in its message, from 0.
    pub block: u64,
}

/// One step of a transcript that is followed live.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The seq of the row that brought it.
    pub seq: u64,
    /// What it changes.
    pub event: LiveEvent,
}

/// What a live step changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LiveEvent {
    /// The item comes behind all others. A return that names its card completes
    /// it: the card's `returned` is set to it. A card that names its return (one
    /// that came early) sets that return's `call`.
    Shown(Item),
    /// The open pieces of this message and part grow by a piece.
    Grown {
        /// The id of the row that will hold the whole.
        row: Text,
        /// What it is a piece of.
        part: DeltaPart,
        /// The piece.
        text: Text,
    },
    /// The whole of a streamed message has come. Its open pieces of a part that
    /// the items hold are taken out, and the items come in the place of the first
    /// of these; pieces of another part are closed and stay, and if no piece is
    /// taken out the items follow the last one. Links are set as by
    /// [`LiveEvent::Shown`].
    Settled {
        /// The id of the row.
        row: Text,
        /// What it shows.
        items: Vec<Item>,
    },
}

impl Shows {
    /// The block's place in its message, for what is a block of a row.
    #[must_use]
    pub fn block(&self) -> Option<u64> {
        match self {
            Self::UserMessage { block, .. }
            | Self::AssistantMessage { block, .. }
            | Self::ReasoningMessage { block, .. }
            | Self::ToolCall { block, .. }
            | Self::ToolReturn { block, .. } => Some(*block),
            Self::Pieces { .. } | Self::Marker { .. } => None,
        }
    }

    /// The name of the kind of item, as it is written.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UserMessage { .. } => "user-message",
            Self::AssistantMessage { .. } => "assistant-message",
            Self::ReasoningMessage { .. } => "reasoning-message",
            Self::ToolCall { .. } => "tool-call",
            Self::ToolReturn { .. } => "tool-return",
            Self::Pieces { .. } => "pieces",
            Self::Marker { .. } => "marker",
        }
    }
}
