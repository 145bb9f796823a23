//! The context row by row, as a cut sees it: what belongs together, and what is
//! not answered yet.
//!
//! Nothing is folded: a row is out if any row names it as taken, and a replacement
//! stands where the first row stood that it took.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use super::super::context::{Context, View, calls_of};
use super::super::held::{Holdings, Snapshot};
use crate::op::Mode;
use crate::record::{Audience, Block, Event, Message, Role, Row, TurnEdge};
use crate::text::Text;

/// The context at one moment.
pub(super) struct Ground<'a> {
    /// Its rows in order.
    rows: Vec<&'a Row>,
    /// For each id, its row's place.
    places: BTreeMap<&'a Text, usize>,
    /// What crosses of it.
    pub context: Context<'a>,
    /// The places that no cut may separate: each a call with its result, or the
    /// pieces of one message that never came whole.
    pub units: Vec<Vec<usize>>,
    /// The rows with a call that nothing has answered.
    pub open_calls: Vec<usize>,
    /// The messages of people that nothing has answered.
    unanswered: BTreeSet<usize>,
    /// The rows of the round in flight, if the turn still runs.
    in_flight: BTreeSet<usize>,
}

impl<'a> Ground<'a> {
    pub fn of(holdings: &'a Holdings, held: Snapshot) -> Self {
        let all = holdings.rows(held);
        let view = View { gone: holdings.gone(held), stretch: None };
        let rows = in_order(all, &view.gone);
        let places: BTreeMap<&Text, usize> =
            rows.iter().enumerate().map(|(place, row)| (&row.id, place)).collect();
        let mut ground = Self {
            rows,
            places,
            context: Context::of(all, &view).unwrap_or_default(),
            units: Vec::new(),
            open_calls: Vec::new(),
            unanswered: BTreeSet::new(),
            in_flight: BTreeSet::new(),
        };
        let streams = ground.streams(all);
        ground.pairs();
        ground.look_for_unanswered();
        ground.look_for_open(&streams);
        ground.units.extend(streams.into_iter().filter(|stream| stream.len() > 1));
        ground
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row at a place.
    pub fn row(&self, place: usize) -> &'a Row {
        self.rows[place]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied()
    }

    /// The place of a row, if it is in the context.
    pub fn place(&self, id: &Text) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// The stretch from one row to another.
    pub fn range(&self, first: &Text, last: &Text) -> Option<Range<usize>> {
        let (first, last) = (self.place(first)?, self.place(last)?);
        (first <= last).then_some(first..last + 1)
    }

    /// The stretch that consists of exactly these rows, in this order.
    pub fn stretch(&self, ids: &[Text]) -> Option<Range<usize>> {
        let range = self.range(ids.first()?, ids.last()?)?;
        range.clone().map(|place| &self.rows[place].id).eq(ids).then_some(range)
    }

    /// The first unit of which a stretch holds a part only.
    pub fn split_by(&self, range: Range<usize>) -> Option<&[usize]> {
        let held = |unit: &&Vec<usize>| unit.iter().filter(|place| range.contains(place)).count();
        let split = self.units.iter().find(|unit| (1..unit.len()).contains(&held(unit)));
        split.map(Vec::as_slice)
    }

    /// The smallest stretch that holds this one and separates nothing.
    pub fn closure(&self, range: Range<usize>) -> Range<usize> {
        let mut wide = range;
        while let Some(unit) = self.split_by(wide.clone()) {
            let first = unit.iter().copied().min().unwrap_or(wide.start);
            let last = unit.iter().copied().max().unwrap_or(wide.end);
            wide = wide.start.min(first)..wide.end.max(last + 1);
        }
        wide
    }

    /// True if the row at a place may not be taken yet.
    pub fn is_live(&self, place: usize, turn: Mode) -> bool {
        self.unanswered.contains(&place) || turn == Mode::Running && self.in_flight.contains(&place)
    }

    /// True if the row at a place was live once: a person's message, a call without
    /// a result, a piece of a stream.
    pub fn was_live(&self, place: usize) -> bool {
        let row = self.rows[place];
        is_a_persons(row)
            || self.open_calls.contains(&place)
            || matches!(row.event, Event::Delta(_))
    }

    /// The first place of a stretch that may not be taken yet.
    pub fn live_in(&self, range: Range<usize>, turn: Mode) -> Option<usize> {
        range.into_iter().find(|place| self.is_live(*place, turn))
    }

    /// How many of these rows are messages or results: surely, and at the most.
    pub fn messages(&self, mut places: impl Iterator<Item = usize>) -> (u64, u64) {
        let (mut least, mut most) = (0, 0);
        places.by_ref().for_each(|place| {
            let row = self.rows[place];
            let (counts, crosses) = match &row.event {
                Event::Message(message) => (1, !message.is_failed()),
                Event::Result(_) => (1, true),
                Event::CallStarted(_)
                | Event::Compaction(_)
                | Event::Turn(_)
                | Event::Delta(_)
                | Event::Unknown(_) => (0, false),
            };
            most += counts;
            least += u64::from(crosses && row.is_for_model());
        });
        (least, most)
    }

