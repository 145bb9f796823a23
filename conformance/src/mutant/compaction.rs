//! Mutants of the chapter `compaction`.

use std::collections::{BTreeMap, BTreeSet};

use onrecord_reference::Reference;
use onrecord_spec::op::{
    Changed, Compact, Cut, Ending, Fault, Implementation, Op, Outcome, RefusalCode,
};
use onrecord_spec::record::{Event, Row};
use onrecord_spec::rule::Rule;
use onrecord_spec::text::Text;
use serde_json::{Value, json};

use super::edit::{
    answer, blocks, edit, in_messages, instead, is, next, projection, question, rows, without,
};
use super::{Mutant, Perform};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "no-flags",
        Rule::CompactionFlagsRows,
        "A row does not say that it was compacted, nor by what.",
        || answer(&["context"], |context| context["left"] = json!([])),
    ),
    Mutant::new(
        "flags-again",
        Rule::CompactionFlagOnce,
        "A later compaction that takes a summary flags the rows anew that the summary stood for.",
        || answer(&["context"], flag_again),
    ),
    Mutant::new(
        "takes-uncited-ranges",
        Rule::CompactionReplacesRange,
        "A replacement that does not cite every row of its range is stored as a row like others.",
        || instead(RefusalCode::Uncited, append_without_range),
    ),
    Mutant::new(
        "summary-at-the-end",
        Rule::CompactionSummaryBeforeKept,
        "A summary stands where it was appended, behind what was kept.",
        || answer(&["context"], summaries_last),
    ),
    Mutant::new(
        "hangs-from-the-archived",
        Rule::CompactionReparentsKept,
        "A row that was kept goes on hanging from a row that left.",
        || answer(&["context"], hang_from_archived),
    ),
    Mutant::new(
        "no-anchors",
        Rule::CompactionScreenAnchor,
        "Which row a summary follows on screen is not known.",
        || answer(&["context"], |context| context["summaries"] = json!([])),
    ),
    Mutant::new(
        "cuts-anywhere",
        Rule::CompactionBalancedCut,
        "A range that parts a call from its result is taken.",
        || instead(RefusalCode::Unbalanced, let_go_of_the_range),
    ),
    Mutant::new(
        "errors-as-summaries",
        Rule::CompactionBracket,
        "What a compaction failed with is put in as its summary.",
        || {
            question(&["compact"], |compact| {
                let reason = compact["end"]["failed"]["reason"].clone();
                if reason.is_string() {
                    compact["end"] = json!({ "summary": { "text": reason } });
                }
                if compact["end"]["summary"].is_object() {
                    compact["end"]["summary"]["error"] = json!(false);
                }
            })
        },
    )
    .famous(),
    Mutant::new(
        "the-second-one-wins",
        Rule::CompactionOneAtATime,
        "A compaction that begins while another is open throws that one out.",
        the_second_one_wins,
    ),
    Mutant::new(
        "forgets-what-came-meanwhile",
        Rule::CompactionConcurrentAppend,
        "Rows that came while a compaction ran are gone when it lands.",
        forgets_what_came_meanwhile,
    ),
    Mutant::new(
        "lands-on-what-changed",
        Rule::CompactionConcurrentAppend,
        "A compaction lands though the rows of its range have changed meanwhile.",
        || {
            instead(RefusalCode::Changed, |reference, _| {
                let next = next(reference)?;
                Ok(Outcome::Changed(Changed { next, rows: Vec::new(), taken: Vec::new() }))
            })
        },
    ),
    Mutant::new(
        "knows-summaries-by-their-looks",
        Rule::CompactionDeclaredCheckpoint,
        "A message that takes the place of others is a summary, whatever it says of itself.",
        || {
            projection(&["context", "transcript", "follow", "replay"], |rows| {
                for row in rows.iter_mut() {
                    if row["replaces"]["source"].is_string() && is(&row["event"], "message") {
                        row["replaces"]["source"] = json!("compaction");
                    }
                }
            })
        },
    )
    .famous(),
    Mutant::new(
        "summaries-pile-up",
        Rule::CompactionSummaryOfSummary,
        "A summary that another one took stays in the context beside it.",
        || answer(&["context"], pile_up),
    ),
    Mutant::new(
        "a-marker-without-rows",
        Rule::CompactionLogMarker,
        "What a landing appends does not say which rows it took.",
        || {
            answer(&["compact", "read"], |outcome| {
                for row in outcome["rows"].as_array_mut().into_iter().flatten() {
                    if row["event"]["step"] == "ended" {
                        without(&mut row["event"], "rows");
                    }
                }
            })
        },
    ),
    Mutant::new(
        "upgrades-on-screen-alone",
        Rule::CompactionUpgrade,
        "A better summary is stored, and the model goes on with the old one.",
        || {
            projection(&["replay", "request"], |rows| {
                rows.retain(|row| row["event"]["step"] != "upgraded");
            })
        },
    ),
    Mutant::new(
        "clears-on-the-wire",
        Rule::CompactionRecordFirst,
        "Results are cleared in what is sent, as long as the process lives; no row says so.",
        clears_on_the_wire,
    ),
    Mutant::new(
        "clears-the-calls-too",
        Rule::CompactionClearingKeepsCalls,
        "With a result its call is cleared.",
        || projection(&["replay", "request"], clear_the_calls),
    ),
    Mutant::new(
        "clears-two-at-once",
        Rule::CompactionClearingOneResult,
        "One notice takes the place of more than one result.",
        || {
            instead(RefusalCode::NotOneResult, |reference, op| {
                let mut op = op.clone();
                if let Op::Append { rows, .. } = &mut op {
                    rows.iter_mut().for_each(|row| {
                        edit(row, |row| {
                            if row["replaces"].is_object() {
                                row["replaces"]["source"] = json!("other");
                            }
                        });
                    });
                }
                reference.perform(&op)
            })
        },
    ),
    Mutant::new(
        "summarises-a-text",
        Rule::CompactionInputTyped,
        "What is summarised is one text: a thought in it is a sentence like any other.",
        || {
            answer(&["input"], |input| {
                for row in input["rows"].as_array_mut().into_iter().flatten() {
                    blocks(row, |blocks| {
                        for block in blocks.iter_mut().filter(|block| is(block, "reasoning")) {
                            *block = json!({ "type": "text", "text": block["text"] });
                        }
                    });
                }
            })
        },
    ),
    Mutant::new(
        "takes-the-live-round",
        Rule::CompactionLiveRoundKept,
        "A question that nobody has answered may be compacted.",
        || instead(RefusalCode::LiveRound, let_go_of_the_range),
    ),
    Mutant::new(
        "waits-for-the-dead",
        Rule::CompactionDeadCall,
        "A call without a result bars every compaction, long after its turn is over.",
        || question(&["compact"], |compact| compact["turn"] = json!("running")),
    ),
    Mutant::new(
        "counts-what-is-shown",
        Rule::CompactionTokensFromContext,
        "Tokens are counted of everything that was ever said.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Context(context) = &mut outcome {
                    context.tokens = Some(next(reference)? * 10);
                }
                Ok(outcome)
            })
        },
    ),
];

