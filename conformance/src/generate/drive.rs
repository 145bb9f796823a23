//! Asks an implementation everything about a record, at random: it compacts,
//! clears, upgrades, follows, pages, sends again, looks up, syncs, recalls and
//! archives, beside other conversations, and goes on by what came back.

use onrecord_spec::json::{Fields, Json};
use onrecord_spec::judge::{Step, Trace};
use onrecord_spec::op::{
    ArchiveCrash, Budget, Changed, Clear, Compact, Cut, Ending, Fault, Hello, Implementation, Key,
    Lookup, Migrate, Migrated, Mode, Older, Op, Outcome, Replay, SummaryText, Upgrade,
};
use onrecord_spec::page::WindowAt;
use onrecord_spec::record::CompactionMode;
use onrecord_spec::target::Target;
use onrecord_spec::text::Text;
use serde_json::json;

use super::{Choices, Hostile, raw};

/// Loads a record and takes so many steps. The same choices and the same answers
/// give the same trace.
pub fn drive(
    choices: &mut Choices,
    record: &Hostile,
    steps: usize,
    implementation: &mut dyn Implementation,
) -> Result<Trace, Fault> {
    let hello = implementation.hello()?;
    let mut drive = Drive::new(choices, record, hello);
    for op in drive.begin(record) {
        drive.take(op, implementation)?;
    }
    drive.conversations.extend(conversation(&record.header));
    for _ in 0..steps {
        let op = drive.choose();
        if drive.trace.hello.ops.iter().any(|name| name == op.name()) {
            drive.take(op, implementation)?;
        }
    }
    Ok(drive.trace)
}

/// The name of a header's conversation.
fn conversation(header: &Json) -> Option<Text> {
    Fields::open(header).ok()?.take("conversation", "a string").ok().flatten()
}

struct Drive<'a> {
    choices: &'a mut Choices,
    trace: Trace,
    /// The ids of the rows that are held, those of other implementations' own
    /// rows included.
    ids: Vec<Text>,
    /// The seq that the next row will have.
    next: u64,
    cursor: Option<Text>,
    /// The compaction that was begun last.
    begun: Option<Text>,
    /// The conversations that were begun, the deleted ones included.
    conversations: Vec<Text>,
    /// How many names were made.
    names: u32,
}

impl<'a> Drive<'a> {
    fn new(choices: &'a mut Choices, record: &Hostile, hello: Hello) -> Self {
        let mut drive = Self {
            choices,
            trace: Trace { hello, steps: Vec::new() },
            ids: Vec::new(),
            next: 0,
            cursor: None,
            begun: None,
            conversations: Vec::new(),
            names: 0,
        };
        drive.learn(&record.rows);
        drive
    }

    /// Mostly a record is loaded. Now and then it comes out of a store of the older
    /// shape, and now and then that start dies first.
    fn begin(&mut self, record: &Hostile) -> Vec<Op> {
        let header = Some(record.header.clone());
        if self.choices.below(4) > 0 {
            return vec![Op::Load { header, rows: record.rows.clone(), beside: false }];
        }
        let (mut rows, mut side) = (Vec::new(), Vec::new());
        for row in &record.rows {
            if self.choices.bool() { rows.push(row.clone()) } else { side.push(row.clone()) }
        }
        self.choices.shuffle(&mut side);
        let (older, crash) = (Some(Older { header, rows, side }), self.choices.bool());
        let mut ops = vec![Op::Migrate(Migrate { older, crash })];
        if crash {
            ops.push(Op::Migrate(Migrate { older: None, crash: false }));
        }
        ops
    }

    fn learn(&mut self, rows: &[Json]) {
        let ids = rows.iter().filter_map(|row| {
            Fields::open(row).ok()?.take::<Text>("id", "a string").ok().flatten()
        });
        self.ids.extend(ids);
    }

