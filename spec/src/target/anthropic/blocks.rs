//! What Anthropic Messages demands of each block by itself.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use crate::json::{RawValue, kind_of};
use crate::target::shape::{
    Block, Breaches, Content, Form, Object, found, is_blank, is_plain, length, quoted, string,
};

/// How many characters a called tool's name may have (ANT-29).
const LONGEST_NAME: usize = 200;
/// What a result may hold (ANT-19).
const IN_RESULT: [&str; 6] =
    ["text", "image", "document", "search_result", "tool_reference", "browser_state"];
/// The images that are taken (ANT-27).
const MEDIA_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Where a block stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    User,
    Assistant,
    System,
    /// Inside a result.
    Result,
}

/// The fields of each type of block whose fields are known here (ANT-25).
/// `None`: of a type that is known without its fields; an error: of none.
fn fields_of(kind: &str) -> Result<Option<&'static [&'static str]>, ()> {
    Ok(Some(match kind {
        "text" => &["type", "text", "cache_control", "citations"],
        "image" => &["type", "source", "cache_control"],
        "document" => &["type", "source", "cache_control", "citations", "context", "title"],
        "search_result" => &["type", "content", "source", "title", "cache_control", "citations"],
        "thinking" => &["type", "thinking", "signature"],
        "redacted_thinking" => &["type", "data"],
        "tool_use" => &["type", "id", "name", "input", "cache_control", "caller", "toolset_name"],
        "tool_result" => &["type", "tool_use_id", "content", "is_error", "cache_control"],
        "compaction" => &["type", "content", "encrypted_content", "cache_control"],
        "server_tool_use" | "mcp_tool_use" | "container_upload" | "tool_reference"
        | "browser_state" | "mid_conv_system" | "fallback" => return Ok(None),
        _ if kind.ends_with("_tool_result") => return Ok(None),
        _ => return Err(()),
    }))
}

/// Checks one block and, of a result, what is inside it.
pub(super) fn check_block(breaches: &mut Breaches, block: &Block<'_>, place: Place) {
    match block.form {
        Form::Bare => return,
        Form::Untyped => {
            let what = format!("must be an object with a `type`, found {}", found(Some(block.raw)));
            return breaches.add("ANT-27", block.path.clone(), what);
        }
        Form::Typed => {}
    }
    if place == Place::Result && !IN_RESULT.contains(&&*block.kind) {
        let what =
            format!("`{}` in a result; one of {} would do", block.kind, IN_RESULT.join(", "));
        return breaches.add("ANT-19", block.path.clone(), what);
    }
    check_place(breaches, block, place);
    match fields_of(&block.kind) {
        Err(()) => {
            let what = format!("is of the unknown type {}", quoted(&block.kind));
            return breaches.add("ANT-27", block.at("type"), what);
        }
        Ok(None) => {}
        Ok(Some(known)) => {
            check_fields(breaches, &block.path, &block.fields, known, &block.kind);
        }
    }
    check_kind(breaches, block);
}

/// ANT-25: the fields of a message or a block are among those of its type.
pub(super) fn check_fields(
    breaches: &mut Breaches,
    path: &str,
    fields: &Object<'_>,
    known: &[&str],
    kind: &str,
) {
    for name in fields.names().filter(|name| !known.contains(name)) {
        let path = format!("{path}.{}", name);
        breaches.add("ANT-25", path, format!("is no field of `{kind}`; leave it out"));
    }
}

/// ANT-28: who may hold it.
fn check_place(breaches: &mut Breaches, block: &Block<'_>, place: Place) {
    let wanted = match &*block.kind {
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "thinking" | "redacted_thinking" => {
            Some((Place::Assistant, "an assistant message"))
        }
        "tool_result" | "image" => Some((Place::User, "a user message")),
        kind if kind.ends_with("_tool_result") => Some((Place::Assistant, "an assistant message")),
        _ => None,
    };
    let held = match place {
        Place::User => "a user message",
        Place::Assistant => "an assistant message",
        Place::System => "the system's voice",
        Place::Result => return,
    };
    let what = match wanted {
        Some((role, _)) if role == place => return,
        Some((_, wanted)) => {
            format!("`{}` in {held}; in {wanted} it would do", block.kind)
        }
        None if place == Place::System && block.kind != "text" => {
            format!("`{}` in {held}; `text` would do", block.kind)
        }
        None => return,
    };
    breaches.add("ANT-28", block.path.clone(), what);
}

