//! Finds every breach of the table of OpenAI Chat Completions.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{RawValue, excerpt, kind_of, mend_surrogates};
use crate::op::Constraint;
use crate::target::shape::{
    Breaches, Content, Message, Object, array, found, is_plain, length, messages, quoted, string,
};
use crate::target::{Breach, PlainReasoning, Profile};

/// How many calls one message may declare (OAI-CHAT-4).
const MOST_CALLS: usize = 128;
/// How many characters an id may have (OAI-CHAT-3), or a name (OAI-CHAT-10).
const LONGEST: usize = 64;

/// Checks a payload. No constraint of a replay averts a breach here.
pub(crate) fn check(profile: &Profile, payload: &RawValue, _: &[Constraint]) -> Vec<Breach> {
    let mut breaches = Breaches::default();
    breaches.add_unpaired_surrogates("OAI-CHAT-13", payload);
    match messages(payload) {
        Err(none) => breaches.add("OAI-CHAT-7", none.path, none.what),
        Ok(messages) => {
            for message in &messages {
                check_message(&mut breaches, profile, message);
            }
            check_pairing(&mut breaches, &messages);
        }
    }
    breaches.0
}

fn check_message(breaches: &mut Breaches, profile: &Profile, message: &Message<'_>) {
    match message.role.as_deref() {
        Some("system" | "developer") => check_content(breaches, message, "OAI-CHAT-7", &["text"]),
        Some("user") => {
            let types = ["text", "image_url", "input_audio", "file"];
            check_content(breaches, message, "OAI-CHAT-7", &types);
        }
        Some("assistant") => check_assistant(breaches, profile, message),
        Some("tool") => {
            check_content(breaches, message, "OAI-CHAT-6", &["text"]);
            match message.fields.get("tool_call_id") {
                None => breaches.add(
                    "OAI-CHAT-9",
                    format!("{}.tool_call_id", message.path),
                    "is missing; must be the id of the call that the message answers",
                ),
                id => check_id(breaches, format!("{}.tool_call_id", message.path), id),
            }
        }
        Some("function") => {}
        Some(_) | None => check_role(breaches, message),
    }
    if message.role.as_deref() != Some("assistant") {
        for name in ["tool_calls", "reasoning_content"] {
            if message.fields.get(name).is_some() {
                let rule = if name == "tool_calls" { "OAI-CHAT-14" } else { "OAI-CHAT-15" };
                let path = format!("{}.{name}", message.path);
                breaches.add(rule, path, "stands in a message that is not the assistant's");
            }
        }
    }
}

fn check_role(breaches: &mut Breaches, message: &Message<'_>) {
    if kind_of(message.raw) != "an object" {
        let what = format!("must be an object with a role, found {}", found(Some(message.raw)));
        return breaches.add("OAI-CHAT-9", message.path.clone(), what);
    }
    let what = format!(
        "must be developer, system, user, assistant or tool, found {}",
        found(message.fields.get("role"))
    );
    breaches.add("OAI-CHAT-9", format!("{}.role", message.path), what);
}

fn check_content(
    breaches: &mut Breaches,
    message: &Message<'_>,
    rule: &'static str,
    types: &[&str],
) {
    const WANTED: &str = "must be a string or an array of at least one part";
    let path = format!("{}.content", message.path);
    match &message.content {
        Content::Bare(_) => {}
        Content::None => {
            let found = found(message.fields.get("content"));
            breaches.add(rule, path, format!("{WANTED}, found {found}"));
        }
        Content::Other(raw) => {
            breaches.add(rule, path, format!("{WANTED}, found {}", found(Some(raw))));
        }
        Content::Blocks(parts) if parts.is_empty() => {
            breaches.add(rule, path, format!("{WANTED}, found []"));
        }
        Content::Blocks(parts) => {
            let role = message.role.as_deref().unwrap_or_default();
            for part in parts {
                let known = types.iter().any(|kind| part.is(kind));
                if part.is("image_url") && !known {
                    let what = format!(
                        "an image in a message of role `{role}`; only a user message takes one"
                    );
                    breaches.add("OAI-CHAT-6", part.path.clone(), what);
                } else if !known {
                    let found = found(part.fields.get("type"));
                    let what = format!(
                        "must be a part of type {}, found type {found}",
                        types.join(" or ")
                    );
                    breaches.add(rule, part.path.clone(), what);
                } else if part.is("text") && part.text().is_none() {
                    let found = found(part.fields.get("text"));
                    breaches.add(rule, part.at("text"), format!("must be a string, found {found}"));
                } else if part.is("image_url") {
                    let image = part.fields.get("image_url").map(Object::look);
                    let url = image.and_then(|image| image.get("url"));
                    if string(url).is_none() {
                        let what = format!("must be a string, found {}", found(url));
                        breaches.add(rule, part.at("image_url.url"), what);
                    }
                }
            }
        }
    }
}