    fn take(&mut self, op: Op, implementation: &mut dyn Implementation) -> Result<(), Fault> {
        let outcome = implementation.perform(&op)?;
        match &outcome {
            Outcome::Loaded { next, .. }
            | Outcome::Known { next, .. }
            | Outcome::Migrated(Migrated { next, .. }) => self.next = *next,
            Outcome::Appended { next } => {
                self.next = *next;
                if let Op::Append { rows, .. } = &op {
                    self.learn(&rows.clone());
                }
            }
            Outcome::Changed(Changed { next, rows, .. }) => {
                self.next = *next;
                self.learn(rows);
            }
            Outcome::Page(page) => self.cursor.clone_from(&page.before),
            Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Replayed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Followed { .. }
            | Outcome::Window(_)
            | Outcome::Found { .. }
            | Outcome::Status { .. }
            | Outcome::Deleted { .. }
            | Outcome::Stamp(_)
            | Outcome::Synced(_)
            | Outcome::Recalled { .. }
            | Outcome::Archived(_)
            | Outcome::Parts(_)
            | Outcome::Crashed {}
            | Outcome::Refused(_)
            | Outcome::Unsupported { .. } => {}
        }
        self.trace.steps.push(Step { op, outcome });
        Ok(())
    }

    fn choose(&mut self) -> Op {
        match self.choices.below(30) {
            0 => Op::Context {},
            1 => self.input(),
            2..=6 => Op::Compact(self.compact()),
            7 => Op::Clear(Clear {
                id: self.name("clear"),
                keep: self.choices.below(4) as u64,
                at: None,
            }),
            8 => Op::Upgrade(Upgrade {
                id: self.name("upgrade"),
                summary: self.row(),
                text: self.name("a better summary"),
                agent: None,
                at: None,
            }),
            9 => Op::Transcript {},
            10 => Op::Follow { join: self.choices.between(0..=self.next as usize) as u64 },
            11 | 12 => {
                Op::Page { limit: self.choices.below(6) as i64, before: self.cursor.clone() }
            }
            13 => self.window(),
            14 => Op::Restart {},
            15 => Op::Read { from: None, limit: None },
            16 | 17 => self.append(),
            20 => self.lookup(),
            21 => Op::Status { request: self.key() },
            22 => Op::Stamp {},
            23 | 24 => {
                Op::Sync { limit: self.choices.bool().then(|| self.choices.below(6) as i64) }
            }
            25 => self.recall(),
            26 => Op::Archive { crash: self.crash() },
            27 => Op::Parts { conversation: None },
            28 => self.resend(),
            29 => self.another(),
            _ => Op::Replay(self.replay()),
        }
    }

    fn name(&mut self, what: &str) -> Text {
        self.names += 1;
        Text::from(format!("{what} no. {:04} made", self.names).as_str())
    }

    /// The id of a row, mostly of one that is there.
    fn row(&mut self) -> Text {
        if self.ids.is_empty() || self.choices.below(30) == 0 {
            return Text::from("no-such-row");
        }
        self.ids[self.choices.below(self.ids.len())].clone()
    }

    fn replay(&mut self) -> Replay {
        let mode = if self.choices.bool() { Mode::Running } else { Mode::Cold };
        let target = Target::ALL[self.choices.below(Target::ALL.len())];
        Replay { mode, ..Replay::to(target) }
    }

    fn input(&mut self) -> Op {
        let (first, last) = self.ends();
        Op::Input { first, last, replay: self.replay() }
    }

    /// The ends of a stretch, mostly a short one that is the right way round.
    fn ends(&mut self) -> (Text, Text) {
        if self.ids.is_empty() || self.choices.below(10) == 0 {
            return (self.row(), self.row());
        }
        let first = self.choices.below(self.ids.len());
        let last = self.choices.between(first..=self.ids.len().min(first + 8) - 1);
        (self.ids[first].clone(), self.ids[last].clone())
    }

