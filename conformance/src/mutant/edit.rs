//! What mutants have in common: a question or an answer of the reference, changed on
//! its way, and a projection of a record that was changed before.
//!
//! What holds nothing to change goes on as it is; so does what no JSON library can
//! hold, like half a surrogate pair.

use std::collections::BTreeSet;

use onrecord_reference::Reference;
use onrecord_spec::json::{Json, keep, to_line};
use onrecord_spec::op::{Fault, Implementation, Op, Outcome, RefusalCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Perform;

/// A mutant that asks something else than it was asked. `change` gets what stands
/// inside the op's name.
pub(super) fn question(ops: &'static [&'static str], change: fn(&mut Value)) -> Perform {
    Box::new(move |reference, op| {
        let mut op = op.clone();
        if ops.contains(&op.name()) {
            changed(&mut op, change);
        }
        reference.perform(&op)
    })
}

/// A mutant that changes what comes back from these ops. `change` gets what stands
/// inside the outcome's name.
pub(super) fn answer(ops: &'static [&'static str], change: fn(&mut Value)) -> Perform {
    Box::new(move |reference, op| {
        let mut outcome = reference.perform(op)?;
        if ops.contains(&op.name()) {
            changed(&mut outcome, change);
        }
        Ok(outcome)
    })
}

/// A mutant that changes the messages of each replay.
pub(super) fn messages(change: fn(&mut Vec<Value>)) -> Perform {
    Box::new(move |reference, op| {
        let mut outcome = reference.perform(op)?;
        in_messages(&mut outcome, change);
        Ok(outcome)
    })
}

/// A mutant that makes these projections of a record with other rows than it holds.
pub(super) fn projection(ops: &'static [&'static str], change: fn(&mut Vec<Value>)) -> Perform {
    Box::new(move |reference, op| {
        if ops.contains(&op.name())
            && let Some(mut other) = with_rows(reference, change)?
        {
            return other.perform(op);
        }
        reference.perform(op)
    })
}

/// A mutant that stores rows otherwise than they came. `change` gets each row.
pub(super) fn storing(change: fn(&mut Value)) -> Perform {
    Box::new(move |reference, op| {
        let mut op = op.clone();
        if let Op::Load { rows, .. } | Op::Append { rows, .. } = &mut op {
            rows.iter_mut().for_each(|row| edit(row, change));
        }
        reference.perform(&op)
    })
}

/// A mutant that does another thing where the reference refuses for this reason.
pub(super) fn instead(
    code: RefusalCode,
    then: fn(&mut Reference, &Op) -> Result<Outcome, Fault>,
) -> Perform {
    Box::new(move |reference, op| {
        let outcome = reference.perform(op)?;
        if let Outcome::Refused(refusal) = &outcome
            && refusal.code == code
        {
            return then(reference, op);
        }
        Ok(outcome)
    })
}

/// Changes the messages of a replay.
pub(super) fn in_messages(outcome: &mut Outcome, change: impl FnOnce(&mut Vec<Value>)) {
    if let Outcome::Replayed(replayed) = outcome {
        edit(&mut replayed.payload, |payload| {
            if let Some(Value::Array(messages)) = payload.get_mut("messages") {
                change(messages);
            }
        });
    }
}

/// Changes an op or an outcome by its JSON, inside its name.
pub(super) fn changed<T: Serialize + DeserializeOwned>(
    thing: &mut T,
    change: impl FnOnce(&mut Value),
) {
    let Ok(text) = to_line(thing) else { return };
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return };
    if let Some(inside) = value.as_object_mut().and_then(|object| object.values_mut().next()) {
        change(inside);
    }
    if let Ok(changed) = serde_json::from_str(&value.to_string()) {
        *thing = changed;
    }
}

/// Changes a JSON text by its value.
pub(super) fn edit(json: &mut Json, change: impl FnOnce(&mut Value)) {
    let Ok(mut value) = serde_json::from_str::<Value>(json.get()) else { return };
    change(&mut value);
    if let Ok(changed) = keep(&value.to_string()) {
        *json = changed;
    }
}

/// All rows that the reference holds, as they are stored.
pub(super) fn rows(reference: &mut Reference) -> Result<Vec<Json>, Fault> {
    let read = reference.perform(&Op::Read { from: None, limit: None })?;
    Ok(if let Outcome::Rows { rows } = read { rows } else { Vec::new() })
}

/// How many rows it holds, which is the seq of the next.
pub(super) fn next(reference: &mut Reference) -> Result<u64, Fault> {
    Ok(rows(reference)?.len() as u64)
}

/// A record of this header and other rows. None if they make none.
pub(super) fn with_rows(
    reference: &mut Reference,
    change: impl FnOnce(&mut Vec<Value>),
) -> Result<Option<Reference>, Fault> {
    let header = header(reference)?;
    let stored = rows(reference)?;
    let values: Result<Vec<Value>, _> =
        stored.iter().map(|row| serde_json::from_str(row.get())).collect();
    let Ok(mut values) = values else { return Ok(None) };
    change(&mut values);
    let rows = sound(values).iter().filter_map(|row| keep(&row.to_string()).ok()).collect();
    let mut other = Reference::new();
    let loaded = other.perform(&Op::Load { header, rows, beside: false })?;
    Ok(matches!(loaded, Outcome::Loaded { .. }).then_some(other))
}

/// The header of the record, as it stands in the log.
pub(super) fn header(reference: &mut Reference) -> Result<Option<Json>, Fault> {
    let Outcome::Log { bytes } = reference.perform(&Op::Log {})? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes.0);
    Ok(text.lines().next().and_then(|line| keep(line).ok()))
}

/// The rows as a record of them alone: numbered without a gap, and without what hangs
/// from rows that are not there or takes their place.
fn sound(mut rows: Vec<Value>) -> Vec<Value> {
    let ids: BTreeSet<String> =
        rows.iter().filter_map(|row| row["id"].as_str().map(str::to_string)).collect();
    for (seq, row) in rows.iter_mut().enumerate() {
        row["seq"] = json!(seq);
        let gone = |id: &Value| id.as_str().is_none_or(|id| !ids.contains(id));
        let cites_gone =
            row["replaces"]["rows"].as_array().is_some_and(|rows| rows.iter().any(gone));
        let hangs_from_gone = row["parent"].is_string() && gone(&row["parent"]);
        if let Some(fields) = row.as_object_mut() {
            if cites_gone {
                fields.remove("replaces");
            }
            if hangs_from_gone {
                fields.remove("parent");
            }
        }
    }
    rows
}

/// Changes the list of a row's blocks: of its message, or of its result.
pub(super) fn blocks(row: &mut Value, change: impl FnOnce(&mut Vec<Value>)) {
    let event = &mut row["event"];
    let name = if event["blocks"].is_array() { "blocks" } else { "content" };
    if let Some(Value::Array(blocks)) = event.get_mut(name) {
        change(blocks);
    }
}

/// Changes the list that a message on the wire has for its content, if it has one.
pub(super) fn content(message: &mut Value, change: impl FnOnce(&mut Vec<Value>)) {
    if let Some(Value::Array(parts)) = message.get_mut("content") {
        change(parts);
    }
}

/// Whether it has this `type`.
pub(super) fn is(value: &Value, kind: &str) -> bool {
    value["type"] == kind
}

/// Takes a field away.
pub(super) fn without(value: &mut Value, field: &str) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove(field);
    }
}
