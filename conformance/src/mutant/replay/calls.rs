//! Mutants of calls and results: which are sent, where, and with what.

use std::collections::BTreeSet;

use onrecord_reference::Reference;
use onrecord_spec::op::{AnomalyName, Fault, Implementation, Op, Outcome, Refusal, RefusalCode};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::SENDING;
use crate::mutant::Mutant;
use crate::mutant::edit::{blocks, content, in_messages, is, messages, projection, question};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "fails-on-orphans",
        Rule::ReplayTotal,
        "A result without its call is an error, and nothing is sent.",
        || Box::new(fails_on_orphans),
    ),
    Mutant::new(
        "a-message-a-block",
        Rule::ReplayOneDeclaration,
        "Each call of a round becomes a message of its own, with its result behind it.",
        || messages(a_message_a_block),
    )
    .famous(),
    Mutant::new(
        "leaves-calls-open",
        Rule::ReplayCallAnswered,
        "A call without a result is sent as it is, without an answer.",
        || messages(leave_calls_open),
    ),
    Mutant::new(
        "deletes-unanswered-calls",
        Rule::ReplayDidNotComplete,
        "A call without a result is left out of what is sent.",
        || projection(SENDING, delete_unanswered_calls),
    )
    .famous(),
    Mutant::new(
        "says-it-worked",
        Rule::ReplayDidNotComplete,
        "A call without a result is answered with `ok`.",
        || messages(|sent| each_result(sent, &|text, _| is_stand_in(text).then(|| "ok".to_string()))),
    ),
    Mutant::new(
        "results-in-order",
        Rule::ReplayResultBound,
        "The results of a round are given to its calls in the order in which they came.",
        || projection(SENDING, |rows| bind_by_order(rows)),
    ),
    Mutant::new(
        "ids-seen-ever",
        Rule::ReplayPairsByPlace,
        "One set of answered ids is kept for the whole conversation: a later result with an id that \
         was answered once is a repeat, and left out.",
        || projection(SENDING, drop_results_of_seen_ids),
    )
    .famous(),
    Mutant::new(
        "unknown-is-never-started",
        Rule::ReplayNeverStarted,
        "Where every start is recorded, a call that never started is still answered with an \
         unknown outcome.",
        || question(&["load"], |load| load["header"]["records_call_starts"] = json!(false)),
    ),
    Mutant::new(
        "drops-orphans",
        Rule::ReplayOrphanToProse,
        "A result without its call is left out of what is sent.",
        || projection(SENDING, drop_orphans),
    )
    .famous(),
    Mutant::new(
        "invents-calls",
        Rule::ReplayOrphanToProse,
        "A call is made up for a result that has none.",
        || projection(SENDING, invent_calls),
    )
    .famous(),
    Mutant::new(
        "orphans-in-the-models-voice",
        Rule::ReplayOrphanNotSpeech,
        "A result without its call is told as something that the model said.",
        || projection(SENDING, |rows| orphans_as_speech(rows)),
    ),
    Mutant::new(
        "forgets-late-results",
        Rule::ReplayLateResult,
        "A result is looked for until the next message of a person, and not behind it.",
        || projection(SENDING, forget_late_results),
    ),
    Mutant::new(
        "late-results-where-they-came",
        Rule::ReplayLateResult,
        "A result that came behind another message is sent behind it.",
        || messages(|sent| move_past_the_next_message(sent)),
    )
    .famous(),
    Mutant::new(
        "forgets-early-results",
        Rule::ReplayEarlyResult,
        "A result that was stored before its call is left out.",
        || projection(SENDING, forget_early_results),
    ),
    Mutant::new(
        "calls-as-prose",
        Rule::ReplayDoingNotSaying,
        "A call is told in words, and so is its result.",
        || projection(SENDING, calls_as_prose),
    )
    .famous(),
    Mutant::new(
        "prose-as-calls",
        Rule::ReplaySayingNotDoing,
        "What looks like a call in the model's text is declared as one.",
        || projection(SENDING, |rows| prose_as_calls(rows)),
    ),
    Mutant::new(
        "short-ids",
        Rule::ReplayIdsValid,
        "Ids are cut to 24 letters.",
        || messages(cut_ids),
    )
    .famous(),
    Mutant::new(
        "ids-as-they-are",
        Rule::ReplayIdsValid,
        "Ids cross as they are stored, whatever the target takes.",
        || Box::new(ids_as_they_are),
    ),
    Mutant::new(
        "broken-arguments-become-none",
        Rule::ReplayArgumentsValid,
        "Arguments that are not valid are replaced by `{}`.",
        || projection(SENDING, empty_broken_arguments),
    )
    .famous(),
    Mutant::new(
        "always-cold",
        Rule::ReplayRunningOrCold,
        "A call that still runs is answered as one that did not complete.",
        || question(SENDING, |asked| {
            let replay = if asked["replay"].is_object() { &mut asked["replay"] } else { asked };
            replay["mode"] = json!("cold");
        }),
    ),
];

