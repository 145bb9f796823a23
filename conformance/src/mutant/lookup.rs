//! Mutants of the chapter `lookup`: keys, and what is found by them.

use std::collections::BTreeSet;

use onrecord_reference::Reference;
use onrecord_spec::json::Json;
use onrecord_spec::op::{Changed, Fault, Implementation, Op, Outcome};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::Mutant;
use super::edit::{edit, header, rows, without};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "keys-of-one-process",
        Rule::RecordKeyedAppend,
        "Keys are kept in memory: after a start the same request is stored once more.",
        || {
            let mut started = false;
            Box::new(move |reference, op| {
                started = started || matches!(op, Op::Restart {});
                let outcome = reference.perform(op)?;
                if started && matches!(outcome, Outcome::Known { .. }) {
                    return append_without_keys(reference, op);
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "keys-of-the-context",
        Rule::RecordKeyedAppend,
        "A key is looked for among the rows that stand for the model: once they are compacted, the \
         same request is stored once more.",
        || {
            Box::new(|reference, op| {
                let outcome = reference.perform(op)?;
                if let Outcome::Known { rows, .. } = &outcome
                    && has_left(reference, rows)?
                {
                    return append_without_keys(reference, op);
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "deletes-what-it-compacts",
        Rule::RecordLookupShadowed,
        "Rows that a summary takes are deleted, and what stays is numbered anew.",
        || Box::new(deletes_what_it_compacts),
    )
    .famous(),
    Mutant::new(
        "looks-in-the-context",
        Rule::RecordLookupShadowed,
        "A row that has left the context is not found.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Found { found } = &mut outcome
                    && found.as_ref().is_some_and(|found| found.left.is_some())
                {
                    *found = None;
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "deletes-what-it-sees",
        Rule::RecordDeleteConversation,
        "Deleting a conversation deletes the rows of its context; the others stay, and are \
         recalled in other conversations.",
        deletes_what_it_sees,
    ),
];

/// Whether one of these rows has left the context.
fn has_left(reference: &mut Reference, rows: &[Json]) -> Result<bool, Fault> {
    let Outcome::Context(context) = reference.perform(&Op::Context {})? else { return Ok(false) };
    let left: BTreeSet<String> =
        context.left.iter().map(|left| left.id.to_unicode().into_owned()).collect();
    Ok(rows.iter().any(|row| {
        let row: Value = serde_json::from_str(row.get()).unwrap_or_default();
        row["id"].as_str().is_some_and(|id| left.contains(id))
    }))
}

/// Stores rows once more, under no key and at the end.
fn append_without_keys(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let Op::Append { rows: again, .. } = op else { return reference.perform(op) };
    let expect = rows(reference)?.len() as u64;
    let mut again = again.clone();
    for (at, row) in again.iter_mut().enumerate() {
        edit(row, |row| {
            let seq = expect + at as u64;
            row["seq"] = json!(seq);
            row["id"] = json!(format!("again-{seq}"));
            without(row, "request");
            without(row, "report");
        });
    }
    reference.perform(&Op::Append { expect, rows: again })
}

fn deletes_what_it_compacts(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    let (Outcome::Appended { next } | Outcome::Changed(Changed { next, .. })) = &mut outcome else {
        return Ok(outcome);
    };
    let Outcome::Context(context) = reference.perform(&Op::Context {})? else { return Ok(outcome) };
    let left: BTreeSet<String> =
        context.left.iter().map(|left| left.id.to_unicode().into_owned()).collect();
    if left.is_empty() {
        return Ok(outcome);
    }
    let header = header(reference)?;
    let mut stay = rows(reference)?;
    stay.retain(|row| {
        let row: Value = serde_json::from_str(row.get()).unwrap_or_default();
        row["id"].as_str().is_none_or(|id| !left.contains(id))
    });
    for (seq, row) in stay.iter_mut().enumerate() {
        edit(row, |row| {
            row["seq"] = json!(seq);
            // What it replaced is gone, and so is what it hung from.
            without(row, "replaces");
            without(row, "parent");
        });
    }
    if let Outcome::Loaded { next: now, .. } =
        reference.perform(&Op::Load { header, rows: stay, beside: false })?
    {
        *next = now;
    }
    Ok(outcome)
}

fn deletes_what_it_sees() -> super::Perform {
    // What a deletion left behind is still recalled.
    let mut behind: Vec<onrecord_spec::found::Hit> = Vec::new();
    Box::new(move |reference, op| {
        if let Op::Delete { .. } = op
            && let Outcome::Recalled { hits } = reference.perform(&Op::Recall { query: None })?
        {
            behind = hits;
        }
        let mut outcome = reference.perform(op)?;
        if let Outcome::Recalled { hits } = &mut outcome {
            for hit in &behind {
                if !hits.iter().any(|held| held.row == hit.row) {
                    hits.push(hit.clone());
                }
            }
        }
        Ok(outcome)
    })
}
