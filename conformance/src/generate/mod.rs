//! Records that do everything wrong, at random: the states in which real
//! conversations are found, in every mixture.
//!
//! A record is made by telling a conversation (turns, rounds of one to four
//! calls, results) and letting things happen to it: a result is lost, comes late,
//! comes twice, comes before its call, names a call that nobody made. Each text,
//! argument, output, image and token holds a string of its own, so that judges
//! can follow it. [`Hostile::states`] says what happened, so that a test can
//! assert that everything did.

mod choices;
mod conversation;
mod drive;
mod happen;
mod parts;
mod raw;
mod state;

use std::collections::BTreeSet;

use onrecord_spec::json::{self, Json};
use onrecord_spec::op::{Mode, Replay};
use onrecord_spec::record::Provenance;
use onrecord_spec::target::{PlainReasoning, Profile, Target};
use serde_json::{Value, json};

pub use choices::Choices;
pub use conversation::{Conversation, MOST_BYTES, broken};
#[cfg(feature = "proptest")]
pub use conversation::{conversations, raw_rows};
pub use drive::drive;
pub use raw::{odd_rows_of, raw_rows_of};
pub use state::State;

/// A hostile record.
#[derive(Debug, Clone)]
pub struct Hostile {
    /// Its header.
    pub header: Json,
    /// Its rows, in order.
    pub rows: Vec<Json>,
    /// What happened in it.
    pub states: BTreeSet<State>,
}

/// Whose reasoning the records hold, when it is not foreign.
#[must_use]
pub fn home() -> Provenance {
    Provenance { provider: "hearth".into(), api: "talk".into(), model: "ember-2".into() }
}

/// A replay to any target, of a model with any abilities.
pub fn any_replay(choices: &mut Choices) -> Replay {
    let plain = [PlainReasoning::Required, PlainReasoning::Accepted, PlainReasoning::Refused];
    let profile = Profile {
        vision: !choices.bool(),
        tools: !choices.bool(),
        prefill: choices.one_in(4),
        thinking: choices.bool(),
        plain_reasoning: plain[choices.below(3)],
        prefix_bound: choices.one_in(4),
        model: choices.bool().then(home),
    };
    let mode = if choices.one_in(3) { Mode::Running } else { Mode::Cold };
    Replay { target: Target::ALL[choices.below(2)], profile, mode }
}

/// Stands for half a surrogate pair until the row is written, since a Rust string
/// cannot hold one.
const HALF: char = '\u{E000}';

/// Makes a record. The same choices give the same record.
pub fn hostile(choices: &mut Choices) -> Hostile {
    let mut maker = Maker::new(choices);
    maker.records_call_starts = maker.one_in(2);
    if maker.one_in(8) {
        maker.reached(State::AssistantFirst);
        maker.assistant_message();
    }
    for _ in 0..maker.choices.between(1..=3) {
        maker.turn();
    }
    maker.finish()
}

struct Maker<'a> {
    choices: &'a mut Choices,
    records_call_starts: bool,
    rows: Vec<Value>,
    /// The ids of the rows in the context, in its order.
    context: Vec<String>,
    /// Results that are still on their way.
    late: Vec<Value>,
    /// Ids of calls made so far.
    ids: Vec<String>,
    /// The ids of the summaries so far.
    summaries: Vec<String>,
    /// The compaction that began and did not end.
    open_compaction: Option<String>,
    strings: u32,
    states: BTreeSet<State>,
}

impl<'a> Maker<'a> {
    fn new(choices: &'a mut Choices) -> Self {
        Self {
            choices,
            records_call_starts: false,
            rows: Vec::new(),
            context: Vec::new(),
            late: Vec::new(),
            ids: Vec::new(),
            summaries: Vec::new(),
            open_compaction: None,
            strings: 0,
            states: BTreeSet::new(),
        }
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.choices.one_in(n)
    }

    fn reached(&mut self, state: State) {
        self.states.insert(state);
    }

    /// A string that the record holds once.
    fn fresh(&mut self, kind: &str) -> String {
        self.strings += 1;
        format!("{kind} no. {:05} ends", self.strings)
    }

    fn push(&mut self, event: Value) {
        self.push_with(event, json!({}));
    }

    fn push_with(&mut self, event: Value, more: Value) {
        let seq = self.rows.len();
        let mut row = json!({ "seq": seq, "id": format!("row-{seq}"), "event": event });
        if self.one_in(4) && seq > 0 {
            self.reached(State::Parent);
            let parent = self.choices.below(seq);
            row["parent"] = self.rows[parent]["id"].clone();
        }
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        self.context.push(row["id"].as_str().unwrap_or_default().to_string());
        self.rows.push(row);
    }

    /// A person writes, the model works in rounds, and answers or does not.
    fn turn(&mut self) {
        self.user_message();
        for _ in 0..self.choices.between(0..=2) {
            self.round();
            if self.one_in(6) {
                self.user_message();
            }
            if self.one_in(3) {
                self.deliver_late();
            }
        }
        if self.one_in(2) {
            self.assistant_message();
        }
        if self.one_in(10) {
            self.reached(State::TurnBoundary);
            let edge = ["started", "ended", "interrupted"][self.choices.below(3)];
            self.push(json!({ "type": "turn", "edge": edge }));
        }
        if self.one_in(12) {
            self.stream();
        }
        if self.one_in(6) {
            self.replace();
        }
        if self.one_in(2) {
            self.deliver_late();
        }
        if self.one_in(8) {
            let result = self.result("never-made");
            self.reached(State::ForeignResult);
            self.push(result);
        }
    }

