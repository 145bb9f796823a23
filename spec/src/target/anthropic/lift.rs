//! From the JSON of Anthropic Messages to the neutral wire.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{RawValue, kind_of};
use crate::target::shape::{
    Block, Content, Message, Object, messages, part, string, string_or_empty,
};
use crate::wire::{Body, Part, Wire, WireCall, WireImage, WireMessage, WireReasoning};
use crate::wire::{WireResult, WireRole};

/// Lifts a payload: `system` first, then the messages. A message of no known
/// role is one foreign part in the voice that the model listens to.
pub(crate) fn lift(payload: &RawValue) -> Wire {
    let mut lifted = Vec::new();
    let system = Content::open(Object::look(payload).get("system"), "system");
    let parts = system.lift("system", body);
    if !parts.is_empty() {
        lifted.push(WireMessage { role: WireRole::System, path: "system".to_string(), parts });
    }
    lifted.extend(messages(payload).unwrap_or_default().iter().map(lift_message));
    Wire { messages: lifted }
}

fn lift_message(message: &Message<'_>) -> WireMessage {
    let content = || message.content.lift(&format!("{}.content", message.path), body);
    let (role, parts) = match message.role.as_deref() {
        Some("user") => (WireRole::User, content()),
        Some("assistant") => (WireRole::Assistant, content()),
        Some("system") => (WireRole::System, content()),
        Some(role) => (WireRole::User, Vec::from([foreign(message, role)])),
        None => (WireRole::User, Vec::from([foreign(message, kind_of(message.raw))])),
    };
    WireMessage { role, path: message.path.clone(), parts }
}

fn foreign(message: &Message<'_>, kind: &str) -> Part {
    part(message.path.clone(), message.raw, Body::Foreign(kind.to_string()))
}

fn body(block: &Block<'_>) -> Body {
    let field = |name| string_or_empty(block.fields.get(name));
    match &*block.kind {
        "text" => match block.text() {
            Some(text) => Body::Text(text.into_owned()),
            None => Body::Foreign(block.kind.to_string()),
        },
        "thinking" => {
            let token = block.string("signature").map(Cow::into_owned);
            Body::Reasoning(WireReasoning { text: field("thinking"), token })
        }
        "redacted_thinking" => {
            let token = block.string("data").map(Cow::into_owned);
            Body::Reasoning(WireReasoning { text: String::new(), token })
        }
        "tool_use" => {
            let arguments = block.fields.get("input").map_or("", RawValue::get).to_string();
            Body::Call(WireCall { id: field("id"), name: field("name"), arguments })
        }
        "tool_result" => {
            let error = block.fields.get("is_error").is_some_and(|raw| raw.get() == "true");
            let path = block.at("content");
            let content = Content::open(block.fields.get("content"), &path).lift(&path, inner_body);
            Body::Result(WireResult { call: field("tool_use_id"), error: Some(error), content })
        }
        "image" => match block.fields.get("source").map(Object::look).and_then(source) {
            Some(source) => Body::Image(WireImage { source }),
            None => Body::Foreign(block.kind.to_string()),
        },
        _ => Body::Foreign(block.kind.to_string()),
    }
}

/// The body of a block inside a result. A result inside a result is foreign
/// there, so the lift goes no deeper.
fn inner_body(block: &Block<'_>) -> Body {
    if block.is("text") || block.is("image") || block.kind == "text" {
        body(block)
    } else {
        Body::Foreign(block.kind.to_string())
    }
}

/// The data of an image, or its URL.
fn source(source: Object<'_>) -> Option<String> {
    let field = |name| string(source.get(name)).map(Cow::into_owned);
    field("data").or_else(|| field("url"))
}
