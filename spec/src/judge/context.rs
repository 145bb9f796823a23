//! The context and its pairs, by the judges' own idea of them.
//!
//! The context is not folded: a row is out if any row names it as replaced, and
//! a replacement stands where the first row that it replaces stood. Pairs are not
//! walked: each id's calls and results are looked at by themselves.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::op::Mode;
use crate::record::{
    Block, Call, CompactionStage, Content, DeltaPart, Event, Image, Reasoning, Role, Row,
    ToolResult, TurnEdge,
};
use crate::text::Text;

/// One thing in the context, in its place.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// The seq of its row.
    pub seq: u64,
    /// The index of its block, 0 for a row that is no message.
    pub block: usize,
    /// The turn that it stands in, counted from 0.
    pub turn: usize,
    /// True if a replacement stands before it.
    pub behind_replacement: bool,
    /// True if only stream deltas of it were stored.
    pub streamed: bool,
    /// What it is.
    pub what: What<'a>,
}

/// What a piece is.
#[derive(Debug)]
pub(super) enum What<'a> {
    Said(Role, Cow<'a, str>),
    Thought(&'a Reasoning),
    Called(&'a Call),
    Answered(&'a ToolResult),
    Shown(Role, &'a Image),
    /// The edge of a turn, in its place.
    Edge(TurnEdge),
}

/// The context at one moment.
#[derive(Debug, Default)]
pub(super) struct Context<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// The rows of the record that are not in it or not for the model.
    pub outside: Vec<&'a Row>,
    /// For each result's piece, the piece of its call.
    pub call_of: BTreeMap<usize, usize>,
    /// For each call's piece, the piece of its result.
    pub result_of: BTreeMap<usize, usize>,
    /// The results of no call, and second results.
    pub unbound: Vec<usize>,
    /// Those of them that may still find their call: they wait in the last turn.
    pub waiting: BTreeSet<usize>,
    /// The names of the tools that each id was used for, with the rows of the
    /// calls, anywhere in the record.
    named: BTreeMap<&'a Text, BTreeSet<(u64, Cow<'a, str>)>>,
}

/// What of a record is looked at.
#[derive(Debug, Clone, Default)]
pub(super) struct View<'a> {
    /// Rows that left the context without a row that says so.
    pub gone: BTreeSet<&'a Text>,
    /// The first and the last row of a stretch, if it is looked at alone.
    pub stretch: Option<(&'a Text, &'a Text)>,
}

impl<'a> Context<'a> {
    /// The context of these rows. None if the view is of a stretch that is not in
    /// it.
    pub fn of(rows: &'a [Row], view: &View<'_>) -> Option<Self> {
        let mut context = Self::default();
        let Order { live, outside, begins } = live_rows(rows, view)?;
        context.outside = outside;
        let mut turn = 0;
        let mut behind_replacement = !begins;
        let upgrades = upgrades(rows);
        let written: BTreeSet<&Text> = rows.iter().map(|row| &row.id).collect();
        let mut streams: BTreeSet<&Text> = BTreeSet::new();
        for row in &live {
            let pieces = match (&row.event, upgrades.get(&row.id)) {
                (Event::Message(summary), Some(text)) => {
                    alloc::vec![(0, What::Said(summary.role, text.to_unicode()))]
                }
                (_, _) => pieces_of(row, &live, &written, &mut streams),
            };
            let before = turn;
            turn += usize::from(pieces.iter().any(|(_, what)| ends_turn(row, what)));
            for (block, what) in pieces {
                // The results in a message that ends a turn belong to that turn.
                let turn = if matches!(what, What::Answered(_)) { before } else { turn };
                let streamed = matches!(row.event, Event::Delta(_));
                let seq = row.seq;
                context.pieces.push(Piece { seq, block, turn, behind_replacement, streamed, what });
            }
            behind_replacement |= row.replaces.is_some();
        }
        context.pair(turn);
        for row in rows {
            for call in calls_of(row) {
                context
                    .named
                    .entry(&call.id)
                    .or_default()
                    .insert((row.seq, call.name.to_unicode()));
            }
        }
        Some(context)
    }

    /// Pairs each id's results with its calls.
    fn pair(&mut self, last_turn: usize) {
        let mut by_id: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match &piece.what {
                What::Called(call) => by_id.entry(&call.id).or_default().push(at),
                What::Answered(result) => by_id.entry(&result.call).or_default().push(at),
                What::Said(..) | What::Thought(_) | What::Shown(..) | What::Edge(_) => {}
            }
        }
        let mut unbound = Vec::new();
        let mut waiting = BTreeSet::new();
        let mut bound = Vec::new();
        for places in by_id.values() {
            let id = one_id(&self.pieces, places, last_turn);
            bound.extend(id.bound);
            unbound.extend(id.unbound);
            waiting.extend(id.waiting);
        }
        unbound.sort_unstable();
        for (call, result) in bound {
            self.call_of.insert(result, call);
            self.result_of.insert(call, result);
        }
        self.unbound = unbound;
        self.waiting = waiting;
    }

    /// The places of all calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &Piece<'a>, &'a Call)> {
        self.pieces.iter().enumerate().filter_map(|(at, piece)| match piece.what {
            What::Called(call) => Some((at, piece, call)),
            What::Said(..)
            | What::Thought(_)
            | What::Answered(_)
            | What::Shown(..)
            | What::Edge(_) => None,
        })
    }

    /// The places of all results, in order.
    pub fn results(&self) -> impl Iterator<Item = (usize, &Piece<'a>, &'a ToolResult)> {
        self.pieces.iter().enumerate().filter_map(|(at, piece)| match piece.what {
            What::Answered(result) => Some((at, piece, result)),
            What::Said(..)
            | What::Thought(_)
            | What::Called(_)
            | What::Shown(..)
            | What::Edge(_) => None,
        })
    }

    /// The calls that still run in this mode: those without a result in the last
    /// round, when nothing for the model has followed it but its own results.
    pub fn pending(&self, mode: Mode) -> BTreeSet<usize> {
        if mode == Mode::Cold {
            return BTreeSet::new();
        }
        let Some(last) = self.calls().last().map(|(_, piece, _)| piece.seq) else {
            return BTreeSet::new();
        };
        let end = self.calls().last().map_or(0, |(at, _, _)| at);
        let followed = self.pieces[end + 1..].iter().enumerate().any(|(index, piece)| {
            let own_result = self
                .call_of
                .get(&(end + 1 + index))
                .is_some_and(|call| self.pieces[*call].seq == last);
            match piece.what {
                // What stands behind the call in its own message does not follow the round.
                _ if piece.seq == last || piece.streamed => false,
                What::Answered(_) => !own_result,
                What::Said(_, ref text) => !text.trim().is_empty(),
                What::Edge(TurnEdge::Started) | What::Thought(_) => false,
                What::Edge(TurnEdge::Ended | TurnEdge::Interrupted)
                | What::Called(_)
                | What::Shown(..) => true,
            }
        });
        if followed {
            return BTreeSet::new();
        }
        let open = self
            .calls()
            .filter(|(at, piece, _)| piece.seq == last && !self.result_of.contains_key(at));
        open.map(|(at, _, _)| at).collect()
    }

    /// True if the result came to its call from elsewhere: something that crosses
    /// stood between them, or it was there first.
    pub fn moved(&self, result: usize) -> Option<Moved> {
        let call = *self.call_of.get(&result)?;
        if result < call {
            return Some(Moved::Early);
        }
        let round = self.pieces[call].seq;
        let between = call + 1..result;
        let foreign = self.pieces[between.clone()].iter().zip(between).any(|(piece, at)| {
            if piece.seq == round {
                return false;
            }
            match &piece.what {
                What::Answered(_) => {
                    self.call_of.get(&at).is_none_or(|call| self.pieces[*call].seq != round)
                }
                What::Said(_, text) => !text.trim().is_empty(),
                What::Called(_) | What::Shown(..) => true,
                What::Thought(_) | What::Edge(_) => false,
            }
        });
        foreign.then_some(Moved::Late)
    }

    /// The names that the tool of a result may go by: its own word, or those of
    /// the earlier calls with its id.
    pub fn tools_of(&self, result: usize) -> BTreeSet<Cow<'a, str>> {
        let What::Answered(stored) = self.pieces[result].what else { return BTreeSet::new() };
        match &stored.name {
            Some(own) => BTreeSet::from([own.to_unicode()]),
            None => {
                let seq = self.pieces[result].seq;
                let named = self.named.get(&stored.call).into_iter().flatten();
                named.filter(|(call, _)| *call < seq).map(|(_, name)| name.clone()).collect()
            }
        }
    }
}

