//! A client that polls, and a store in which everything moves.
//!
//! **What is modelled.** One conversation and one client. The store is the reference,
//! each of its steps an op; the client is the reference's own [`Client`], each of its
//! steps a call. The world does up to [`STEPS`] steps, in every order: a row comes; a
//! message is made anew; a message streams, in up to two pieces and then as a whole;
//! its turn is interrupted (a late piece, and the whole, may still come); a compaction
//! begins, and lands; the process starts again. Between any two of them the client may
//! do any of the steps of a poll: ask for the stamp, read the newest page (of one
//! message, so that pages often do not meet), take it, read from the first held row,
//! take that and cache the stamp. It polls as often as it likes.
//!
//! **What is proved.** In every state:
//! - if the stamp that the client cached is the store's, then what it holds is the
//!   record from its first held row to the end, byte for byte (`sync.stamp`,
//!   `sync.settled`): nothing is missed, final texts included;
//! - what it holds is always one stretch of the record, without a gap (`sync.join`);
//! - if it is at rest, one more poll brings it everything, from the same first row; and
//!   if nothing streams, the next poll after that reads nothing (`sync.cheap`).
//!
//! For two stores: one that counts every change (the reference's own stamp), and one
//! that counts as little as a stamp may. That one leaves out the pieces of a message
//! behind its first, and the whole message that settles them; so its stamp vouches only
//! for what had settled. It does count the first piece, and all that comes for a message
//! that another one overtook, or whose turn was over. Three of the wrong models leave
//! out one of these, and show why it may not: each time the client holds nothing that
//! says that something is still to come.
//!
//! **What is not.** Several clients (they share nothing), a conversation that is deleted
//! and made anew under its name, a page that is lost on its way, more steps than these.

mod reader;
mod world;

use onrecord_reference::sync::Client;
use stateright::{Model, Property};

use self::reader::{Asked, Phase, Reader};
use self::world::{Stream, World};
use super::{InWords, Kept, Mark, counterexample, exhaust, says};

/// How many steps the world does.
const STEPS: u8 = 4;
/// How many messages the newest page holds.
const LIMIT: i64 = 1;

const NOTHING_MISSED: &str = "a client that believes to be up to date holds what the record holds";
const ONE_STRETCH: &str = "what a client holds is one stretch of the record";
const ONE_MORE_POLL: &str = "one more poll brings everything, and the next reads nothing";

struct Poll {
    stamps: Stamps,
    caching: Caching,
}

/// What the store's stamp is made of.
#[derive(Clone, Copy, PartialEq)]
enum Stamps {
    /// The reference's: an epoch, and a version that every change raises.
    EveryChange,
    /// The same, but what comes for a message that streams raises nothing: its first
    /// piece excepted, and all that comes after another message or the turn's end.
    Settled,
    /// Wrong: as `Settled`, and the first piece raises nothing either.
    NoFirstPiece,
    /// Wrong: as `Settled`, also where another message came in between.
    NoOvertaken,
    /// Wrong: as `Settled`, also where the turn was over.
    NoLateWhole,
    /// Wrong: every change raises a counter that begins at zero with each start.
    BareCounter,
}

/// When the client caches a stamp, and which.
#[derive(Clone, Copy, PartialEq)]
enum Caching {
    /// As the reference's does: the one that it asked for before it read, once
    /// everything that it read is settled.
    OnceSettled,
    /// Wrong: that one, at once.
    AtOnce,
    /// Wrong: once everything is settled, the one that the store has by then.
    AskedBehind,
}

#[derive(Clone, PartialEq, Hash)]
struct State {
    kept: Kept,
    world: World,
    reader: Reader,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Action {
    Say,
    Edit,
    Piece,
    Whole,
    Interrupt,
    Begin,
    Land,
    Restart,
    AskStamp,
    Read,
    Take,
}

impl Poll {
    fn right(stamps: Stamps) -> Self {
        Self { stamps, caching: Caching::OnceSettled }
    }

    /// The client after a whole poll in which nothing else happens.
    fn poll(&self, state: &State) -> State {
        let mut state = state.clone();
        for action in [Action::AskStamp, Action::Read, Action::Take, Action::Read, Action::Take] {
            if let Some(reader) = self.look(&state, action) {
                state.reader = reader;
            }
        }
        state
    }

