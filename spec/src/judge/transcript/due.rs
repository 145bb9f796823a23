//! What must show of a record, by the judges' own idea of it.
//!
//! Pairs are those of a context that holds every row of append origin, for whoever
//! it is. Items are not placed one after another: each has a key (the row at which
//! its message was first seen, and its place there), and the list is sorted.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::super::context::{Context, View};
use crate::item::{Item, Place, Shows};
use crate::json::{Tree, to_line};
use crate::record::{Audience, Block, DeltaPart, Event, Message, Role, Row, Status};
use crate::text::Text;

/// An item, comparable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub row: Text,
    pub seq: u64,
    pub parent: Option<Text>,
    pub status: Option<Status>,
    pub kind: &'static str,
    /// Its block, for what is one.
    pub block: Option<u64>,
    /// What it is a piece of, for pieces.
    pub part: Option<DeltaPart>,
    /// Its content; of pieces the text, of a marker the number of rows.
    pub content: Option<Tree>,
    /// Whether pieces may still grow.
    pub open: bool,
    /// The other half of a card or a return.
    pub link: Option<Place>,
}

impl Shown {
    pub fn of(item: &Item) -> Self {
        let tree = |json: &crate::json::RawValue| Tree::parse(json.get());
        let mut shown = Self {
            row: item.row.clone(),
            seq: item.seq,
            parent: item.parent.clone(),
            status: item.status,
            kind: item.shows.kind(),
            block: item.shows.block(),
            part: None,
            content: None,
            open: false,
            link: None,
        };
        match &item.shows {
            Shows::UserMessage { content, .. }
            | Shows::AssistantMessage { content, .. }
            | Shows::ReasoningMessage { content, .. } => shown.content = tree(content),
            Shows::ToolCall { content, returned, .. } => {
                (shown.content, shown.link) = (tree(content), returned.clone());
            }
            Shows::ToolReturn { content, call, .. } => {
                (shown.content, shown.link) = (tree(content), call.clone());
            }
            Shows::Pieces { part, text, open } => {
                shown.part = Some(*part);
                shown.content = to_line(text).ok().and_then(|line| Tree::parse(&line));
                shown.open = *open;
            }
            Shows::Marker { rows } => shown.content = Tree::parse(&rows.to_string()),
        }
        shown
    }

    /// What it is known by: its row, and its block or part.
    pub fn key(&self) -> (&Text, Option<u64>, Option<DeltaPart>, bool) {
        (&self.row, self.block, self.part, self.kind == "marker")
    }
}

/// True for a row that may show: of append origin and for people.
pub(super) fn may_show(row: &Row) -> bool {
    row.replaces.is_none() && row.audience != Some(Audience::Model)
}

/// What must show of these rows, in order.
pub(super) fn due(rows: &[Row]) -> Vec<Shown> {
    let due = Due::of(rows);
    let mut keyed: Vec<((usize, usize), Shown)> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        if let Some(replaces) = row.compacts() {
            let rows = Tree::parse(&replaces.rows.len().to_string());
            let marker = Shown { content: rows, parent: None, ..bare(row, "marker") };
            keyed.push(((place, 0), marker));
        } else if may_show(row) && !due.streamed_whole(row) {
            let items = due.items(place);
            keyed.extend(items.into_iter().enumerate().map(|(at, item)| ((place, at), item)));
        }
    }
    for (message, pieces) in &due.streams {
        let items = due.of_stream(message, pieces);
        let first = pieces.first().copied().unwrap_or_default();
        keyed.extend(items.into_iter().enumerate().map(|(at, item)| ((first, at), item)));
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, shown)| shown).collect()
}

fn bare(row: &Row, kind: &'static str) -> Shown {
    Shown {
        row: row.id.clone(),
        seq: row.seq,
        parent: row.parent.clone(),
        status: None,
        kind,
        block: None,
        part: None,
        content: None,
        open: false,
        link: None,
    }
}

struct Due<'a> {
    rows: &'a [Row],
    places: BTreeMap<&'a Text, usize>,
    /// For each return (its row's seq and its block) the card, and for each card
    /// the return.
    halves: BTreeMap<(u64, usize), (u64, usize)>,
    /// For each message that was streamed, the pieces that came before it.
    streams: BTreeMap<&'a Text, Vec<usize>>,
}

impl<'a> Due<'a> {
    fn of(rows: &'a [Row]) -> Self {
        let places: BTreeMap<&Text, usize> =
            rows.iter().enumerate().map(|(place, row)| (&row.id, place)).collect();
        let mut streams: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
        for (place, row) in rows.iter().enumerate().filter(|(_, row)| may_show(row)) {
            if let Event::Delta(delta) = &row.event
                && places.get(&delta.message).is_none_or(|whole| *whole > place)
            {
                streams.entry(&delta.message).or_default().push(place);
            }
        }
        Self { rows, places, halves: halves(rows), streams }
    }

    /// The whole of a streamed message, if it came and shows.
    fn whole(&self, message: &Text) -> Option<usize> {
        let place = *self.places.get(message)?;
        let row = &self.rows[place];
        (may_show(row) && matches!(row.event, Event::Message(_))).then_some(place)
    }

    fn streamed_whole(&self, row: &Row) -> bool {
        self.streams.contains_key(&row.id) && self.whole(&row.id).is_some()
    }