fn fails_on_orphans(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let outcome = reference.perform(op)?;
    if let Outcome::Replayed(replayed) = &outcome
        && let Some(orphan) =
            replayed.anomalies.iter().find(|anomaly| anomaly.name == AnomalyName::Degraded)
    {
        let detail = "no call for this result".to_string();
        return Ok(Outcome::Refused(Refusal {
            code: RefusalCode::Malformed,
            seq: orphan.seq,
            detail,
        }));
    }
    Ok(outcome)
}

/// The reference's own words for a call that was not answered.
fn is_stand_in(text: &str) -> bool {
    text.contains("did not complete") || text.contains("never started")
}

/// Changes the text of each result, which may leave it.
fn each_result(sent: &mut [Value], change: &dyn Fn(&str, &Value) -> Option<String>) {
    for message in sent {
        if message["role"] == "tool" {
            let text = message["content"].as_str().unwrap_or_default().to_string();
            if let Some(other) = change(&text, message) {
                message["content"] = json!(other);
            }
        }
        content(message, |parts| {
            for part in parts.iter_mut().filter(|part| is(part, "tool_result")) {
                let text = part["content"][0]["text"].as_str().unwrap_or_default().to_string();
                if let Some(other) = change(&text, part) {
                    part["content"] = json!([{ "type": "text", "text": other }]);
                    part["is_error"] = json!(false);
                }
            }
        });
    }
}

fn a_message_a_block(sent: &mut Vec<Value>) {
    let mut split = Vec::new();
    for message in sent.drain(..) {
        let many = |parts: &Value, kind: Option<&str>| {
            let parts = parts.as_array().into_iter().flatten();
            parts.filter(|part| kind.is_none_or(|kind| is(part, kind))).count() > 1
        };
        if many(&message["tool_calls"], None) {
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                split.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
            }
        } else if many(&message["content"], Some("tool_use")) {
            for part in message["content"].as_array().into_iter().flatten() {
                split.push(json!({ "role": "assistant", "content": [part] }));
            }
        } else {
            split.push(message);
        }
    }
    *sent = split;
}

fn leave_calls_open(sent: &mut Vec<Value>) {
    let stands_in = |text: &Value| text.as_str().is_some_and(is_stand_in);
    sent.retain(|message| message["role"] != "tool" || !stands_in(&message["content"]));
    for message in sent.iter_mut() {
        content(message, |parts| {
            parts
                .retain(|part| !is(part, "tool_result") || !stands_in(&part["content"][0]["text"]));
        });
    }
    sent.retain(|message| message["content"].as_array().is_none_or(|parts| !parts.is_empty()));
}

