//! From the JSON of OpenAI Chat Completions to the neutral wire.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{RawValue, kind_of};
use crate::target::shape::{
    Block, Message, Object, array, messages, part, string, string_or_empty,
};
use crate::wire::{Body, Part, Wire, WireCall, WireImage, WireMessage, WireReasoning};
use crate::wire::{WireResult, WireRole};

/// Lifts a payload. A message of no known role is one foreign part in the
/// voice that the model listens to.
pub(crate) fn lift(payload: &RawValue) -> Wire {
    let messages = messages(payload).unwrap_or_default();
    Wire { messages: messages.iter().map(lift_message).collect() }
}

fn lift_message(message: &Message<'_>) -> WireMessage {
    let (role, parts) = match message.role.as_deref() {
        Some("system" | "developer") => (WireRole::System, content(message)),
        Some("user") => (WireRole::User, content(message)),
        Some("assistant") => (WireRole::Assistant, assistant(message)),
        Some("tool" | "function") => (WireRole::Tool, Vec::from([result(message)])),
        Some(role) => (WireRole::User, Vec::from([foreign(message, role)])),
        None => (WireRole::User, Vec::from([foreign(message, kind_of(message.raw))])),
    };
    WireMessage { role, path: message.path.clone(), parts }
}

fn foreign(message: &Message<'_>, kind: &str) -> Part {
    part(message.path.clone(), message.raw, Body::Foreign(kind.to_string()))
}

fn content(message: &Message<'_>) -> Vec<Part> {
    message.content.lift(&format!("{}.content", message.path), body)
}

/// Reasoning, what was said, and then the calls: the order in which the model
/// made them.
fn assistant(message: &Message<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(raw) = message.fields.get("reasoning_content")
        && let Some(text) = string(Some(raw))
    {
        let text = text.into_owned();
        let body = Body::Reasoning(WireReasoning { text, token: None });
        parts.push(part(format!("{}.reasoning_content", message.path), raw, body));
    }
    parts.extend(content(message));
    if let Some(raw) = message.fields.get("refusal")
        && let Some(text) = string(Some(raw))
    {
        let body = Body::Text(text.into_owned());
        parts.push(part(format!("{}.refusal", message.path), raw, body));
    }
    let calls = message.fields.get("tool_calls").and_then(array).unwrap_or_default();
    for (index, raw) in calls.into_iter().enumerate() {
        parts.push(part(format!("{}.tool_calls[{index}]", message.path), raw, call(raw)));
    }
    if let Some(raw) = message.fields.get("function_call")
        && kind_of(raw) == "an object"
    {
        let body = Body::Call(function(String::new(), &Object::look(raw)));
        parts.push(part(format!("{}.function_call", message.path), raw, body));
    }
    parts
}

fn call(raw: &RawValue) -> Body {
    let fields = Object::look(raw);
    let id = string_or_empty(fields.get("id"));
    if let Some(raw) = fields.get("function") {
        return Body::Call(function(id, &Object::look(raw)));
    }
    if let Some(raw) = fields.get("custom") {
        let custom = Object::look(raw);
        let name = string_or_empty(custom.get("name"));
        // Its input is free text: as JSON, the string as it stands.
        let arguments = custom.get("input").map_or("", RawValue::get).to_string();
        return Body::Call(WireCall { id, name, arguments });
    }
    Body::Foreign(kind_of(raw).to_string())
}

fn function(id: String, fields: &Object<'_>) -> WireCall {
    let name = string_or_empty(fields.get("name"));
    WireCall { id, name, arguments: string_or_empty(fields.get("arguments")) }
}

/// A `tool` message as a whole is one result.
fn result(message: &Message<'_>) -> Part {
    let call = string_or_empty(message.fields.get("tool_call_id"));
    let result = WireResult { call, error: None, content: content(message) };
    part(message.path.clone(), message.raw, Body::Result(result))
}

fn body(block: &Block<'_>) -> Body {
    let text = match &*block.kind {
        "text" => block.text(),
        "refusal" => block.string("refusal"),
        "image_url" => {
            let image = block.fields.get("image_url").map(Object::look);
            return match image.and_then(|image| string(image.get("url"))) {
                Some(url) => Body::Image(WireImage { source: source(&url) }),
                None => Body::Foreign(block.kind.to_string()),
            };
        }
        _ => None,
    };
    match text {
        Some(text) => Body::Text(text.into_owned()),
        None => Body::Foreign(block.kind.to_string()),
    }
}

/// The data of a `data:` URL; any other URL as it is.
fn source(url: &str) -> String {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    data.map_or(url, |(_, data)| data).to_string()
}
