//! Mutants of the chapter `archive`.

use onrecord_reference::Reference;
use onrecord_spec::op::{Bytes, Fault, Implementation, Op, Outcome};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::Mutant;
use super::edit::{answer, changed, rows};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "writes-parts-anew",
        Rule::ArchiveParts,
        "A part that was sealed is written anew, with the rows in another order.",
        || {
            let mut looks = 0;
            Box::new(move |reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Parts(parts) = &mut outcome {
                    looks += 1;
                    for part in parts.parts.iter_mut().take(looks - 1) {
                        let text = String::from_utf8_lossy(&part.bytes.0).into_owned();
                        let mut lines: Vec<&str> = text.lines().collect();
                        lines.reverse();
                        part.bytes = Bytes(format!("{}\n", lines.join("\n")).into_bytes());
                    }
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "knows-ids-alone",
        Rule::ArchiveManifest,
        "The manifest knows no versions: a row that changed its flag is not written again.",
        || {
            answer(&["parts"], |parts| {
                if let Some(held) = parts["manifest"]["held"].as_array_mut() {
                    held.pop();
                }
            })
        },
    ),
    Mutant::new(
        "archives-the-context",
        Rule::ArchiveComplete,
        "Rows that have left the context are not archived.",
        || Box::new(archives_the_context),
    ),
    Mutant::new(
        "archives-it-all-each-time",
        Rule::ArchiveLinear,
        "Each write reads the conversation from its beginning and writes all of it.",
        || Box::new(archives_it_all),
    ),
    Mutant::new(
        "trusts-a-half-part",
        Rule::ArchiveCrashSafe,
        "What a write left behind that died is counted as written.",
        || {
            let mut died = false;
            Box::new(move |reference, op| {
                died = died || matches!(op, Op::Archive { crash: Some(_) });
                if died && matches!(op, Op::Archive { crash: None }) {
                    // The next write finds nothing to do.
                    let mut outcome = reference.perform(&Op::Stamp {})?;
                    let read: Value =
                        json!({ "archived": { "bytes": 0, "read": { "from": 0, "upto": 0 } } });
                    if let Ok(nothing) = serde_json::from_str(&read.to_string()) {
                        outcome = nothing;
                    }
                    return Ok(outcome);
                }
                reference.perform(op)
            })
        },
    ),
];

fn archives_the_context(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Outcome::Parts(_) = &outcome
        && let Outcome::Context(context) = reference.perform(&Op::Context {})?
    {
        let left: Vec<String> =
            context.left.iter().map(|left| json!(left.id.to_unicode()).to_string()).collect();
        changed(&mut outcome, |parts| {
            for part in parts["parts"].as_array_mut().into_iter().flatten() {
                let text = part["bytes"].as_str().unwrap_or_default();
                let stays =
                    |line: &&str| !left.iter().any(|id| line.contains(&format!("\"id\":{id}")));
                let lines: Vec<&str> = text.lines().filter(stays).collect();
                part["bytes"] = json!(lines.join("\n"));
            }
        });
    }
    Ok(outcome)
}

fn archives_it_all(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Outcome::Archived(archived) = &mut outcome {
        archived.read.from = 0;
        archived.bytes = rows(reference)?.iter().map(|row| row.get().len() as u64).sum();
    }
    Ok(outcome)
}
