//! A sender whose acknowledgements get lost, and a turn that must run once.
//!
//! **What is modelled.** One request with one key. Its sender sends it, again and again,
//! up to [`SENDS`] times: after a while of silence, or when it asked for the turn's
//! status and was told that there is none. Each copy is delivered sooner or later,
//! or lost ([`LOSSES`] of them at the most, so that one arrives), and so is each
//! acknowledgement. The store is the reference, each of its steps an op. A runner runs
//! a turn when the append of its request is answered `appended`, never when it is
//! answered `known`; it stores the turn's edges. The process may crash
//! ([`CRASHES`] times) and forgets what was due; when it starts again it runs what was
//! stored and never began, and marks as interrupted what had begun. All that is in the
//! context may be compacted, before the turn, in it and behind it ([`COMPACTIONS`]
//! times), and a row of somebody else may come.
//!
//! **What is proved.** In every order of these:
//! - the turn begins at most once (`record.keyed-append`);
//! - it does begin in the end, and in the end the sender knows (an order that goes on
//!   and on is none here: each step uses up something);
//! - once the request is stored, it is found by its key as it was first stored, its turn
//!   has a status, which is how far the runner is, and one row holds the key
//!   (`record.lookup-shadowed`).
//!
//! **What is not.** That the turn's work is done once: a crash in the middle of it
//! interrupts it, and what it did outside is not the record's to know. Two senders with
//! one key, which is a mistake of theirs.

use onrecord::spec::found::TurnState;
use onrecord::spec::json::{Json, keep};
use onrecord::spec::op::{Budget, Cut, Key, Op, Outcome};
use onrecord::spec::record::{Event, TurnEdge};
use onrecord_reference::lookup::{lookup, status};
use serde_json::{Value, json};
use stateright::{Model, Property};

use super::{
    InWords, Kept, compact, counterexample, edge, exhaust, refused, says, stored, summary,
};

const SENDS: u8 = 3;
const LOSSES: u8 = 2;
const CRASHES: u8 = 2;
const COMPACTIONS: u8 = 2;
const KEY: &str = "phone-1";

const ONCE: &str = "the turn runs once at the most";
const IN_THE_END: &str = "the turn runs in the end";
const KNOWS: &str = "the sender knows in the end";
const FOUND: &str = "what was stored is found by its key, as it was stored";
const STATUS: &str = "the status says how far the turn is";

struct Keyed {
    sender: Sender,
    store: Kind,
    /// How many rows of somebody else may come.
    others: u8,
}

/// When a request is sent again.
#[derive(Clone, Copy, PartialEq)]
enum Sender {
    /// Whenever no acknowledgement has come.
    Waits,
    /// When the store says that it has no such turn.
    Asks,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The reference: a compaction flags rows, and a key is found in the record.
    Flags,
    /// Wrong: a compaction deletes the rows that it takes, and keeps the summary.
    Deletes,
    /// Wrong: the keys are in memory.
    Remembers,
}

#[derive(Clone, PartialEq, Hash)]
struct State {
    kept: Kept,
    sends: u8,
    losses: u8,
    /// Copies of the request that are on their way.
    copies: u8,
    /// Acknowledgements are: several are like one, since each says the same, and to one
    /// who knows it they say nothing.
    acks: bool,
    /// The sender knows that the request has arrived.
    knows: bool,
    runner: Runner,
    /// How often a turn began for the key.
    runs: u8,
    /// The text of the row that was first stored under the key.
    first: Option<String>,
    /// A copy was answered with what was there.
    known: bool,
    crashes: u8,
    compactions: u8,
    others: u8,
    /// What a store that keeps its keys in memory remembers.
    remembers: bool,
}

/// What the process knows of the turn; a crash ends that.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
enum Runner {
    Rests,
    /// The request is stored, its turn is to begin.
    Due,
    Runs,
    Ended,
    Interrupted,
}