/// How a result came to its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    Early,
    Late,
}

struct OneId {
    bound: Vec<(usize, usize)>,
    unbound: Vec<usize>,
    waiting: Vec<usize>,
}

/// Pairs the calls and results of one id. A round is a row with calls; between
/// it and the next round with this id, the first results answer its calls in
/// order, after those that waited for it in its own turn.
fn one_id(pieces: &[Piece<'_>], places: &[usize], last_turn: usize) -> OneId {
    let mut out = OneId { bound: Vec::new(), unbound: Vec::new(), waiting: Vec::new() };
    let mut open: Vec<usize> = Vec::new();
    let mut early: Vec<usize> = Vec::new();
    let mut round = None;
    let mut answered_in = None;
    for &at in places {
        let piece = &pieces[at];
        let lapsed = early.iter().position(|&at| pieces[at].turn == piece.turn);
        out.unbound.extend(early.drain(..lapsed.unwrap_or(early.len())));
        if let What::Called(_) = piece.what {
            if round != Some(piece.seq) {
                open.clear();
                round = Some(piece.seq);
            }
            if early.is_empty() {
                open.push(at);
            } else {
                out.bound.push((at, early.remove(0)));
                answered_in = Some(piece.turn);
            }
        } else if !open.is_empty() {
            out.bound.push((open.remove(0), at));
            answered_in = Some(piece.turn);
        } else if answered_in == Some(piece.turn) {
            out.unbound.push(at);
        } else {
            early.push(at);
        }
    }
    out.waiting.extend(early.iter().filter(|&&at| pieces[at].turn == last_turn));
    out.unbound.extend(early);
    out
}

/// The newest text of each summary whose text was made better.
pub(super) fn upgrades(rows: &[Row]) -> BTreeMap<&Text, &Text> {
    let summaries: BTreeSet<&Text> =
        rows.iter().filter(|row| row.compacts().is_some()).map(|row| &row.id).collect();
    let steps = rows.iter().filter_map(|row| match &row.event {
        Event::Compaction(step) if step.step == CompactionStage::Upgraded => {
            Some((step.summary.as_ref()?, step.text.as_ref()?))
        }
        Event::Compaction(_)
        | Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => None,
    });
    steps.filter(|(summary, _)| summaries.contains(summary)).collect()
}

/// The rows of a view.
struct Order<'a> {
    /// Those that stand for the model, in the order of the context.
    live: Vec<&'a Row>,
    /// The rest.
    outside: Vec<&'a Row>,
    /// Whether the view begins where the context does.
    begins: bool,
}

