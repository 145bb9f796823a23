//! Equations of the replay.

use std::collections::BTreeMap;

use onrecord::Reference;
use onrecord::generate::{Conversation, Hostile, any_replay};
use onrecord::spec::json::{Json, keep};
use onrecord::spec::op::{Mode, Outcome, Replay};
use onrecord::spec::target::Profile;
use onrecord::spec::wire::{Body, Part, Wire, WireRole};
use serde_json::{Value, json};

use crate::ask::{ask, context, holding, load, replayed};

/// A replay comes of every record, is valid, and is the same when asked of another
/// process. Each call has its result directly behind it; each text that stands for the
/// model crosses once.
pub fn replay(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let replay = any_replay(&mut conversation.choices);
    let mut reference = holding(&conversation.record);
    let sent = replayed(&mut reference, &replay);
    let again = replayed(&mut holding(&conversation.record), &replay);
    assert_eq!(sent.payload.get(), again.payload.get(), "two processes send two things");
    let breaches = replay.target.check(&replay.profile, &sent.payload, &sent.constraints);
    assert!(breaches.is_empty(), "{breaches:?}");
    pairs(&replay.target.lift(&sent.payload));
    let standing = context(&mut reference);
    for row in &conversation.record.rows {
        let Ok(row) = serde_json::from_str::<Value>(row.get()) else { continue };
        let stands = standing.iter().any(|id| row["id"] == *id.to_unicode());
        let crosses = row["audience"] != "people" && row["event"]["status"] != "failed";
        if !stands || !crosses {
            continue;
        }
        for said in row["event"]["blocks"].as_array().into_iter().flatten() {
            // A summary's text may have been made better since.
            for canary in canaries(said["text"].as_str().unwrap_or_default()) {
                if said["type"] == "text" && canary.starts_with("said") {
                    let times = sent.payload.get().matches(canary).count();
                    assert_eq!(times, 1, "`{canary}` crosses {times} times");
                }
            }
        }
    }
}

/// Behind a message with calls come their results, and nothing else before the last.
fn pairs(wire: &Wire) {
    let mut open: Vec<&str> = Vec::new();
    let mut declared_in = "";
    for (message, part) in wire.parts() {
        match &part.body {
            Body::Call(call) => {
                assert!(
                    open.is_empty() || declared_in == message.path,
                    "{}: a round is open",
                    part.path
                );
                declared_in = &message.path;
                open.push(&call.id);
            }
            Body::Result(result) => {
                let at = open.iter().position(|id| *id == result.call);
                let at = at.unwrap_or_else(|| panic!("{}: no call before it", part.path));
                open.remove(at);
            }
            Body::Text(_) | Body::Reasoning(_) | Body::Image(_) | Body::Foreign(_) => {
                let same = declared_in == message.path;
                assert!(
                    open.is_empty() || same,
                    "{}: stands between a call and its result",
                    part.path
                );
            }
        }
    }
    assert!(open.is_empty(), "calls without a result: {open:?}");
}

/// A person writes once more: nothing that was sent before changes, but for thinking,
/// which may be switched off for a request (`thinking-off`).
pub fn prefix(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let replay = Replay { mode: Mode::Cold, ..any_replay(&mut conversation.choices) };
    let record = &conversation.record;
    let before = without_reasoning(sent(&mut holding(record), &replay));
    let mut longer = record.clone();
    longer.rows.push(said_by_person(record.rows.len()));
    let after = without_reasoning(sent(&mut holding(&longer), &replay));
    let same = before.iter().zip(&after).take_while(|(before, after)| before == after).count();
    // What was added to end with a person's message goes, and a last text has its end
    // again (ANT-12).
    let gone = &before[same..];
    let ending = gone.len() <= 1 && gone.iter().all(is_text);
    let trimmed = gone.len() == 2 && gone.iter().all(is_text);
    assert!(ending || trimmed, "changed: {gone:?}\nnow: {:?}", &after[same..]);
}

fn without_reasoning(mut parts: Vec<(WireRole, Body)>) -> Vec<(WireRole, Body)> {
    parts.retain(|(_, body)| !matches!(body, Body::Reasoning(_)));
    parts
}

fn is_text(part: &(WireRole, Body)) -> bool {
    matches!(part.1, Body::Text(_))
}