    fn believes(&self, state: &State) -> bool {
        state.reader.cached == Some(self.stamp(state))
    }

    /// What the record holds from the first held row on is what the client holds.
    fn is_whole(state: &State) -> bool {
        let first = state.reader.first();
        first.is_some_and(|first| state.kept.texts(first, None) == state.reader.held())
    }

    fn one_more_poll(&self, state: &State) -> bool {
        if state.reader.phase != Phase::Rests {
            return true;
        }
        let after = self.poll(state);
        let first = state.reader.first();
        Self::is_whole(&after)
            && (first.is_none() || first == after.reader.first())
            && (state.world.stream == Stream::Open || self.look(&after, Action::AskStamp).is_none())
    }
}

impl Model for Poll {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let kept = Kept::with(vec![])
            .append("m0", says("user", "What became of the barn?"))
            .append("m1", says("assistant", "I will look."));
        let reader = Reader { client: Client::default(), cached: None, phase: Phase::Rests };
        vec![State { kept, world: World::default(), reader }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend([Action::AskStamp, Action::Read, Action::Take]);
        let world = &state.world;
        if world.steps == STEPS {
            return;
        }
        let streams = world.stream != Stream::None;
        let may = [
            (Action::Edit, world.edits == 0),
            (Action::Piece, !streams || world.pieces < 2),
            (Action::Whole, streams),
            (Action::Interrupt, world.stream == Stream::Open),
            (Action::Begin, world.compacting.is_none()),
            (Action::Land, world.compacting.is_some()),
            (Action::Restart, world.starts < 2),
            (Action::Say, true),
        ];
        actions.extend(may.iter().filter(|(_, may)| *may).map(|(action, _)| *action));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        match action {
            Action::AskStamp | Action::Read | Action::Take => {
                let reader = self.look(state, action)?;
                Some(State { reader, ..state.clone() })
            }
            _ => self.change(state, action),
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NOTHING_MISSED, |model: &Self, state: &State| {
                !model.believes(state) || Self::is_whole(state)
            }),
            Property::always(ONE_STRETCH, |_, state: &State| {
                let held = state.reader.held();
                let limit = Some(held.len() as u64);
                state.reader.first().is_none_or(|first| state.kept.texts(first, limit) == held)
            }),
            Property::always(ONE_MORE_POLL, Self::one_more_poll),
            Property::sometimes(
                "a client skips, because nothing moved",
                |model: &Self, state: &State| {
                    model.believes(state) && state.reader.phase == Phase::Rests
                },
            ),
            Property::sometimes(
                "the newest page does not meet what is held",
                |_, state: &State| matches!(state.reader.phase, Phase::Asks(Asked::From(_), ..)),
            ),
            Property::sometimes(
                "something moves while a page is in hand",
                |model: &Self, state: &State| {
                    matches!(&state.reader.phase, Phase::InHand(_, then, ..)
                    if *then != model.stamp(state))
                },
            ),
            Property::sometimes(
                "a client holds what a compaction took",
                |model: &Self, state: &State| {
                    let rows = state.kept.record().rows();
                    model.believes(state)
                        && state.reader.first() == Some(1)
                        && rows.iter().any(|row| row.compacts().is_some())
                },
            ),
            Property::sometimes(
                "a client holds a message and the one made anew",
                |model: &Self, state: &State| {
                    model.believes(state)
                        && state.world.edits == 1
                        && state.reader.first() == Some(1)
                },
            ),
            Property::sometimes(
                "a client that waited has the final text",
                |model: &Self, state: &State| {
                    let (pieces, stream) = (state.world.pieces, state.world.stream);
                    model.believes(state) && pieces == 2 && stream == Stream::None
                },
            ),
            Property::sometimes(
                "a start moves the stamp, and no row",
                |model: &Self, state: &State| {
                    state.reader.cached.is_some() && !model.believes(state) && Self::is_whole(state)
                },
            ),
        ]
    }
}

