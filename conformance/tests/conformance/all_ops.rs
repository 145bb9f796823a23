//! Every sequence of ops of a small scope, judged by every rule after every step.
//!
//! Two scopes, since most ops only ask: in one every op may stand at every place; in
//! the other, which is longer, only those that change something, and everything is
//! asked behind the last of them. There a sequence does not go on behind an op that was
//! refused: that it left everything as it was is judged where it ends.

use std::collections::BTreeSet;
use std::sync::Mutex;

use onrecord::Reference;
use onrecord::spec::json::{Json, keep};
use onrecord::spec::judge::{Step, Trace, judge};
use onrecord::spec::op::{
    ArchiveCrash, Changed, Clear, Compact, Cut, Ending, Implementation, Key, Lookup, Migrated,
    Mode, Op, Outcome, Replay, SummaryText, Upgrade,
};
use onrecord::spec::page::WindowAt;
use onrecord::spec::record::CompactionMode;
use onrecord::spec::target::Target;
use serde_json::{Value, json};

/// How many ops stand behind the first load where all may.
const ANY: usize = 3;
/// How many where only those may that change something.
const CHANGES: usize = 4;

/// One op of a sequence. What it needs to know (the next seq, an id, the text of its
/// own that a judge follows) it gets when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Letter {
    Person,
    Calls,
    Answer,
    Keyed,
    SecondWriter,
    Compact,
    Begin,
    Land,
    Fail,
    Clear,
    Upgrade,
    Restart,
    Archive,
    ArchiveDies,
    Delete,
    Beside,
    Enter,
    ReplayCold,
    ReplayRunning,
    Context,
    Transcript,
    Follow,
    Page,
    Window,
    Lookup,
    Status,
    Stamp,
    Sync,
    Recall,
    Parts,
    Read,
    Log,
}

/// The letters that change something.
const CHANGING: [Letter; 17] = [
    Letter::Person,
    Letter::Calls,
    Letter::Answer,
    Letter::Keyed,
    Letter::SecondWriter,
    Letter::Compact,
    Letter::Begin,
    Letter::Land,
    Letter::Fail,
    Letter::Clear,
    Letter::Upgrade,
    Letter::Restart,
    Letter::Archive,
    Letter::ArchiveDies,
    Letter::Delete,
    Letter::Beside,
    Letter::Enter,
];

/// The letters that ask.
const ASKING: [Letter; 15] = [
    Letter::ReplayCold,
    Letter::ReplayRunning,
    Letter::Context,
    Letter::Transcript,
    Letter::Follow,
    Letter::Page,
    Letter::Window,
    Letter::Lookup,
    Letter::Status,
    Letter::Stamp,
    Letter::Sync,
    Letter::Recall,
    Letter::Parts,
    Letter::Read,
    Letter::Log,
];

/// A sequence, and where it has led.
#[derive(Clone)]
struct Node {
    reference: Reference,
    trace: Trace,
    next: u64,
    /// How many ops were asked, which numbers what they make.
    asked: usize,
    /// The calls without a result.
    open: Vec<String>,
    calls: usize,
    /// The summary that landed last.
    summary: Option<String>,
    begun: Option<String>,
}

/// What was visited.
#[derive(Debug, Default)]
struct Visited {
    sequences: u64,
    steps: u64,
    reached: BTreeSet<(Letter, bool)>,
}

#[test]
fn every_sequence_of_any_ops() {
    let letters: Vec<Letter> = CHANGING.into_iter().chain(ASKING).collect();
    let visited = visit_all(&letters, ANY, &[]);
    println!(
        "judged {} sequences of up to {ANY} ops of {}, {} steps",
        visited.sequences,
        letters.len(),
        visited.steps
    );
    assert!(visited.sequences > 30_000, "{visited:?}");
}

#[test]
fn every_sequence_of_changes_with_everything_asked_behind_it() {
    let visited = visit_all(&CHANGING, CHANGES, &ASKING);
    println!(
        "judged {} sequences of up to {CHANGES} changes of {}, each with everything asked behind \
         it, {} steps",
        visited.sequences,
        CHANGING.len(),
        visited.steps
    );
    assert!(visited.sequences > 10_000, "{visited:?}");
    for letter in CHANGING {
        assert!(visited.reached.contains(&(letter, true)), "{letter:?} was never taken");
    }
}