    fn place_of_seq(&self, seq: u64) -> Option<usize> {
        self.rows.iter().position(|row| row.seq == seq)
    }

    /// The places of the pieces of each message that never came whole.
    fn streams(&self, all: &[Row]) -> Vec<Vec<usize>> {
        let written: BTreeSet<&Text> = all.iter().map(|row| &row.id).collect();
        let mut streams: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
        for (place, row) in self.rows.iter().enumerate() {
            if let Event::Delta(delta) = &row.event
                && !written.contains(&delta.message)
            {
                streams.entry(&delta.message).or_default().push(place);
            }
        }
        streams.into_values().collect()
    }

    fn pairs(&mut self) {
        let pieces = &self.context.pieces;
        let seqs = self
            .context
            .result_of
            .iter()
            .map(|(call, result)| (pieces[*call].seq, pieces[*result].seq));
        let rows: BTreeMap<u64, usize> =
            self.rows.iter().enumerate().map(|(place, row)| (row.seq, place)).collect();
        let pairs = seqs.filter_map(|(call, result)| {
            let (call, result) = (*rows.get(&call)?, *rows.get(&result)?);
            (call != result).then(|| alloc::vec![call, result])
        });
        self.units = pairs.collect();
    }

    fn look_for_unanswered(&mut self) {
        for (place, row) in self.rows.iter().enumerate().rev() {
            if ends_turn(row) || is_answer(row) {
                return;
            }
            if is_a_persons(row) {
                self.unanswered.insert(place);
            }
        }
    }

    /// Calls without a result; those of them that may still be answered, with what
    /// belongs to their round; and pieces of a message that may still come.
    fn look_for_open(&mut self, streams: &[Vec<usize>]) {
        let settled = self.rows.iter().rposition(|row| ends_turn(row)).map_or(0, |at| at + 1);
        let pieces = &self.context.pieces;
        let mut rounds: BTreeMap<&Text, u64> = BTreeMap::new();
        for (_, piece, call) in self.context.calls() {
            rounds.insert(&call.id, piece.seq);
        }
        let mut open_calls = BTreeSet::new();
        let mut in_flight = BTreeSet::new();
        for (at, piece, call) in self.context.calls() {
            let Some(place) = self.place_of_seq(piece.seq) else { continue };
            if self.context.result_of.contains_key(&at) {
                continue;
            }
            open_calls.insert(place);
            // The id of a later round closes the call for ever.
            if place < settled || rounds.get(&call.id) != Some(&piece.seq) {
                continue;
            }
            in_flight.insert(place);
            let own =
                self.context.call_of.iter().filter(|(_, call)| pieces[**call].seq == piece.seq);
            in_flight.extend(own.filter_map(|(result, _)| self.place_of_seq(pieces[*result].seq)));
        }
        let streaming = streams.iter().flatten().filter(|place| **place >= settled);
        in_flight.extend(streaming);
        self.open_calls = open_calls.into_iter().collect();
        self.in_flight = in_flight;
    }
}

/// All rows of the context, in its order.
fn in_order<'a>(all: &'a [Row], gone: &BTreeSet<&Text>) -> Vec<&'a Row> {
    let index: BTreeMap<&Text, usize> =
        all.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
    let mut taken: BTreeSet<&Text> = BTreeSet::new();
    let mut stands: Vec<usize> = Vec::new();
    for (at, row) in all.iter().enumerate() {
        let first = row.replaces.as_ref().and_then(|range| index.get(&range.first));
        stands.push(first.filter(|first| **first < at).map_or(at, |first| stands[*first]));
        taken.extend(row.replaces.iter().flat_map(|range| &range.rows));
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| (stands[*at], *at));
    let rows = order.into_iter().map(|at| &all[at]);
    rows.filter(|row| !taken.contains(&row.id) && !gone.contains(&row.id)).collect()
}

fn message_of(row: &Row) -> Option<&Message> {
    match &row.event {
        Event::Message(message) => Some(message).filter(|message| !message.is_failed()),
        Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => None,
    }
}

/// True if a turn came to rest in this row.
fn ends_turn(row: &Row) -> bool {
    matches!(&row.event, Event::Turn(turn) if turn.edge != TurnEdge::Started)
}

/// True for a message of the model without calls: whoever spoke has an answer.
fn is_answer(row: &Row) -> bool {
    message_of(row).is_some_and(|message| message.role == Role::Assistant)
        && calls_of(row).next().is_none()
}

/// True for what a person said or showed.
fn is_a_persons(row: &Row) -> bool {
    let says = |block: &Block| matches!(block, Block::Text(_) | Block::Image(_));
    row.is_append()
        && row.audience != Some(Audience::Model)
        && message_of(row)
            .is_some_and(|message| message.role == Role::User && message.blocks.iter().any(says))
}
