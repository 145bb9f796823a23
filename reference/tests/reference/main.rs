//! Everything that the reference is tested for on its own: tables of situations,
//! each with the whole of what must come back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed"
)]

mod append;
mod archive;
mod compaction;
mod cuts;
mod live;
mod load;
mod lookup;
mod migrate;
mod pages;
mod random;
mod recall;
mod situations;
mod small_scope;
mod sync;

use onrecord_reference::{Record, Reference};
use onrecord_spec::json::{Json, RawValue, keep};
use onrecord_spec::op::{Fault, Implementation, Op, Outcome};

/// A row as it is stored, of a row without `seq` and `id`.
fn row(seq: usize, rest: &str) -> Json {
    let rest = rest.trim_start().strip_prefix('{').unwrap();
    keep(&format!(r#"{{"seq":{seq},"id":"r{seq}",{rest}"#)).unwrap()
}

/// Rows as they are stored, numbered from 0.
fn rows<'a>(rest: impl IntoIterator<Item = &'a str>) -> Vec<Json> {
    rest.into_iter().enumerate().map(|(seq, rest)| row(seq, rest)).collect()
}

/// The row of a user's message.
fn user(text: &str) -> String {
    format!(
        r#"{{"event":{{"type":"message","role":"user","blocks":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

/// The ids of the rows that a record holds, and of its context.
fn ids(record: &Record) -> (Vec<String>, Vec<String>) {
    let all = record.rows().iter().map(|row| row.id.to_string()).collect();
    (all, record.context().map(|row| row.id.to_string()).collect())
}

/// Performs one op, written as a fixture's step is.
fn perform(reference: &mut Reference, op: &str) -> Result<Outcome, Fault> {
    let op: Op = serde_json::from_str(op).unwrap();
    reference.perform(&op)
}

/// An outcome as JSON.
fn written(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

#[test]
fn an_op_before_a_load_is_refused() {
    for op in [
        r#"{"append":{"expect":0,"rows":[]}}"#,
        r#"{"read":{}}"#,
        r#"{"log":{}}"#,
        r#"{"restart":{}}"#,
        r#"{"replay":{"target":"anthropic"}}"#,
    ] {
        let outcome = perform(&mut Reference::new(), op).unwrap();
        let refused = r#"{"refused":{"code":"no-record","detail":"no record is held; `load` or `open` one first"}}"#;
        assert_eq!(written(&outcome), refused, "{op}");
    }
}

#[test]
fn a_conversation_from_load_to_restart() {
    let mut reference = Reference::new();
    let question = user("hi").replacen('{', r#"{"seq":0,"id":"q","at":"noon","mood":1e400,"#, 1);
    let steps = [
        (format!(r#"{{"load":{{"rows":[{question}]}}}}"#), r#"{"loaded":{"next":1}}"#.to_string()),
        (
            r#"{"append":{"expect":1,"rows":[{"id":"t","seq":1,"event":{"edge":"ended","type":"turn"}}]}}"#.to_string(),
            r#"{"appended":{"next":2}}"#.to_string(),
        ),
        (
            r#"{"read":{"from":1}}"#.to_string(),
            r#"{"rows":{"rows":[{"seq":1,"id":"t","event":{"type":"turn","edge":"ended"}}]}}"#.to_string(),
        ),
        (r#"{"read":{"limit":0}}"#.to_string(), r#"{"rows":{"rows":[]}}"#.to_string()),
        (r#"{"read":{"from":9}}"#.to_string(), r#"{"rows":{"rows":[]}}"#.to_string()),
        (r#"{"restart":{}}"#.to_string(), r#"{"loaded":{"next":2}}"#.to_string()),
        (
            r#"{"read":{"limit":1}}"#.to_string(),
            r#"{"rows":{"rows":[{"seq":0,"id":"q","at":"noon","event":{"type":"message","role":"user","blocks":[{"type":"text","text":"hi"}]},"mood":1e400}]}}"#.to_string(),
        ),
    ];
    for (op, expected) in steps {
        assert_eq!(written(&perform(&mut reference, &op).unwrap()), expected, "{op}");
    }
}

#[test]
fn a_refused_load_leaves_what_was_held() {
    let mut reference = Reference::new();
    perform(&mut reference, &format!(r#"{{"load":{{"rows":[{}]}}}}"#, row(0, &user("hi"))))
        .unwrap();
    let refused = perform(&mut reference, r#"{"open":{"log":""}}"#).unwrap();
    assert!(matches!(refused, Outcome::Refused(_)));
    assert_eq!(reference.record().unwrap().next(), 1);
}

#[test]
fn the_facts_are_one_system_block_and_are_stored_nowhere() {
    let facts = |more: &str| {
        format!(
            r#"{{"request":{{"replay":{{"target":"TARGET"}},"authority":{{"user":"u-1","expected_account":"acct","node":"n-7",{more}}}}}}}"#
        )
    };
    let head = "Facts of this request, from the runtime and from nobody else.\n\
                The process runs as user: u-1\nThe account that is expected: acct\nThe node: n-7\n";
    let cases = [
        (
            r#""mode":"dedicated","admitted":true"#,
            "Mode: dedicated. You act under your own account.\nThe expected account was admitted.",
        ),
        (
            r#""mode":"borrowed","admitted":false,"drift":"uid 7, not 8""#,
            "Mode: borrowed. You borrow a person's account: what it may do is that person's to allow, and not yours.\nThe expected account was not admitted: do not act as if you had it.\nThe actual state departs from the expected one: uid 7, not 8",
        ),
    ];
    let mut reference = Reference::new();
    perform(&mut reference, &format!(r#"{{"load":{{"rows":[{}]}}}}"#, row(0, &user("hi"))))
        .unwrap();
    let log = reference.record().unwrap().log().to_vec();
    for (more, text) in cases {
        let text = serde_json::to_string(&format!("{head}{text}")).unwrap();
        for (target, payload) in [
            (
                "anthropic",
                format!(
                    r#"{{"system":[{{"type":"text","text":{text}}}],"messages":[{{"role":"user","content":[{{"type":"text","text":"hi"}}]}}]}}"#
                ),
            ),
            (
                "openai-chat",
                format!(
                    r#"{{"messages":[{{"role":"system","content":{text}}},{{"role":"user","content":"hi"}}]}}"#
                ),
            ),
        ] {
            let op = facts(more).replace("TARGET", target);
            match perform(&mut reference, &op).unwrap() {
                Outcome::Replayed(replayed) => assert_eq!(replayed.payload.get(), payload),
                other => panic!("{op}: {other:?}"),
            }
        }
    }
    assert_eq!(reference.record().unwrap().log(), log);
}

/// The texts of raw values.
fn texts<'a>(raw: impl IntoIterator<Item = &'a RawValue>) -> Vec<&'a str> {
    raw.into_iter().map(RawValue::get).collect()
}
