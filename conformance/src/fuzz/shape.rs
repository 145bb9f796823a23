//! What a case is made of, without its words.

use onrecord_spec::json::Json;
use onrecord_spec::op::{Migrate, Op};
use serde_json::Value;

use crate::fixture::Case;

/// The steps by the names of their ops, with the target of a replay; the rows by kind,
/// role, what they replace, and the kinds of their blocks.
pub(super) fn of(case: &Case) -> String {
    let steps: Vec<String> = case.steps.iter().map(|step| of_op(&step.op)).collect();
    steps.join(" ")
}

fn of_op(op: &Op) -> String {
    let rows: Vec<String> = rows_of(op).map(of_row).collect();
    match op.replay() {
        Some(replay) => format!("{}:{}", op.name(), replay.target.name()),
        None if rows.is_empty() => op.name().to_string(),
        None => format!("{}({})", op.name(), rows.join(",")),
    }
}

/// The rows that an op stores.
fn rows_of(op: &Op) -> Box<dyn Iterator<Item = &Json> + '_> {
    if let Op::Load { rows, .. } | Op::Append { rows, .. } = op {
        Box::new(rows.iter())
    } else if let Op::Migrate(Migrate { older: Some(older), .. }) = op {
        Box::new(older.rows.iter().chain(&older.side))
    } else {
        Box::new(std::iter::empty())
    }
}

fn of_row(row: &Json) -> String {
    let row: Value = serde_json::from_str(row.get()).unwrap_or_default();
    let event = &row["event"];
    let mut words: Vec<&str> = Vec::new();
    words.extend(event["type"].as_str());
    words.extend(event["role"].as_str());
    words.extend(row["replaces"]["source"].as_str());
    let blocks = event["blocks"].as_array().or_else(|| event["content"].as_array());
    words.extend(blocks.into_iter().flatten().filter_map(|block| block["type"].as_str()));
    words.join("-")
}

/// How many rows a case stores.
pub(super) fn rows(case: &Case) -> usize {
    case.steps.iter().map(|step| rows_of(&step.op).count()).sum()
}
