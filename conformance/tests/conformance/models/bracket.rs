//! Two compactors, somebody who appends, somebody who edits, and crashes.
//!
//! **What is modelled.** One record, held by the reference; each step is an op. Each of
//! two compactors may begin a compaction (of the first two rows of the context, or of
//! all of it), let it land, or end it as failed, whenever it likes. Rows are appended,
//! and a message is made anew, at any time in between. The process may crash at any
//! time and starts again from its log; what was open then is still believed to be open
//! by the compactor that had begun it, which tries to end it. All of it in every order,
//! as often as [`WIDE`] says, and as [`DEEP`] says.
//!
//! **What is proved.** In every state:
//! - never are two brackets open in one lifetime, and each bracket's rows come in their
//!   order: started, provenance, replacement, ended (`compaction.bracket`);
//! - no row is taken by two compactions, and each that landed ended as landed
//!   (`compaction.one-at-a-time`, `compaction.flag-once`);
//! - the record holds every row that was appended, once and in order; each row is in
//!   the context or stands behind a row of the context that took its place; the bytes
//!   of the log only grow; and nothing but a landing or an edit takes a row out of the
//!   context (`record.append-only`, `compaction.concurrent-append`);
//! - nobody is blocked for ever: a beginning is refused as busy only while a compactor
//!   of this lifetime holds the bracket, and if that one gives up, another can begin.
//!
//! **What is not.** A compactor that lives and never ends what it began: it does block
//! the others for as long as its process lives, and the spec gives it no time. Calls
//! and their results, live turns: `small_scope` has those.

use std::collections::BTreeMap;

use onrecord::spec::op::{Cut, Ending, Op, Outcome, Refusal, RefusalCode};
use onrecord::spec::record::{CompactionOutcome, CompactionStage, CompactionStep, Event, Row};
use onrecord::spec::text::Text;
use stateright::{Model, Property};

use super::{InWords, Kept, compact, counterexample, exhaust, made_anew, refused, says, summary};

/// Two that overlap, and much that goes on meanwhile.
const WIDE: Most = Most { begins: 2, appends: 2, edits: 1, crashes: 2 };
/// One behind the other, and one behind both.
const DEEP: Most = Most { begins: 3, appends: 1, edits: 0, crashes: 2 };

const ONE_OPEN: &str = "one bracket is open at the most, and each is in order";
const TAKEN_ONCE: &str = "a row is taken once, and by a compaction that ended as landed";
const NOTHING_LOST: &str = "every row that was appended is there, or what took its place";
const NOTHING_ELSE: &str = "only landings and edits take rows out, and the log only grows";
const NOT_BLOCKED: &str = "a compaction is refused as busy only while somebody can end the other";

struct Bracket {
    lifetimes: Lifetimes,
    most: Most,
}

/// How often each may happen.
struct Most {
    begins: u8,
    appends: u8,
    edits: u8,
    crashes: u8,
}

/// What a start makes of a bracket that was open.
#[derive(Clone, Copy, PartialEq)]
enum Lifetimes {
    /// It is not open any more.
    End,
    /// Wrong: it stays open, as the log shows no end of it.
    GoOn,
}

#[derive(Clone, PartialEq, Hash)]
struct State {
    kept: Kept,
    compactors: [Compactor; 2],
    begins: u8,
    appends: u8,
    edits: u8,
    crashes: u8,
    /// A step did what it must not.
    broken: bool,
}

/// What a compactor believes to have open, and in which lifetime it began that.
#[derive(Clone, PartialEq, Hash)]
struct Compactor {
    open: Option<(String, u8)>,
}

impl State {
    /// True of a compactor that has begun something in this lifetime.
    fn lives(&self, compactor: &Compactor) -> bool {
        compactor.open.as_ref().is_some_and(|(_, lifetime)| *lifetime == self.crashes)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Action {
    Append,
    Edit,
    Crash,
    Begin(usize, Width),
    Land(usize),
    Fail(usize),
}

/// How much a compaction is to take.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Width {
    Two,
    All,
}

impl Bracket {
    fn perform(&self, kept: &Kept, op: &Op) -> (Kept, Outcome) {
        let begins = matches!(op, Op::Compact(asked) if asked.cut.is_some());
        if self.lifetimes == Lifetimes::GoOn && begins {
            let brackets = brackets(kept);
            if let Some((open, _)) = brackets.iter().find(|(_, steps)| steps.len() == 2) {
                let detail = format!("the compaction {open} is open");
                let refusal = Refusal { code: RefusalCode::Busy, seq: None, detail };
                return (kept.clone(), Outcome::Refused(refusal));
            }
        }
        kept.perform(op)
    }

