//! Rows without care: any JSON where a row should be, rows with a field too many, too
//! few or of another type. Beside the records that hold together, they show what a
//! program does with what it must refuse.

use onrecord_spec::json::{Json, keep};
use serde_json::{Value, json};

use super::{Choices, hostile};

/// Rows of which each may be anything. The same choices give the same rows.
pub fn raw_rows_of(choices: &mut Choices) -> Vec<Json> {
    let mut rows = Vec::new();
    for seq in 0..choices.between(0..=6) {
        let value = if choices.bool() { anything(choices, 3) } else { odd_row(choices, seq) };
        rows.extend(keep(&value.to_string()));
    }
    rows
}

/// A row that was sound before something was done to it. Sound still, where that did
/// nothing.
pub fn odd_rows_of(choices: &mut Choices) -> Vec<Json> {
    let mut rows = hostile(choices).rows;
    for _ in 0..choices.between(1..=3) {
        if rows.is_empty() {
            break;
        }
        let at = choices.below(rows.len());
        match choices.below(5) {
            0 => drop(rows.remove(at)),
            1 => rows.insert(at, rows[at].clone()),
            2 => {
                let other = choices.below(rows.len());
                rows.swap(at, other);
            }
            _ => {
                if let Ok(mut row) = serde_json::from_str::<Value>(rows[at].get()) {
                    twist(choices, &mut row);
                    rows[at] = keep(&row.to_string()).unwrap_or_else(|_| rows[at].clone());
                }
            }
        }
    }
    rows
}

fn odd_row(choices: &mut Choices, seq: usize) -> Value {
    let blocks = [json!([{ "type": "text", "text": "hello" }]), anything(choices, 2)];
    let blocks = blocks[choices.below(2)].clone();
    let mut row = json!({
        "seq": seq, "id": format!("row-{seq}"),
        "event": { "type": "message", "role": "user", "blocks": blocks },
    });
    twist(choices, &mut row);
    row
}

/// Puts anything into the place of some part of a value, or takes the part away.
fn twist(choices: &mut Choices, value: &mut Value) {
    let deeper = choices.below(3) != 0;
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let Some(name) = choices.of(&names) else { return };
            if choices.one_in(6) {
                fields.remove(name);
            } else if let Some(part) = fields.get_mut(name) {
                twist(choices, part);
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = choices.below(items.len());
            twist(choices, &mut items[at]);
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => *value = anything(choices, 2),
    }
}

/// Any JSON, nested so deep at most.
fn anything(choices: &mut Choices, depth: usize) -> Value {
    match choices.below(if depth == 0 { 8 } else { 10 }) {
        0 => json!(null),
        1 => json!(true),
        2 => json!(-1),
        3 => json!(18_446_744_073_709_551_615_u64),
        4 => json!(1e300),
        5 => json!(0.5),
        6 => json!("\u{0}\u{1b}[31m\u{202e}"),
        8 => (0..choices.between(0..=3)).map(|_| anything(choices, depth - 1)).collect(),
        9 => {
            let names = ["type", "id", "seq", "rows", "text", "event", "replaces", "blocks"];
            let mut fields = serde_json::Map::new();
            for _ in 0..choices.between(0..=3) {
                let name = choices.of(&names).copied().unwrap_or_default();
                fields.insert(name.to_string(), anything(choices, depth - 1));
            }
            Value::Object(fields)
        }
        _ => json!(["message", "result", "call", "row-0", ""][choices.below(5)]),
    }
}
