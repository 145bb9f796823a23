//! Equations of raw bytes: what comes from files, programs and providers.

use onrecord::Reference;
use onrecord::adapter::Answer;
use onrecord::fixture::Fixture;
use onrecord::spec::json::{Json, keep, to_json, to_line};
use onrecord::spec::op::{Bytes, Op, Outcome};
use onrecord::spec::record::Row;
use onrecord::spec::target::{Profile, Target};
use onrecord::spec::wire::{Body, Wire};
use serde_json::json;

use crate::ask::{ask, log as log_of, rows};

/// A log file of any bytes is refused or held. Held, it is on disk as it was; what is
/// appended behind its damage is all that a new start finds beside its whole rows.
pub fn log(bytes: &[u8]) {
    let mut reference = Reference::new();
    let open = Op::Open { log: Bytes(bytes.to_vec()) };
    let Outcome::Loaded { next, .. } = ask(&mut reference, &open) else { return };
    assert_eq!(log_of(&mut reference), bytes, "loading wrote to the log");
    let held = rows(&mut reference);
    assert_eq!(held.len() as u64, next);

    let more = json!({
        "seq": next, "id": format!("new-{next}"), "event": { "type": "turn", "edge": "started" },
    });
    let append = Op::Append { expect: next, rows: vec![keep(&more.to_string()).unwrap()] };
    let appended = ask(&mut reference, &append);
    let written = log_of(&mut reference);
    assert!(written.starts_with(bytes), "an append changed what was there");
    if !matches!(appended, Outcome::Appended { .. }) {
        assert_eq!(written, bytes, "a refused append wrote");
        return;
    }
    let after = rows(&mut reference);
    let mut again = Reference::new();
    let opened = ask(&mut again, &Op::Open { log: Bytes(written) });
    assert!(matches!(opened, Outcome::Loaded { .. }), "{opened:?}");
    assert_eq!(texts(&rows(&mut again)), texts(&after), "a new start holds other rows");
    assert_eq!(texts(&after[..held.len()]), texts(&held), "a row changed");
}

/// A row that is read, written and read again is the same row.
pub fn row(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(raw) = serde_json::from_str::<Json>(text) else { return };
    let Ok(row) = Row::decode(&raw) else { return };
    let written = to_json(&row).unwrap();
    let again = Row::decode(&written)
        .unwrap_or_else(|error| panic!("what was written is not read: {error}\n{written}"));
    assert_eq!(written.get(), to_json(&again).unwrap().get());
}

/// What the lift of OpenAI Chat makes of a payload.
pub fn lift_openai_chat(bytes: &[u8]) {
    lift(Target::OpenaiChat, bytes);
}

/// What the lift of Anthropic makes of a payload.
pub fn lift_anthropic(bytes: &[u8]) {
    lift(Target::Anthropic, bytes);
}

/// White space between tokens means nothing; what a target does not have is found.
fn lift(target: Target, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(payload) = keep(text) else { return };
    let wire = target.lift(&payload);
    let breaches = breaches(target, &payload);
    assert!(!has_foreign(&wire) || !breaches.is_empty(), "a foreign part, and no breach");
    let Ok(tight) = onrecord::fixture::compact(&payload) else { return };
    assert_eq!(target.lift(&tight), wire);
    assert_eq!(self::breaches(target, &tight), breaches);
}

/// The rules that are broken, and where. The words quote the payload as it is written.
fn breaches(target: Target, payload: &Json) -> Vec<(&'static str, String)> {
    let breaches = target.check(&Profile::default(), payload, &[]);
    breaches.into_iter().map(|breach| (breach.rule, breach.path)).collect()
}

fn has_foreign(wire: &Wire) -> bool {
    wire.parts().any(|(_, part)| matches!(part.body, Body::Foreign(_)))
}

/// An adapter's line is an answer or a fault; an outcome that was read, written and
/// read again is the same.
pub fn answer(bytes: &[u8]) {
    let Ok(answer) = Answer::read(1, bytes) else { return };
    let _ = answer.hello();
    let Ok(outcome) = answer.outcome() else { return };
    let written = to_line(&outcome).unwrap();
    let again: Outcome = serde_json::from_str(&written)
        .unwrap_or_else(|error| panic!("what was written is not read: {error}\n{written}"));
    assert_eq!(written, to_line(&again).unwrap());
}

/// A fixture file is refused with its place, or is one; its cases are made ready for
/// their targets.
pub fn fixture(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Fixture::decode("fuzzed/fixture", text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(Fixture::Case(template)) => {
            for case in template.expand() {
                assert!(!case.rules.is_empty() && !case.steps.is_empty());
            }
        }
        Ok(Fixture::Verdict(verdict)) => {
            // Its judge may find what it likes, and does not panic.
            let _ = onrecord::spec::judge::judge(&verdict.trace);
        }
    }
}

fn texts(rows: &[Json]) -> Vec<&str> {
    rows.iter().map(|row| row.get()).collect()
}
