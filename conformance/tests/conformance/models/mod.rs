//! Proofs by exhaustion: small models of what runs at the same time, with every order
//! in which it can happen.
//!
//! A step of a model that is a step of the project is that step: the reference
//! performs the op, its client takes the rows. So it is the code that is proved, and
//! not a copy of it. Beside each model that is right stand some that are wrong in one
//! place: they must fail, and the shortest way to the failure is told in words
//! (`cargo test models -- --nocapture`).
//!
//! What such a proof is worth: within its bounds (so many steps, rows, crashes) no
//! order was left out. States are told apart by fingerprints of 64 bits, as the model
//! checker does it: of a hundred thousand states, two fall together with a chance of less
//! than one in a thousand millions. Beyond the bounds such a proof says nothing; random
//! records go further, and prove less.

mod bracket;
mod keyed;
mod poll;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use onrecord::Reference;
use onrecord::spec::json::{Json, keep};
use onrecord::spec::op::{
    Compact, Cut, Ending, Implementation, Mode, Op, Outcome, RefusalCode, SummaryText,
};
use onrecord::spec::record::CompactionMode;
use onrecord::spec::sync::Stamp;
use onrecord::spec::text::Text;
use onrecord_reference::Record;
use serde_json::{Value, json};
use stateright::{Checker, HasDiscoveries, Model, Path};

/// The reference as a part of a state.
///
/// What it will answer follows from the bytes of its log, from where its lifetime
/// began, and from its clock, which its stamp shows. So those three tell states apart.
#[derive(Clone)]
struct Kept {
    reference: Arc<Reference>,
    stamp: Mark,
    /// How many rows there were at the last start.
    lifetime: u64,
}

/// A stamp that can be hashed.
type Mark = (Text, u64);

fn mark(stamp: Stamp) -> Mark {
    (stamp.epoch, stamp.version)
}

fn stamp((epoch, version): &Mark) -> Stamp {
    Stamp { epoch: epoch.clone(), version: *version }
}

impl Kept {
    /// One that was started on these rows.
    fn with(rows: Vec<Json>) -> Self {
        let mut reference = Reference::new();
        let stamp = (Text::default(), 0);
        reference.perform(&Op::Load { header: None, rows, beside: false }).unwrap();
        Self { reference: Arc::new(reference), stamp, lifetime: 0 }.perform(&Op::Restart {}).0
    }

    /// The one that it is after this op, and what came of it.
    fn perform(&self, op: &Op) -> (Self, Outcome) {
        let mut reference = Reference::clone(&self.reference);
        let outcome = reference.perform(op).unwrap();
        let Outcome::Stamp(stamp) = reference.perform(&Op::Stamp {}).unwrap() else {
            panic!("no stamp");
        };
        let lifetime = match (op, &outcome) {
            (Op::Restart {} | Op::Load { .. }, Outcome::Loaded { next, .. }) => *next,
            (_, _) => self.lifetime,
        };
        (Self { reference: Arc::new(reference), stamp: mark(stamp), lifetime }, outcome)
    }

    /// The one that it is with this row at its end, whose seq and id are given here.
    fn append(&self, id: &str, row: Value) -> Self {
        let (kept, outcome) = self.append_all(&[(id, row)]);
        assert!(matches!(outcome, Outcome::Appended { .. }), "{outcome:?}");
        kept
    }

    fn append_all(&self, rows: &[(&str, Value)]) -> (Self, Outcome) {
        let expect = self.record().next();
        let rows = (expect..).zip(rows).map(|(seq, (id, row))| stored(seq, id, row)).collect();
        self.perform(&Op::Append { expect, rows })
    }

    fn record(&self) -> &Record {
        self.reference.record().unwrap()
    }

    /// The rows from this one on, as they are stored.
    fn texts(&self, from: u64, limit: Option<u64>) -> Vec<String> {
        self.record().read(from, limit).map(|row| row.get().to_string()).collect()
    }

    /// The ids of the context, in order.
    fn context(&self) -> Vec<Text> {
        self.record().context().map(|row| row.id.clone()).collect()
    }
}

impl Hash for Kept {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.record().log().hash(hasher);
        self.stamp.hash(hasher);
        self.lifetime.hash(hasher);
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.record().log() == other.record().log()
            && self.stamp == other.stamp
            && self.lifetime == other.lifetime
    }
}

/// A row with this seq and id.
fn stored(seq: u64, id: &str, row: &Value) -> Json {
    let mut row = row.clone();
    row["seq"] = json!(seq);
    row["id"] = json!(id);
    keep(&row.to_string()).unwrap()
}

/// A row, but for its seq and id: somebody says something.
fn says(role: &str, text: &str) -> Value {
    let blocks = json!([{ "type": "text", "text": text }]);
    json!({ "event": { "type": "message", "role": role, "blocks": blocks } })
}

