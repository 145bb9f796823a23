//! The transcript: what people see of a record, as a list of items.
//!
//! It is made of the rows of append origin, in the order of the log, whatever the
//! context holds (`transcript.append-origin`). A landed compaction adds one marker
//! at its own place, and no other replacement adds anything. This is the whole at
//! once; [`crate::follow`] is the same row by row, by another way.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use onrecord_spec::item::{Item, Place, Shows};
use onrecord_spec::json::to_json;
use onrecord_spec::record::{Block, DeltaPart, Event, Message, Role, Row};
use onrecord_spec::text::Text;

use crate::record::Record;

/// A block: the place of its row in the record, and its own in the row.
type At = (usize, u64);

/// Projects a record for people.
pub fn transcript(record: &Record) -> Result<Vec<Item>, serde_json::Error> {
    let links = links(record);
    let streams = streams(record);
    let mut items = Vec::new();
    for (place, row) in record.rows().iter().enumerate() {
        if row.compacts().is_some() {
            items.push(marker(row));
        } else if let Some(stream) = begins(&streams, row) {
            show_stream(record, stream, &links, &mut items)?;
        } else if streams.get(&row.id).is_none_or(|stream| stream.whole != Some(place)) {
            items.extend(items_of(record, place, &links)?);
        }
    }
    Ok(items)
}

/// The one item of a landed compaction (`transcript.marker-per-landing`). Of the
/// summary itself nothing shows (`transcript.payload-hidden`).
pub(crate) fn marker(row: &Row) -> Item {
    let rows = row.compacts().map_or(0, |replaces| replaces.rows.len() as u64);
    let (row, seq) = (row.id.clone(), row.seq);
    Item { row, seq, parent: None, status: None, shows: Shows::Marker { rows } }
}

/// A row that shows: of append origin and for people
/// (`transcript.silent-replacements`, `transcript.audience`).
pub(crate) fn shows(row: &Row) -> bool {
    row.is_append() && row.is_for_people()
}

/// The items of one row.
fn items_of(record: &Record, place: usize, links: &Links) -> Result<Vec<Item>, serde_json::Error> {
    let row = &record.rows()[place];
    let mut items = Vec::new();
    if !shows(row) {
        return Ok(items);
    }
    match &row.event {
        Event::Message(message) => {
            for (at, block) in (0..).zip(&message.blocks) {
                let shown = block_shows(message.role, at, block, links.of(record, (place, at)));
                if let Some(shows) = shown? {
                    items.push(Item { status: message.status, ..item(record, row, shows) });
                }
            }
        }
        Event::Result(_) => {
            let content = to_json(&row.event)?;
            if let Link::Shown(call) = links.of(record, (place, 0)) {
                items.push(item(record, row, Shows::ToolReturn { block: 0, content, call }));
            }
        }
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => {}
    }
    Ok(items)
}

fn item(record: &Record, row: &Row, shows: Shows) -> Item {
    Item {
        row: row.id.clone(),
        seq: row.seq,
        parent: on_screen(record, row).cloned(),
        status: None,
        shows,
    }
}

/// What a row hangs from on screen: its parent, or what the parent follows, if
/// that is a summary (`compaction.screen-anchor`).
pub(crate) fn on_screen<'a>(record: &'a Record, row: &Row) -> Option<&'a Text> {
    let parent = record.place(row.parent.as_ref()?)?;
    record.rows().get(record.flags().last_append(parent)).map(|row| &row.id)
}

/// How a block shows: as what it is, and as it is stored
/// (`transcript.verbatim-hydration`, `transcript.reasoning-typed`).
pub(crate) fn block_shows(
    role: Role,
    at: u64,
    block: &Block,
    link: Link,
) -> Result<Option<Shows>, serde_json::Error> {
    let content = to_json(block)?;
    let shows = match (block, role, link) {
        (Block::Text(_) | Block::Image(_), Role::User, _) => {
            Shows::UserMessage { block: at, content }
        }
        (Block::Text(_) | Block::Image(_), Role::Assistant, _) => {
            Shows::AssistantMessage { block: at, content }
        }
        (Block::Reasoning(_), _, _) => Shows::ReasoningMessage { block: at, content },
        (Block::Call(_), _, link) => Shows::ToolCall { block: at, content, returned: link.place() },
        (Block::Result(_), _, Link::Shown(call)) => Shows::ToolReturn { block: at, content, call },
        // A return whose declaration never showed does not show either.
        (Block::Result(_), _, Link::Hidden) => return Ok(None),
        // The runtime's own facts are no conversation (`authority.never-stored`).
        (Block::Authority(_), _, _) => return Ok(None),
    };
    Ok(Some(shows))
}