/// What a block of each type must have.
fn check_kind(breaches: &mut Breaches, block: &Block<'_>) {
    let field = |name| block.fields.get(name);
    match &*block.kind {
        "text" => match block.text() {
            Some(text) => check_blank(breaches, block.at("text"), &text),
            None => need(breaches, "ANT-27", block, "text", "a string"),
        },
        "thinking" => {
            if string(field("thinking")).is_none() {
                need(breaches, "ANT-13", block, "thinking", "a string");
            }
            need_token(breaches, "ANT-13", block, "signature");
        }
        "redacted_thinking" => need_token(breaches, "ANT-18", block, "data"),
        "tool_use" => check_call(breaches, block),
        "tool_result" => check_result(breaches, block),
        "image" => check_image(breaches, block),
        "compaction" => {
            let failed = field("content").is_some_and(|raw| kind_of(raw) == "null");
            if !failed && string(field("content")).is_none_or(|text| is_blank(&text)) {
                need(breaches, "ANT-23", block, "content", "a text that is not empty, or null");
            }
        }
        _ => {}
    }
}

/// Notes that a field is not what it must be.
fn need(breaches: &mut Breaches, rule: &'static str, block: &Block<'_>, name: &str, wanted: &str) {
    let found = found(block.fields.get(name));
    breaches.add(rule, block.at(name), format!("must be {wanted}, found {found}"));
}

fn need_token(breaches: &mut Breaches, rule: &'static str, block: &Block<'_>, name: &str) {
    if block.string(name).is_none_or(|token| is_blank(&token)) {
        let found = found(block.fields.get(name));
        let what = format!("must be what the provider gave, found {found}; leave the block out");
        breaches.add(rule, block.at(name), what);
    }
}

/// ANT-7.
pub(super) fn check_blank(breaches: &mut Breaches, path: String, text: &str) {
    if is_blank(text) {
        let what = if text.is_empty() { "is empty" } else { "is nothing but white space" };
        breaches.add("ANT-7", path, format!("{what}; leave the block out"));
    }
}

fn check_call(breaches: &mut Breaches, block: &Block<'_>) {
    check_id(breaches, block, "id");
    let valid = |name: Cow<'_, str>| is_plain(&name) && (1..=LONGEST_NAME).contains(&length(&name));
    if !block.string("name").is_some_and(valid) {
        let what = format!(
            "must be 1 to {LONGEST_NAME} characters of a-z, A-Z, 0-9, `_` and `-`, found {}",
            found(block.fields.get("name"))
        );
        breaches.add("ANT-29", block.at("name"), what);
    }
    if block.fields.get("input").is_none_or(|raw| kind_of(raw) != "an object") {
        need(breaches, "ANT-20", block, "input", "an object");
    }
}

/// ANT-6.
fn check_id(breaches: &mut Breaches, block: &Block<'_>, name: &str) {
    if !block.string(name).is_some_and(|id| is_plain(&id) && !id.is_empty()) {
        let what = format!(
            "must be characters of a-z, A-Z, 0-9, `_` and `-`, found {}",
            found(block.fields.get(name))
        );
        breaches.add("ANT-6", block.at(name), what);
    }
}

fn check_result(breaches: &mut Breaches, block: &Block<'_>) {
    check_id(breaches, block, "tool_use_id");
    let error = block.fields.get("is_error");
    if let Some(raw) = error.filter(|raw| kind_of(raw) != "a boolean") {
        let what = format!("must be true or false, found {}", found(Some(raw)));
        breaches.add("ANT-27", block.at("is_error"), what);
    }
    let Some(raw) = block.fields.get("content") else { return };
    match Content::open(Some(raw), &block.at("content")) {
        Content::Bare(_) => {}
        Content::Blocks(blocks) => {
            for inner in &blocks {
                check_block(breaches, inner, Place::Result);
            }
        }
        Content::None | Content::Other(_) => {
            let what = format!(
                "must be a string or an array of blocks, or be absent, found {}",
                found(Some(raw))
            );
            breaches.add("ANT-19", block.at("content"), what);
        }
    }
}

fn check_image(breaches: &mut Breaches, block: &Block<'_>) {
    let source = block.fields.get("source").map(Object::look);
    let field = |name: &str| source.as_ref().and_then(|source| source.get(name));
    let filled = |raw: Option<&RawValue>| string(raw).is_some_and(|text| !is_blank(&text));
    let mut demand = |name: &str, wanted: &str, valid: bool| {
        if !valid {
            let what = format!("must be {wanted}, found {}", found(field(name)));
            breaches.add("ANT-27", block.at(&format!("source.{name}")), what);
        }
    };
    match string(field("type")).as_deref() {
        Some("base64") => {
            let media = string(field("media_type"));
            let known = media.is_some_and(|media| MEDIA_TYPES.iter().any(|known| &media == known));
            demand("media_type", &MEDIA_TYPES.join(", "), known);
            demand("data", "base64 that is not empty", filled(field("data")));
        }
        Some("url") => demand("url", "a URL", filled(field("url"))),
        Some("file") => demand("file_id", "a file's id", filled(field("file_id"))),
        Some(_) | None => demand("type", "base64, url or file", false),
    }
}
