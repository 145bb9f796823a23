//! What must show of a record, worked out without a walk: every item is given the
//! place that it has in the log, and the places are sorted.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::pairs::{At, Pairs};
use super::shown::{Kind, Shown, Slot, What, said};
use crate::item::Place;
use crate::json::{Fields, RawValue, Tree, elements};
use crate::record::{Block, DeltaPart, Event, Message, ReplacementSource, Role, Row};
use crate::text::Text;

use super::super::held::{Holdings, Snapshot};

/// The rows of a record, with the content of each block as it was stored.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub rows: &'a [Row],
    contents: Vec<Vec<Rc<Tree>>>,
    index: BTreeMap<&'a Text, usize>,
}

/// The pieces of one message.
struct Stream<'a> {
    first: usize,
    parts: Vec<(DeltaPart, usize, Text)>,
    whole: Option<&'a Message>,
}

/// Where an item stands: the row, and the place among what stands there.
type Stands = (usize, usize, u64);

impl<'a> Stored<'a> {
    /// Everything that the record of a snapshot ever held.
    pub fn of(holdings: &'a Holdings, generation: usize) -> Self {
        let generation = &holdings.generations[generation];
        let rows = generation.rows.as_slice();
        let contents = generation.raw.iter().map(|raw| contents(raw).unwrap_or_default());
        let index = rows.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
        Self { rows, contents: contents.collect(), index }
    }

    /// What of it a snapshot held.
    pub fn at(&self, snapshot: Snapshot) -> &'a [Row] {
        &self.rows[..snapshot.rows]
    }

    /// The row with this id, if it is one of the first `held`.
    pub fn row(&self, id: &Text, held: usize) -> Option<&'a Row> {
        self.index.get(id).filter(|at| **at < held).map(|at| &self.rows[*at])
    }

    /// The contents of a row's blocks.
    pub fn contents(&self, row: &Row) -> &[Rc<Tree>] {
        self.index.get(&row.id).map_or(&[], |at| self.contents[*at].as_slice())
    }

    /// The row that a row hangs from on screen (`compaction.screen-anchor`): of a
    /// replacement, the last row of append origin that it stands for.
    pub fn on_screen(&self, row: &Row) -> Option<Text> {
        let mut parent = row.parent.as_ref()?;
        let mut at = usize::MAX;
        while let Some(place) = self.index.get(parent).copied().filter(|place| *place < at) {
            at = place;
            match &self.rows[place].replaces {
                Some(range) => parent = &range.last,
                None => break,
            }
        }
        Some(parent.clone())
    }

    /// What must show of the first `held` rows, in order.
    pub fn must(&self, held: usize) -> Vec<Shown> {
        let rows = &self.rows[..held];
        let pairs = Pairs::of(rows);
        let streams = self.streams(held);
        let mut items: Vec<(Stands, Shown)> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if let Some(range) = row.compacts() {
                let what = What::Marker { rows: range.rows.len() as u64 };
                let (id, seq) = (row.id.clone(), row.seq);
                let (slot, parent, status) = (Slot::Marker, None, None);
                items.push(((at, 0, 0), Shown { row: id, slot, seq, parent, status, what }));
            }
            let (place, rank) = match streams.get(&row.id) {
                Some(stream) if stream.whole.is_some() => (stream.first, stream.rank()),
                Some(_) | None => (at, 0),
            };
            for (block, shown) in self.row_shows(&pairs, at) {
                items.push(((place, rank, block), shown));
            }
        }
        for (message, stream) in &streams {
            items.extend(self.pieces(message, stream));
        }
        items.sort_by_key(|(stands, _)| *stands);
        items.into_iter().map(|(_, shown)| shown).collect()
    }

    fn row_shows(&self, pairs: &Pairs, at: usize) -> Vec<(u64, Shown)> {
        let row = &self.rows[at];
        if !is_shown(row) {
            return Vec::new();
        }
        let (kinds, status): (Vec<Option<Kind>>, _) = match &row.event {
            Event::Message(message) => {
                let kinds = message.blocks.iter().map(|block| kind_of(message.role, block));
                (kinds.collect(), said(message.status))
            }
            Event::Result(_) => (alloc::vec![Some(Kind::Return)], None),
            Event::CallStarted(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => return Vec::new(),
        };
        let parent = self.on_screen(row);
        let mut shown = Vec::new();
        for ((block, kind), content) in (0..).zip(kinds).zip(&self.contents[at]) {
            let Some(kind) = kind else { continue };
            let index = usize::try_from(block).unwrap_or(usize::MAX);
            let Some(link) = self.link(pairs, kind, (at, index)) else { continue };
            let what = What::Block { kind, content: content.clone(), link };
            let (row, seq, parent) = (row.id.clone(), row.seq, parent.clone());
            let slot = Slot::Block(block);
            shown.push((block, Shown { row, slot, seq, parent, status, what }));
        }
        shown
    }

    /// The other half of a block. None for a return that must not show: its
    /// declaration came before it and never showed (`transcript.tool-pairing`).
    fn link(&self, pairs: &Pairs, kind: Kind, at: At) -> Option<Option<Place>> {
        let place = |at: At| Place { row: self.rows[at.0].id.clone(), block: at.1 as u64 };
        match kind {
            Kind::Call => {
                let other = pairs.result_of.get(&at);
                Some(other.filter(|other| is_shown(&self.rows[other.0])).map(|at| place(*at)))
            }
            Kind::Return => match pairs.call_of.get(&at) {
                None => Some(None),
                Some(call) if is_shown(&self.rows[call.0]) => Some(Some(place(*call))),
                Some(call) => (call.0 > at.0).then_some(None),
            },
            Kind::User | Kind::Assistant | Kind::Reasoning => Some(None),
        }
    }

    /// The pieces that came before a row with the id that they name.
    fn streams(&self, held: usize) -> BTreeMap<&'a Text, Stream<'a>> {
        let mut streams: BTreeMap<&Text, Stream<'_>> = BTreeMap::new();
        for (at, row) in self.rows[..held].iter().enumerate().filter(|(_, row)| is_shown(row)) {
            let Event::Delta(delta) = &row.event else { continue };
            let whole = self.index.get(&delta.message).copied();
            if whole.is_some_and(|whole| whole < at) {
                continue;
            }
            let stream = streams.entry(&delta.message).or_insert_with(|| {
                let whole = whole.filter(|whole| *whole < held).map(|whole| &self.rows[whole]);
                let whole = whole.filter(|row| is_shown(row)).and_then(message_of);
                Stream { first: at, parts: Vec::new(), whole }
            });
            match stream.parts.iter_mut().find(|(part, ..)| *part == delta.part) {
                Some((_, _, text)) => text.push(&delta.text),
                None => stream.parts.push((delta.part, at, delta.text.clone())),
            }
        }
        streams
    }

    fn pieces(&self, message: &Text, stream: &Stream<'_>) -> Vec<(Stands, Shown)> {
        let mut items = Vec::new();
        for (rank, (part, first, text)) in stream.parts.iter().enumerate() {
            if stream.whole.is_some_and(|whole| holds(whole, *part)) {
                continue;
            }
            let what = What::Pieces { text: text.clone(), open: stream.whole.is_none() };
            let first = &self.rows[*first];
            let (row, slot, parent) = (message.clone(), (*part).into(), self.on_screen(first));
            let shown = Shown { row, slot, seq: first.seq, parent, status: None, what };
            items.push(((stream.first, rank, 0), shown));
        }
        items
    }

    /// The rows among the first `held` that took this one.
    pub fn takers(
        &self,
        id: &Text,
        held: usize,
    ) -> impl Iterator<Item = (&'a Row, ReplacementSource)> {
        let rows = self.rows[..held].iter();
        rows.filter_map(move |row| {
            let range = row.replaces.as_ref()?;
            range.rows.contains(id).then_some((row, range.source))
        })
    }
}