    fn user_message(&mut self) {
        let mut blocks = vec![self.text()];
        if self.one_in(5) {
            self.reached(State::ImageFromUser);
            let image = self.image();
            blocks.push(image);
        }
        if self.one_in(30) {
            self.reached(State::EmptyMessage);
            blocks.clear();
        }
        if !self.late.is_empty() && self.one_in(3) {
            self.reached(State::ResultInUserMessage);
            self.reached(State::LateResult);
            let late = self.late.remove(0);
            blocks.insert(self.choices.between(0..=blocks.len()), late);
        }
        if self.one_in(25) {
            self.reached(State::StaleAuthority);
            let user = self.fresh("principal");
            blocks.push(json!({ "type": "authority", "facts": { "user": user } }));
        }
        let more = match self.choices.below(24) {
            0 => {
                self.reached(State::ForPeopleOnly);
                json!({ "audience": "people" })
            }
            1 | 2 => {
                self.reached(State::ForModelOnly);
                json!({ "audience": "model" })
            }
            _ => json!({}),
        };
        self.push_with(json!({ "type": "message", "role": "user", "blocks": blocks }), more);
    }

    fn assistant_message(&mut self) {
        let mut blocks = Vec::new();
        if self.one_in(3) {
            let reasoning = self.reasoning();
            blocks.push(reasoning);
        }
        if self.one_in(8) {
            self.reached(State::ReasoningAlone);
            blocks = vec![self.reasoning()];
        } else {
            let text = self.text();
            blocks.push(text);
        }
        if self.one_in(15) {
            self.reached(State::ImageFromAssistant);
            let image = self.image();
            blocks.push(image);
        }
        let mut message = json!({ "type": "message", "role": "assistant", "blocks": blocks });
        match self.choices.below(16) {
            0 => {
                self.reached(State::InterruptedMessage);
                message["status"] = json!("interrupted");
            }
            1 => {
                self.reached(State::FailedMessage);
                message["status"] = json!("failed");
            }
            _ => {}
        }
        self.push(message);
    }

    /// One to four calls in one message, and what becomes of them.
    fn round(&mut self) {
        let count = self.choices.between(1..=4);
        self.reached(
            [State::OneCall, State::TwoCalls, State::ThreeCalls, State::FourCalls][count - 1],
        );
        let mut blocks = Vec::new();
        if self.one_in(3) {
            let reasoning = self.reasoning();
            blocks.push(reasoning);
        }
        if self.one_in(2) {
            let text = self.text();
            blocks.push(text);
        }
        let mut results = Vec::new();
        let mut started = Vec::new();
        for _ in 0..count {
            let call = self.call(&blocks);
            let id = call["id"].as_str().unwrap_or_default().to_string();
            if self.records_call_starts && self.one_in(2) {
                started.push(id.clone());
            }
            self.fate_of(&id, &mut results);
            blocks.push(call);
            self.ids.push(id);
        }
        if self.one_in(8) {
            self.reached(State::TextBehindCall);
            let text = self.text();
            blocks.push(text);
        }
        self.push(json!({ "type": "message", "role": "assistant", "blocks": blocks }));
        for id in started {
            self.reached(State::CallStarted);
            self.push(json!({ "type": "call-started", "call": id }));
        }
        self.choices.shuffle(&mut results);
        for result in results {
            self.push(result);
        }
    }

    /// Decides what becomes of a call: results that follow at once are put into
    /// `results`, and the rest comes earlier, later or never.
    fn fate_of(&mut self, id: &str, results: &mut Vec<Value>) {
        match self.choices.below(12) {
            0 | 1 => self.reached(State::MissingResult),
            2 | 3 => {
                let late = self.result(id);
                self.late.push(late);
            }
            4 => {
                self.reached(State::RepeatedResult);
                results.push(self.result(id));
                results.push(self.result(id));
            }
            5 => {
                self.reached(State::EarlyResult);
                let early = self.result(id);
                self.push(early);
            }
            _ => results.push(self.result(id)),
        }
    }

    fn deliver_late(&mut self) {
        for result in std::mem::take(&mut self.late) {
            self.reached(State::LateResult);
            self.push(result);
        }
    }

    fn finish(mut self) -> Hostile {
        if let Some(last) = self.rows.last() {
            match (last["event"]["type"].as_str(), last["event"]["role"].as_str()) {
                (Some("result"), _) => self.states.insert(State::ResultLast),
                (_, Some("assistant")) => self.states.insert(State::AssistantLast),
                _neither => false,
            };
        }
        let header = json!({
            "onrecord": 1, "conversation": "hostile", "records_call_starts": self.records_call_starts,
        });
        Hostile {
            header: raw(&header),
            rows: self.rows.iter().map(raw).collect(),
            states: self.states,
        }
    }
}

/// A row as it would be stored, with the halves of surrogate pairs put in.
fn raw(value: &Value) -> Json {
    let text = value.to_string().replace(HALF, "\\ud83d");
    json::keep(&text).unwrap_or_default()
}