    /// The op of a beginning.
    fn begin(state: &State, width: Width) -> Op {
        let context = state.kept.context();
        let last = match width {
            Width::Two => 1.min(context.len() - 1),
            Width::All => context.len() - 1,
        };
        let (first, last) = (context[0].clone(), context[last].clone());
        compact(&format!("k{}", state.begins), Some(Cut::Nearest { first, last }), None)
    }

    /// A step of a compactor.
    fn compacts(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let (who, op) = match action {
            Action::Begin(who, width) => (who, Self::begin(state, width)),
            Action::Land(who) => {
                let (id, _) = state.compactors[who].open.as_ref()?;
                (who, compact(id, None, Some(summary("A barn was painted."))))
            }
            Action::Fail(who) => {
                let (id, _) = state.compactors[who].open.as_ref()?;
                (who, compact(id, None, Some(Ending::Failed { reason: "no model".into() })))
            }
            Action::Append | Action::Edit | Action::Crash => return None,
        };
        let (kept, outcome) = self.perform(&state.kept, &op);
        next.kept = kept;
        next.compactors[who].open = match (action, refused(&outcome)) {
            (Action::Begin(..), None) => {
                next.begins += 1;
                Some((format!("k{}", state.begins), state.crashes))
            }
            (Action::Begin(..), Some(_)) => return None,
            // It may only be ended as failed now.
            (_, Some(RefusalCode::Changed)) => return None,
            (_, _) => None,
        };
        Some(next)
    }

    fn step(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Append => {
                let id = format!("r{}", state.appends);
                next.kept = state.kept.append(&id, says("assistant", "The barn is dry."));
                next.appends += 1;
            }
            Action::Edit => {
                let answer = state.kept.record().context().find(|row| is_answer(row))?;
                let row = made_anew(&answer.id, "The barn is wet.");
                next.kept = state.kept.append(&format!("e{}", state.edits), row);
                next.edits += 1;
            }
            Action::Crash => {
                next.kept = state.kept.perform(&Op::Restart {}).0;
                next.crashes += 1;
            }
            Action::Begin(..) | Action::Land(_) | Action::Fail(_) => {
                next = self.compacts(state, action)?;
            }
        }
        next.broken |= breaks(&state.kept, action, &next.kept);
        Some(next)
    }

    /// A landing comes too late: what it was to take is not there any more.
    fn refuses_changed(&self, state: &State) -> bool {
        let mut alive = state.compactors.iter().filter(|held| state.lives(held));
        alive.any(|held| {
            held.open.as_ref().is_some_and(|(id, _)| {
                let land = compact(id, None, Some(summary("A barn.")));
                refused(&self.perform(&state.kept, &land).1) == Some(RefusalCode::Changed)
            })
        })
    }

    /// A beginning that is refused as busy is so because of a compactor that lives,
    /// and no more when that has given up.
    fn can_begin(&self, state: &State) -> bool {
        let op = Self::begin(state, Width::All);
        let (_, outcome) = self.perform(&state.kept, &op);
        match refused(&outcome) {
            None => true,
            Some(RefusalCode::Busy) => (0..2).any(|who| {
                let gives_up = || self.compacts(state, Action::Fail(who));
                state.lives(&state.compactors[who])
                    && gives_up().is_some_and(|after| {
                        let op = Self::begin(&after, Width::All);
                        refused(&self.perform(&after.kept, &op).1).is_none()
                    })
            }),
            Some(_) => false,
        }
    }
}

/// A message that was appended, and that nothing stands for yet.
fn is_answer(row: &Row) -> bool {
    matches!(row.event, Event::Message(_)) && row.is_append() && row.id != *"m0"
}

