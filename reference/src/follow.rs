//! The transcript, live: rows come one at a time, and each says what it adds.
//!
//! This is a second way to the same list as [`crate::transcript`], and shares with
//! it only how a block is made an item. After every row the two agree
//! (`transcript.live-equals-replay`). A row costs what it holds, however long the
//! record is.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::item::{Item, Live, LiveEvent, Place, Shows};
use onrecord_spec::json::to_json;
use onrecord_spec::record::{Block, Delta, DeltaPart, Event, Message, Role, Row};
use onrecord_spec::text::Text;

use crate::record::Record;
use crate::transcript::{Link, begins_turn, block_shows, is_part, marker, shows};

/// Follows a record from the row `join` on; the transcript of the rows before is
/// there already.
pub fn follow(record: &Record, join: u64) -> Result<Vec<Live>, serde_json::Error> {
    let join = usize::try_from(join).unwrap_or(usize::MAX).min(record.rows().len());
    let (before, after) = record.rows().split_at(join);
    let mut follow = Follow::join(before)?;
    let mut events = Vec::new();
    for row in after {
        events.extend(follow.push(row)?);
    }
    Ok(events)
}

/// What must be remembered of the rows so far to say what the next one adds.
#[derive(Debug, Clone, Default)]
pub struct Follow {
    /// The ids of all rows: a piece of a message that is there says nothing new.
    ids: BTreeSet<Text>,
    /// For each replacement, the row of append origin that it follows on screen.
    anchors: BTreeMap<Text, Text>,
    /// The open cards by id of their call: all of one round.
    open: BTreeMap<Text, Round>,
    /// The returns of this turn whose card has not come, if it ever does.
    waiting: BTreeMap<Text, VecDeque<Half>>,
    /// The ids that were consumed in this turn.
    consumed: BTreeSet<Text>,
    /// The parts of each message that is being streamed.
    streams: BTreeMap<Text, Vec<DeltaPart>>,
}

/// A card or a return that may find its other half.
#[derive(Debug, Clone)]
struct Half {
    place: Place,
    shows: bool,
}

/// The open cards of one round.
#[derive(Debug, Clone)]
struct Round {
    row: u64,
    cards: VecDeque<Half>,
}

impl Follow {
    /// Begins in the middle: behind these rows.
    pub fn join(rows: &[Row]) -> Result<Self, serde_json::Error> {
        let mut follow = Self::default();
        for row in rows {
            follow.push(row)?;
        }
        Ok(follow)
    }

    /// Takes the next row, and says what it changes for people.
    pub fn push(&mut self, row: &Row) -> Result<Vec<Live>, serde_json::Error> {
        let events = match &row.replaces {
            Some(replaces) => {
                let last = &replaces.last;
                let anchor = self.anchors.get(last).unwrap_or(last).clone();
                self.anchors.insert(row.id.clone(), anchor);
                // A summary alone shows, as a marker.
                row.compacts().map(|_| LiveEvent::Shown(marker(row))).into_iter().collect()
            }
            None => self.append(row)?,
        };
        self.ids.insert(row.id.clone());
        let seq = row.seq;
        Ok(events.into_iter().map(|event| Live { seq, event }).collect())
    }

    fn append(&mut self, row: &Row) -> Result<Vec<LiveEvent>, serde_json::Error> {
        match &row.event {
            Event::Message(message) => self.message(row, message),
            Event::Result(result) => {
                let link = self.returned(row, 0, &result.call);
                let Link::Shown(call) = link else { return Ok(vec![]) };
                let shown = Shows::ToolReturn { block: 0, content: to_json(&row.event)?, call };
                let item = self.item(row, shown);
                Ok(if shows(row) { vec![LiveEvent::Shown(item)] } else { vec![] })
            }
            Event::Delta(delta) => Ok(self.piece(row, delta).into_iter().collect()),
            Event::Turn(_) => {
                self.begin_turn();
                Ok(vec![])
            }
            Event::CallStarted(_) | Event::Compaction(_) | Event::Unknown(_) => Ok(vec![]),
        }
    }