impl Stream<'_> {
    /// Where among the pieces the whole stands: in the place of the first that it
    /// holds, or behind them all.
    fn rank(&self) -> usize {
        let held = |(part, ..): &(DeltaPart, usize, Text)| {
            self.whole.is_some_and(|whole| holds(whole, *part))
        };
        self.parts.iter().position(held).unwrap_or(self.parts.len())
    }
}

/// True for a row that may show: of append origin, and for people.
pub(super) fn is_shown(row: &Row) -> bool {
    row.is_append() && row.is_for_people()
}

fn holds(message: &Message, part: DeltaPart) -> bool {
    message.blocks.iter().any(|block| match part {
        DeltaPart::Text => matches!(block, Block::Text(_)),
        DeltaPart::Reasoning => matches!(block, Block::Reasoning(_)),
    })
}

fn kind_of(role: Role, block: &Block) -> Option<Kind> {
    match (block, role) {
        (Block::Text(_) | Block::Image(_), Role::User) => Some(Kind::User),
        (Block::Text(_) | Block::Image(_), Role::Assistant) => Some(Kind::Assistant),
        (Block::Reasoning(_), _) => Some(Kind::Reasoning),
        (Block::Call(_), _) => Some(Kind::Call),
        (Block::Result(_), _) => Some(Kind::Return),
        (Block::Authority(_), _) => None,
    }
}

pub(super) fn message_of(row: &Row) -> Option<&Message> {
    match &row.event {
        Event::Message(message) => Some(message),
        Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => None,
    }
}

/// The blocks of a message, or the result of a row, as they were stored.
fn contents(raw: &RawValue) -> Option<Vec<Rc<Tree>>> {
    let mut row = Fields::open(raw).ok()?;
    let event = row.take_raw("event")?;
    let mut fields = Fields::open(event).ok()?;
    match fields.take::<Text>("type", "a string").ok()??.as_str() {
        Some("message") => {
            let blocks = elements(fields.take_raw("blocks")?, "an array").ok()?;
            blocks.iter().map(|block| Tree::parse(block.get()).map(Rc::new)).collect()
        }
        Some("result") => Some(alloc::vec![Rc::new(Tree::parse(event.get())?)]),
        Some(_) | None => None,
    }
}