/// Whether a step did to the record what no such step may do.
fn breaks(before: &Kept, action: Action, after: &Kept) -> bool {
    if !after.record().log().starts_with(before.record().log()) {
        return true;
    }
    let (mut due, now) = (before.context(), after.context());
    let came = &after.record().rows()[before.record().rows().len()..];
    match (action, came) {
        // The replacement stands in the place of what it names, and the rest is as it was.
        (Action::Land(_) | Action::Edit, [row, rest @ ..]) if row.replaces.is_some() => {
            let Some(taken) = &row.replaces else { return true };
            let Some(at) = due.iter().position(|id| *id == taken.first) else { return true };
            if due.get(at..at + taken.rows.len()) != Some(&taken.rows[..]) {
                return true;
            }
            due.splice(at..at + taken.rows.len(), [row.id.clone()]);
            due.extend(rest.iter().map(|row| row.id.clone()));
        }
        (_, came) => due.extend(came.iter().map(|row| row.id.clone())),
    }
    due != now
}

/// The brackets of a record, by the rows alone: for each compaction its steps, each
/// with its place.
fn brackets(kept: &Kept) -> BTreeMap<&Text, Vec<(&'static str, usize)>> {
    let mut brackets: BTreeMap<&Text, Vec<_>> = BTreeMap::new();
    for (place, row) in kept.record().rows().iter().enumerate() {
        let of = match (&row.event, &row.replaces) {
            (Event::Compaction(step), _) => Some((&step.compaction, name(step))),
            (_, Some(replaces)) => replaces.compaction.as_ref().map(|id| (id, "replacement")),
            (_, None) => None,
        };
        if let Some((id, step)) = of {
            brackets.entry(id).or_default().push((step, place));
        }
    }
    brackets
}

/// What a step is called here; an end, by how it ended.
fn name(step: &CompactionStep) -> &'static str {
    match (step.step, step.outcome) {
        (CompactionStage::Started, _) => "started",
        (CompactionStage::Provenance, _) => "provenance",
        (CompactionStage::Ended, Some(CompactionOutcome::Landed)) => "landed",
        (CompactionStage::Ended, Some(CompactionOutcome::Abandoned)) => "abandoned",
        (CompactionStage::Ended, _) => "ended",
        (CompactionStage::Upgraded, _) => "upgraded",
    }
}

fn one_open(kept: &Kept) -> bool {
    let brackets = brackets(kept);
    let in_order = brackets.values().all(|steps| {
        let steps: Vec<&str> = steps.iter().map(|(step, _)| *step).collect();
        matches!(
            steps[..],
            ["started", "provenance"]
                | ["started", "provenance", "ended" | "abandoned"]
                | ["started", "provenance", "replacement", "landed"]
        )
    });
    let open = brackets.values().filter(|steps| {
        steps.len() == 2 && steps.iter().any(|(_, place)| *place as u64 >= kept.lifetime)
    });
    in_order && open.count() <= 1
}

