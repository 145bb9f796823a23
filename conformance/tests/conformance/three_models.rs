//! Three ways to keep a compaction, and one record: a row names the range that it
//! stands for (the event model), each row says by which summary it was taken (the
//! row-flag model), a line at the end names the rows (the marker-line model). The
//! context that follows from each is the same (`rationale.md`).

use std::collections::{BTreeMap, BTreeSet};

use onrecord::Reference;
use onrecord::spec::json::{Json, keep, to_line};
use onrecord::spec::op::{Compact, Cut, Ending, Implementation, Mode, Op, Outcome, SummaryText};
use onrecord::spec::record::CompactionMode;
use serde_json::{Value, json};

const RECORDS: u64 = 300;

#[test]
fn the_three_models_give_one_context() {
    let mut landed = 0;
    for seed in 0..RECORDS {
        let mut reference = compacted_at_random(seed);
        let rows = rows(&mut reference);
        let told = ask(&mut reference, &Op::Context {});
        let context = ids(&told["context"]["rows"], "id");
        let models = [
            ("the event model", by_events(&rows)),
            ("the row-flag model", by_flags(&rows, &told["context"]["left"])),
            ("the marker-line model", by_markers(&rows)),
        ];
        for (model, derived) in models {
            assert_eq!(derived, context, "seed {seed}: {model}");
        }
        landed += rows.iter().filter(|row| row["replaces"].is_object()).count();
    }
    assert!(landed > 1_000, "only {landed} compactions landed");
}

/// The event model: a fold. A row that names a range takes its place.
fn by_events(rows: &[Value]) -> Vec<String> {
    let mut context: Vec<String> = vec![];
    for row in rows {
        let id = text(&row["id"]);
        if row["replaces"].is_object() {
            let place = |end: &str| {
                let end = text(&row["replaces"][end]);
                context.iter().position(|held| *held == end).unwrap()
            };
            let (first, last) = (place("first"), place("last"));
            context.splice(first..=last, [id]);
        } else {
            context.push(id);
        }
    }
    context
}

/// The row-flag model: nothing is moved. A summary sorts directly behind the last
/// row that its flag is on, and what has no flag is the context.
fn by_flags(rows: &[Value], left: &Value) -> Vec<String> {
    let flags: BTreeMap<String, String> =
        left.as_array().unwrap().iter().map(|row| (text(&row["id"]), text(&row["by"]))).collect();
    assert_eq!(flags.len(), left.as_array().unwrap().len(), "a flag is set once");
    flat(rows, &flags)
}

/// The marker-line model: an appended line names the rows that a summary took.
fn by_markers(rows: &[Value]) -> Vec<String> {
    let mut flags = BTreeMap::new();
    for row in rows.iter().filter(|row| row["event"]["outcome"] == "landed") {
        for taken in row["event"]["rows"].as_array().unwrap() {
            let before = flags.insert(text(taken), text(&row["event"]["summary"]));
            assert_eq!(before, None, "a marker names a row that was taken before");
        }
    }
    flat(rows, &flags)
}

/// The rows without a flag in flat order: old rows, summary, kept rows.
fn flat(rows: &[Value], flags: &BTreeMap<String, String>) -> Vec<String> {
    let summaries: BTreeSet<&String> = flags.values().collect();
    let mut order: Vec<String> = vec![];
    for row in rows {
        let id = text(&row["id"]);
        let behind = match summaries.contains(&id) {
            true => order.iter().rposition(|held| flags.get(held) == Some(&id)).unwrap() + 1,
            false => order.len(),
        };
        order.insert(behind, id);
    }
    order.retain(|id| !flags.contains_key(id));
    order
}

/// A conversation in which ranges are compacted wherever that is allowed.
fn compacted_at_random(seed: u64) -> Reference {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut reference = Reference::default();
    let mut next =
        loaded(reference.perform(&Op::Load { header: None, rows: vec![], beside: false }).unwrap());
    for step in 0..60 {
        let op = if rng.u32(0..6) == 0 {
            let told = ask(&mut reference, &Op::Context {});
            let context = ids(&told["context"]["rows"], "id");
            let Some(most) = context.len().checked_sub(1) else { continue };
            let first = rng.usize(0..=most);
            let last = rng.usize(first..=most.min(first + 9));
            compact(step, &context[first], &context[last])
        } else {
            append(next, rng.u32(0..3))
        };
        next = loaded(reference.perform(&op).unwrap()).max(next);
    }
    reference
}

fn compact(step: usize, first: &str, last: &str) -> Op {
    Op::Compact(Compact {
        id: format!("k{step}").as_str().into(),
        cut: Some(Cut::Nearest { first: first.into(), last: last.into() }),
        end: Some(Ending::Summary(SummaryText {
            text: format!("what was said before step {step}").as_str().into(),
            error: false,
        })),
        agent: Some("tidier".into()),
        mode: CompactionMode::Model,
        turn: Mode::Cold,
        at: None,
    })
}

fn append(next: u64, what: u32) -> Op {
    let said = json!([{ "type": "text", "text": format!("said in row {next}") }]);
    let event = match what {
        0 => json!({ "type": "message", "role": "user", "blocks": said }),
        1 => json!({ "type": "message", "role": "assistant", "blocks": said }),
        _ => json!({ "type": "message", "role": "assistant", "blocks": [
            { "type": "call", "id": format!("c{next}"), "name": "dig", "arguments": "{}" }] }),
    };
    let row = json!({ "seq": next, "id": format!("r{next}"), "event": event });
    let mut rows = vec![keep(&row.to_string()).unwrap()];
    if what == 2 {
        let result = json!({ "type": "result", "call": format!("c{next}"), "content": [] });
        let row = json!({ "seq": next + 1, "id": format!("r{}", next + 1), "event": result });
        rows.push(keep(&row.to_string()).unwrap());
    }
    Op::Append { expect: next, rows }
}

/// The seq that comes next; 0 where the op was refused.
fn loaded(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Loaded { next, .. } | Outcome::Appended { next } => next,
        Outcome::Changed(changed) => changed.next,
        Outcome::Refused(_) => 0,
        other => panic!("{other:?}"),
    }
}

fn ask(reference: &mut Reference, op: &Op) -> Value {
    let outcome = reference.perform(op).unwrap();
    serde_json::from_str(&to_line(&outcome).unwrap()).unwrap()
}

fn rows(reference: &mut Reference) -> Vec<Value> {
    let outcome = reference.perform(&Op::Read { from: None, limit: None }).unwrap();
    let Outcome::Rows { rows } = outcome else { panic!("{outcome:?}") };
    rows.iter().map(|row: &Json| serde_json::from_str(row.get()).unwrap()).collect()
}

fn ids(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| text(&item[field])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_string()
}