    /// The blocks of a message, one item each; in the place of its pieces, if it
    /// was streamed.
    fn message(
        &mut self,
        row: &Row,
        message: &Message,
    ) -> Result<Vec<LiveEvent>, serde_json::Error> {
        let mut items = Vec::new();
        for (at, block) in (0..).zip(&message.blocks) {
            let link = self.link(row, message, at, block);
            if let Some(shown) = block_shows(message.role, at, block, link)? {
                items.push(Item { status: message.status, ..self.item(row, shown) });
            }
        }
        if !message.is_failed() && begins_turn(row, message) {
            self.begin_turn();
        }
        if !shows(row) {
            return Ok(vec![]);
        }
        match self.streams.remove(&row.id) {
            Some(_) => Ok(vec![LiveEvent::Settled { row: row.id.clone(), items }]),
            None => Ok(items.into_iter().map(LiveEvent::Shown).collect()),
        }
    }

    /// What is known of the other half of a block. A failed attempt arms nothing
    /// and takes nothing.
    fn link(&mut self, row: &Row, message: &Message, at: u64, block: &Block) -> Link {
        match block {
            _any if message.is_failed() => Link::Shown(None),
            Block::Call(call) if message.role == Role::Assistant => self.called(row, at, &call.id),
            Block::Result(result) => self.returned(row, at, &result.call),
            Block::Call(_)
            | Block::Text(_)
            | Block::Reasoning(_)
            | Block::Image(_)
            | Block::Authority(_) => Link::Shown(None),
        }
    }

    /// A call takes the return that waits for it, or opens a card. Cards of an
    /// earlier round that have this id open stay open for ever.
    fn called(&mut self, row: &Row, block: u64, id: &Text) -> Link {
        if let Some(early) = self.waiting.get_mut(id).and_then(VecDeque::pop_front) {
            self.consumed.insert(id.clone());
            return Link::Shown(early.shows.then_some(early.place));
        }
        let card = half(row, block);
        match self.open.get_mut(id) {
            Some(round) if round.row == row.seq => round.cards.push_back(card),
            Some(_) | None => {
                let round = Round { row: row.seq, cards: VecDeque::from([card]) };
                self.open.insert(id.clone(), round);
            }
        }
        Link::Shown(None)
    }

    /// A return goes to the first open card of its id, or waits for one.
    fn returned(&mut self, row: &Row, block: u64, id: &Text) -> Link {
        let card = self.open.get_mut(id).and_then(|round| round.cards.pop_front());
        if let Some(card) = card {
            self.consumed.insert(id.clone());
            return if card.shows { Link::Shown(Some(card.place)) } else { Link::Hidden };
        }
        if !self.consumed.contains(id) {
            self.waiting.entry(id.clone()).or_default().push_back(half(row, block));
        }
        Link::Shown(None)
    }

    fn begin_turn(&mut self) {
        self.waiting.clear();
        self.consumed.clear();
    }

    /// A piece of a message that has not come yet.
    fn piece(&mut self, row: &Row, delta: &Delta) -> Option<LiveEvent> {
        if !shows(row) || self.ids.contains(&delta.message) {
            return None;
        }
        let (message, part, text) = (delta.message.clone(), delta.part, delta.text.clone());
        let parts = self.streams.entry(message.clone()).or_default();
        if parts.contains(&part) {
            return Some(LiveEvent::Grown { row: message, part, text });
        }
        parts.push(part);
        let pieces = self.item(row, Shows::Pieces { part, text, open: true });
        Some(LiveEvent::Shown(Item { row: message, ..pieces }))
    }

    fn item(&self, row: &Row, shows: Shows) -> Item {
        let parent = row.parent.as_ref().map(|parent| self.anchors.get(parent).unwrap_or(parent));
        let (id, seq, parent) = (row.id.clone(), row.seq, parent.cloned());
        Item { row: id, seq, parent, status: None, shows }
    }
}

