//! What mutants have in common: an outcome of the reference, changed on its way out.
//!
//! An outcome that holds nothing to change is handed over as it is; so is text that
//! no JSON library can hold, like half a surrogate pair.

use onrecord_reference::Reference;
use onrecord_spec::json::{Json, keep};
use onrecord_spec::op::{Fault, Implementation, Op, Outcome};
use serde_json::Value;

use super::Perform;

/// A mutant that asks the reference and changes what comes back.
pub(super) fn outcome(change: fn(&Op, &mut Outcome)) -> Perform {
    Box::new(move |reference, op| {
        let mut outcome = reference.perform(op)?;
        change(op, &mut outcome);
        Ok(outcome)
    })
}

/// A mutant that changes the messages of each replay.
pub(super) fn messages(change: fn(&mut Vec<Value>)) -> Perform {
    Box::new(move |reference, op| {
        let mut outcome = reference.perform(op)?;
        if let Outcome::Replayed(replayed) = &mut outcome {
            edit(&mut replayed.payload, |payload| {
                if let Some(Value::Array(messages)) = payload.get_mut("messages") {
                    change(messages);
                }
            });
        }
        Ok(outcome)
    })
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
