//! Records that do everything wrong, at random and from a seed: the states in
//! which real conversations are found, in every mixture.
//!
//! A record is made by telling a conversation (turns, rounds of one to four
//! calls, results) and letting things happen to it: a result is lost, comes late,
//! comes twice, comes before its call, names a call that nobody made. Each text,
//! argument, output, image and token holds a string of its own, so that judges
//! can follow it. [`Hostile::states`] says what happened, so that a test can
//! assert that everything did.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use onrecord_spec::json::{self, Json};
use onrecord_spec::record::Provenance;
use serde_json::{Value, json};

/// Something that can happen to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each name says what happened")]
pub enum State {
    OneCall,
    TwoCalls,
    ThreeCalls,
    FourCalls,
    MissingResult,
    LateResult,
    RepeatedResult,
    ForeignResult,
    EarlyResult,
    ErrorResult,
    EmptyResult,
    ResultInUserMessage,
    ReusedId,
    BlankId,
    IdTwiceInRound,
    LongId,
    OddId,
    OddName,
    BrokenArguments,
    ArgumentsNoObject,
    NoArguments,
    ImageFromUser,
    ImageFromAssistant,
    ImageInResult,
    CutImage,
    SignedReasoning,
    EncryptedReasoning,
    UnsignedReasoning,
    ForeignReasoning,
    ReasoningAlone,
    EmptyBlock,
    EmptyMessage,
    TextBehindCall,
    HalfSurrogate,
    InterruptedMessage,
    FailedMessage,
    ForPeopleOnly,
    ForModelOnly,
    Replacement,
    StreamWithoutMessage,
    TurnBoundary,
    CallStarted,
    StaleAuthority,
    AssistantFirst,
    AssistantLast,
    ResultLast,
    TextThatLooksLikeACall,
}

impl State {
    /// All states, for a test that each was reached.
    pub const ALL: [Self; 47] = [
        Self::OneCall,
        Self::TwoCalls,
        Self::ThreeCalls,
        Self::FourCalls,
        Self::MissingResult,
        Self::LateResult,
        Self::RepeatedResult,
        Self::ForeignResult,
        Self::EarlyResult,
        Self::ErrorResult,
        Self::EmptyResult,
        Self::ResultInUserMessage,
        Self::ReusedId,
        Self::BlankId,
        Self::IdTwiceInRound,
        Self::LongId,
        Self::OddId,
        Self::OddName,
        Self::BrokenArguments,
        Self::ArgumentsNoObject,
        Self::NoArguments,
        Self::ImageFromUser,
        Self::ImageFromAssistant,
        Self::ImageInResult,
        Self::CutImage,
        Self::SignedReasoning,
        Self::EncryptedReasoning,
        Self::UnsignedReasoning,
        Self::ForeignReasoning,
        Self::ReasoningAlone,
        Self::EmptyBlock,
        Self::EmptyMessage,
        Self::TextBehindCall,
        Self::HalfSurrogate,
        Self::InterruptedMessage,
        Self::FailedMessage,
        Self::ForPeopleOnly,
        Self::ForModelOnly,
        Self::Replacement,
        Self::StreamWithoutMessage,
        Self::TurnBoundary,
        Self::CallStarted,
        Self::StaleAuthority,
        Self::AssistantFirst,
        Self::AssistantLast,
        Self::ResultLast,
        Self::TextThatLooksLikeACall,
    ];
}

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

/// Stands for half a surrogate pair until the row is written, since a Rust string
/// cannot hold one.
const HALF: char = '\u{E000}';

/// Makes a record. The same state of the generator gives the same record.
pub fn hostile(rng: &mut fastrand::Rng) -> Hostile {
    let mut maker = Maker { rng: rng.fork(), ..Maker::default() };
    maker.records_call_starts = maker.one_in(2);
    if maker.one_in(8) {
        maker.reached(State::AssistantFirst);
        maker.assistant_message();
    }
    for _ in 0..maker.rng.usize(1..=3) {
        maker.turn();
    }
    maker.finish()
}

