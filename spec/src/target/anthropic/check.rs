//! Finds every breach of the table of Anthropic Messages.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::blocks::{Place, check_blank, check_block, check_fields};
use super::turns::{
    Role, Turn, check_pairing, check_server_tools, check_thinking, is_server_call,
    is_server_result, turns,
};
use crate::json::{RawValue, kind_of};
use crate::op::Constraint;
use crate::target::shape::{
    Breaches, Content, Form, Message, Object, array, found, messages, quoted, string,
};
use crate::target::{Breach, Profile};

/// How many messages a request may have (ANT-24).
const MOST_MESSAGES: usize = 100_000;

/// Checks a payload. The constraint that thinking must be off averts ANT-15
/// (and makes ANT-31 hold); the one that declares tools averts ANT-22.
pub(crate) fn check(
    profile: &Profile,
    payload: &RawValue,
    constraints: &[Constraint],
) -> Vec<Breach> {
    let mut breaches = Breaches::default();
    breaches.add_unpaired_surrogates("ANT-26", payload);
    let fields = Object::look(payload);
    check_system(&mut breaches, fields.get("system"));
    match messages(payload) {
        Err(none) => breaches.add("ANT-27", none.path, none.what),
        Ok(messages) => {
            for (index, message) in messages.iter().enumerate() {
                check_message(&mut breaches, message, index + 1 == messages.len());
            }
            check_ends(&mut breaches, profile, &messages);
            check_system_messages(&mut breaches, &messages);
            let turns = turns(&messages);
            check_pairing(&mut breaches, &turns);
            check_server_tools(&mut breaches, &turns);
            let on = profile.thinking && !constraints.contains(&Constraint::ThinkingOff);
            check_thinking(&mut breaches, &turns, on);
            let offered =
                fields.get("tools").and_then(array).is_some_and(|tools| !tools.is_empty());
            if !profile.tools && !offered {
                check_tools(&mut breaches, &turns, constraints);
            }
        }
    }
    breaches.0
}

/// The field `system`: a string or text blocks.
fn check_system(breaches: &mut Breaches, raw: Option<&RawValue>) {
    let Some(raw) = raw else { return };
    match Content::open(Some(raw), "system") {
        Content::Bare(_) => {}
        Content::Blocks(blocks) => {
            for block in &blocks {
                check_block(breaches, block, Place::System);
            }
        }
        Content::None | Content::Other(_) => {
            let found = found(Some(raw));
            let what = format!("must be a string or an array of text blocks, found {found}");
            breaches.add("ANT-27", "system", what);
        }
    }
}

fn check_message(breaches: &mut Breaches, message: &Message<'_>, is_last: bool) {
    if kind_of(message.raw) != "an object" {
        let found = found(Some(message.raw));
        let what = format!("must be an object with a role and content, found {found}");
        return breaches.add("ANT-27", message.path.clone(), what);
    }
    check_fields(breaches, &message.path, &message.fields, &["role", "content"], "message");
    let role = Role::of(message);
    let place = match role {
        Role::User => Place::User,
        Role::Assistant => Place::Assistant,
        Role::System => Place::System,
        Role::Unknown => {
            let found = found(message.fields.get("role"));
            let what = format!("must be user, assistant or system, found {found}");
            return breaches.add("ANT-27", format!("{}.role", message.path), what);
        }
    };
    let excused = is_last && role == Role::Assistant;
    let path = format!("{}.content", message.path);
    match &message.content {
        Content::Bare(block) => match block.text() {
            Some(text) if text.is_empty() && !excused => {
                breaches.add("ANT-8", path, "is empty; leave the message out");
            }
            Some(text) if !text.is_empty() => check_blank(breaches, path, &text),
            Some(_) | None => {}
        },
        Content::Blocks(blocks) if blocks.is_empty() && !excused => {
            breaches.add("ANT-8", path, "is empty; leave the message out");
        }
        Content::Blocks(blocks) => {
            for block in blocks {
                check_block(breaches, block, place);
            }
        }
        Content::None => {
            let found = found(message.fields.get("content"));
            let what = format!("must be a string or an array of blocks, found {found}");
            breaches.add("ANT-8", path, what);
        }
        Content::Other(raw) => {
            let found = found(Some(raw));
            let what = format!("must be a string or an array of blocks, found {found}");
            breaches.add("ANT-27", path, what);
        }
    }
}