    fn items(&self, place: usize) -> Vec<Shown> {
        let row = &self.rows[place];
        match &row.event {
            Event::Message(message) => {
                let blocks = message.blocks.iter().enumerate();
                blocks.filter_map(|(at, block)| self.block(row, message, at, block)).collect()
            }
            Event::Result(_) => self.half(row, 0, "tool-return", &row.event).into_iter().collect(),
            Event::CallStarted(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => Vec::new(),
        }
    }

    fn block(&self, row: &Row, message: &Message, at: usize, block: &Block) -> Option<Shown> {
        let kind = match (block, message.role) {
            (Block::Text(_) | Block::Image(_), Role::User) => "user-message",
            (Block::Text(_) | Block::Image(_), Role::Assistant) => "assistant-message",
            (Block::Reasoning(_), _) => "reasoning-message",
            (Block::Call(_), _) => "tool-call",
            (Block::Result(_), _) => "tool-return",
            (Block::Authority(_), _) => return None,
        };
        let shown = self.half(row, at, kind, block)?;
        Some(Shown { status: message.status, ..shown })
    }

    /// A block or a result, with its other half, if it has one that shows. None for
    /// a return whose declaration never showed, unless it was seen before that.
    fn half(
        &self,
        row: &Row,
        at: usize,
        kind: &'static str,
        stored: &impl serde::Serialize,
    ) -> Option<Shown> {
        let mut link = None;
        if let Some((seq, block)) = self.halves.get(&(row.seq, at)) {
            let other = &self.rows[usize::try_from(*seq).ok()?];
            if may_show(other) {
                link = Some(Place { row: other.id.clone(), block: *block as u64 });
            } else if kind == "tool-return" && *seq < row.seq {
                return None;
            }
        }
        let content = to_line(stored).ok().and_then(|line| Tree::parse(&line));
        let parent = row.parent.as_ref().map(|parent| self.on_screen(parent));
        Some(Shown { block: Some(at as u64), content, link, parent, ..bare(row, kind) })
    }

    /// A row, or the last row of append origin that it stands for.
    fn on_screen(&self, id: &Text) -> Text {
        let last = |id: &Text| {
            let row = &self.rows[*self.places.get(id)?];
            row.replaces.as_ref().map(|replaces| replaces.last.clone())
        };
        let mut on_screen = id.clone();
        while let Some(last) = last(&on_screen) {
            on_screen = last;
        }
        on_screen
    }

    /// A stream: what came whole in the place of the first piece that it holds, and
    /// the pieces of what it does not hold.
    fn of_stream(&self, message: &Text, pieces: &[usize]) -> Vec<Shown> {
        let whole = self.whole(message);
        let holds = |part: DeltaPart| {
            whole.is_some_and(|place| match &self.rows[place].event {
                Event::Message(message) => message.blocks.iter().any(|block| match block {
                    Block::Text(_) => part == DeltaPart::Text,
                    Block::Reasoning(_) => part == DeltaPart::Reasoning,
                    Block::Call(_) | Block::Result(_) | Block::Image(_) | Block::Authority(_) => {
                        false
                    }
                }),
                Event::CallStarted(_)
                | Event::Result(_)
                | Event::Compaction(_)
                | Event::Turn(_)
                | Event::Delta(_)
                | Event::Unknown(_) => false,
            })
        };
        let mut parts: Vec<(DeltaPart, usize, Text)> = Vec::new();
        for place in pieces {
            let Event::Delta(delta) = &self.rows[*place].event else { continue };
            match parts.iter_mut().find(|(part, _, _)| *part == delta.part) {
                Some((_, _, text)) => text.push(&delta.text),
                None => parts.push((delta.part, *place, delta.text.clone())),
            }
        }
        let mut items: Vec<Shown> = Vec::new();
        let mut at = None;
        for (part, place, text) in parts {
            if holds(part) {
                at = at.or(Some(items.len()));
                continue;
            }
            let first = &self.rows[place];
            let content = to_line(&text).ok().and_then(|line| Tree::parse(&line));
            let parent = first.parent.as_ref().map(|parent| self.on_screen(parent));
            let (part, row, open) = (Some(part), message.clone(), whole.is_none());
            items.push(Shown { row, part, content, open, parent, ..bare(first, "pieces") });
        }
        let whole = whole.map(|place| self.items(place)).unwrap_or_default();
        let at = at.unwrap_or(items.len());
        items.splice(at..at, whole);
        items
    }
}

/// Which return belongs to which card: pairs as a replay has them, of all rows of
/// append origin.
fn halves(rows: &[Row]) -> BTreeMap<(u64, usize), (u64, usize)> {
    let mut said: Vec<Row> = rows.iter().filter(|row| row.replaces.is_none()).cloned().collect();
    for row in &mut said {
        if row.audience == Some(Audience::People) {
            row.audience = None;
        }
    }
    let Some(context) = Context::of(&said, &View::default()) else { return BTreeMap::new() };
    let mut halves = BTreeMap::new();
    for (returned, call) in &context.call_of {
        let place = |at: usize| (context.pieces[at].seq, context.pieces[at].block);
        halves.insert(place(*returned), place(*call));
        halves.insert(place(*call), place(*returned));
    }
    halves
}
