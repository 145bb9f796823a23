//! Replays of small situations: for each target the whole list of messages, every
//! anomaly and every constraint.
//!
//! The situations are data, beside this file: rows without `seq` and `id`, what
//! is asked, and what each target must be sent.

use std::collections::BTreeMap;

use onrecord_reference::Record;
use onrecord_reference::replay::{self, Payload, openai_chat::Message};
use onrecord_spec::json::{Json, Tree};
use onrecord_spec::op::{Anomaly, Constraint, Replay};
use onrecord_spec::target::Target;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Situation {
    title: String,
    header: Option<Json>,
    #[serde(default)]
    ask: BTreeMap<String, Json>,
    rows: Vec<Json>,
    #[serde(rename = "openai-chat")]
    openai_chat: Expected,
    anthropic: Expected,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    messages: Json,
    #[serde(default)]
    anomalies: Vec<String>,
    #[serde(default)]
    constraints: Vec<Constraint>,
}

#[test]
fn pairing() {
    check(include_str!("pairing.json"));
}

#[test]
fn form() {
    check(include_str!("form.json"));
}

#[test]
fn reasoning() {
    check(include_str!("reasoning.json"));
}

/// OAI-CHAT-4: a declaration holds 128 calls; the rest follows in another, with
/// the results of the first between.
#[test]
fn more_calls_than_one_message_may_declare() {
    let calls = (0..130)
        .map(|call| format!(r#"{{"type":"call","id":"c{call}","name":"t","arguments":"{{}}"}}"#));
    let blocks = calls.collect::<Vec<_>>().join(",");
    let round =
        format!(r#"{{"event":{{"type":"message","role":"assistant","blocks":[{blocks}]}}}}"#);
    let record = Record::load(None, &super::rows([&*round])).unwrap();
    let Payload::OpenaiChat(payload) =
        replay::replay(&record, &Replay::to(Target::OpenaiChat)).payload
    else {
        panic!("the payload is for another target")
    };
    let mut shape = vec![];
    for message in &payload.messages {
        match message {
            Message::Assistant { tool_calls, .. } => shape.push((tool_calls.len(), 0)),
            Message::Tool { .. } => shape.last_mut().unwrap().1 += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(shape, [(128, 128), (2, 2)]);
}

fn check(situations: &str) {
    let situations: Vec<Situation> = serde_json::from_str(situations).unwrap();
    assert!(!situations.is_empty());
    for situation in &situations {
        let rows = super::rows(situation.rows.iter().map(|row| row.get()));
        let record = Record::load(situation.header.as_deref(), &rows).unwrap();
        check_target(&record, situation, Target::OpenaiChat, &situation.openai_chat);
        check_target(&record, situation, Target::Anthropic, &situation.anthropic);
    }
}

fn check_target(record: &Record, situation: &Situation, target: Target, expected: &Expected) {
    let mut ask = situation.ask.clone();
    ask.insert(
        "target".to_string(),
        serde_json::from_str(&format!("{:?}", target.name())).unwrap(),
    );
    let ask = serde_json::to_string(&ask).unwrap();
    let asked: Replay = serde_json::from_str(&ask).unwrap();
    let replayed = replay::replay(record, &asked);
    let payload = serde_json::to_string(&replayed.payload).unwrap();
    let wanted = format!(r#"{{"messages":{}}}"#, expected.messages);
    let title = format!("{}: {}\n{payload}", target.name(), situation.title);
    assert_eq!(Tree::parse(&payload), Tree::parse(&wanted), "{title}");
    let anomalies: Vec<String> = replayed.anomalies.iter().map(told).collect();
    assert_eq!(anomalies, expected.anomalies, "{title}");
    assert_eq!(replayed.constraints, expected.constraints, "{title}");
    let again = serde_json::to_string(&replay::replay(record, &asked).payload).unwrap();
    assert_eq!(again, payload, "{title}");
}

/// An anomaly as the situations write it: its name, and the row if it has one.
fn told(anomaly: &Anomaly) -> String {
    let name = serde_json::to_string(&anomaly.name).unwrap();
    let name = name.trim_matches('"').to_string();
    anomaly.seq.map_or(name.clone(), |seq| format!("{name} {seq}"))
}
