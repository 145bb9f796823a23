//! How the equations ask the reference, and what they compare.

use onrecord::Reference;
use onrecord::generate::{Choices, Hostile, any_replay};
use onrecord::spec::json::{Json, to_line};
use onrecord::spec::op::{Implementation, Op, Outcome, Replay, Replayed};

/// Asks, in process: a fault is a broken equation.
pub fn ask(implementation: &mut dyn Implementation, op: &Op) -> Outcome {
    match implementation.perform(op) {
        Ok(outcome) => outcome,
        Err(fault) => panic!("`{}`: {}", op.name(), fault.message),
    }
}

/// The outcome as text, to be compared.
pub fn answer(implementation: &mut dyn Implementation, op: &Op) -> String {
    to_line(&ask(implementation, op)).unwrap()
}

/// Loads these rows under this header.
pub fn load(header: &Json, rows: &[Json]) -> Op {
    Op::Load { header: Some(header.clone()), rows: rows.to_vec(), beside: false }
}

/// A reference that holds a record. The generator's records are all taken.
pub fn holding(record: &Hostile) -> Reference {
    let mut reference = Reference::new();
    let outcome = ask(&mut reference, &load(&record.header, &record.rows));
    assert!(matches!(outcome, Outcome::Loaded { .. }), "{outcome:?}");
    reference
}

/// The bytes of the log.
pub fn log(reference: &mut Reference) -> Vec<u8> {
    match ask(reference, &Op::Log {}) {
        Outcome::Log { bytes } => bytes.0,
        other => panic!("{other:?}"),
    }
}

/// All rows.
pub fn rows(reference: &mut Reference) -> Vec<Json> {
    match ask(reference, &Op::Read { from: None, limit: None }) {
        Outcome::Rows { rows } => rows,
        other => panic!("{other:?}"),
    }
}

/// The ids of the context.
pub fn context(reference: &mut Reference) -> Vec<onrecord::spec::text::Text> {
    match ask(reference, &Op::Context {}) {
        Outcome::Context(context) => context.rows.into_iter().map(|row| row.id).collect(),
        other => panic!("{other:?}"),
    }
}

/// What a model is sent.
pub fn replayed(reference: &mut Reference, replay: &Replay) -> Replayed {
    match ask(reference, &Op::Replay(replay.clone())) {
        Outcome::Replayed(replayed) => replayed,
        other => panic!("{other:?}"),
    }
}

/// Everything that can be asked of a record without changing it, but what counts its
/// own process (stamps) or names its place by words of its own (cursors).
pub fn questions(choices: &mut Choices) -> Vec<Op> {
    let mut ops = vec![
        Op::Read { from: None, limit: None },
        Op::Log {},
        Op::Context {},
        Op::Transcript {},
        Op::Follow { join: 0 },
        Op::Recall { query: None },
        Op::Page { limit: 3, before: None },
        Op::Window { limit: Some(5), at: onrecord::spec::page::WindowAt::Newest },
    ];
    ops.extend((0..2).map(|_| Op::Replay(any_replay(choices))));
    ops
}

/// What these questions are answered with.
pub fn answers(implementation: &mut dyn Implementation, questions: &[Op]) -> Vec<String> {
    questions.iter().map(|op| answer(implementation, op)).collect()
}