fn flag_again(context: &mut Value) {
    let left = context["left"].as_array().cloned().unwrap_or_default();
    let flag_of = |id: &Value| left.iter().find(|row| row["id"] == *id);
    for row in context["left"].as_array_mut().into_iter().flatten() {
        if let Some(later) = flag_of(&row["by"]) {
            row["by"] = later["by"].clone();
            row["seq"] = later["seq"].clone();
        }
    }
}

fn append_without_range(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut op = op.clone();
    if let Op::Append { rows, .. } | Op::Load { rows, .. } = &mut op {
        rows.iter_mut().for_each(|row| edit(row, |row| without(row, "replaces")));
    }
    reference.perform(&op)
}

/// The ids of the summaries, and the archived row that each follows.
fn anchors(context: &Value) -> BTreeMap<String, Value> {
    let summaries = context["summaries"].as_array().into_iter().flatten();
    let pairs = summaries
        .filter_map(|it| Some((it["summary"].as_str()?.to_string(), it["follows"].clone())));
    pairs.collect()
}

fn summaries_last(context: &mut Value) {
    let anchors = anchors(context);
    if let Some(rows) = context["rows"].as_array_mut() {
        rows.sort_by_key(|row| row["id"].as_str().is_some_and(|id| anchors.contains_key(id)));
    }
}

fn hang_from_archived(context: &mut Value) {
    let anchors = anchors(context);
    for row in context["rows"].as_array_mut().into_iter().flatten() {
        let archived = row["parent"].as_str().and_then(|parent| anchors.get(parent)).cloned();
        if let Some(archived) = archived {
            row["parent"] = archived;
        }
    }
}

fn pile_up(context: &mut Value) {
    let anchors = anchors(context);
    let taken: Vec<Value> = context["left"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|row| row["id"].as_str().is_some_and(|id| anchors.contains_key(id)))
        .map(|row| json!({ "id": row["id"] }))
        .collect();
    if let Some(rows) = context["rows"].as_array_mut() {
        rows.splice(0..0, taken);
    }
}