fn said_by_person(seq: usize) -> Json {
    let row = json!({
        "seq": seq, "id": "said-at-last", "event": {
            "type": "message", "role": "user",
            "blocks": [{ "type": "text", "text": "said at last" }],
        },
    });
    keep(&row.to_string()).unwrap()
}

fn sent(reference: &mut Reference, replay: &Replay) -> Vec<(WireRole, Body)> {
    parts(&replay.target.lift(&replayed(reference, replay).payload))
}

/// The parts in their voices, without the places that they came from.
fn parts(wire: &Wire) -> Vec<(WireRole, Body)> {
    let parts = wire.parts().map(|(message, part)| (message.role, placeless(part).body));
    parts.collect()
}

fn placeless(part: &Part) -> Part {
    let body = match &part.body {
        Body::Result(result) => {
            let mut result = result.clone();
            result.content = result.content.iter().map(placeless).collect();
            Body::Result(result)
        }
        Body::Text(_) | Body::Reasoning(_) | Body::Call(_) | Body::Image(_) | Body::Foreign(_) => {
            part.body.clone()
        }
    };
    Part { path: String::new(), sent: String::new(), body }
}

/// What a model was sent is a record itself, and is sent as it is.
pub fn replay_of_replay(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    // Images lose their kind on the wire, and reasoning its maker.
    let profile = Profile { vision: false, ..Profile::default() };
    let any = any_replay(&mut conversation.choices);
    let replay = Replay { profile, mode: Mode::Cold, target: any.target };
    let first = replayed(&mut holding(&conversation.record), &replay).payload;
    let rows = rows_of(&replay.target.lift(&first));
    let record = Hostile { rows, ..conversation.record.clone() };
    let second = replayed(&mut holding(&record), &replay).payload;
    assert_eq!(first.get(), second.get());
}

/// The rows that would be sent so.
fn rows_of(wire: &Wire) -> Vec<Json> {
    let mut rows: Vec<Json> = Vec::new();
    let mut push = |event: Value| {
        let seq = rows.len();
        let row = json!({ "seq": seq, "id": format!("row-{seq}"), "event": event });
        rows.push(keep(&row.to_string()).unwrap());
    };
    for message in &wire.messages {
        let role = if message.role == WireRole::Assistant { "assistant" } else { "user" };
        let mut blocks = Vec::new();
        for part in &message.parts {
            match &part.body {
                Body::Text(text) => blocks.push(json!({ "type": "text", "text": text })),
                Body::Call(call) => blocks.push(json!({
                    "type": "call", "id": call.id, "name": call.name, "arguments": call.arguments,
                })),
                Body::Result(result) => push(json!({
                    "type": "result", "call": result.call, "error": result.error == Some(true),
                    "content": result.content.iter().filter_map(text_of).collect::<Vec<_>>(),
                })),
                Body::Reasoning(_) | Body::Image(_) | Body::Foreign(_) => {}
            }
        }
        if !blocks.is_empty() {
            push(json!({ "type": "message", "role": role, "blocks": blocks }));
        }
    }
    rows
}

fn text_of(part: &Part) -> Option<Value> {
    if let Body::Text(text) = &part.body {
        Some(json!({ "type": "text", "text": text }))
    } else {
        None
    }
}

/// The names of calls mean nothing but who belongs to whom.
pub fn renamed_ids(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let replay = any_replay(&mut conversation.choices);
    let mut rows = Vec::new();
    for row in &conversation.record.rows {
        // Half a surrogate pair is no text of a JSON library.
        let Ok(mut row) = serde_json::from_str::<Value>(row.get()) else { return };
        rename(&mut row["event"]);
        rows.push(keep(&row.to_string()).unwrap());
    }
    let renamed = Hostile { rows, ..conversation.record.clone() };
    let before = sent(&mut holding(&conversation.record), &replay);
    let after = sent(&mut holding(&renamed), &replay);
    assert_eq!(without_ids(before), without_ids(after));
}

/// Turns each letter of an id by half the alphabet: as long, as valid, another one.
fn rename(event: &mut Value) {
    let turned = |id: &str| -> String {
        let turn = |letter: char| match letter {
            'a'..='m' | 'A'..='M' => (letter as u8 + 13) as char,
            'n'..='z' | 'N'..='Z' => (letter as u8 - 13) as char,
            other => other,
        };
        id.chars().map(turn).collect()
    };
    let turn = |value: &mut Value| {
        if let Some(id) = value.as_str() {
            *value = json!(turned(id));
        }
    };
    if event["call"].is_string() {
        turn(&mut event["call"]);
    }
    for block in event["blocks"].as_array_mut().into_iter().flatten() {
        match block["type"].as_str() {
            Some("call") => turn(&mut block["id"]),
            Some("result") => turn(&mut block["call"]),
            Some(_) | None => {}
        }
    }
}

