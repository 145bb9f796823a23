//! The store on SQLite under what happens to real ones: processes that die at any
//! write, logs that are cut at any byte, two processes at once, and files of an older
//! shape.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed"
)]

mod crash;
mod migration;
mod torn;
mod writers;

use std::path::Path;
use std::process::{Command, Stdio};

use onrecord_reference::Reference;
use onrecord_spec::op::{Implementation, Op, Outcome};
use onrecord_sqlite::SqliteStore;

/// Performs one op, written as a fixture's step is.
fn perform(store: &mut dyn Implementation, op: &str) -> Outcome {
    let op: Op = serde_json::from_str(op).unwrap_or_else(|error| panic!("{error}: {op}"));
    store.perform(&op).unwrap_or_else(|fault| panic!("{op:?}: {}", fault.message))
}

/// An outcome as JSON.
fn written(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

/// The row of a message, with more fields in its envelope.
fn message(seq: u64, role: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"seq":{seq},"id":"r{seq}",{more}"event":{{"type":"message","role":"{role}","blocks":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

/// The log of the current conversation.
fn log(store: &mut dyn Implementation) -> Vec<u8> {
    match perform(store, r#"{"log":{}}"#) {
        Outcome::Log { bytes } => bytes.0,
        other => panic!("{other:?}"),
    }
}

/// What the store keeps beside its rows (flags, words, keys, units) must be what
/// follows from them: everything that is asked of it is answered as by the reference
/// that read the same log.
fn assert_caches(store: &mut SqliteStore, conversation: &str) {
    let mut reference = Reference::new();
    let log = log(store);
    let open = serde_json::json!({ "open": { "log": String::from_utf8(log).unwrap() } });
    perform(&mut reference, &open.to_string());
    let mut questions: Vec<String> =
        [r#"{"context":{}}"#, r#"{"recall":{}}"#, r#"{"read":{}}"#].map(String::from).into();
    for word in ["barley", "mill", "harvest", "summary"] {
        questions.push(format!(r#"{{"recall":{{"query":"{word}"}}}}"#));
    }
    for key in 0..12 {
        questions.push(format!(r#"{{"lookup":{{"by":{{"request":"k{key}"}}}}}}"#));
        questions.push(format!(r#"{{"lookup":{{"by":{{"row":"r{key}"}}}}}}"#));
        questions.push(format!(r#"{{"status":{{"request":"k{key}"}}}}"#));
    }
    for question in questions {
        let ours = sorted(perform(store, &question), conversation);
        let due = sorted(perform(&mut reference, &question), conversation);
        assert_eq!(ours, due, "{question}");
    }
    for limit in 1..8 {
        let page = format!(r#"{{"page":{{"limit":{limit}}}}}"#);
        assert_eq!(rows(&perform(store, &page)), rows(&perform(&mut reference, &page)), "{page}");
    }
}

fn rows(outcome: &Outcome) -> Vec<String> {
    let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
    page.rows.iter().map(|row| row.get().to_string()).collect()
}

/// An outcome to be compared: hits may come in any order, and those of other
/// conversations are not looked at.
fn sorted(mut outcome: Outcome, conversation: &str) -> String {
    if let Outcome::Recalled { hits } = &mut outcome {
        hits.retain(|hit| hit.conversation == *conversation);
        hits.sort_by_key(|hit| hit.row.to_unicode().into_owned());
    }
    written(&outcome)
}

/// This program again, as a process of its own that does nothing but one test: the
/// child's part of another. `settings` are its environment.
fn child(test: &str, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.envs(settings.iter().copied()).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(Stdio::piped());
    command
}

/// What a child said in lines that begin with this word.
fn said(output: &[u8], word: &str) -> Vec<u64> {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().filter_map(|line| line.rsplit_once(&format!("{word} ")));
    lines.filter_map(|(_, number)| number.trim().parse().ok()).collect()
}

/// The setting of a child; none in any other process.
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path).unwrap()
}