#[derive(Default)]
struct Maker {
    rng: fastrand::Rng,
    records_call_starts: bool,
    rows: Vec<Value>,
    /// The ids of the rows in the context, in its order.
    context: Vec<String>,
    /// Results that are still on their way.
    late: Vec<Value>,
    /// Ids of calls made so far.
    ids: Vec<String>,
    strings: u32,
    states: BTreeSet<State>,
}

impl Maker {
    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(0..n) == 0
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
        let id = format!("row-{seq}");
        let mut row = json!({ "seq": seq, "id": id, "event": event });
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        self.rows.push(row);
        self.context.push(id);
    }

    /// A person writes, the model works in rounds, and answers or does not.
    fn turn(&mut self) {
        self.user_message();
        for _ in 0..self.rng.usize(0..=2) {
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
            let edge = ["started", "ended", "interrupted"][self.rng.usize(0..3)];
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

    fn text(&mut self) -> Value {
        if self.one_in(12) {
            self.reached(State::EmptyBlock);
            let blank = ["", " ", "\n\t"][self.rng.usize(0..3)];
            return json!({ "type": "text", "text": blank });
        }
        let mut text = self.fresh("said");
        if self.one_in(20) {
            self.reached(State::HalfSurrogate);
            text.push(HALF);
        }
        if self.one_in(25) {
            self.reached(State::TextThatLooksLikeACall);
            text = format!("[Tool use: read_file({{\"path\":\"x\"}})] {text}");
        }
        json!({ "type": "text", "text": text })
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
            blocks.insert(self.rng.usize(0..=blocks.len()), late);
        }
        if self.one_in(25) {
            self.reached(State::StaleAuthority);
            let user = self.fresh("principal");
            blocks.push(json!({ "type": "authority", "facts": { "user": user } }));
        }
        let more = match self.rng.u32(0..24) {
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
        match self.rng.u32(0..16) {
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
        let count = self.rng.usize(1..=4);
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
        self.rng.shuffle(&mut results);
        for result in results {
            self.push(result);
        }
    }

    /// Decides what becomes of a call: results that follow at once are put into
    /// `results`, and the rest comes earlier, later or never.
    fn fate_of(&mut self, id: &str, results: &mut Vec<Value>) {
        match self.rng.u32(0..12) {
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

    fn call(&mut self, siblings: &[Value]) -> Value {
        let id = self.call_id(siblings);
        let name = match self.rng.u32(0..20) {
            0 => {
                self.reached(State::OddName);
                ["read file", "", "größe", "a.b"][self.rng.usize(0..4)]
            }
            at => ["read_file", "run", "search-all"][at as usize % 3],
        };
        let argument = self.fresh("argument");
        let arguments = match self.rng.u32(0..16) {
            0 => {
                self.reached(State::BrokenArguments);
                format!("{{\"path\":\"{argument}")
            }
            1 => {
                self.reached(State::ArgumentsNoObject);
                format!("[\"{argument}\"]")
            }
            2 => {
                self.reached(State::NoArguments);
                String::new()
            }
            3 => {
                self.reached(State::HalfSurrogate);
                format!("{{\"path\":\"{argument}\\ud83d\"}}")
            }
            4 => format!("{{\n  \"path\": \"{argument}\", \"n\": 12345678901234567890123\n}}"),
            _ => format!("{{\"path\":\"{argument}\"}}"),
        };
        json!({ "type": "call", "id": id, "name": name, "arguments": arguments })
    }

    fn call_id(&mut self, siblings: &[Value]) -> String {
        let number = self.ids.len();
        match self.rng.u32(0..14) {
            0 if !self.ids.is_empty() => {
                self.reached(State::ReusedId);
                let at = self.rng.usize(0..self.ids.len());
                self.ids[at].clone()
            }
            1 => {
                self.reached(State::BlankId);
                String::new()
            }
            2 => {
                let twin = siblings.iter().filter_map(|block| block["id"].as_str()).next_back();
                match twin {
                    Some(id) => {
                        let id = id.to_string();
                        self.reached(State::IdTwiceInRound);
                        id
                    }
                    None => format!("call-{number}"),
                }
            }
            3 => {
                self.reached(State::LongId);
                // Long ids share their beginning, so that a cut one collides.
                format!("{}{number}", "long-".repeat(14))
            }
            4 => {
                self.reached(State::OddId);
                format!("functions.run:{number}")
            }
            5 => format!("call_{number}_0"),
            _ => format!("call-{number}"),
        }
    }

    fn result(&mut self, id: &str) -> Value {
        let mut content = Vec::new();
        if self.one_in(12) {
            self.reached(State::EmptyResult);
        } else {
            let output = self.fresh("output");
            content.push(json!({ "type": "text", "text": output }));
        }
        if self.one_in(8) {
            self.reached(State::ImageInResult);
            let image = self.image();
            content.push(image);
        }
        let mut result = json!({ "type": "result", "call": id, "content": content });
        if self.one_in(2) {
            result["name"] = json!("read_file");
        }
        if self.one_in(5) {
            self.reached(State::ErrorResult);
            result["error"] = json!(true);
        }
        result
    }

    fn image(&mut self) -> Value {
        let bytes = self.fresh("pixels of image");
        let mut data = STANDARD.encode(bytes);
        if self.one_in(6) {
            self.reached(State::CutImage);
            data.truncate(data.len() - 3);
        }
        json!({ "type": "image", "media_type": "image/png", "data": data })
    }

    fn reasoning(&mut self) -> Value {
        let thought = self.fresh("thought");
        let mut block = json!({ "type": "reasoning", "text": thought });
        let kind = self.rng.u32(0..5);
        if kind != 0 {
            let from = home();
            block["from"] = json!({
                "provider": from.provider.to_unicode(),
                "api": from.api.to_unicode(),
                "model": from.model.to_unicode(),
            });
        }
        match kind {
            0 | 1 => self.reached(State::UnsignedReasoning),
            2 => {
                self.reached(State::EncryptedReasoning);
                block["token"] = json!(self.fresh("sealed"));
                block["encrypted"] = json!(true);
                block["text"] = json!("");
            }
            3 => {
                self.reached(State::ForeignReasoning);
                block["token"] = json!(self.fresh("signature"));
                block["from"]["model"] = json!("another-1");
            }
            _ => {
                self.reached(State::SignedReasoning);
                block["token"] = json!(self.fresh("signature"));
            }
        }
        block
    }

    fn deliver_late(&mut self) {
        for result in std::mem::take(&mut self.late) {
            self.reached(State::LateResult);
            self.push(result);
        }
    }

    /// A message that was being streamed when the process died.
    fn stream(&mut self) {
        self.reached(State::StreamWithoutMessage);
        let message = format!("lost-{}", self.rows.len());
        for part in 0..self.rng.usize(1..=3) {
            let text = if part == 0 { self.fresh("streamed") } else { format!(" and {part}") };
            self.push(json!({ "type": "delta", "message": message, "part": "text", "text": text }));
        }
    }

    /// A summary takes a range of the context.
    fn replace(&mut self) {
        if self.context.is_empty() {
            return;
        }
        self.reached(State::Replacement);
        let first = self.rng.usize(0..self.context.len());
        let last = self.rng.usize(first..self.context.len().min(first + 6));
        let rows: Vec<String> = self.context[first..=last].to_vec();
        let summary = self.fresh("summary");
        let event = json!({
            "type": "message", "role": "user", "blocks": [{ "type": "text", "text": summary }],
        });
        let replaces = json!({
            "first": rows[0], "last": rows[rows.len() - 1], "rows": rows, "source": "compaction",
        });
        self.push_with(event, json!({ "replaces": replaces, "audience": "model" }));
        if let Some(summary) = self.context.pop() {
            self.context.splice(first..=last, [summary]);
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