impl InWords for Poll {
    fn tell(&self, before: &State, action: &Action, after: &State) -> String {
        let kept = &after.kept;
        let last = kept.record().next() - 1;
        let shown = |(epoch, version): &Mark| match self.stamps {
            Stamps::BareCounter => format!("{version}"),
            _ => format!("{version} of the epoch {epoch}"),
        };
        let now = shown(&self.stamp(after));
        let of_world = match action {
            Action::Say => format!("a message comes (row {last})"),
            Action::Edit => format!("a message is made anew (row {last})"),
            Action::Piece => format!("a piece of a message streams (row {last})"),
            Action::Whole => format!("the whole message comes (row {last})"),
            Action::Interrupt => format!("the turn is interrupted (row {last})"),
            Action::Begin => format!("a compaction begins (up to row {last})"),
            Action::Land => format!("the compaction lands (up to row {last})"),
            Action::Restart => "the process starts again".to_string(),
            Action::AskStamp => {
                return format!(
                    "the client asks for the stamp: {now}; it asks for the newest page"
                );
            }
            Action::Read => return "the rows that it asked for are read".to_string(),
            Action::Take => {
                let rows = match after.reader.client.held().len() {
                    1 => "1 row".to_string(),
                    rows => format!("{rows} rows"),
                };
                return match (&after.reader.phase, &after.reader.cached) {
                    (Phase::Rests, None) => {
                        format!("the client holds {rows}, and caches no stamp")
                    }
                    (Phase::Rests, Some(cached)) => {
                        format!("the client holds {rows}, and caches {}", shown(cached))
                    }
                    (_, _) => "they do not meet what it holds; it asks for all of it".to_string(),
                };
            }
        };
        let moved = self.stamp(before) != self.stamp(after);
        let stamp = if moved { "the stamp is now" } else { "the stamp stays" };
        format!("{of_world}; {stamp} {now}")
    }

    fn wrong(&self, state: &State) -> String {
        let upto = |rows: u64| rows.saturating_sub(1);
        let held = state.reader.first().unwrap_or(0) + state.reader.client.held().len() as u64;
        format!(
            "the client {} up to date; it holds rows up to {}, the record up to {}",
            if self.believes(state) { "believes to be" } else { "does not believe to be" },
            upto(held),
            upto(state.kept.record().next()),
        )
    }
}

#[test]
fn nothing_is_missed_where_every_change_counts() {
    exhaust("poll, every change counts", Poll::right(Stamps::EveryChange), 110_000);
}

#[test]
fn nothing_is_missed_where_a_stream_counts_once() {
    exhaust("poll, a stream counts once", Poll::right(Stamps::Settled), 100_000);
}

#[test]
fn a_bare_counter_misses_what_came_before_a_start() {
    let wrong = || Poll::right(Stamps::BareCounter);
    counterexample("poll, a bare counter", wrong, NOTHING_MISSED, 5);
}

#[test]
fn a_stamp_cached_too_early_misses_the_final_text() {
    let wrong = || Poll { stamps: Stamps::Settled, caching: Caching::AtOnce };
    counterexample("poll, a stamp cached at once", wrong, NOTHING_MISSED, 5);
}

#[test]
fn a_stamp_asked_for_behind_the_read_misses_what_came_between() {
    let wrong = || Poll { stamps: Stamps::EveryChange, caching: Caching::AskedBehind };
    counterexample("poll, a stamp asked for behind the read", wrong, NOTHING_MISSED, 4);
}

#[test]
fn a_stamp_without_first_pieces_misses_whole_messages() {
    let wrong = || Poll::right(Stamps::NoFirstPiece);
    counterexample("poll, first pieces do not count", wrong, NOTHING_MISSED, 4);
}

#[test]
fn a_stamp_without_overtaken_messages_misses_them() {
    let wrong = || Poll::right(Stamps::NoOvertaken);
    counterexample("poll, overtaken messages do not count", wrong, NOTHING_MISSED, 6);
}

#[test]
fn a_stamp_without_late_messages_misses_them() {
    let wrong = || Poll::right(Stamps::NoLateWhole);
    counterexample("poll, late messages do not count", wrong, NOTHING_MISSED, 6);
}
