//! Mutants of the chapter `page`.

use std::collections::BTreeSet;

use onrecord_reference::Reference;
use onrecord_spec::op::{Fault, Implementation, Op, Outcome, RefusalCode};
use onrecord_spec::page::WindowAt;
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::Mutant;
use super::edit::{answer, changed, instead, is, question, rows};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "pages-of-the-context",
        Rule::PageContiguous,
        "A page holds only rows that still stand for the model.",
        || Box::new(pages_of_the_context),
    ),
    Mutant::new(
        "counts-copies",
        Rule::PageCountsAppendOrigin,
        "A copy that took another row's place counts as a message of its own.",
        || Box::new(counts_copies),
    )
    .famous(),
    Mutant::new(
        "parts-provenance",
        Rule::PageProvenanceTogether,
        "A page may begin between a summary and the rows that say what it covers.",
        || answer(&["page"], |page| drop_first_while(page, is_compaction_step)),
    ),
    Mutant::new(
        "begins-in-a-stream",
        Rule::PageNeverMidMessage,
        "A page may begin among the pieces of a message.",
        || {
            answer(&["page"], |page| {
                let streamed = page["rows"].as_array().into_iter().flatten().any(is_delta);
                if streamed {
                    drop_first_while(page, |row| !is_delta(row));
                    drop_first(page);
                }
            })
        },
    ),
    Mutant::new(
        "skips-a-row-between-pages",
        Rule::PageCoversOnce,
        "The row at the boundary of two pages is in neither.",
        || {
            answer(&["page"], |page| {
                let many = page["rows"].as_array().is_some_and(|rows| rows.len() > 1);
                if many && page["older"] == true {
                    drop_first(page);
                }
            })
        },
    ),
    Mutant::new(
        "unbounded-windows",
        Rule::PageLimits,
        "A window is as large as was asked for.",
        || Box::new(unbounded_windows),
    ),
    Mutant::new(
        "windows-before-hold-the-row",
        Rule::PageWindows,
        "A window before a row holds the row too.",
        || Box::new(windows_hold_the_row),
    ),
    Mutant::new(
        "summaries-in-windows",
        Rule::PageNoSummaries,
        "A window holds summaries and other copies.",
        || Box::new(copies_in_windows),
    ),
    Mutant::new(
        "newest-first",
        Rule::PageDisplayOrder,
        "The rows of a window come newest first.",
        || {
            answer(&["window"], |window| {
                if let Some(rows) = window["rows"].as_array_mut() {
                    rows.reverse();
                }
            })
        },
    ),
    Mutant::new(
        "any-cursor-will-do",
        Rule::PageCursorStrict,
        "A cursor that is none is taken for the newest page.",
        || {
            instead(RefusalCode::BadCursor, |reference, op| {
                if let Op::Page { limit, .. } = op {
                    return reference.perform(&Op::Page { limit: *limit, before: None });
                }
                reference.perform(op)
            })
        },
    ),
    Mutant::new(
        "any-limit-will-do",
        Rule::PageCursorStrict,
        "A limit below one is taken for one.",
        || {
            question(&["page", "window"], |asked| {
                if asked["limit"].as_i64().is_some_and(|limit| limit < 1) {
                    asked["limit"] = json!(1);
                }
            })
        },
    ),
    Mutant::new(
        "says-it-is-all",
        Rule::PageSaysMore,
        "A page never says that there is more before it.",
        || answer(&["page"], |page| page["older"] = json!(false)),
    ),
    Mutant::new(
        "the-whole-record-a-page",
        Rule::PageCost,
        "Every page is read from the beginning of the record.",
        || question(&["page"], |asked| asked["limit"] = json!(i64::MAX)),
    ),
];

fn is_compaction_step(row: &Value) -> bool {
    is(&row["event"], "compaction")
}

fn is_delta(row: &Value) -> bool {
    is(&row["event"], "delta")
}

fn drop_first(page: &mut Value) {
    if let Some(rows) = page["rows"].as_array_mut()
        && !rows.is_empty()
    {
        rows.remove(0);
    }
}

fn drop_first_while(page: &mut Value, goes: impl Fn(&Value) -> bool) {
    if let Some(rows) = page["rows"].as_array_mut() {
        let from = rows.iter().position(|row| !goes(row)).unwrap_or_default();
        rows.drain(..from);
    }
}

fn pages_of_the_context(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Outcome::Page(_) = &outcome
        && let Outcome::Context(context) = reference.perform(&Op::Context {})?
    {
        let left: BTreeSet<String> =
            context.left.iter().map(|left| left.id.to_unicode().into_owned()).collect();
        changed(&mut outcome, |page| {
            if let Some(rows) = page["rows"].as_array_mut() {
                rows.retain(|row| row["id"].as_str().is_none_or(|id| !left.contains(id)));
            }
        });
    }
    Ok(outcome)
}

/// A message of any origin.
fn is_message(row: &Value) -> bool {
    is(&row["event"], "message")
}

fn counts_copies(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Op::Page { limit, .. } = op {
        changed(&mut outcome, |page| {
            let Some(rows) = page["rows"].as_array_mut() else { return };
            let messages =
                |rows: &[Value]| rows.iter().filter(|row| is_message(row)).count() as i64;
            while messages(rows) > *limit {
                rows.remove(0);
            }
        });
    }
    Ok(outcome)
}

/// All rows for people, before any bound.
fn displayed(reference: &mut Reference) -> Result<Vec<Value>, Fault> {
    let all = rows(reference)?;
    let values = all.iter().filter_map(|row| serde_json::from_str::<Value>(row.get()).ok());
    Ok(values
        .filter(|row| row["audience"] != "model" && row["replaces"].is_null())
        .filter(|row| ["message", "result"].iter().any(|kind| is(&row["event"], kind)))
        .collect())
}

fn unbounded_windows(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Op::Window { limit: None, at: WindowAt::Newest } = op {
        let all = displayed(reference)?;
        changed(&mut outcome, |window| {
            if window["older"] == true {
                window["rows"] = Value::Array(all);
                window["older"] = json!(false);
            }
        });
    }
    Ok(outcome)
}

fn windows_hold_the_row(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Op::Window { at: WindowAt::Before(id), .. } = op {
        let all = displayed(reference)?;
        changed(&mut outcome, |window| {
            let row = all.into_iter().find(|row| row["id"] == *id.to_unicode());
            if let (Some(rows), Some(row)) = (window["rows"].as_array_mut(), row) {
                rows.push(row);
            }
        });
    }
    Ok(outcome)
}

fn copies_in_windows(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let Outcome::Window(_) = &outcome {
        let all = rows(reference)?;
        let copies = all.iter().filter_map(|row| serde_json::from_str::<Value>(row.get()).ok());
        let copies: Vec<Value> = copies.filter(|row| row["replaces"].is_object()).collect();
        changed(&mut outcome, |window| {
            if let Some(rows) = window["rows"].as_array_mut() {
                rows.extend(copies);
            }
        });
    }
    Ok(outcome)
}
