//! Every record of a small scope, and every range of it: what was compacted
//! replays valid, people see the same as before and one marker more, what is
//! followed live equals what is rebuilt, and pages joined are the record.

use std::sync::Mutex;

use onrecord::Reference;
use onrecord::spec::json::{Json, keep, to_line};
use onrecord::spec::op::{
    Clear, Compact, Cut, Ending, Implementation, Mode, Op, Outcome, Replay, SummaryText,
};
use onrecord::spec::record::CompactionMode;
use onrecord::spec::target::Target;
use serde_json::{Value, json};

use crate::live::apply;

/// How many letters the longest word has.
const LETTERS: usize = 6;
/// The longest random word.
const LONGEST: usize = 2_000;
/// How many random words are tried.
const WORDS: u64 = 12;

/// One step of a conversation. A word of letters is a record.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Letter {
    User,
    /// An assistant's message with so many calls.
    Assistant(usize),
    /// The result of the call that is open longest, or of one that nobody made.
    Result,
    /// A compaction of this range begins.
    Start(String, String),
    Landing,
    FailedEnd,
    Clear,
}

/// A record, what people see of it, and what is open in it.
#[derive(Debug, Clone)]
struct Node {
    reference: Reference,
    next: u64,
    letters: Vec<Letter>,
    items: Vec<Value>,
    open_calls: Vec<String>,
    calls: usize,
    compacting: bool,
}

/// What was visited.
#[derive(Debug, Default, Clone, Copy)]
struct Visited {
    states: u64,
    accepted: u64,
    refused: u64,
    pages: u64,
}

#[test]
fn every_small_record_and_every_range_of_it() {
    let first: Vec<Letter> = Node::new().letters_that_follow();
    let total = Mutex::new(Visited::default());
    let queue = Mutex::new(first.iter().flat_map(two_letters).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut mine = Visited::default();
                loop {
                    let Some(node) = queue.lock().unwrap().pop() else { break };
                    mine.visit(&node);
                }
                let mut total = total.lock().unwrap();
                total.states += mine.states;
                total.accepted += mine.accepted;
                total.refused += mine.refused;
                total.pages += mine.pages;
            });
        }
    });
    let Visited { states, accepted, refused, pages } = total.into_inner().unwrap();
    println!(
        "visited {states} records of up to {LETTERS} letters; of the ranges tried, {accepted} \
         were compacted and {refused} refused; {pages} pages"
    );
    assert!(states > 100_000 && accepted > 400_000 && refused > 300_000 && pages > 900_000);
}

/// The words of two letters that begin with this one.
fn two_letters(first: &Letter) -> Vec<Node> {
    let node = Node::new().after(first).unwrap();
    node.letters_that_follow().iter().filter_map(|letter| node.after(letter)).collect()
}

#[test]
fn long_records_at_random() {
    let seeds = Mutex::new((0..WORDS).collect::<Vec<u64>>());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(seed) = seeds.lock().unwrap().pop() else { break };
                    random_word(seed);
                }
            });
        }
    });
}

fn random_word(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let most = [60, 400, LONGEST][rng.usize(0..3)];
    let mut node = Node::new();
    let mut landed = 0;
    while node.next < most as u64 {
        let letter = match rng.u32(0..24) {
            0..=5 => Letter::User,
            6..=8 => Letter::Assistant(0),
            9..=12 => Letter::Assistant(rng.usize(1..=2)),
            13..=19 => Letter::Result,
            20 | 21 if node.compacting => Letter::Landing,
            22 if node.compacting => Letter::FailedEnd,
            20..=22 => match node.random_range(&mut rng) {
                Some((first, last)) => Letter::Start(first, last),
                None => continue,
            },
            _ => Letter::Clear,
        };
        let (was_open, calls) = (node.compacting, node.open_calls.clone());
        let op = node.op_of(&letter);
        if !node.perform(&op) {
            (node.compacting, node.open_calls) = (was_open, calls);
            continue;
        }
        if matches!(letter, Letter::Start(..)) {
            node.letters.push(letter.clone());
        }
        landed += u64::from(letter == Letter::Landing);
        if rng.u32(0..40) == 0 {
            node.check_replays();
            node.check_transcript();
        }
    }
    node.check_replays();
    node.check_transcript();
    for limit in [1, 2, 7, 100, 5_000] {
        node.check_pages(limit);
    }
    let markers = node.items.iter().filter(|item| item["shows"]["marker"].is_object()).count();
    assert_eq!(markers as u64, landed, "seed {seed}");
}

impl Visited {
    /// Checks a record, every range of it, and every record that is longer by one
    /// letter.
    fn visit(&mut self, node: &Node) {
        self.states += 1;
        node.check_replays();
        let messages = node.letters.iter().filter(|letter| letter.is_message()).count();
        for limit in 1..=messages as i64 + 1 {
            self.pages += node.check_pages(limit);
        }
        if !node.letters.iter().any(|letter| matches!(letter, Letter::Start(..))) {
            self.try_ranges(node);
        }
        if node.letters.len() < LETTERS {
            for letter in node.letters_that_follow() {
                if let Some(longer) = node.after(&letter) {
                    self.visit(&longer);
                }
            }
        }
    }

