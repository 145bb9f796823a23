//! Mutants of the chapter `authority`.

use onrecord_reference::Reference;
use onrecord_spec::op::{Fault, Implementation, Op, Outcome, RefusalCode};
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::Mutant;
use super::edit::{blocks, changed, content, edit, header, instead, is, projection, rows};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "no-facts",
        Rule::AuthorityFresh,
        "A request is sent without the runtime's facts.",
        || {
            Box::new(|reference, op| {
                if let Op::Request { replay, .. } = op {
                    return reference.perform(&Op::Replay(replay.clone()));
                }
                reference.perform(op)
            })
        },
    ),
    Mutant::new(
        "stores-facts",
        Rule::AuthorityNeverStored,
        "A row that carries the runtime's facts is stored.",
        || instead(RefusalCode::AuthorityStored, store_all_the_same),
    ),
    Mutant::new(
        "facts-of-the-first-request",
        Rule::AuthorityRecomputed,
        "The facts are made once, and sent with each request from then on.",
        || {
            let mut first: Option<Value> = None;
            Box::new(move |reference, op| {
                let mut op = op.clone();
                if let Op::Request { .. } = &op {
                    changed(&mut op, |asked| {
                        let facts = first.get_or_insert_with(|| asked["authority"].clone());
                        asked["authority"] = facts.clone();
                    });
                }
                reference.perform(&op)
            })
        },
    ),
    Mutant::new(
        "facts-as-speech",
        Rule::AuthorityNotSpeech,
        "The facts stand in a person's message.",
        || Box::new(facts_as_speech),
    ),
    Mutant::new(
        "believes-stored-facts",
        Rule::AuthorityStaleInert,
        "Facts that were stored once are sent as text.",
        || {
            projection(&["replay", "request"], |rows| {
                for row in rows {
                    blocks(row, |blocks| {
                        for block in blocks.iter_mut().filter(|block| is(block, "authority")) {
                            *block = json!({ "type": "text", "text": block.to_string() });
                        }
                    });
                }
            })
        },
    ),
];

/// A load keeps what an append refuses.
fn store_all_the_same(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let Op::Append { rows: more, .. } = op else { return reference.perform(op) };
    let header = header(reference)?;
    let mut all = rows(reference)?;
    all.extend(more.iter().cloned());
    let loaded = reference.perform(&Op::Load { header, rows: all, beside: false })?;
    if let Outcome::Loaded { next, .. } = loaded {
        return Ok(Outcome::Appended { next });
    }
    Ok(loaded)
}

fn facts_as_speech(reference: &mut Reference, op: &Op) -> Result<Outcome, Fault> {
    let mut outcome = reference.perform(op)?;
    if let (Op::Request { authority, .. }, Outcome::Replayed(replayed)) = (op, &mut outcome) {
        let facts = serde_json::to_string(authority).unwrap_or_default();
        edit(&mut replayed.payload, |payload| {
            if let Some(fields) = payload.as_object_mut() {
                fields.remove("system");
            }
            let Some(sent) = payload["messages"].as_array_mut() else { return };
            sent.retain(|message| message["role"] != "system" && message["role"] != "developer");
            for message in sent.iter_mut() {
                content(message, |parts| {
                    parts.retain(|part| !part.to_string().contains("authority"))
                });
            }
            if let Some(person) = sent.iter_mut().rfind(|message| message["role"] == "user") {
                if let Some(text) = person["content"].as_str() {
                    person["content"] = json!(format!("{text}\n{facts}"));
                }
                content(person, |parts| parts.push(json!({ "type": "text", "text": facts })));
            }
        });
    }
    Ok(outcome)
}
