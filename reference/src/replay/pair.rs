//! Step 2: which result answers which call, by place and id together
//! (`replay.pairs-by-place`).
//!
//! Ids alone do not do: providers reuse them in later rounds, give one id to all
//! calls, or none. So the context is walked in order: a call arms its id, and the
//! next result of that id consumes it. Each stored assistant message with calls
//! is a round.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::op::AnomalyName::{Degraded, Moved};
use onrecord_spec::op::Mode;
use onrecord_spec::record::{Block, Role, TurnEdge};
use onrecord_spec::text::Text;

use super::Repairs;
use super::entries::{Entry, Said, Stored};

/// What the walk found.
#[derive(Debug, Default)]
pub(super) struct Pairs<'a> {
    /// The rounds, in order.
    pub rounds: Vec<Round<'a>>,
    /// What becomes of each result, in order.
    pub fates: Vec<Fate>,
}

/// One stored assistant message with calls.
#[derive(Debug)]
pub(super) struct Round<'a> {
    /// The answer of each call, in order.
    pub answers: Vec<Option<Stored<'a>>>,
    /// Its open calls still run (`replay.running-or-cold`).
    pub running: bool,
    /// How much had crossed when its message ended; none while it is being read.
    crossed: Option<usize>,
    /// How many of its own results have come since then.
    own: usize,
}

/// What becomes of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes to its call.
    Bound,
    /// It has no call, or is a second one: it stays in its place, as prose.
    Prose,
}

/// Pairs what is in the context, and nothing else (`replay.context-only`).
pub(super) fn pair<'a>(entries: &[Entry<'a>], mode: Mode, repairs: &mut Repairs) -> Pairs<'a> {
    let mut walk = Walk::default();
    for entry in entries {
        match entry {
            Entry::Message(said) => walk.message(*said, repairs),
            Entry::Result(stored) => walk.result(*stored, repairs),
            Entry::Edge(edge) => walk.edge(*edge),
            Entry::Streamed { text, .. } => walk.streamed(!text.trim().is_empty()),
        }
    }
    walk.settle_last_round(mode);
    for (fate, seq) in walk.pairs.fates.iter().zip(&walk.results) {
        if *fate == Fate::Prose {
            repairs.note(Degraded, *seq);
        }
    }
    walk.pairs
}

#[derive(Default)]
struct Walk<'a> {
    pairs: Pairs<'a>,
    /// The seq of each result's row, beside `pairs.fates`.
    results: Vec<u64>,
    /// Open calls by id: all of one round, the latest that armed the id.
    armed: BTreeMap<&'a Text, Armed>,
    /// Results of this turn whose call has not come, if it ever does: each with
    /// its place in `pairs.fates`.
    waiting: BTreeMap<&'a Text, VecDeque<(usize, Stored<'a>)>>,
    /// The ids that were consumed since the turn began.
    consumed: BTreeSet<&'a Text>,
    /// How many things have come so far that cross to the model.
    crossed: usize,
    /// How many of them, since the last round, are pieces of a stream.
    streamed: usize,
    /// The turn of the last round came to an end.
    ended: bool,
}

struct Armed {
    round: usize,
    calls: VecDeque<usize>,
}

impl<'a> Walk<'a> {
    fn message(&mut self, said: Said<'a>, repairs: &mut Repairs) {
        let blocks = &said.message.blocks;
        let round = match said.message.role {
            Role::User => None,
            Role::Assistant => self.begin_round(blocks),
        };
        for block in blocks {
            match block {
                Block::Call(call) => {
                    if let Some(round) = round {
                        self.call(round, &call.id, repairs);
                    }
                }
                Block::Result(result) => self.result(Stored { seq: said.seq, result }, repairs),
                Block::Text(text) => self.crossed += usize::from(!text.text.is_blank()),
                Block::Image(_) => self.crossed += 1,
                Block::Reasoning(_) | Block::Authority(_) => {}
            }
        }
        if let Some(round) = round {
            self.pairs.rounds[round].crossed = Some(self.crossed);
        }
        // The results in a person's message belong to the turn that it ends.
        let by_person = said.message.role == Role::User && said.for_people;
        if by_person && blocks.iter().any(is_speech) {
            self.begin_turn();
        }
    }