/// The ids of the calls of a row's message.
fn calls_of(row: &Value) -> Vec<String> {
    let blocks = row["event"]["blocks"].as_array().into_iter().flatten();
    let calls = blocks.filter(|block| is(block, "call"));
    calls.filter_map(|call| call["id"].as_str().map(str::to_string)).collect()
}

/// The id of the call that a row's result answers.
fn answers(row: &Value) -> Option<String> {
    let result = is(&row["event"], "result");
    result.then(|| row["event"]["call"].as_str().map(str::to_string)).flatten()
}

fn delete_unanswered_calls(rows: &mut Vec<Value>) {
    let answered: BTreeSet<String> = rows.iter().filter_map(answers).collect();
    for row in rows.iter_mut() {
        blocks(row, |blocks| {
            blocks.retain(|block| {
                !is(block, "call") || block["id"].as_str().is_some_and(|id| answered.contains(id))
            });
        });
    }
    rows.retain(|row| row["event"]["blocks"].as_array().is_none_or(|blocks| !blocks.is_empty()));
}

fn bind_by_order(rows: &mut [Value]) {
    let mut calls: Vec<String> = Vec::new();
    for row in rows.iter_mut() {
        let made = calls_of(row);
        if !made.is_empty() {
            calls = made;
        } else if answers(row).is_some_and(|id| calls.contains(&id)) {
            row["event"]["call"] = json!(calls.remove(0));
        }
    }
}

fn drop_results_of_seen_ids(rows: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    rows.retain(|row| answers(row).is_none_or(|id| seen.insert(id)));
}

/// Whether each row is a result whose call no row holds.
fn orphans(rows: &[Value]) -> Vec<bool> {
    let calls: BTreeSet<String> = rows.iter().flat_map(calls_of).collect();
    rows.iter().map(|row| answers(row).is_some_and(|id| !calls.contains(&id))).collect()
}

fn drop_orphans(rows: &mut Vec<Value>) {
    let mut orphans = orphans(rows).into_iter();
    rows.retain(|_| !orphans.next().unwrap_or_default());
}

fn invent_calls(rows: &mut Vec<Value>) {
    let orphans = orphans(rows);
    for (at, _) in orphans.iter().enumerate().rev().filter(|(_, orphan)| **orphan) {
        let result = &rows[at]["event"];
        let name = result["name"].as_str().unwrap_or("tool").to_string();
        let call = json!({
            "type": "call", "id": result["call"], "name": name, "arguments": "{}",
        });
        let event = json!({ "type": "message", "role": "assistant", "blocks": [call] });
        rows.insert(at, json!({ "seq": 0, "id": format!("made-up-{at}"), "event": event }));
    }
}

fn orphans_as_speech(rows: &mut [Value]) {
    let orphans = orphans(rows);
    for (row, _) in rows.iter_mut().zip(orphans).filter(|(_, orphan)| *orphan) {
        let content = row["event"]["content"].clone();
        row["event"] = json!({ "type": "message", "role": "assistant", "blocks": content });
    }
}

fn forget_late_results(rows: &mut Vec<Value>) {
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut forgotten: BTreeSet<String> = BTreeSet::new();
    rows.retain(|row| {
        if row["event"]["role"] == "user" {
            forgotten.append(&mut open);
        }
        open.extend(calls_of(row));
        match answers(row) {
            Some(id) => open.remove(&id) || !forgotten.contains(&id),
            None => true,
        }
    });
}

fn move_past_the_next_message(sent: &mut [Value]) {
    // The first message of results that a person's message follows goes behind it.
    for at in 0..sent.len().saturating_sub(1) {
        if sent[at]["role"] == "tool" && sent[at + 1]["role"] == "user" {
            sent.swap(at, at + 1);
            return;
        }
        content(&mut sent[at], |parts| {
            let results = parts.iter().take_while(|part| is(part, "tool_result")).count();
            let all = parts.len();
            parts.rotate_left(if results < all { results } else { 0 });
        });
    }
}