/// What is known of a block's other half: of a return its card, of a card its
/// return (`transcript.tool-pairing`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// It shows, with its other half, if that shows.
    Shown(Option<Place>),
    /// A return of a declaration that never showed.
    Hidden,
}

impl Link {
    fn place(self) -> Option<Place> {
        match self {
            Self::Shown(place) => place,
            Self::Hidden => None,
        }
    }
}

/// Which return belongs to which card.
#[derive(Default)]
struct Links {
    calls: BTreeMap<At, At>,
    returns: BTreeMap<At, At>,
}

impl Links {
    fn of(&self, record: &Record, at: At) -> Link {
        let rows = record.rows();
        let place = |(place, block): At| Place { row: rows[place].id.clone(), block };
        if let Some(call) = self.returns.get(&at) {
            return match (shows(&rows[call.0]), call.0 < at.0) {
                (true, _) => Link::Shown(Some(place(*call))),
                // It came before its card, and was seen.
                (false, false) => Link::Shown(None),
                (false, true) => Link::Hidden,
            };
        }
        let returned = self.calls.get(&at).filter(|returned| shows(&rows[returned.0]));
        Link::Shown(returned.map(|returned| place(*returned)))
    }
}

/// Something that happened to an id.
enum Happened {
    /// A round declared a call with it.
    Called { round: usize, at: At },
    /// A result came for it.
    Returned { at: At },
}

/// Pairs cards and returns as a replay pairs calls and results, over the rows of
/// append origin and id by id: each id's own story is short.
fn links(record: &Record) -> Links {
    let mut stories: BTreeMap<&Text, Vec<(usize, Happened)>> = BTreeMap::new();
    let mut turn = 0;
    for (place, row) in record.rows().iter().enumerate().filter(|(_, row)| row.is_append()) {
        let mut happened = |id, what| stories.entry(id).or_default().push((turn, what));
        match &row.event {
            Event::Message(message) if message.is_failed() => {}
            Event::Message(message) => {
                for (block, stored) in (0..).zip(&message.blocks) {
                    let at = (place, block);
                    match stored {
                        Block::Call(call) if message.role == Role::Assistant => {
                            happened(&call.id, Happened::Called { round: place, at });
                        }
                        Block::Result(result) => happened(&result.call, Happened::Returned { at }),
                        Block::Call(_)
                        | Block::Text(_)
                        | Block::Reasoning(_)
                        | Block::Image(_)
                        | Block::Authority(_) => {}
                    }
                }
                turn += usize::from(begins_turn(row, message));
            }
            Event::Result(result) => {
                happened(&result.call, Happened::Returned { at: (place, 0) });
            }
            Event::Turn(_) => turn += 1,
            Event::CallStarted(_) | Event::Compaction(_) | Event::Delta(_) | Event::Unknown(_) => {}
        }
    }
    let mut links = Links::default();
    stories.into_values().for_each(|story| links.tell(story));
    links
}

/// A person said something: whatever waits for a call waits no longer.
pub(crate) fn begins_turn(row: &Row, message: &Message) -> bool {
    message.role == Role::User
        && row.is_for_people()
        && message.blocks.iter().any(|block| matches!(block, Block::Text(_) | Block::Image(_)))
}

impl Links {
    /// The story of one id. A round that calls with it closes the calls of earlier
    /// rounds; a result goes to the first open call; without one it waits until
    /// its turn is over, unless the id was consumed in this turn already.
    fn tell(&mut self, story: Vec<(usize, Happened)>) {
        let mut open: (usize, VecDeque<At>) = (0, VecDeque::new());
        let mut waiting: (usize, VecDeque<At>) = (0, VecDeque::new());
        let mut consumed = None;
        for (turn, happened) in story {
            if waiting.0 != turn {
                waiting = (turn, VecDeque::new());
            }
            match happened {
                Happened::Called { round, at } => {
                    if let Some(early) = waiting.1.pop_front() {
                        consumed = Some(turn);
                        self.link(at, early);
                        continue;
                    }
                    if open.0 != round {
                        open = (round, VecDeque::new());
                    }
                    open.1.push_back(at);
                }
                Happened::Returned { at } => match open.1.pop_front() {
                    Some(call) => {
                        consumed = Some(turn);
                        self.link(call, at);
                    }
                    None if consumed == Some(turn) => {}
                    None => waiting.1.push_back(at),
                },
            }
        }
    }