/// A row that stands for another one: the same message, made anew.
fn made_anew(of: &Text, text: &str) -> Value {
    let mut row = says("assistant", text);
    row["replaces"] = json!({ "first": of, "last": of, "rows": [of], "source": "regeneration" });
    row
}

/// A row that is the edge of a turn.
fn edge(edge: &str) -> Value {
    json!({ "event": { "type": "turn", "edge": edge } })
}

/// A compaction of a turn that is not live.
fn compact(id: &str, cut: Option<Cut>, end: Option<Ending>) -> Op {
    let (mode, turn) = (CompactionMode::Model, Mode::Cold);
    Op::Compact(Compact { id: id.into(), cut, end, agent: None, mode, turn, at: None })
}

fn summary(text: &str) -> Ending {
    Ending::Summary(SummaryText { text: text.into(), error: false })
}

/// Why an op was refused, if it was.
fn refused(outcome: &Outcome) -> Option<RefusalCode> {
    match outcome {
        Outcome::Refused(refusal) => Some(refusal.code),
        _ => None,
    }
}

/// A model that tells its steps in words.
trait InWords: Model {
    /// What this step is, and what came of it.
    fn tell(&self, before: &Self::State, action: &Self::Action, after: &Self::State) -> String;

    /// What is wrong in this state.
    fn wrong(&self, state: &Self::State) -> String;
}

/// The steps of a path, a line each, and what is wrong at its end.
fn told<M: InWords>(model: &M, path: Path<M::State, M::Action>) -> String {
    let path = path.into_vec();
    let mut lines = String::new();
    for (number, pair) in path.windows(2).enumerate() {
        if let [(before, Some(action)), (after, _)] = pair {
            let line = model.tell(before, action, after);
            writeln!(lines, "  {}. {line}", number + 1).unwrap();
        }
    }
    let end = path.last().map_or_else(String::new, |(state, _)| model.wrong(state));
    lines + "  => " + &end
}

/// Visits every state of a model that is right. It must hold what it is to hold in
/// each, everything that may happen must happen somewhere, and there must be as many
/// states as it is known to have: a model that shrank proves less.
fn exhaust<M>(what: &str, model: M, at_least: usize)
where
    M: InWords + Send + Sync + 'static,
    M::State: Hash + Send + Sync + Clone + PartialEq + 'static,
    M::Action: Clone + PartialEq,
{
    let begun = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = model.checker().threads(threads).spawn_bfs().join();
    for property in checker.model().properties() {
        match (property.expectation.discovery_is_failure(), checker.discovery(property.name)) {
            (true, Some(path)) => {
                let told = told(checker.model(), path);
                panic!("{what}: it is not true that {}:\n{told}", property.name);
            }
            (false, None) => panic!("{what}: it never happens that {}", property.name),
            (true, None) | (false, Some(_)) => {}
        }
    }
    assert!(checker.is_done());
    let states = checker.unique_state_count();
    let (steps, time) = (checker.state_count(), begun.elapsed());
    println!("RIGHT {what}: {states} states, {steps} steps, all visited in {time:.1?}");
    assert!(states >= at_least, "{what}: only {states} states, where {at_least} are due");
}

/// Finds the shortest way on which a wrong model breaks this property, and tells it.
/// It is the shortest: what can be reached in fewer steps was visited to the end.
fn counterexample<M>(what: &str, model: impl Fn() -> M, breaks: &'static str, steps: usize)
where
    M: InWords + Send + Sync + 'static,
    M::State: Hash + Send + Sync + Clone + PartialEq + 'static,
    M::Action: Clone + PartialEq,
{
    let look = |shorter_than: Option<usize>| {
        let checker =
            model().checker().finish_when(HasDiscoveries::AnyOf(BTreeSet::from([breaks])));
        let checker = match shorter_than {
            // The checker counts the states of a path, and stops at this depth.
            Some(steps) => checker.target_max_depth(steps + 1),
            None => checker,
        };
        let checker = checker.spawn_bfs().join();
        (checker.discovery(breaks), checker.unique_state_count())
    };
    let (mut shortest, mut states) = look(None);
    let mut found = None;
    while let Some(path) = shortest {
        let length = path.clone().into_vec().len() - 1;
        found = Some((path, length));
        (shortest, states) = look(Some(length));
    }
    let Some((path, length)) = found else { panic!("{what}: it does not break that {breaks}") };
    let told = told(&model(), path);
    println!(
        "WRONG {what}: it is not true that {breaks} ({length} steps, the shortest way; \
         {states} states are nearer):\n{told}"
    );
    assert_eq!(length, steps, "{what}: the shortest way has another length");
}