/// Says that the range is gone, as a store does that keeps no rows and only lets go of
/// some.
fn let_go_of_the_range(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let Op::Compact(Compact { cut: Some(Cut::Range { first, last }), .. }) = op else {
        return reference.perform(op);
    };
    let mut taken = Vec::new();
    if let Outcome::Context(context) = reference.perform(&Op::Context {})? {
        taken = stretch(context.rows.into_iter().map(|row| row.id), first, last);
    }
    Ok(Outcome::Changed(Changed { next: next(reference)?, rows: Vec::new(), taken }))
}

fn stretch(ids: impl Iterator<Item = Text>, first: &Text, last: &Text) -> Vec<Text> {
    let ids: Vec<Text> = ids.collect();
    let at = |id: &Text| ids.iter().position(|held| held == id);
    match (at(first), at(last)) {
        (Some(first), Some(last)) if first <= last => ids[first..=last].to_vec(),
        _no_stretch => Vec::new(),
    }
}

fn the_second_one_wins() -> Perform {
    let mut open: Option<Text> = None;
    Box::new(move |reference, op| {
        let mut outcome = reference.perform(op)?;
        let Op::Compact(compact) = op else { return Ok(outcome) };
        if let (Outcome::Refused(refusal), Some(first)) = (&outcome, &open)
            && refusal.code == RefusalCode::Busy
        {
            let thrown_out = Compact {
                id: first.clone(),
                cut: None,
                end: Some(Ending::Cancelled {}),
                ..compact.clone()
            };
            reference.perform(&Op::Compact(thrown_out))?;
            outcome = reference.perform(op)?;
        }
        if compact.end.is_none() {
            open = Some(compact.id.clone());
        }
        Ok(outcome)
    })
}

fn forgets_what_came_meanwhile() -> Perform {
    let mut running = false;
    let mut meanwhile: BTreeSet<String> = BTreeSet::new();
    let mut gone: BTreeSet<String> = BTreeSet::new();
    Box::new(move |reference, op| {
        if let Op::Compact(compact) = op {
            if compact.end.is_none() {
                running = true;
            } else if compact.cut.is_none() {
                running = false;
                gone.append(&mut meanwhile);
            }
        }
        if let (Op::Append { rows, .. }, true) = (op, running) {
            let ids = rows.iter().filter_map(|row| {
                let row: Value = serde_json::from_str(row.get()).ok()?;
                row["id"].as_str().map(str::to_string)
            });
            meanwhile.extend(ids);
        }
        let mut outcome = reference.perform(op)?;
        if let Outcome::Context(context) = &mut outcome {
            context.rows.retain(|row| !gone.contains(&*row.id.to_unicode()));
        }
        Ok(outcome)
    })
}

fn clears_on_the_wire() -> Perform {
    let mut cleared = false;
    Box::new(move |reference, op| {
        if let Op::Clear(_) = op {
            cleared = true;
            let rows = rows(reference)?;
            let taken = rows.iter().filter_map(|row| Row::decode(row).ok());
            let taken = taken.filter(|row| matches!(row.event, Event::Result(_))).map(|row| row.id);
            let (next, taken) = (rows.len() as u64, taken.collect());
            return Ok(Outcome::Changed(Changed { next, rows: Vec::new(), taken }));
        }
        let mut outcome = reference.perform(op)?;
        cleared = cleared && !matches!(op, Op::Restart {});
        if cleared {
            in_messages(&mut outcome, |sent| sent.iter_mut().for_each(clear_results));
        }
        Ok(outcome)
    })
}

fn clear_results(message: &mut Value) {
    if message["role"] == "tool" {
        message["content"] = json!("[cleared]");
    }
    super::edit::content(message, |parts| {
        for part in parts.iter_mut().filter(|part| is(part, "tool_result")) {
            part["content"] = json!([{ "type": "text", "text": "[cleared]" }]);
        }
    });
}

fn clear_the_calls(rows: &mut Vec<Value>) {
    let cleared: BTreeSet<String> = rows
        .iter()
        .filter(|row| row["replaces"]["source"] == "clearing")
        .filter_map(|row| row["event"]["call"].as_str().map(str::to_string))
        .collect();
    let is_cleared = |id: &Value| id.as_str().is_some_and(|id| cleared.contains(id));
    rows.retain(|row| !is(&row["event"], "result") || !is_cleared(&row["event"]["call"]));
    for row in rows.iter_mut() {
        blocks(row, |blocks| {
            blocks.retain(|block| !is(block, "call") || !is_cleared(&block["id"]))
        });
    }
}