    fn link(&mut self, call: At, returned: At) {
        self.calls.insert(call, returned);
        self.returns.insert(returned, call);
    }
}

/// The pieces of a streamed message.
struct Stream<'a> {
    /// The row of the first piece.
    first: u64,
    /// The parts, in the order of their first pieces: the seq of that, and the
    /// pieces joined.
    parts: Vec<(DeltaPart, u64, Text)>,
    /// The row that holds the whole, if it has come and shows.
    whole: Option<usize>,
    message: &'a Text,
}

/// The streams, by the id of the row that was to hold the whole. A piece that
/// comes behind its whole says nothing new.
fn streams(record: &Record) -> BTreeMap<&Text, Stream<'_>> {
    let mut streams: BTreeMap<&Text, Stream<'_>> = BTreeMap::new();
    for (place, row) in record.rows().iter().enumerate() {
        let Event::Delta(delta) = &row.event else { continue };
        let message = &delta.message;
        let whole = record.place(message);
        if !shows(row) || whole.is_some_and(|whole| whole < place) {
            continue;
        }
        let whole = whole.filter(|whole| {
            let whole = &record.rows()[*whole];
            shows(whole) && matches!(whole.event, Event::Message(_))
        });
        let stream = streams.entry(message).or_insert_with(|| Stream {
            first: row.seq,
            parts: Vec::new(),
            whole,
            message,
        });
        match stream.parts.iter_mut().find(|(part, _, _)| *part == delta.part) {
            Some((_, _, text)) => text.push(&delta.text),
            None => stream.parts.push((delta.part, row.seq, delta.text.clone())),
        }
    }
    streams
}

/// The stream whose first piece the row is.
fn begins<'s, 'a>(
    streams: &'s BTreeMap<&'a Text, Stream<'a>>,
    row: &Row,
) -> Option<&'s Stream<'a>> {
    match &row.event {
        Event::Delta(delta) => streams.get(&delta.message).filter(|stream| stream.first == row.seq),
        Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Unknown(_) => None,
    }
}

/// Shows a stream at the place of its first piece: the pieces, or the whole in
/// the place of those that it holds.
fn show_stream(
    record: &Record,
    stream: &Stream<'_>,
    links: &Links,
    items: &mut Vec<Item>,
) -> Result<(), serde_json::Error> {
    let mut whole = match stream.whole {
        Some(place) => items_of(record, place, links)?,
        None => Vec::new(),
    };
    let message = stream.whole.map(|place| &record.rows()[place].event);
    for (part, seq, text) in &stream.parts {
        if message.is_some_and(|event| holds_part(event, *part)) {
            items.append(&mut whole);
            continue;
        }
        let (part, text, open) = (*part, text.clone(), message.is_none());
        let shows = Shows::Pieces { part, text, open };
        let first = record.rows().get(usize::try_from(*seq).unwrap_or(usize::MAX));
        let parent = first.and_then(|first| on_screen(record, first)).cloned();
        let (row, seq) = (stream.message.clone(), *seq);
        items.push(Item { row, seq, parent, status: None, shows });
    }
    items.append(&mut whole);
    Ok(())
}

/// True if a message holds a block of what was streamed as this part.
pub(crate) fn holds_part(event: &Event, part: DeltaPart) -> bool {
    let Event::Message(message) = event else { return false };
    message.blocks.iter().any(|block| is_part(block, part))
}

/// True for a block of what is streamed as this part.
pub(crate) fn is_part(block: &Block, part: DeltaPart) -> bool {
    match (block, part) {
        (Block::Text(_), DeltaPart::Text) | (Block::Reasoning(_), DeltaPart::Reasoning) => true,
        (
            Block::Text(_)
            | Block::Reasoning(_)
            | Block::Call(_)
            | Block::Result(_)
            | Block::Image(_)
            | Block::Authority(_),
            DeltaPart::Text | DeltaPart::Reasoning,
        ) => false,
    }
}