/// The rows that stand for the model, in the order of the context, and the rest.
fn live_rows<'a>(rows: &'a [Row], view: &View<'_>) -> Option<Order<'a>> {
    let index: BTreeMap<&Text, usize> =
        rows.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
    let mut replaced = BTreeSet::new();
    let mut place: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let first = row.replaces.as_ref().and_then(|range| index.get(&range.first));
        // The place of a replacement is that of the first row it replaces, which
        // may be a replacement itself.
        place.push(first.filter(|first| **first < at).map_or(at, |first| place[*first]));
        if let Some(range) = &row.replaces {
            replaced.extend(range.rows.iter().filter_map(|id| index.get(id)).copied());
        }
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| (place[*at], *at));
    replaced.extend(view.gone.iter().filter_map(|id| index.get(id)).copied());
    let held: Vec<usize> = order.iter().copied().filter(|at| !replaced.contains(at)).collect();
    let stretch = match view.stretch {
        None => 0..held.len(),
        Some((first, last)) => {
            let position = |id: &Text| held.iter().position(|at| rows[*at].id == *id);
            let (first, last) = (position(first)?, position(last)?);
            (first <= last).then_some(first..last + 1)?
        }
    };
    let begins = stretch.start == 0;
    let inside: BTreeSet<usize> = held[stretch].iter().copied().collect();
    let stands = |at: &usize| {
        let failed = matches!(&rows[*at].event, Event::Message(message) if message.is_failed());
        inside.contains(at) && rows[*at].is_for_model() && !failed
    };
    let (live, outside): (Vec<usize>, Vec<usize>) = order.into_iter().partition(stands);
    let pick = |places: Vec<usize>| places.into_iter().map(|at| &rows[at]).collect();
    Some(Order { live: pick(live), outside: pick(outside), begins })
}