fn check_assistant(breaches: &mut Breaches, profile: &Profile, message: &Message<'_>) {
    let calls = check_calls(breaches, message);
    let excused = calls || ["function_call", "audio"].iter().any(|name| is_set(message, name));
    if !matches!(message.content, Content::None) {
        check_content(breaches, message, "OAI-CHAT-7", &["text", "refusal"]);
    } else if !excused {
        breaches.add(
            "OAI-CHAT-8",
            format!("{}.content", message.path),
            format!(
                "must be a string or an array of parts where no call is declared, found {}",
                found(message.fields.get("content"))
            ),
        );
    }
    check_reasoning(breaches, profile.plain_reasoning, message, calls);
}

/// True if a field is there and not null.
fn is_set(message: &Message<'_>, name: &str) -> bool {
    message.fields.get(name).is_some_and(|raw| kind_of(raw) != "null")
}

fn check_reasoning(
    breaches: &mut Breaches,
    plain: PlainReasoning,
    message: &Message<'_>,
    calls: bool,
) {
    let path = format!("{}.reasoning_content", message.path);
    let field = message.fields.get("reasoning_content");
    match (plain, field) {
        (PlainReasoning::Refused, Some(_)) => {
            breaches.add("OAI-CHAT-15", path, "the model does not take it; must be left out");
        }
        (PlainReasoning::Required, None) if calls => breaches.add(
            "DS-1",
            path,
            "is missing beside calls; must be the reasoning that led to them, or \"\"",
        ),
        (PlainReasoning::Required | PlainReasoning::Accepted, Some(raw)) => {
            let demanded = calls && plain == PlainReasoning::Required;
            if string(Some(raw)).is_none() && (demanded || kind_of(raw) != "null") {
                let what = format!("must be a string, found {}", found(Some(raw)));
                breaches.add("DS-2", path, what);
            }
        }
        (PlainReasoning::Refused | PlainReasoning::Accepted | PlainReasoning::Required, None) => {}
    }
}

/// Checks what an assistant message declares. True if it declares any call.
fn check_calls(breaches: &mut Breaches, message: &Message<'_>) -> bool {
    if !is_set(message, "tool_calls") {
        return false;
    }
    let path = format!("{}.tool_calls", message.path);
    let raw = message.fields.get("tool_calls");
    let calls = raw.and_then(array).unwrap_or_default();
    if calls.is_empty() {
        let what = format!("must be an array of at least one call, found {}", found(raw));
        breaches.add("OAI-CHAT-14", path, what);
        return false;
    }
    if calls.len() > MOST_CALLS {
        let what = format!("holds {} calls; at most {MOST_CALLS} would do", calls.len());
        breaches.add("OAI-CHAT-4", path.clone(), what);
    }
    for (index, raw) in calls.into_iter().enumerate() {
        check_call(breaches, &format!("{path}[{index}]"), raw);
    }
    true
}

fn check_call(breaches: &mut Breaches, path: &str, raw: &RawValue) {
    if kind_of(raw) != "an object" {
        let what = format!("must be an object, found {}", found(Some(raw)));
        return breaches.add("OAI-CHAT-14", path, what);
    }
    let fields = Object::look(raw);
    check_id(breaches, format!("{path}.id"), fields.get("id"));
    match string(fields.get("type")).as_deref() {
        Some("function") => {
            let function = fields.get("function").map(Object::look);
            let field = |name| function.as_ref().and_then(|function| function.get(name));
            check_name(breaches, format!("{path}.function.name"), field("name"));
            check_arguments(breaches, format!("{path}.function.arguments"), field("arguments"));
        }
        Some("custom") => {
            let custom = fields.get("custom").map(Object::look);
            let name = custom.and_then(|custom| custom.get("name"));
            check_name(breaches, format!("{path}.custom.name"), name);
        }
        Some(_) | None => {
            let found = found(fields.get("type"));
            let what = format!("must be \"function\" or \"custom\", found {found}");
            breaches.add("OAI-CHAT-14", format!("{path}.type"), what);
        }
    }
}

fn check_id(breaches: &mut Breaches, path: String, raw: Option<&RawValue>) {
    let Some(id) = string(raw) else {
        let what = format!("must be a string of 1 to {LONGEST} characters, found {}", found(raw));
        return breaches.add("OAI-CHAT-3", path, what);
    };
    let length = length(&id);
    if length == 0 || length > LONGEST {
        let what = format!("has {length} characters; 1 to {LONGEST} would do");
        breaches.add("OAI-CHAT-3", path, what);
    }
}