/// ANT-10, ANT-12 and ANT-24: how a request begins, ends, and how long it is.
fn check_ends(breaches: &mut Breaches, profile: &Profile, messages: &[Message<'_>]) {
    if let Some(first) = messages.first().filter(|first| Role::of(first) == Role::Assistant) {
        let path = format!("{}.role", first.path);
        breaches.add("ANT-10", path, "begins with the assistant; a user message first would do");
    }
    if messages.len() > MOST_MESSAGES {
        let what = format!("holds {} messages; at most {MOST_MESSAGES} would do", messages.len());
        breaches.add("ANT-24", "messages", what);
    }
    let Some(last) = messages.last().filter(|last| Role::of(last) == Role::Assistant) else {
        return;
    };
    let end = last.content.blocks().last();
    if !profile.prefill {
        if !end.is_some_and(is_server_call) {
            let path = format!("{}.role", last.path);
            let what = "ends with the assistant; a user message behind it would do";
            breaches.add("ANT-12", path, what);
        }
        return;
    }
    let Some(end) = end.filter(|end| end.form == Form::Bare || end.is("text")) else { return };
    let trails = |text: Cow<'_, str>| text.ends_with(char::is_whitespace);
    if end.text().is_some_and(trails) {
        let what = "ends in white space; trim it";
        breaches.add("ANT-12", end.text_path(), what);
    }
}

/// ANT-11: where a message of role system stands.
fn check_system_messages(breaches: &mut Breaches, messages: &[Message<'_>]) {
    for (index, message) in messages.iter().enumerate() {
        if Role::of(message) != Role::System {
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| messages.get(before));
        let ends_in_server_result =
            |message: &Message<'_>| message.content.blocks().last().is_some_and(is_server_result);
        let behind = match before.map(|before| (Role::of(before), before)) {
            Some((Role::User, _)) => None,
            Some((Role::Assistant, before)) if ends_in_server_result(before) => None,
            Some((Role::Assistant, _)) => Some("stands behind an assistant message"),
            Some((Role::System, _)) => Some("stands behind another one of role system"),
            Some((Role::Unknown, _)) => Some("stands behind a message of no known role"),
            None => Some("stands first"),
        };
        let path = format!("{}.role", message.path);
        if let Some(behind) = behind {
            let what = format!("{behind}; behind a user message it would do");
            breaches.add("ANT-11", path, what);
        } else if messages.get(index + 1).is_some_and(|next| Role::of(next) == Role::User) {
            let what = "stands before a user message; put it behind";
            breaches.add("ANT-11", path, what);
        }
    }
}

/// ANT-22, where the request offers no tools: each tool at its first call.
fn check_tools(breaches: &mut Breaches, turns: &[Turn<'_, '_>], constraints: &[Constraint]) {
    let mut known: BTreeSet<Cow<'_, str>> = BTreeSet::new();
    for constraint in constraints {
        match constraint {
            Constraint::DeclareTools(names) => {
                known.extend(names.iter().map(|name| Cow::Borrowed(&**name)));
            }
            Constraint::ThinkingOff | Constraint::StandIn(_) => {}
        }
    }
    let calls = turns.iter().flat_map(|turn| &turn.blocks).filter(|block| block.is("tool_use"));
    for block in calls {
        let Some(name) = string(block.fields.get("name")) else { continue };
        if known.insert(name.clone()) {
            let what = format!(
                "calls {}, and the request declares no tools; a constraint that declares it \
                 would do",
                quoted(&name)
            );
            breaches.add("ANT-22", block.at("name"), what);
        }
    }
}