/// Whether there is such a bracket.
fn happened(state: &State, what: fn(&[(&'static str, usize)]) -> bool) -> bool {
    brackets(&state.kept).values().any(|steps| what(steps))
}

fn taken_once(kept: &Kept) -> bool {
    let mut taken: Vec<&Text> = vec![];
    for row in kept.record().rows() {
        taken.extend(row.replaces.iter().flat_map(|replaces| &replaces.rows));
    }
    let rows = taken.len();
    taken.sort();
    taken.dedup();
    taken.len() == rows
}

fn nothing_lost(state: &State) -> bool {
    let record = state.kept.record();
    let said = record.rows().iter().filter(|row| matches!(row.event, Event::Message(_)));
    let appended = said.filter(|row| row.is_append()).map(|row| row.id.to_string());
    let due = ["m0", "m1"].map(String::from).into_iter();
    if !due.chain((0..state.appends).map(|row| format!("r{row}"))).eq(appended) {
        return false;
    }
    // Each row stands in the context, or leads there from one that took it to the next.
    let context = state.kept.context();
    let mut by: BTreeMap<&Text, &Text> = BTreeMap::new();
    for row in record.rows() {
        by.extend(row.replaces.iter().flat_map(|taken| taken.rows.iter().map(|id| (id, &row.id))));
    }
    record.rows().iter().all(|row| {
        let mut at = &row.id;
        while let Some(next) = by.get(at) {
            at = next;
        }
        context.contains(at) && context.contains(&row.id) != by.contains_key(&row.id)
    })
}

impl Model for Bracket {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let kept = Kept::with(vec![])
            .append("m0", says("user", "Paint the barn."))
            .append("m1", says("assistant", "It is painted."));
        let compactors = [Compactor { open: None }, Compactor { open: None }];
        let state =
            State { kept, compactors, begins: 0, appends: 0, edits: 0, crashes: 0, broken: false };
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let open = |who: usize| state.compactors[who].open.is_some();
        for who in (0..2).filter(|who| open(*who)) {
            actions.extend([Action::Land(who), Action::Fail(who)]);
        }
        // Two that have nothing open are one like the other.
        if let Some(who) =
            (0..2).find(|who| !open(*who)).filter(|_| state.begins < self.most.begins)
        {
            actions.extend([Action::Begin(who, Width::Two), Action::Begin(who, Width::All)]);
        }
        actions.extend((state.crashes < self.most.crashes).then_some(Action::Crash));
        actions.extend((state.edits < self.most.edits).then_some(Action::Edit));
        actions.extend((state.appends < self.most.appends).then_some(Action::Append));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.step(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(ONE_OPEN, |_, state: &State| one_open(&state.kept)),
            Property::always(TAKEN_ONCE, |_, state: &State| taken_once(&state.kept)),
            Property::always(NOTHING_LOST, |_, state: &State| nothing_lost(state)),
            Property::always(NOTHING_ELSE, |_, state: &State| !state.broken),
            Property::always(NOT_BLOCKED, Self::can_begin),
            Property::sometimes("a second one is refused as busy", |_, state: &State| {
                let [one, other] = &state.compactors;
                state.lives(one) && other.open.is_none()
            }),
            Property::sometimes("a compactor outlives the lifetime", |_, state: &State| {
                state.compactors.iter().any(|held| held.open.is_some() && !state.lives(held))
            }),
            Property::sometimes("a start leaves one open that is ended later", |_, state| {
                happened(state, |steps| matches!(steps[..], [_, _, ("abandoned", _)]))
            }),
            Property::sometimes("rows come between a beginning and its landing", |_, state| {
                happened(
                    state,
                    |steps| matches!(steps[..], [_, (_, from), ("replacement", to), _] if to > from + 1),
                )
            }),
            Property::sometimes("a summary is taken by another", |_, state: &State| {
                let record = state.kept.record();
                record.rows().iter().enumerate().any(|(place, row)| {
                    row.compacts().is_some() && record.flags().taken_by(place).is_some()
                })
            }),
        ];
        if self.most.edits > 0 {
            let changed = "a landing is refused, because its rows changed";
            properties.push(Property::sometimes(changed, Self::refuses_changed));
        }
        properties
    }
}

impl InWords for Bracket {
    fn tell(&self, before: &State, action: &Action, after: &State) -> String {
        let next = after.kept.record().next() - 1;
        let name = |who: &usize| ["the first compactor", "the second compactor"][*who];
        match action {
            Action::Append => format!("a message is appended (row {next})"),
            Action::Edit => format!("a message is made anew (row {next})"),
            Action::Crash => "the process crashes, and starts again from its log".to_string(),
            Action::Begin(who, Width::Two) => {
                format!("{} begins to compact two rows (up to row {next})", name(who))
            }
            Action::Begin(who, Width::All) => {
                format!("{} begins to compact all rows (up to row {next})", name(who))
            }
            Action::Land(who) | Action::Fail(who) if before.kept == after.kept => {
                format!("{} is told that nothing of it is open", name(who))
            }
            Action::Land(who) => format!("{} lands (up to row {next})", name(who)),
            Action::Fail(who) => format!("{} gives up (up to row {next})", name(who)),
        }
    }

    fn wrong(&self, state: &State) -> String {
        let (_, outcome) = self.perform(&state.kept, &Self::begin(state, Width::All));
        match refused(&outcome) {
            None => "a compaction can begin".to_string(),
            Some(code) => format!(
                "whoever begins a compaction now is refused ({code:?}), and nobody lives who \
                 could end the other"
            ),
        }
    }
}

#[test]
fn brackets_lose_nothing_and_block_nobody() {
    exhaust("bracket, wide", Bracket { lifetimes: Lifetimes::End, most: WIDE }, 30_000);
}

#[test]
fn brackets_behind_each_other_lose_nothing_and_block_nobody() {
    exhaust("bracket, deep", Bracket { lifetimes: Lifetimes::End, most: DEEP }, 10_000);
}

#[test]
fn a_bracket_that_outlives_its_process_blocks_for_ever() {
    let wrong = || Bracket { lifetimes: Lifetimes::GoOn, most: WIDE };
    counterexample("bracket, what was open stays open", wrong, NOT_BLOCKED, 2);
}