fn forget_early_results(rows: &mut Vec<Value>) {
    let all: BTreeSet<String> = rows.iter().flat_map(calls_of).collect();
    let mut made: BTreeSet<String> = BTreeSet::new();
    rows.retain(|row| {
        made.extend(calls_of(row));
        answers(row).is_none_or(|id| made.contains(&id) || !all.contains(&id))
    });
}

fn calls_as_prose(rows: &mut Vec<Value>) {
    for row in rows {
        if answers(row).is_some() {
            let content = row["event"]["content"].clone();
            row["event"] = json!({ "type": "message", "role": "user", "blocks": content });
        }
        blocks(row, |blocks| {
            for block in blocks.iter_mut().filter(|block| is(block, "call")) {
                let text = format!(
                    "[Called {} with {}]",
                    block["name"].as_str().unwrap_or_default(),
                    block["arguments"].as_str().unwrap_or_default()
                );
                *block = json!({ "type": "text", "text": text });
            }
        });
    }
}

fn prose_as_calls(rows: &mut [Value]) {
    for (number, row) in rows.iter_mut().enumerate() {
        if row["event"]["role"] != "assistant" {
            continue;
        }
        blocks(row, |blocks| {
            for block in blocks.iter_mut().filter(|block| is(block, "text")) {
                let text = block["text"].as_str().unwrap_or_default().to_string();
                let (Some(from), Some(to)) = (text.find('{'), text.rfind('}')) else { continue };
                if from < to {
                    let arguments = &text[from..=to];
                    *block = json!({
                        "type": "call", "id": format!("parsed-{number}"), "name": "parsed",
                        "arguments": arguments,
                    });
                }
            }
        });
    }
}

fn cut_ids(sent: &mut Vec<Value>) {
    let cut = |id: &mut Value| {
        if let Some(text) = id.as_str() {
            *id = json!(text.chars().take(24).collect::<String>());
        }
    };
    for message in sent {
        if message["tool_call_id"].is_string() {
            cut(&mut message["tool_call_id"]);
        }
        for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
            cut(&mut call["id"]);
        }
        content(message, |parts| {
            for part in parts {
                for name in ["id", "tool_use_id"] {
                    if part[name].is_string() {
                        cut(&mut part[name]);
                    }
                }
            }
        });
    }
}

/// Puts the stored ids of the calls, in their order, where the reference has mapped
/// them.
fn ids_as_they_are(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    let stored: Vec<String> = crate::mutant::edit::rows(reference)?
        .iter()
        .filter_map(|row| serde_json::from_str::<Value>(row.get()).ok())
        .flat_map(|row| calls_of(&row))
        .collect();
    in_messages(&mut outcome, |sent| {
        let mut text = Value::Array(std::mem::take(sent)).to_string();
        let mut sent_ids: Vec<String> = Vec::new();
        let known: Value = serde_json::from_str(&text).unwrap_or_default();
        for message in known.as_array().into_iter().flatten() {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let parts = message["content"].as_array().into_iter().flatten();
            let ids = calls.chain(parts.filter(|part| is(part, "tool_use")));
            sent_ids.extend(ids.filter_map(|call| call["id"].as_str().map(str::to_string)));
        }
        for (sent, stored) in sent_ids.iter().zip(&stored) {
            text = text.replace(&json!(sent).to_string(), &json!(stored).to_string());
        }
        if let Ok(Value::Array(messages)) = serde_json::from_str(&text) {
            *sent = messages;
        }
    });
    Ok(outcome)
}

fn empty_broken_arguments(rows: &mut Vec<Value>) {
    for row in rows {
        blocks(row, |blocks| {
            for block in blocks.iter_mut().filter(|block| is(block, "call")) {
                let arguments = block["arguments"].as_str().unwrap_or_default();
                let sound = serde_json::from_str::<serde_json::Map<String, Value>>(arguments);
                if sound.is_err() {
                    block["arguments"] = json!("{}");
                }
            }
        });
    }
}