    fn compact(&mut self) -> Compact {
        let (first, last) = self.ends();
        let cut = match self.choices.below(6) {
            0 => Cut::Budget(Budget::Messages(self.choices.below(10) as u64)),
            1 | 2 => Cut::Nearest { first, last },
            _ => Cut::Range { first, last },
        };
        let end = match self.choices.below(12) {
            0 => Ending::Failed { reason: Text::from("no answer") },
            1 => Ending::Cancelled {},
            2 => Ending::Summary(SummaryText { text: Text::from(" \n"), error: false }),
            _ => Ending::Summary(SummaryText { text: self.name("a summary"), error: false }),
        };
        let turn = if self.choices.bool() { Mode::Running } else { Mode::Cold };
        let whole = self.choices.below(3) != 0;
        let (id, cut, end) = match (whole, self.begun.take()) {
            (true, begun) => {
                self.begun = begun;
                (self.name("compaction"), Some(cut), Some(end))
            }
            (false, Some(begun)) => (begun, None, Some(end)),
            (false, None) => {
                let id = self.name("compaction");
                self.begun = Some(id.clone());
                (id, Some(cut), None)
            }
        };
        let agent = Some(Text::from("tidier"));
        Compact { id, cut, end, agent, mode: CompactionMode::Background, turn, at: None }
    }

    fn window(&mut self) -> Op {
        let at = match self.choices.below(3) {
            0 => WindowAt::Newest,
            1 => WindowAt::Before(self.row()),
            _ => WindowAt::From(self.row()),
        };
        Op::Window { limit: self.choices.bool().then(|| self.choices.below(6) as i64), at }
    }

    fn append(&mut self) -> Op {
        self.append_with(self.next, json!({}))
    }

    /// An append under a key that may have been sent before, at the seq that was next
    /// then or is next now.
    fn resend(&mut self) -> Op {
        let expect = if self.choices.bool() {
            self.next
        } else {
            self.choices.between(0..=self.next as usize) as u64
        };
        let kind = if self.choices.bool() { "request" } else { "report" };
        let key = self.key();
        self.append_with(expect, json!({ kind: key.to_unicode() }))
    }

    fn append_with(&mut self, expect: u64, mut row: serde_json::Value) -> Op {
        let (id, text) = (self.name("row"), self.name("said later"));
        let role = if self.choices.bool() { "user" } else { "assistant" };
        row["seq"] = json!(expect);
        row["id"] = json!(id.to_unicode());
        row["event"] = json!({
            "type": "message", "role": role,
            "blocks": [{ "type": "text", "text": text.to_unicode() }],
        });
        Op::Append { expect, rows: vec![raw(&row)] }
    }

    /// One of few keys, so that they come again.
    fn key(&mut self) -> Text {
        Text::from(format!("key {}", self.choices.below(4)).as_str())
    }

    fn lookup(&mut self) -> Op {
        let by = match self.choices.below(3) {
            0 => Key::Row(self.row()),
            1 => Key::Request(self.key()),
            _ => Key::Report(self.key()),
        };
        let elsewhere = self.choices.below(4) == 0 && !self.conversations.is_empty();
        Op::Lookup(Lookup { by, conversation: elsewhere.then(|| self.any_conversation()) })
    }

    fn recall(&mut self) -> Op {
        let query = match self.choices.below(3) {
            0 => None,
            1 => Some(Text::from(
                format!("{:04}", self.choices.between(0..=self.names as usize)).as_str(),
            )),
            _ => Some(Text::from("said made")),
        };
        Op::Recall { query }
    }

    fn crash(&mut self) -> Option<ArchiveCrash> {
        match self.choices.below(4) {
            0 => Some(ArchiveCrash::HalfPart),
            1 => Some(ArchiveCrash::AfterPart),
            _ => None,
        }
    }

    fn any_conversation(&mut self) -> Text {
        self.conversations[self.choices.below(self.conversations.len())].clone()
    }

    /// Goes to another conversation, begins one, or deletes one that is not the
    /// first.
    fn another(&mut self) -> Op {
        match self.choices.below(4) {
            0 | 1 if !self.conversations.is_empty() => {
                Op::Enter { conversation: self.any_conversation() }
            }
            2 if self.conversations.len() > 1 => {
                let at = self.choices.between(1..=self.conversations.len() - 1);
                Op::Delete { conversation: Some(self.conversations[at].clone()) }
            }
            _ => {
                let name = self.name("conversation");
                let header = json!({ "onrecord": 1, "conversation": name.to_unicode() });
                self.conversations.push(name);
                Op::Load { header: Some(raw(&header)), rows: Vec::new(), beside: true }
            }
        }
    }
}