/// The pieces of one row. A message of which only stream deltas were stored is
/// told at the first of them.
fn pieces_of<'a>(
    row: &'a Row,
    live: &[&'a Row],
    written: &BTreeSet<&Text>,
    streams: &mut BTreeSet<&'a Text>,
) -> Vec<(usize, What<'a>)> {
    match &row.event {
        Event::Message(message) => {
            let blocks = message.blocks.iter().enumerate();
            blocks.filter_map(|(at, block)| Some((at, piece_of(message.role, block)?))).collect()
        }
        Event::Result(result) => alloc::vec![(0, What::Answered(result))],
        Event::Turn(boundary) => alloc::vec![(0, What::Edge(boundary.edge))],
        Event::Delta(delta)
            if !written.contains(&delta.message) && streams.insert(&delta.message) =>
        {
            alloc::vec![(
                0,
                What::Said(Role::Assistant, Cow::Owned(streamed(live, &delta.message)))
            )]
        }
        Event::Delta(_) | Event::CallStarted(_) | Event::Compaction(_) | Event::Unknown(_) => {
            Vec::new()
        }
    }
}

fn piece_of(role: Role, block: &Block) -> Option<What<'_>> {
    match block {
        Block::Text(text) => Some(What::Said(role, text.text.to_unicode())),
        Block::Reasoning(reasoning) => Some(What::Thought(reasoning)),
        // The model alone makes calls. One in a user's message is none.
        Block::Call(call) => (role == Role::Assistant).then_some(What::Called(call)),
        Block::Result(result) => Some(What::Answered(result)),
        Block::Image(image) => Some(What::Shown(role, image)),
        Block::Authority(_) => None,
    }
}

/// The calls in a row.
pub(super) fn calls_of(row: &Row) -> impl Iterator<Item = &Call> {
    let blocks = match &row.event {
        Event::Message(message) => message.blocks.as_slice(),
        Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => &[],
    };
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Text(_)
        | Block::Reasoning(_)
        | Block::Result(_)
        | Block::Image(_)
        | Block::Authority(_) => None,
    })
}

/// The text of a message of which only deltas were stored.
fn streamed(live: &[&Row], message: &Text) -> String {
    let deltas = live.iter().filter_map(|row| match &row.event {
        Event::Delta(delta) if delta.message == *message && delta.part == DeltaPart::Text => {
            Some(delta.text.to_unicode())
        }
        Event::Delta(_)
        | Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Unknown(_) => None,
    });
    deltas.collect()
}

/// True if a turn ends before this piece: a person speaks or shows something, or
/// the log says so.
fn ends_turn(row: &Row, what: &What<'_>) -> bool {
    let from_a_person = row.audience != Some(crate::record::Audience::Model);
    match what {
        What::Said(Role::User, _) | What::Shown(Role::User, _) => from_a_person,
        What::Edge(_) => true,
        What::Said(Role::Assistant, _)
        | What::Shown(Role::Assistant, _)
        | What::Thought(_)
        | What::Called(_)
        | What::Answered(_) => false,
    }
}

/// The texts of a result, blank ones left out.
pub(super) fn outputs(result: &ToolResult) -> impl Iterator<Item = Cow<'_, str>> {
    result.content.iter().filter_map(|part| match part {
        Content::Text(text) if !text.text.is_blank() => Some(text.text.to_unicode()),
        Content::Text(_) | Content::Image(_) => None,
    })
}

/// The images of a result.
pub(super) fn images(result: &ToolResult) -> impl Iterator<Item = &Image> {
    result.content.iter().filter_map(|part| match part {
        Content::Image(image) => Some(image),
        Content::Text(_) => None,
    })
}