impl State {
    /// The request's row is not in the context any more.
    fn has_left(&self) -> bool {
        let found = lookup(self.kept.record(), &Key::Request(KEY.into()));
        found.is_some_and(|found| found.left.is_some())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Action {
    Send,
    Lose,
    Deliver,
    LoseAck,
    Acknowledge,
    AskStatus,
    Begin,
    End,
    Crash,
    Compact,
    Other,
}

impl Keyed {
    /// The store's answer to an append of the request. The server gives the row its id,
    /// and appends it where the sender first believed that it would come; if another
    /// row stands there, at the end.
    fn receive(&self, state: &State) -> (Kept, Outcome) {
        let kept = &state.kept;
        let append = |expect: u64| {
            let mut row = says("user", "Paint the barn.");
            let key = if self.store == Kind::Remembers { "sender's-key" } else { "request" };
            row[key] = json!(KEY);
            let rows = vec![stored(expect, &format!("q{expect}"), &row)];
            kept.perform(&Op::Append { expect, rows })
        };
        if self.store == Kind::Remembers && state.remembers {
            return (kept.clone(), Outcome::Known { next: kept.record().next(), rows: vec![] });
        }
        let (after, outcome) = append(0);
        match refused(&outcome) {
            None => (after, outcome),
            Some(_) => append(kept.record().next()),
        }
    }

    /// Whether the store says that there is such a turn.
    fn has_turn(&self, kept: &Kept) -> bool {
        if self.store == Kind::Remembers {
            return request(kept).is_some();
        }
        // What the op `status` answers with; a question needs no copy of the store.
        status(kept.record(), &KEY.into()).is_some()
    }

    fn compacted(&self, state: &State) -> Option<Kept> {
        let id = format!("k{}", state.compactions);
        let cut = Cut::Budget(Budget::Messages(0));
        let op = compact(&id, Some(cut), Some(summary("A barn.")));
        let (kept, outcome) = state.kept.perform(&op);
        let Outcome::Changed(changed) = outcome else { return None };
        if changed.taken.is_empty() {
            return None;
        }
        Some(if self.store == Kind::Deletes { without_what_left(&kept) } else { kept })
    }

    fn deliver(&self, next: &mut State) {
        let (kept, outcome) = self.receive(next);
        next.kept = kept;
        next.copies -= 1;
        next.acks = !next.knows;
        match outcome {
            Outcome::Appended { .. } => {
                next.runner = Runner::Due;
                next.remembers = true;
                next.first = next.first.take().or_else(|| next.kept.texts(0, None).pop());
            }
            Outcome::Known { .. } => next.known = true,
            other => panic!("{other:?}"),
        }
    }

    /// The process dies, and starts again: what is due it knows from the record alone.
    fn crash(next: &mut State) {
        next.kept = next.kept.perform(&Op::Restart {}).0;
        next.crashes += 1;
        next.remembers = false;
        let Some(place) = request(&next.kept) else {
            next.runner = Runner::Rests;
            return;
        };
        next.runner = match edges_behind(&next.kept, place)[..] {
            [] => Runner::Due,
            [TurnEdge::Started] => {
                next.kept = next.kept.append(&free(&next.kept, "t"), edge("interrupted"));
                Runner::Interrupted
            }
            [_, TurnEdge::Interrupted, ..] => Runner::Interrupted,
            [..] => Runner::Ended,
        };
    }

    fn step(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Send => {
                (next.sends, next.copies) = (next.sends + 1, next.copies + 1);
            }
            Action::Lose => (next.losses, next.copies) = (next.losses + 1, next.copies - 1),
            Action::Deliver => self.deliver(&mut next),
            Action::LoseAck => next.acks = false,
            Action::Acknowledge => (next.acks, next.knows) = (false, true),
            Action::AskStatus if self.has_turn(&state.kept) => {
                (next.acks, next.knows) = (false, true)
            }
            // Nothing is there: one that asks may send again now.
            Action::AskStatus if self.sender == Sender::Asks && state.sends < SENDS => {
                (next.sends, next.copies) = (next.sends + 1, next.copies + 1);
            }
            Action::AskStatus => return None,
            Action::Begin => {
                next.kept = state.kept.append(&free(&state.kept, "t"), edge("started"));
                (next.runner, next.runs) = (Runner::Runs, next.runs + 1);
            }
            Action::End => {
                let kept = state.kept.append(&free(&state.kept, "a"), says("assistant", "Done."));
                next.kept = kept.append(&free(&kept, "t"), edge("ended"));
                next.runner = Runner::Ended;
            }
            Action::Crash => Self::crash(&mut next),
            Action::Compact => {
                next.kept = self.compacted(state)?;
                next.compactions += 1;
            }
            Action::Other => {
                next.kept = state.kept.append(&free(&state.kept, "o"), says("assistant", "Rain."));
                next.others += 1;
            }
        }
        Some(next)
    }

    fn found(state: &State) -> bool {
        let Some(first) = &state.first else { return true };
        let found = lookup(state.kept.record(), &Key::Request(KEY.into()));
        let rows = state.kept.record().rows().iter();
        found.is_some_and(|found| found.row.get() == first)
            && rows.filter(|row| row.request.is_some()).count() == 1
    }

    fn status(state: &State) -> bool {
        let told = status(state.kept.record(), &KEY.into()).map(|turn| turn.state);
        let due = match (&state.first, state.runner) {
            (None, _) => None,
            (Some(_), Runner::Ended) => Some(TurnState::Ended),
            (Some(_), Runner::Interrupted) => Some(TurnState::Interrupted),
            (Some(_), Runner::Rests | Runner::Due | Runner::Runs) => Some(TurnState::Open),
        };
        told == due
    }
}

/// An id that nothing has yet.
fn free(kept: &Kept, letter: &str) -> String {
    format!("{letter}{}", kept.stamp.1)
}

/// The place of the request's row.
fn request(kept: &Kept) -> Option<usize> {
    kept.record().rows().iter().rposition(|row| row.id.to_string().starts_with('q'))
}

fn edges_behind(kept: &Kept, place: usize) -> Vec<TurnEdge> {
    let rows = kept.record().rows()[place..].iter();
    rows.filter_map(|row| match &row.event {
        Event::Turn(turn) => Some(turn.edge),
        _ => None,
    })
    .collect()
}

/// The store as it would be if what left the context had been deleted.
fn without_what_left(kept: &Kept) -> Kept {
    let mut rows: Vec<Json> = vec![];
    for place in kept.record().places() {
        let text = kept.texts(place as u64, Some(1)).pop().unwrap();
        let mut row: Value = serde_json::from_str(&text).unwrap();
        row.as_object_mut().unwrap().remove("replaces");
        row["seq"] = json!(rows.len());
        rows.push(keep(&row.to_string()).unwrap());
    }
    kept.perform(&Op::Load { header: None, rows, beside: false }).0
}

impl Model for Keyed {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let kept = Kept::with(vec![]).append("m0", says("assistant", "What is to be done?"));
        vec![State {
            kept,
            sends: 1,
            losses: 0,
            copies: 1,
            acks: false,
            knows: false,
            runner: Runner::Rests,
            runs: 0,
            first: None,
            known: false,
            crashes: 0,
            compactions: 0,
            others: 0,
            remembers: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let may = [
            (Action::Send, self.sender == Sender::Waits && !state.knows && state.sends < SENDS),
            (Action::Lose, state.copies > 0 && state.losses < LOSSES),
            (Action::Deliver, state.copies > 0),
            (Action::LoseAck, state.acks),
            (Action::Acknowledge, state.acks),
            (Action::AskStatus, !state.knows),
            (Action::Begin, state.runner == Runner::Due),
            (Action::Crash, state.crashes < CRASHES),
            (Action::Other, state.others < self.others),
            (Action::Compact, state.compactions < COMPACTIONS),
            (Action::End, state.runner == Runner::Runs),
        ];
        actions.extend(may.iter().filter(|(_, may)| *may).map(|(action, _)| *action));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.step(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONCE, |_, state: &State| state.runs <= 1),
            Property::eventually(IN_THE_END, |_, state: &State| state.runs > 0),
            Property::eventually(KNOWS, |_, state: &State| state.knows),
            Property::always(FOUND, |_, state: &State| Self::found(state)),
            Property::always(STATUS, |_, state: &State| Self::status(state)),
            Property::sometimes("a copy is answered with what was there", |_, state: &State| {
                state.known
            }),
            Property::sometimes(
                "a copy comes when the turn's rows have left",
                |_, state: &State| {
                    state.copies > 0 && state.runner == Runner::Ended && state.has_left()
                },
            ),
            Property::sometimes("a request leaves before its turn begins", |_, state: &State| {
                state.runner == Runner::Due && state.has_left()
            }),
            Property::sometimes(
                "a turn is due that was stored before a crash",
                |_, state: &State| {
                    state.runner == Runner::Due && state.kept.lifetime == state.kept.record().next()
                },
            ),
            Property::sometimes("a crash interrupts the turn", |_, state: &State| {
                state.runner == Runner::Interrupted
            }),
        ]
    }
}

impl InWords for Keyed {
    fn tell(&self, before: &State, action: &Action, after: &State) -> String {
        match action {
            Action::Send => "silence; the sender sends it again".to_string(),
            Action::Lose => "a copy is lost".to_string(),
            Action::Deliver if before.runner == after.runner && before.known == after.known => {
                "a copy is delivered, and answered as before".to_string()
            }
            Action::Deliver if after.kept == before.kept => {
                "a copy is delivered; the store answers `known`".to_string()
            }
            Action::Deliver => {
                "a copy is delivered; the store answers `appended`, so its turn is due".to_string()
            }
            Action::LoseAck => "the acknowledgement is lost".to_string(),
            Action::Acknowledge => "the acknowledgement arrives".to_string(),
            Action::AskStatus if after.knows => {
                "the sender asks for the status: the turn is there".to_string()
            }
            Action::AskStatus => {
                "the sender asks for the status: there is no such turn; it sends it again"
                    .to_string()
            }
            Action::Begin if after.runs == 1 => "the turn begins".to_string(),
            Action::Begin => "the turn begins once more".to_string(),
            Action::End => "the turn ends".to_string(),
            Action::Crash => "the process crashes, and starts again from its log".to_string(),
            Action::Compact => "what is in the context is compacted".to_string(),
            Action::Other => "a row of somebody else comes".to_string(),
        }
    }

    fn wrong(&self, state: &State) -> String {
        format!("one request, sent {} times, and its turn ran {} times", state.sends, state.runs)
    }
}

#[test]
fn a_turn_runs_once_whatever_is_lost() {
    // One that asks sends when one that waits may send too: it is among these.
    let right = Keyed { sender: Sender::Waits, store: Kind::Flags, others: 1 };
    exhaust("keyed", right, 64_000);
}

#[test]
fn a_turn_whose_rows_are_deleted_runs_twice() {
    let wrong = || Keyed { sender: Sender::Asks, store: Kind::Deletes, others: 0 };
    counterexample("keyed, a compaction deletes", wrong, ONCE, 7);
}

#[test]
fn a_turn_whose_key_is_only_in_memory_runs_twice() {
    let wrong = || Keyed { sender: Sender::Waits, store: Kind::Remembers, others: 0 };
    counterexample("keyed, keys in memory", wrong, ONCE, 6);
}