fn half(row: &Row, block: u64) -> Half {
    Half { place: Place { row: row.id.clone(), block }, shows: shows(row) }
}

/// Applies a live event to a list of items: what a client does that shows them.
pub fn apply(items: &mut Vec<Item>, event: LiveEvent) {
    match event {
        LiveEvent::Shown(item) => {
            link_back(items, &item);
            let pieces = match &item.shows {
                Shows::Pieces { .. } => items.iter().rposition(|held| is_piece(held, &item.row)),
                Shows::UserMessage { .. }
                | Shows::AssistantMessage { .. }
                | Shows::ReasoningMessage { .. }
                | Shows::ToolCall { .. }
                | Shows::ToolReturn { .. }
                | Shows::Marker { .. } => None,
            };
            items.insert(pieces.map_or(items.len(), |last| last + 1), item);
        }
        LiveEvent::Grown { row, part, text } => {
            for held in items.iter_mut().filter(|held| held.row == row) {
                if let Shows::Pieces { part: held, text: pieces, .. } = &mut held.shows
                    && *held == part
                {
                    pieces.push(&text);
                }
            }
        }
        LiveEvent::Settled { row, items: whole } => settle(items, &row, whole),
    }
}

/// The whole of a streamed message comes in the place of those pieces that it
/// holds; the others are closed.
fn settle(items: &mut Vec<Item>, row: &Text, whole: Vec<Item>) {
    let mut at = None;
    let mut next = 0;
    items.retain_mut(|held| {
        let here = next;
        next += 1;
        let Shows::Pieces { part, open, .. } = &mut held.shows else { return true };
        if held.row != *row {
            return true;
        }
        *open = false;
        if whole.iter().any(|item| is_of_part(item, *part)) {
            at = at.or(Some(here));
            next -= 1;
            return false;
        }
        true
    });
    let behind = items.iter().rposition(|held| is_piece(held, row)).map(|last| last + 1);
    let at = at.or(behind).unwrap_or(items.len());
    items.splice(at..at, whole.iter().cloned());
    whole.iter().for_each(|item| link_back(items, item));
}

fn is_piece(held: &Item, row: &Text) -> bool {
    held.row == *row && matches!(held.shows, Shows::Pieces { .. })
}

/// True if an item shows a block of what was streamed as this part.
fn is_of_part(item: &Item, part: DeltaPart) -> bool {
    let content = match &item.shows {
        Shows::UserMessage { content, .. }
        | Shows::AssistantMessage { content, .. }
        | Shows::ReasoningMessage { content, .. } => content,
        Shows::ToolCall { .. }
        | Shows::ToolReturn { .. }
        | Shows::Pieces { .. }
        | Shows::Marker { .. } => return false,
    };
    Block::decode(content).is_ok_and(|block| is_part(&block, part))
}

/// Sets the link of the half that was there before to the one that comes.
fn link_back(items: &mut [Item], new: &Item) {
    let (half, block) = match &new.shows {
        Shows::ToolReturn { call: Some(half), block, .. }
        | Shows::ToolCall { returned: Some(half), block, .. } => (half, *block),
        Shows::UserMessage { .. }
        | Shows::AssistantMessage { .. }
        | Shows::ReasoningMessage { .. }
        | Shows::ToolCall { .. }
        | Shows::ToolReturn { .. }
        | Shows::Pieces { .. }
        | Shows::Marker { .. } => return,
    };
    let here = Place { row: new.row.clone(), block };
    let held = items
        .iter_mut()
        .rev()
        .find(|held| held.row == half.row && held.shows.block() == Some(half.block));
    match held.map(|held| &mut held.shows) {
        Some(Shows::ToolCall { returned, .. }) => *returned = Some(here),
        Some(Shows::ToolReturn { call, .. }) => *call = Some(here),
        Some(
            Shows::UserMessage { .. }
            | Shows::AssistantMessage { .. }
            | Shows::ReasoningMessage { .. }
            | Shows::Pieces { .. }
            | Shows::Marker { .. },
        )
        | None => {}
    }
}