/// The parts with the ids in the order in which they first stand.
fn without_ids(mut parts: Vec<(WireRole, Body)>) -> Vec<(WireRole, Body)> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut name = |id: &mut String| {
        let next = names.len();
        *id = names.entry(id.clone()).or_insert(next).to_string();
    };
    for (_, body) in &mut parts {
        match body {
            Body::Call(call) => name(&mut call.id),
            Body::Result(result) => name(&mut result.call),
            Body::Text(_) | Body::Reasoning(_) | Body::Image(_) | Body::Foreign(_) => {}
        }
    }
    parts
}

/// Rows that are for nobody change nothing of what is sent, but the ids that are made
/// of a row's place where a call has none.
pub fn unrelated_rows(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let replay = any_replay(&mut conversation.choices);
    let record = &conversation.record;
    let mut rows: Vec<Json> = record.rows.clone();
    // A replacement takes every row of its range, so that none can come in between.
    let cites =
        |row: &Json| ["\"replaces\"", "\"provenance\""].iter().any(|it| row.get().contains(it));
    let behind = rows.iter().rposition(cites).map_or(0, |at| at + 1);
    for number in 0..conversation.choices.between(1..=3) {
        let at = conversation.choices.between(behind..=rows.len());
        let row = json!({
            "seq": 0, "id": format!("weather-{number}"), "ignorable": true,
            "event": { "type": "weather", "wind": "north-west" },
        });
        rows.insert(at, keep(&row.to_string()).unwrap());
    }
    let rows: Vec<Json> = rows.iter().enumerate().map(|(seq, row)| at_seq(row, seq)).collect();
    let mut reference = Reference::new();
    let outcome = ask(&mut reference, &load(&record.header, &rows));
    assert!(matches!(outcome, Outcome::Loaded { .. }), "{outcome:?}");
    let before = sent(&mut holding(record), &replay);
    let after = sent(&mut reference, &replay);
    assert_eq!(without_ids(before), without_ids(after));
}

/// The row at another place. Its `seq` stands where the generator puts it.
fn at_seq(row: &Json, seq: usize) -> Json {
    let text = row.get();
    let Some(start) = text.find("\"seq\":").map(|at| at + "\"seq\":".len()) else {
        panic!("a row without a seq: {text}")
    };
    let end = text[start..].find(|digit: char| !digit.is_ascii_digit()).unwrap_or_default() + start;
    keep(&format!("{}{seq}{}", &text[..start], &text[end..])).unwrap()
}

/// A model that sees no images is sent the same in the same order, but for images.
pub fn vision(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let seeing = any_replay(&mut conversation.choices);
    let mut reference = holding(&conversation.record);
    let mut sent = |vision: bool| {
        let profile = Profile { vision, ..seeing.profile.clone() };
        replayed(&mut reference, &Replay { profile, ..seeing.clone() }).payload
    };
    let (seen, unseen) = (sent(true), sent(false));
    assert_eq!(canaries(seen.get()), canaries(unseen.get()));
    let wire = seeing.target.lift(&unseen);
    let image = wire.parts().find(|(_, part)| matches!(part.body, Body::Image(_)));
    assert!(image.is_none(), "an image for a model without vision: {image:?}");
}

/// The generator's own strings in a text, in order.
fn canaries(text: &str) -> Vec<&str> {
    const LONGEST: usize = 20;
    let mut found = Vec::new();
    for (at, _) in text.match_indices(" no. ") {
        let number = at + " no. ".len();
        let Some(digits) = text.get(number..number + 5) else { continue };
        let word = text[..at].rfind(|letter: char| !letter.is_ascii_lowercase() && letter != ' ');
        let from = word.map_or(0, |word| word + 1).max(at.saturating_sub(LONGEST));
        if digits.bytes().all(|digit| digit.is_ascii_digit()) {
            found.push(text.get(from..number + 5).unwrap_or_default());
        }
    }
    found
}
