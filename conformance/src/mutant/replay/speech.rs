//! Mutants of texts, reasoning, images, and of the replay as a whole.

use onrecord_spec::op::{AnomalyName, Implementation, Outcome};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::SENDING;
use crate::mutant::edit::{
    answer, blocks, content, in_messages, is, messages, projection, question, without,
};
use crate::mutant::{Mutant, Perform};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "whole-record",
        Rule::ReplayContextOnly,
        "What was compacted or cleared is sent all the same, beside its summary.",
        || projection(SENDING, |rows| rows.iter_mut().for_each(|row| without(row, "replaces"))),
    ),
    Mutant::new("empty-replay", Rule::ReplayTextAsSpeech, "No message is sent at all.", || {
        messages(Vec::clear)
    }),
    Mutant::new(
        "no-text-beside-calls",
        Rule::ReplayTextAsSpeech,
        "What the model said beside its calls is left out.",
        || projection(SENDING, drop_text_beside_calls),
    ),
    Mutant::new(
        "thoughts-as-text",
        Rule::ReplayReasoningNative,
        "Reasoning is sent as text between `<think>` tags.",
        || projection(SENDING, thoughts_as_text),
    )
    .famous(),
    Mutant::new(
        "keeps-signatures",
        Rule::ReplayReasoningPrefix,
        "A signature that is bound to what stood before it is sent behind a range that was \
         replaced.",
        || question(SENDING, |asked| profile(asked)["prefix_bound"] = json!(false)),
    ),
    Mutant::new(
        "no-reasoning-where-it-is-demanded",
        Rule::ReplayReasoningRequired,
        "A model that demands reasoning beside its calls is sent calls without it.",
        || question(SENDING, |asked| profile(asked)["plain_reasoning"] = json!("refused")),
    ),
    Mutant::new(
        "drops-images",
        Rule::ReplayImageOrMarker,
        "An image is left out without a word.",
        || projection(SENDING, |rows| drop_blocks(rows, "image")),
    ),
    Mutant::new(
        "no-vision-no-output",
        Rule::ReplayVisionOnlyImages,
        "For a model without vision the texts beside an image are left out too.",
        || {
            Box::new(|reference, op| {
                let blind = op.replay().is_some_and(|replay| !replay.profile.vision);
                let mut perform: Perform = if blind {
                    projection(SENDING, drop_texts_beside_images)
                } else {
                    Box::new(|reference, op| reference.perform(op))
                };
                perform(reference, op)
            })
        },
    ),
    Mutant::new(
        "sends-empty-messages",
        Rule::ReplayNoEmpty,
        "A message of which nothing crosses is sent as an empty one.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Replayed(replayed) = &outcome
                    && replayed.anomalies.iter().any(|it| it.name == AnomalyName::Omitted)
                {
                    in_messages(&mut outcome, |sent| {
                        sent.push(json!({ "role": "assistant", "content": "" }));
                    });
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "counts-its-replays",
        Rule::ReplayDeterministic,
        "Each replay carries its number.",
        || {
            let mut number = 0;
            Box::new(move |reference, op| {
                let mut outcome = reference.perform(op)?;
                number += 1;
                in_messages(&mut outcome, |sent| {
                    add_to_last_text(sent, &format!(" (request {number})"))
                });
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "says-how-long-it-is",
        Rule::ReplayPrefixStable,
        "The first message says how many messages there are.",
        || {
            messages(|sent| {
                let note = format!("This conversation has {} messages.", sent.len());
                if let Some(first) = sent.first_mut() {
                    if let Some(text) = first["content"].as_str() {
                        first["content"] = json!(format!("{note} {text}"));
                    }
                    content(first, |parts| {
                        parts.insert(0, json!({ "type": "text", "text": note }))
                    });
                }
            })
        },
    ),
    Mutant::new(
        "mends-in-silence",
        Rule::ReplayAnomaliesNamed,
        "What was repaired is not named.",
        || answer(SENDING, |replayed| replayed["anomalies"] = json!([])),
    ),
    Mutant::new(
        "knows-no-deltas",
        Rule::ReplayKindsExhaustive,
        "Pieces of a stream are no kind that the replay knows.",
        || projection(SENDING, |rows| rows.retain(|row| !is(&row["event"], "delta"))),
    ),
    Mutant::new(
        "ends-as-it-ends",
        Rule::ReplayEndsRight,
        "What ends with the model is sent so, whatever the target takes.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Replayed(replayed) = &outcome
                    && replayed.anomalies.iter().any(|it| it.name == AnomalyName::Closed)
                {
                    in_messages(&mut outcome, |sent| drop(sent.pop()));
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "leaves-the-request-to-luck",
        Rule::ReplayConstraintsSaid,
        "What the rest of the request must respect is not said.",
        || answer(SENDING, |replayed| replayed["constraints"] = json!([])),
    ),
    Mutant::new(
        "calls-without-tools",
        Rule::ReplayToolsAbsent,
        "Calls are sent as calls where the request offers no tools.",
        || question(SENDING, |asked| profile(asked)["tools"] = json!(true)),
    ),
];

/// The profile of a replay or of a request's replay.
fn profile(asked: &mut Value) -> &mut Value {
    if asked["replay"].is_object() {
        &mut asked["replay"]["profile"]
    } else {
        &mut asked["profile"]
    }
}

fn drop_blocks(rows: &mut [Value], kind: &str) {
    for row in rows {
        blocks(row, |blocks| blocks.retain(|block| !is(block, kind)));
    }
}

fn drop_text_beside_calls(rows: &mut Vec<Value>) {
    for row in rows {
        blocks(row, |blocks| {
            if blocks.iter().any(|block| is(block, "call")) {
                blocks.retain(|block| !is(block, "text"));
            }
        });
    }
}

fn drop_texts_beside_images(rows: &mut Vec<Value>) {
    for row in rows {
        blocks(row, |blocks| {
            if blocks.iter().any(|block| is(block, "image")) {
                blocks.retain(|block| !is(block, "text"));
            }
        });
    }
}

fn thoughts_as_text(rows: &mut Vec<Value>) {
    for row in rows {
        blocks(row, |blocks| {
            for block in blocks.iter_mut().filter(|block| is(block, "reasoning")) {
                let thought = block["text"].as_str().unwrap_or_default();
                *block = json!({ "type": "text", "text": format!("<think>{thought}</think>") });
            }
        });
    }
}

fn add_to_last_text(sent: &mut [Value], note: &str) {
    let Some(last) = sent.last_mut() else { return };
    if let Some(text) = last["content"].as_str() {
        last["content"] = json!(format!("{text}{note}"));
    }
    content(last, |parts| parts.push(json!({ "type": "text", "text": note })));
}
