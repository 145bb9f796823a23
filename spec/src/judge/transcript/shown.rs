//! What a transcript shows, in one form for what must show and for what was
//! handed over, so that the two can be compared by meaning.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::item::{Item, Place, Shows};
use crate::json::Tree;
use crate::record::{DeltaPart, Status};
use crate::text::Text;

/// What of its row an item shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// The block with this index.
    Block(u64),
    /// The pieces of its text.
    Said,
    /// The pieces of its reasoning.
    Thought,
    /// That it compacted.
    Marker,
}

impl From<DeltaPart> for Slot {
    fn from(part: DeltaPart) -> Self {
        match part {
            DeltaPart::Text => Self::Said,
            DeltaPart::Reasoning => Self::Thought,
        }
    }
}

/// By what an item is known.
pub(super) type Key = (Text, Slot);

/// The kinds of items that show a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    Reasoning,
    Call,
    Return,
}

/// One item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub row: Text,
    pub slot: Slot,
    pub seq: u64,
    pub parent: Option<Text>,
    /// Absent where the message is complete.
    pub status: Option<Status>,
    pub what: What,
}

/// What it shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Block { kind: Kind, content: Rc<Tree>, link: Option<Place> },
    Pieces { text: Text, open: bool },
    Marker { rows: u64 },
}

impl Shown {
    /// An item that was handed over.
    pub fn of(item: &Item) -> Self {
        let block = |block: &u64, kind, content: &str, link: Option<&Place>| {
            let content = Tree::parse(content).unwrap_or_else(|| Tree::Bare(String::new()));
            let what = What::Block { kind, content: Rc::new(content), link: link.cloned() };
            (Slot::Block(*block), what)
        };
        let (slot, what) = match &item.shows {
            Shows::UserMessage { block: at, content } => block(at, Kind::User, content.get(), None),
            Shows::AssistantMessage { block: at, content } => {
                block(at, Kind::Assistant, content.get(), None)
            }
            Shows::ReasoningMessage { block: at, content } => {
                block(at, Kind::Reasoning, content.get(), None)
            }
            Shows::ToolCall { block: at, content, returned } => {
                block(at, Kind::Call, content.get(), returned.as_ref())
            }
            Shows::ToolReturn { block: at, content, call } => {
                block(at, Kind::Return, content.get(), call.as_ref())
            }
            Shows::Pieces { part, text, open } => {
                ((*part).into(), What::Pieces { text: text.clone(), open: *open })
            }
            Shows::Marker { rows } => (Slot::Marker, What::Marker { rows: *rows }),
        };
        let (row, seq, parent) = (item.row.clone(), item.seq, item.parent.clone());
        Self { row, slot, seq, parent, status: said(item.status), what }
    }

    /// By what it is known.
    pub fn key(&self) -> Key {
        (self.row.clone(), self.slot)
    }

    /// Its place, as links name it.
    pub fn place(&self) -> Option<Place> {
        match self.slot {
            Slot::Block(block) => Some(Place { row: self.row.clone(), block }),
            Slot::Said | Slot::Thought | Slot::Marker => None,
        }
    }

    /// The kind, if it shows a block.
    pub fn kind(&self) -> Option<Kind> {
        match self.what {
            What::Block { kind, .. } => Some(kind),
            What::Pieces { .. } | What::Marker { .. } => None,
        }
    }

    /// The other half, if it is a card or a return that has one.
    pub fn link(&self) -> Option<&Place> {
        match &self.what {
            What::Block { link, .. } => link.as_ref(),
            What::Pieces { .. } | What::Marker { .. } => None,
        }
    }

    /// What of a row it shows, as JSON.
    pub fn content(&self) -> Option<&Tree> {
        match &self.what {
            What::Block { content, .. } => Some(content),
            What::Pieces { .. } | What::Marker { .. } => None,
        }
    }

    /// True for the pieces of a message that has not come.
    pub fn is_open(&self) -> bool {
        matches!(self.what, What::Pieces { open: true, .. })
    }

    /// Every text in it.
    pub fn texts(&self) -> Vec<&Text> {
        match &self.what {
            What::Block { content, .. } => content.strings(),
            What::Pieces { text, .. } => alloc::vec![text],
            What::Marker { .. } => Vec::new(),
        }
    }

    /// True if this is the earlier one, later: the same, or completed since.
    pub fn continues(&self, earlier: &Self) -> bool {
        let same = self.seq == earlier.seq
            && self.parent == earlier.parent
            && self.status == earlier.status;
        same && match (&earlier.what, &self.what) {
            (
                What::Block { kind: old_kind, content: old, link: before },
                What::Block { kind, content, link },
            ) => old_kind == kind && old == content && (before.is_none() || before == link),
            (What::Pieces { text: old, open: before }, What::Pieces { text, open }) => {
                text.to_unicode().starts_with(&*old.to_unicode()) && (*before || !*open)
            }
            (What::Marker { rows: old }, What::Marker { rows }) => old == rows,
            (What::Block { .. } | What::Pieces { .. } | What::Marker { .. }, _) => false,
        }
    }
}

/// A status, where it says more than that the message is complete.
pub(super) fn said(status: Option<Status>) -> Option<Status> {
    status.filter(|status| *status != Status::Complete)
}

/// The items of a transcript that was handed over.
pub(super) fn all(items: &[Item]) -> Vec<Shown> {
    items.iter().map(Shown::of).collect()
}