fn check_name(breaches: &mut Breaches, path: String, raw: Option<&RawValue>) {
    let valid = |name: Cow<'_, str>| is_plain(&name) && (1..=LONGEST).contains(&length(&name));
    if !string(raw).is_some_and(valid) {
        let what = format!(
            "must be 1 to {LONGEST} characters of a-z, A-Z, 0-9, `_` and `-`, found {}",
            found(raw)
        );
        breaches.add("OAI-CHAT-10", path, what);
    }
}

fn check_arguments(breaches: &mut Breaches, path: String, raw: Option<&RawValue>) {
    const WANTED: &str = "must be a string that holds a JSON object";
    let Some(text) = string(raw) else {
        let what = format!("{WANTED}, found {}", found(raw));
        return breaches.add("OAI-CHAT-5", path, what);
    };
    match serde_json::from_str::<&RawValue>(&text) {
        Err(_) => {
            let what = format!("{WANTED}; `{}` is no JSON", excerpt(&text));
            breaches.add("OAI-CHAT-5", path, what);
        }
        Ok(value) if kind_of(value) != "an object" => {
            let what = format!("{WANTED}; `{}` is {}", excerpt(&text), kind_of(value));
            breaches.add("OAI-CHAT-5", path, what);
        }
        Ok(_) if mend_surrogates(&text) != text => breaches.add(
            "OAI-CHAT-5",
            path,
            "its JSON holds an unpaired surrogate escape; `\\ufffd` in its place would do",
        ),
        Ok(_) => {}
    }
}

/// The calls of the last declaration, while its run of results lasts.
struct Round<'a> {
    declaration: &'a str,
    /// By id, the places of the calls that still wait, in order. An id stays
    /// when no call of it waits any more.
    waiting: BTreeMap<Cow<'a, str>, VecDeque<usize>>,
}

/// OAI-CHAT-1, OAI-CHAT-2 and OAI-CHAT-12: calls and results by place and id.
fn check_pairing(breaches: &mut Breaches, messages: &[Message<'_>]) {
    let mut round: Option<Round<'_>> = None;
    for message in messages {
        if message.role.as_deref() == Some("tool") {
            answer(breaches, round.as_mut(), message);
            continue;
        }
        close(breaches, round.take(), Some(&message.path));
        if message.role.as_deref() == Some("assistant") {
            round = declare(breaches, message);
        }
    }
    close(breaches, round, None);
}

fn declare<'a>(breaches: &mut Breaches, message: &'a Message<'a>) -> Option<Round<'a>> {
    let calls = message.fields.get("tool_calls").and_then(array).unwrap_or_default();
    let mut waiting = BTreeMap::<_, VecDeque<usize>>::new();
    for (index, raw) in calls.iter().enumerate() {
        let Some(id) = string(Object::look(raw).get("id")) else { continue };
        let places = waiting.entry(id.clone()).or_default();
        if !places.is_empty() {
            let path = format!("{}.tool_calls[{index}].id", message.path);
            let what = format!("{} is another call's id; one of its own would do", quoted(&id));
            breaches.add("OAI-CHAT-12", path, what);
        }
        places.push_back(index);
    }
    if calls.is_empty() { None } else { Some(Round { declaration: &message.path, waiting }) }
}

fn answer(breaches: &mut Breaches, round: Option<&mut Round<'_>>, message: &Message<'_>) {
    let Some(id) = string(message.fields.get("tool_call_id")) else { return };
    let path = format!("{}.tool_call_id", message.path);
    let name = quoted(&id);
    let Some(round) = round else {
        let what = format!(
            "answers {name}, but this run of `tool` messages stands behind no declaration; text \
             in a user message would do"
        );
        return breaches.add("OAI-CHAT-2", path, what);
    };
    let declaration = round.declaration;
    match round.waiting.get_mut(&*id) {
        None => {
            let what = format!(
                "answers {name}, which {declaration} does not declare; text in a user message \
                 would do"
            );
            breaches.add("OAI-CHAT-2", path, what);
        }
        Some(places) => {
            if places.pop_front().is_none() {
                let what = format!("answers {name} once more; one result for each call would do");
                breaches.add("OAI-CHAT-12", path, what);
            }
        }
    }
}

/// Ends a round at the message of another role that ended its run, if any.
fn close(breaches: &mut Breaches, round: Option<Round<'_>>, at: Option<&str>) {
    let Some(round) = round else { return };
    let mut open: Vec<(usize, Cow<'_, str>)> = Vec::new();
    for (id, places) in round.waiting {
        open.extend(places.into_iter().map(|place| (place, id.clone())));
    }
    open.sort_unstable();
    for (index, id) in open {
        let what = format!(
            "{} is not answered before {}; a `tool` message right behind the declaration would do",
            quoted(&id),
            at.unwrap_or("the end")
        );
        breaches.add("OAI-CHAT-1", format!("{}.tool_calls[{index}].id", round.declaration), what);
    }
}