    fn begin_round(&mut self, blocks: &[Block]) -> Option<usize> {
        if !blocks.iter().any(|block| matches!(block, Block::Call(_))) {
            return None;
        }
        self.streamed = 0;
        self.ended = false;
        let round = Round { answers: vec![], running: false, crossed: None, own: 0 };
        self.pairs.rounds.push(round);
        Some(self.pairs.rounds.len() - 1)
    }

    /// A call takes the result that waits for it (`replay.early-result`), or arms
    /// its id. A call of an earlier round that still had this id open stays
    /// unanswered for ever: the next result belongs to the newer one.
    fn call(&mut self, round: usize, id: &'a Text, repairs: &mut Repairs) {
        self.crossed += 1;
        let call = self.pairs.rounds[round].answers.len();
        let early = self.waiting.get_mut(id).and_then(VecDeque::pop_front);
        self.pairs.rounds[round].answers.push(early.map(|(_, stored)| stored));
        if let Some((fate, stored)) = early {
            self.pairs.fates[fate] = Fate::Bound;
            self.consumed.insert(id);
            repairs.note(Moved, stored.seq);
            return;
        }
        let armed = self.armed.entry(id).or_insert(Armed { round, calls: VecDeque::new() });
        if armed.round != round {
            *armed = Armed { round, calls: VecDeque::new() };
        }
        armed.calls.push_back(call);
    }

    /// A result goes to the first open call of its id. Without one it is a second
    /// result, if the id was consumed in this turn; or else its call may yet
    /// come, as long as the turn lasts.
    fn result(&mut self, stored: Stored<'a>, repairs: &mut Repairs) {
        let id = &stored.result.call;
        self.results.push(stored.seq);
        if let Some((round, call)) = self.take_armed(id) {
            self.pairs.fates.push(Fate::Bound);
            self.consumed.insert(id);
            let round = &mut self.pairs.rounds[round];
            round.answers[call] = Some(stored);
            if let Some(crossed) = round.crossed {
                // It moves if anything but its siblings stood between
                // (`replay.late-result`).
                if self.crossed > crossed + round.own {
                    repairs.note(Moved, stored.seq);
                }
                round.own += 1;
            }
        } else {
            if !self.consumed.contains(id) {
                let place = self.pairs.fates.len();
                self.waiting.entry(id).or_default().push_back((place, stored));
            }
            self.pairs.fates.push(Fate::Prose);
        }
        self.crossed += 1;
    }

    fn take_armed(&mut self, id: &Text) -> Option<(usize, usize)> {
        let armed = self.armed.get_mut(id)?;
        let (round, call) = (armed.round, armed.calls.pop_front()?);
        if armed.calls.is_empty() {
            self.armed.remove(id);
        }
        Some((round, call))
    }

    /// Calls stay open over the edge of a turn, for their result may be late.
    /// What waits for a call does not: none of a later turn is meant.
    fn begin_turn(&mut self) {
        self.waiting.clear();
        self.consumed.clear();
    }

    fn edge(&mut self, edge: TurnEdge) {
        match edge {
            TurnEdge::Started => {}
            TurnEdge::Ended | TurnEdge::Interrupted => self.ended = true,
        }
        self.begin_turn();
    }

    fn streamed(&mut self, crosses: bool) {
        self.crossed += usize::from(crosses);
        self.streamed += usize::from(crosses);
    }

    /// The last round still runs if its turn does: nothing for the model came
    /// after it but its own results and pieces of a stream.
    fn settle_last_round(&mut self, mode: Mode) {
        if let Some(round) = self.pairs.rounds.last_mut() {
            let known = round.crossed.unwrap_or(self.crossed) + round.own + self.streamed;
            round.running = match mode {
                Mode::Running => !self.ended && self.crossed == known,
                Mode::Cold => false,
            };
        }
    }
}

/// True for what a person would see as said: text and images. (A user's message
/// may hold nothing but results.)
fn is_speech(block: &Block) -> bool {
    match block {
        Block::Text(_) | Block::Image(_) => true,
        Block::Reasoning(_) | Block::Call(_) | Block::Result(_) | Block::Authority(_) => false,
    }
}
