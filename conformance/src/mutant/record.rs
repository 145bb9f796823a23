//! Mutants of the chapter `record`.

use std::collections::BTreeSet;

use onrecord_reference::Reference;
use onrecord_spec::json::keep;
use onrecord_spec::op::{Changed, Fault, Implementation, Op, Outcome, RefusalCode};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::Mutant;
use super::edit::{
    answer, blocks, edit, in_messages, instead, is, next, projection, question, storing, without,
};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "rewrites-its-log",
        Rule::RecordAppendOnly,
        "The log is written anew without the rows that have left the context.",
        || Box::new(rewrites_its_log),
    ),
    Mutant::new(
        "answers-change",
        Rule::RecordOneHistory,
        "Each second time that a replay is asked for, it lacks its first message.",
        || {
            let mut asked = 0;
            Box::new(move |reference, op| {
                let mut outcome = reference.perform(op)?;
                asked += usize::from(op.name() == "replay");
                if asked % 2 == 0 {
                    in_messages(&mut outcome, |sent| drop(sent.drain(..sent.len().min(1))));
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "numbers-anew",
        Rule::RecordSeqGapFree,
        "Rows are numbered as they come, whatever they say of themselves.",
        || Box::new(numbers_anew),
    ),
    Mutant::new(
        "last-writer-wins",
        Rule::RecordExpectedSeq,
        "An append is taken at the end, whatever its writer expected.",
        || instead(RefusalCode::Conflict, append_at_the_end),
    ),
    Mutant::new(
        "one-kind-of-text",
        Rule::RecordBlocksTyped,
        "Reasoning is stored as text.",
        || {
            storing(|row| {
                blocks(row, |blocks| {
                    for block in blocks.iter_mut().filter(|block| is(block, "reasoning")) {
                        *block = json!({ "type": "text", "text": block["text"] });
                    }
                });
            })
        },
    ),
    Mutant::new(
        "arguments-as-values",
        Rule::RecordVerbatim,
        "Arguments are stored as the value that they stand for, and written anew.",
        || {
            storing(|row| {
                blocks(row, |blocks| {
                    for block in blocks.iter_mut().filter(|block| is(block, "call")) {
                        let text = block["arguments"].as_str().unwrap_or_default();
                        if let Ok(value) = serde_json::from_str::<Value>(text) {
                            block["arguments"] = json!(value.to_string());
                        }
                    }
                });
            })
        },
    ),
    Mutant::new(
        "knows-no-call-starts",
        Rule::RecordKindsExhaustive,
        "Rows of a kind that was added later are not read back.",
        || {
            answer(&["read"], |read| {
                if let Some(rows) = read["rows"].as_array_mut() {
                    rows.retain(|row| !is(&row["event"], "call-started"));
                }
            })
        },
    ),
    Mutant::new(
        "ignores-what-it-does-not-know",
        Rule::RecordUnknownRow,
        "A row of an unknown kind is passed over, though it does not say that it may be.",
        || storing(|row| row["ignorable"] = json!(true)),
    ),
    Mutant::new(
        "reads-newer-versions",
        Rule::RecordVersion,
        "A log of a newer version is read as if it were of this one.",
        || {
            question(&["load"], |load| {
                if load["header"]["onrecord"].is_number() {
                    load["header"]["onrecord"] = json!(1);
                }
            })
        },
    ),
    Mutant::new(
        "silent-about-damage",
        Rule::RecordTornTail,
        "That a log is damaged is not said.",
        || answer(&["open"], |loaded| loaded["damage"] = json!([])),
    ),
    Mutant::new(
        "repairs-at-start",
        Rule::RecordLoadReadOnly,
        "A start of the process appends a row that says so.",
        || Box::new(repairs_at_start),
    ),
    Mutant::new(
        "forgets-what-was-broken-off",
        Rule::RecordInterruptedKept,
        "What was said before a round was cancelled is left out like a failed attempt.",
        || {
            projection(&["replay", "request"], |rows| {
                for row in rows.iter_mut().filter(|row| row["event"]["status"] == "interrupted") {
                    row["event"]["status"] = json!("failed");
                }
            })
        },
    ),
    Mutant::new(
        "starts-are-notes",
        Rule::RecordCallStarted,
        "That a tool really started is stored as a note that nothing reads.",
        || {
            storing(|row| {
                if is(&row["event"], "call-started") {
                    row["event"]["type"] = json!("note");
                    row["ignorable"] = json!(true);
                }
            })
        },
    ),
    Mutant::new(
        "hangs-anywhere",
        Rule::RecordExpectedShape,
        "A row that hangs from a row that is not there is taken as one that hangs from none.",
        || {
            instead(RefusalCode::UnknownParent, |reference, op| {
                let mut op = op.clone();
                if let Op::Load { rows, .. } | Op::Append { rows, .. } = &mut op {
                    rows.iter_mut().for_each(|row| edit(row, |row| without(row, "parent")));
                }
                reference.perform(&op)
            })
        },
    ),
];

fn rewrites_its_log(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Outcome::Log { bytes } = &mut outcome
        && let Outcome::Context(context) = reference.perform(&Op::Context {})?
    {
        let left: BTreeSet<String> =
            context.left.iter().map(|left| left.id.to_unicode().into_owned()).collect();
        let text = String::from_utf8_lossy(&bytes.0).into_owned();
        let stays = |line: &&str| {
            let row: Value = serde_json::from_str(line).unwrap_or_default();
            row["id"].as_str().is_none_or(|id| !left.contains(id))
        };
        let lines: Vec<&str> = text.lines().filter(stays).collect();
        if !left.is_empty() {
            bytes.0 = format!("{}\n", lines.join("\n")).into_bytes();
        }
    }
    Ok(outcome)
}

fn numbers_anew(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut op = op.clone();
    let first = if let Op::Append { expect, .. } = &op { *expect } else { 0 };
    if let Op::Load { rows, .. } | Op::Append { rows, .. } = &mut op {
        for (at, row) in rows.iter_mut().enumerate() {
            let seq = first + at as u64;
            edit(row, |row| {
                if row["seq"].is_number() {
                    row["seq"] = json!(seq);
                }
            });
        }
    }
    reference.perform(&op)
}

fn append_at_the_end(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let Op::Append { rows, .. } = op else { return reference.perform(op) };
    let end = next(reference)?;
    let mut rows = rows.clone();
    for (at, row) in rows.iter_mut().enumerate() {
        edit(row, |row| row["seq"] = json!(end + at as u64));
    }
    reference.perform(&Op::Append { expect: end, rows })
}

fn repairs_at_start(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let (Op::Restart {} | Op::Open { .. }, Outcome::Loaded { next, .. }) = (op, &mut outcome) {
        let row = json!({
            "seq": *next, "id": format!("start-{next}"),
            "event": { "type": "turn", "edge": "interrupted" },
        });
        let rows = keep(&row.to_string()).into_iter().collect();
        let appended = reference.perform(&Op::Append { expect: *next, rows })?;
        if let Outcome::Appended { next: now } | Outcome::Changed(Changed { next: now, .. }) =
            appended
        {
            *next = now;
        }
    }
    Ok(outcome)
}