    fn try_ranges(&mut self, node: &Node) {
        let context = node.context();
        for first in 0..context.len() {
            for last in first..context.len() {
                let cut = |turn| Compact {
                    id: "at-one-go".into(),
                    cut: Some(Cut::Range {
                        first: context[first].as_str().into(),
                        last: context[last].as_str().into(),
                    }),
                    end: Some(summary()),
                    agent: None,
                    mode: CompactionMode::Digest,
                    turn,
                    at: None,
                };
                let running = node.compacted(&cut(Mode::Running));
                let after = running.or_else(|| node.compacted(&cut(Mode::Cold)));
                match after {
                    Some(after) => {
                        self.accepted += 1;
                        after.check_replays();
                    }
                    None => self.refused += 1,
                }
            }
        }
    }
}

impl Letter {
    fn is_message(&self) -> bool {
        matches!(self, Self::User | Self::Assistant(_))
    }
}

fn summary() -> Ending {
    Ending::Summary(SummaryText { text: "What was agreed so far.".into(), error: false })
}

impl Node {
    fn new() -> Self {
        let mut reference = Reference::default();
        let loaded =
            reference.perform(&Op::Load { header: None, rows: vec![], beside: false }).unwrap();
        assert!(matches!(loaded, Outcome::Loaded { next: 0, .. }));
        Self {
            reference,
            next: 0,
            letters: vec![],
            items: vec![],
            open_calls: vec![],
            calls: 0,
            compacting: false,
        }
    }

    /// Every letter that may come next; a start with every range.
    fn letters_that_follow(&self) -> Vec<Letter> {
        let mut letters = vec![
            Letter::User,
            Letter::Assistant(0),
            Letter::Assistant(1),
            Letter::Assistant(2),
            Letter::Result,
        ];
        if self.letters.last() != Some(&Letter::Clear) {
            letters.push(Letter::Clear);
        }
        if self.compacting {
            letters.extend([Letter::Landing, Letter::FailedEnd]);
        } else if self.letters.len() + 1 < LETTERS {
            let context = self.context();
            for first in 0..context.len() {
                for last in first..context.len() {
                    letters.push(Letter::Start(context[first].clone(), context[last].clone()));
                }
            }
        }
        letters
    }

    /// The record with one letter more; None if it is refused.
    fn after(&self, letter: &Letter) -> Option<Self> {
        let mut after = self.clone();
        let op = after.op_of(letter);
        after.letters.push(letter.clone());
        after.changed(self, &op, *letter == Letter::Landing).then_some(after)
    }

    /// The record compacted at one go; None if that is refused.
    fn compacted(&self, compact: &Compact) -> Option<Self> {
        let mut after = self.clone();
        after.changed(self, &Op::Compact(compact.clone()), true).then_some(after)
    }

    /// Performs an op and follows it live. False if it was refused.
    fn perform(&mut self, op: &Op) -> bool {
        let join = self.next;
        self.next = match self.reference.perform(op).unwrap() {
            Outcome::Appended { next } => next,
            Outcome::Changed(changed) => changed.next,
            Outcome::Refused(_) => return false,
            other => panic!("{other:?}"),
        };
        self.follow(join);
        true
    }

    /// What was followed live equals what is rebuilt.
    fn check_transcript(&mut self) -> Vec<Value> {
        let rebuilt = self.transcript();
        assert_eq!(self.items, rebuilt, "{:?}: followed and rebuilt differ", self.letters);
        rebuilt
    }

    /// Performs an op and checks what people see of it. False if it was refused,
    /// and nothing was stored.
    fn changed(&mut self, before: &Self, op: &Op, lands: bool) -> bool {
        if !self.perform(op) {
            assert_eq!(self.log(), before.log(), "{:?}: refused, and stored", self.letters);
            return false;
        }
        let rebuilt = self.check_transcript();
        if op.name() == "append" {
            let held: Vec<Value> =
                rebuilt[..before.items.len()].iter().map(without_links).collect();
            let earlier: Vec<Value> = before.items.iter().map(without_links).collect();
            assert_eq!(held, earlier, "{:?}: what was shown changed", self.letters);
        } else {
            let (same, more) = rebuilt.split_at(before.items.len());
            assert_eq!(same, before.items, "{:?}: what was shown changed", self.letters);
            let markers = more.iter().filter(|item| item["shows"]["marker"].is_object()).count();
            assert_eq!((more.len(), markers), (usize::from(lands), usize::from(lands)));
        }
        true
    }

