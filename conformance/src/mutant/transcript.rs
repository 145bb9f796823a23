//! Mutants of the chapter `transcript`.

use std::collections::BTreeSet;

use onrecord_spec::op::{Implementation, Op, Outcome};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::Mutant;
use super::edit::{answer, projection, without};

/// What people are shown, at once and live.
const SHOWN: &[&str] = &["transcript", "follow"];

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "shows-the-context",
        Rule::TranscriptAppendOrigin,
        "What people see is what the model sees: what was compacted is gone.",
        || projection(SHOWN, drop_what_was_replaced),
    )
    .famous(),
    Mutant::new(
        "no-markers",
        Rule::TranscriptMarkerPerLanding,
        "Nothing on screen says that a compaction landed.",
        || {
            answer(&["transcript"], |shown| {
                if let Some(items) = shown["items"].as_array_mut() {
                    items.retain(|item| item["shows"]["marker"].is_null());
                }
            })
        },
    ),
    Mutant::new(
        "shows-summaries",
        Rule::TranscriptPayloadHidden,
        "A summary is shown as if a person had written it.",
        || projection(SHOWN, |rows| show_replacements(rows, "compaction")),
    ),
    Mutant::new(
        "shows-cleared-results",
        Rule::TranscriptSilentReplacements,
        "The notice of a cleared result is shown beside the result.",
        || projection(SHOWN, |rows| show_replacements(rows, "clearing")),
    ),
    Mutant::new(
        "unpaired-cards",
        Rule::TranscriptToolPairing,
        "What a tool returned is shown without its call.",
        || {
            answer(&["transcript"], |shown| {
                for item in shown["items"].as_array_mut().into_iter().flatten() {
                    for (kind, link) in [("tool-call", "returned"), ("tool-return", "call")] {
                        if item["shows"][kind].is_object() {
                            without(&mut item["shows"][kind], link);
                        }
                    }
                }
            })
        },
    ),
    Mutant::new(
        "live-lacks-the-last",
        Rule::TranscriptLiveEqualsReplay,
        "Who follows live does not get the last event.",
        || {
            answer(&["follow"], |followed| {
                if let Some(events) = followed["events"].as_array_mut() {
                    events.pop();
                }
            })
        },
    ),
    Mutant::new(
        "begins-anew-at-a-marker",
        Rule::TranscriptMonotone,
        "Everything that was shown before a compaction's marker goes when it lands.",
        || {
            answer(&["transcript"], |shown| {
                if let Some(items) = shown["items"].as_array_mut() {
                    let marker = items.iter().rposition(|item| item["shows"]["marker"].is_object());
                    items.drain(..marker.unwrap_or_default());
                }
            })
        },
    ),
    Mutant::new(
        "thoughts-as-speech",
        Rule::TranscriptReasoningTyped,
        "Reasoning is shown as something that the model said.",
        || {
            answer(&["transcript"], |shown| {
                for item in shown["items"].as_array_mut().into_iter().flatten() {
                    let shows = item["shows"].as_object_mut();
                    if let Some(thought) = shows.and_then(|shows| shows.remove("reasoning-message"))
                    {
                        item["shows"]["assistant-message"] = thought;
                    }
                }
            })
        },
    ),
    Mutant::new(
        "shortens-outputs",
        Rule::TranscriptVerbatimHydration,
        "Texts are cut to 20 letters for the screen.",
        || answer(&["transcript"], |shown| shorten(&mut shown["items"])),
    ),
    Mutant::new(
        "shows-everyone-everything",
        Rule::TranscriptAudience,
        "What is for the model alone is shown.",
        || projection(SHOWN, |rows| rows.iter_mut().for_each(|row| without(row, "audience"))),
    ),
    Mutant::new(
        "shows-nothing-after-a-start",
        Rule::TranscriptAppendOrigin,
        "After a start of the process only what came since is shown.",
        || {
            let mut before = 0;
            Box::new(move |reference, op| {
                let mut outcome = reference.perform(op)?;
                match (&mut outcome, op) {
                    (Outcome::Loaded { next, .. }, Op::Restart {}) => before = *next,
                    (Outcome::Transcript { items }, _) => items.retain(|item| item.seq >= before),
                    _as_it_is => {}
                }
                Ok(outcome)
            })
        },
    ),
];

/// Only what stands for the model, without what took another's place.
fn drop_what_was_replaced(rows: &mut Vec<Value>) {
    let taken: BTreeSet<String> = rows
        .iter()
        .flat_map(|row| row["replaces"]["rows"].as_array().into_iter().flatten())
        .filter_map(|id| id.as_str().map(str::to_string))
        .collect();
    rows.retain(|row| row["id"].as_str().is_none_or(|id| !taken.contains(id)));
}

/// Replacements of this source as rows like others.
fn show_replacements(rows: &mut [Value], source: &str) {
    for row in rows.iter_mut().filter(|row| row["replaces"]["source"] == source) {
        without(row, "replaces");
        without(row, "audience");
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > 20 && text.contains(' ') => {
            *value = json!(text.chars().take(20).collect::<String>());
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