/// Visits every sequence of so many letters at most, on all cores.
fn visit_all(letters: &[Letter], most: usize, behind: &[Letter]) -> Visited {
    let root = Node::new();
    let queue = Mutex::new(Vec::new());
    for first in letters {
        queue.lock().unwrap().push(root.after(*first));
    }
    let total = Mutex::new(Visited::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut mine = Visited::default();
                loop {
                    let Some(node) = queue.lock().unwrap().pop() else { break };
                    mine.visit(&node, letters, most - 1, behind);
                }
                let mut total = total.lock().unwrap();
                total.sequences += mine.sequences;
                total.steps += mine.steps;
                total.reached.extend(mine.reached);
            });
        }
    });
    total.into_inner().unwrap()
}

impl Visited {
    fn visit(&mut self, node: &Node, letters: &[Letter], more: usize, behind: &[Letter]) {
        self.judge(node, behind);
        if more == 0 || (node.was_refused() && !behind.is_empty()) {
            return;
        }
        for letter in letters {
            let next = node.after(*letter);
            self.reached.insert((*letter, !next.was_refused()));
            self.visit(&next, letters, more - 1, behind);
        }
    }

    fn judge(&mut self, node: &Node, behind: &[Letter]) {
        let asked = behind.iter().fold(node.clone(), |node, letter| node.after(*letter));
        self.sequences += 1;
        self.steps += asked.trace.steps.len() as u64;
        for (rule, ruling) in judge(&asked.trace) {
            assert!(
                ruling.findings.is_empty(),
                "{rule}: {:#?}\n{}",
                ruling.findings[0],
                asked.told()
            );
        }
    }
}

impl Node {
    /// A conversation of one round, whose header has a name.
    fn new() -> Self {
        let mut reference = Reference::new();
        let hello = reference.hello().unwrap();
        let mut node = Self {
            reference,
            trace: Trace { hello, steps: Vec::new() },
            next: 0,
            asked: 0,
            open: Vec::new(),
            calls: 0,
            summary: None,
            begun: None,
        };
        let rows = [
            message("user", &json!([{ "type": "text", "text": "Row to the island." }])),
            message(
                "assistant",
                &json!([{ "type": "call", "id": "call-0", "name": "row", "arguments": "{\"to\":\"the island\"}" }]),
            ),
            json!({ "type": "result", "call": "call-0", "content": [{ "type": "text", "text": "Landed." }] }),
            message("assistant", &json!([{ "type": "text", "text": "We are there." }])),
        ];
        let rows = rows.iter().enumerate().map(|(seq, event)| row(seq as u64, event, &json!({})));
        let load = Op::Load { header: Some(header("first")), rows: rows.collect(), beside: false };
        node.ask(load);
        node.calls = 1;
        node
    }

    /// The sequence with one more letter.
    fn after(&self, letter: Letter) -> Self {
        let mut node = self.clone();
        node.asked += 1;
        let op = node.op(letter);
        node.ask(op);
        node
    }

    fn was_refused(&self) -> bool {
        let last = self.trace.steps.last();
        last.is_some_and(|step| matches!(step.outcome, Outcome::Refused(_)))
    }

    fn ask(&mut self, op: Op) {
        let outcome = self.reference.perform(&op).unwrap();
        match &outcome {
            Outcome::Loaded { next, .. }
            | Outcome::Appended { next }
            | Outcome::Known { next, .. }
            | Outcome::Migrated(Migrated { next, .. }) => self.next = *next,
            Outcome::Changed(Changed { next, rows, .. }) => {
                self.next = *next;
                let mut ids = rows.iter().filter_map(|row| {
                    let row: Value = serde_json::from_str(row.get()).ok()?;
                    let lands = row["replaces"]["source"] == "compaction";
                    lands.then(|| row["id"].as_str().map(str::to_string)).flatten()
                });
                self.summary = ids.next_back().or(self.summary.take());
            }
            _ => {}
        }
        self.trace.steps.push(Step { op, outcome });
    }