    fn op_of(&mut self, letter: &Letter) -> Op {
        let next = self.next;
        match letter {
            Letter::User => self.append(json!({
                "type": "message", "role": "user",
                "blocks": [{ "type": "text", "text": format!("asked in row {next}") }],
            })),
            Letter::Assistant(calls) => {
                let mut blocks = vec![json!({ "type": "text", "text": format!("row {next}") })];
                for _ in 0..*calls {
                    let id = format!("c{}", self.calls);
                    blocks.push(
                        json!({ "type": "call", "id": id, "name": "dig", "arguments": "{}" }),
                    );
                    self.open_calls.push(id);
                    self.calls += 1;
                }
                self.append(json!({ "type": "message", "role": "assistant", "blocks": blocks }))
            }
            Letter::Result => {
                let call = match self.open_calls.is_empty() {
                    true => "nobody-made".to_string(),
                    false => self.open_calls.remove(0),
                };
                // Larger than a notice, so that there is something to clear.
                let output = format!("output of row {next} {}", "and more ".repeat(40));
                self.append(json!({
                    "type": "result", "call": call, "name": "dig",
                    "content": [{ "type": "text", "text": output }],
                }))
            }
            Letter::Start(first, last) => {
                self.compacting = true;
                let cut = Cut::Range { first: first.as_str().into(), last: last.as_str().into() };
                self.bracket(self.begun() + 1, Some(cut), None)
            }
            Letter::Landing => {
                self.compacting = false;
                self.bracket(self.begun(), None, Some(summary()))
            }
            Letter::FailedEnd => {
                self.compacting = false;
                let failed = Ending::Failed { reason: "no answer".into() };
                self.bracket(self.begun(), None, Some(failed))
            }
            Letter::Clear => {
                Op::Clear(Clear { id: format!("clear-{next}").as_str().into(), keep: 1, at: None })
            }
        }
    }

    /// How many compactions have begun.
    fn begun(&self) -> usize {
        self.letters.iter().filter(|letter| matches!(letter, Letter::Start(..))).count()
    }

    fn bracket(&self, number: usize, cut: Option<Cut>, end: Option<Ending>) -> Op {
        Op::Compact(Compact {
            id: format!("k{number}").as_str().into(),
            cut,
            end,
            agent: Some("tidier".into()),
            mode: CompactionMode::Background,
            turn: Mode::Running,
            at: None,
        })
    }

    fn append(&self, event: Value) -> Op {
        let row = json!({ "seq": self.next, "id": format!("r{}", self.next), "event": event });
        Op::Append { expect: self.next, rows: vec![keep(&row.to_string()).unwrap()] }
    }

    fn ask(&mut self, op: &Op) -> Value {
        let outcome = self.reference.perform(op).unwrap();
        serde_json::from_str(&to_line(&outcome).unwrap()).unwrap()
    }

    fn log(&self) -> Vec<u8> {
        self.reference.record().unwrap().log().to_vec()
    }

    fn context(&self) -> Vec<String> {
        let context = self.clone().ask(&Op::Context {});
        let rows = context["context"]["rows"].as_array().unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_string()).collect()
    }

    fn transcript(&mut self) -> Vec<Value> {
        let outcome = self.ask(&Op::Transcript {});
        outcome["transcript"]["items"].as_array().unwrap().clone()
    }

    /// Follows the rows from this seq on.
    fn follow(&mut self, join: u64) {
        let outcome = self.ask(&Op::Follow { join });
        for live in outcome["followed"]["events"].as_array().unwrap() {
            apply(&mut self.items, live);
        }
    }

    fn check_replays(&self) {
        for target in Target::ALL {
            let replay = Replay::to(target);
            let mut asked = self.reference.clone();
            let outcome = asked.perform(&Op::Replay(replay.clone())).unwrap();
            let Outcome::Replayed(replayed) = outcome else { panic!("{outcome:?}") };
            let breaches = target.check(&replay.profile, &replayed.payload, &replayed.constraints);
            assert!(breaches.is_empty(), "{:?}: {breaches:?}", self.letters);
        }
    }

    /// Pages back to row 0; joined they are the record. Gives how many they were.
    fn check_pages(&self, limit: i64) -> u64 {
        let mut asked = self.clone();
        let mut joined: Vec<Json> = vec![];
        let (mut before, mut pages) = (None, 0);
        loop {
            let outcome = asked.reference.perform(&Op::Page { limit, before }).unwrap();
            let Outcome::Page(told) = outcome else { panic!("{outcome:?}") };
            pages += 1;
            joined.splice(0..0, told.rows);
            assert_eq!(told.older, told.before.is_some());
            before = told.before;
            if before.is_none() {
                break;
            }
        }
        let rows = asked.reference.perform(&Op::Read { from: None, limit: None }).unwrap();
        let Outcome::Rows { rows } = rows else { panic!("{rows:?}") };
        let text = |rows: &[Json]| rows.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(&joined), text(&rows), "{:?}: pages of {limit}", self.letters);
        pages
    }

    /// A stretch of the newest rows of the context.
    fn random_range(&self, rng: &mut fastrand::Rng) -> Option<(String, String)> {
        let context = self.context();
        if context.is_empty() {
            return None;
        }
        let first = rng.usize(0..context.len());
        let last = rng.usize(first..context.len().min(first + 40));
        Some((context[first].clone(), context[last].clone()))
    }
}

/// An item as it was before its other half came.
fn without_links(item: &Value) -> Value {
    let mut item = item.clone();
    for (kind, link) in [("tool-call", "returned"), ("tool-return", "call")] {
        if let Some(shown) = item["shows"].get_mut(kind).and_then(Value::as_object_mut) {
            shown.remove(link);
        }
    }
    item
}