    fn op(&mut self, letter: Letter) -> Op {
        let number = self.asked;
        let said = |what: &str| format!("{what} in step {number} of this");
        let text = |what: &str| json!([{ "type": "text", "text": said(what) }]);
        match letter {
            Letter::Person => self.append(&message("user", &text("asked")), &json!({})),
            Letter::Calls => {
                let id = format!("call-{}", self.calls);
                self.calls += 1;
                self.open.push(id.clone());
                let arguments = format!("{{\"for\":\"{}\"}}", said("looked"));
                let call =
                    json!({ "type": "call", "id": id, "name": "look", "arguments": arguments });
                self.append(&message("assistant", &json!([call])), &json!({}))
            }
            Letter::Answer => {
                let id =
                    if self.open.is_empty() { "nobody's".to_string() } else { self.open.remove(0) };
                let event = json!({ "type": "result", "call": id, "content": text("found") });
                self.append(&event, &json!({}))
            }
            Letter::Keyed => {
                let more = json!({ "request": "from-the-phone" });
                self.append(&message("user", &text("sent")), &more)
            }
            Letter::SecondWriter => {
                let (next, event) = (self.next, message("user", &text("meant")));
                let stale = next.saturating_sub(1);
                Op::Append { expect: stale, rows: vec![row_of(stale, number, &event, &json!({}))] }
            }
            Letter::Compact => self.compact(true, Some(summary_of(&said("a summary")))),
            Letter::Begin => self.compact(true, None),
            Letter::Land => self.compact(false, Some(summary_of(&said("a late summary")))),
            Letter::Fail => self.compact(false, Some(Ending::Cancelled {})),
            Letter::Clear => Op::Clear(Clear {
                id: format!("clearing-{number}").as_str().into(),
                keep: 0,
                at: None,
            }),
            Letter::Upgrade => Op::Upgrade(Upgrade {
                id: format!("upgrade-{number}").as_str().into(),
                summary: self.summary.as_deref().unwrap_or("none").into(),
                text: said("a better summary").as_str().into(),
                agent: None,
                at: None,
            }),
            Letter::Restart => Op::Restart {},
            Letter::Archive => Op::Archive { crash: None },
            Letter::ArchiveDies => Op::Archive { crash: Some(ArchiveCrash::AfterPart) },
            Letter::Delete => Op::Delete { conversation: None },
            Letter::Beside => {
                Op::Load { header: Some(header("second")), rows: Vec::new(), beside: true }
            }
            Letter::Enter => Op::Enter { conversation: "first".into() },
            Letter::ReplayCold => Op::Replay(Replay::to(Target::Anthropic)),
            Letter::ReplayRunning => {
                Op::Replay(Replay { mode: Mode::Running, ..Replay::to(Target::OpenaiChat) })
            }
            Letter::Context => Op::Context {},
            Letter::Transcript => Op::Transcript {},
            Letter::Follow => Op::Follow { join: 0 },
            Letter::Page => Op::Page { limit: 2, before: None },
            Letter::Window => Op::Window { limit: Some(3), at: WindowAt::Newest },
            Letter::Lookup => {
                Op::Lookup(Lookup { by: Key::Request("from-the-phone".into()), conversation: None })
            }
            Letter::Status => Op::Status { request: "from-the-phone".into() },
            Letter::Stamp => Op::Stamp {},
            Letter::Sync => Op::Sync { limit: Some(2) },
            Letter::Recall => Op::Recall { query: None },
            Letter::Parts => Op::Parts { conversation: None },
            Letter::Read => Op::Read { from: None, limit: None },
            Letter::Log => Op::Log {},
        }
    }

    fn append(&self, event: &Value, more: &Value) -> Op {
        Op::Append { expect: self.next, rows: vec![row_of(self.next, self.asked, event, more)] }
    }

    /// A compaction of the first round, or the end of the one that was begun last.
    fn compact(&mut self, begins: bool, end: Option<Ending>) -> Op {
        let begun = self.begun.take();
        let id = match (begins, begun) {
            (false, Some(begun)) => begun,
            (true, _) | (false, None) => format!("compaction-{}", self.asked),
        };
        if begins && end.is_none() {
            self.begun = Some(id.clone());
        }
        let cut = Cut::Nearest { first: "row-0".into(), last: "row-3".into() };
        Op::Compact(Compact {
            id: id.as_str().into(),
            cut: begins.then_some(cut),
            end,
            agent: None,
            mode: CompactionMode::Model,
            turn: Mode::Cold,
            at: None,
        })
    }

    /// The sequence in words.
    fn told(&self) -> String {
        let line = |step: &Step| format!("{:?}\n    {:?}\n", step.op, step.outcome);
        self.trace.steps.iter().map(line).collect()
    }
}

fn header(conversation: &str) -> Json {
    keep(&json!({ "onrecord": 1, "conversation": conversation }).to_string()).unwrap()
}

fn message(role: &str, blocks: &Value) -> Value {
    json!({ "type": "message", "role": role, "blocks": blocks })
}

fn summary_of(text: &str) -> Ending {
    Ending::Summary(SummaryText { text: text.into(), error: false })
}

fn row(seq: u64, event: &Value, more: &Value) -> Json {
    let mut row = json!({ "seq": seq, "id": format!("row-{seq}"), "event": event });
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more.clone()) {
        row.extend(more);
    }
    keep(&row.to_string()).unwrap()
}

/// The row that a step appends: its id is of the step, so that two conversations never
/// share one.
fn row_of(seq: u64, step: usize, event: &Value, more: &Value) -> Json {
    let mut more = more.clone();
    more["id"] = json!(format!("row-of-step-{step}"));
    row(seq, event, &more)
}
