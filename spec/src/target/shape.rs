//! What the targets have in common: a payload's messages opened down to their
//! blocks, each with its path, and the list that breaches are collected in.
//!
//! Nothing here refuses anything, since a payload may be any JSON: what a value
//! is not, it does not have.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::{Breach, unicode};
use crate::json::{RawValue, compact, excerpt, kind_of};
use crate::text::Text;
use crate::wire::{Body, Part};

/// An object's fields, looked at without complaint: what is no object has none,
/// and of a repeated name the last counts.
pub(super) struct Object<'a>(Vec<(Name<'a>, &'a RawValue)>);

/// The name of a field.
struct Name<'a>(Cow<'a, str>);

/// One message of a payload.
pub(super) struct Message<'a> {
    /// Like `messages[3]`.
    pub(super) path: String,
    pub(super) raw: &'a RawValue,
    /// Its fields; none where it is no object.
    pub(super) fields: Object<'a>,
    /// Its role, if that is a string.
    pub(super) role: Option<Cow<'a, str>>,
    pub(super) content: Content<'a>,
}

/// What stands in a field that takes a string or an array of blocks.
pub(super) enum Content<'a> {
    /// Absent, or `null`.
    None,
    /// A bare string, as the one text block that it stands for.
    Bare(Block<'a>),
    /// An array.
    Blocks(Vec<Block<'a>>),
    /// Anything else.
    Other(&'a RawValue),
}

/// One block (OpenAI: part) of a message's content.
pub(super) struct Block<'a> {
    /// Like `messages[3].content[0]`; of a bare string `messages[3].content`.
    pub(super) path: String,
    pub(super) raw: &'a RawValue,
    pub(super) fields: Object<'a>,
    pub(super) form: Form,
    /// Its `type`; `text` for a bare string; for what has no type the kind of
    /// JSON value that it is, like `a number`.
    pub(super) kind: Cow<'a, str>,
}

/// How a block is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As a string in the place of an array of blocks.
    Bare,
    /// As an object with a `type`.
    Typed,
    /// As anything else.
    Untyped,
}

/// Why a payload has no messages: where, and what is wrong there.
pub(super) struct NoMessages {
    pub(super) path: &'static str,
    pub(super) what: String,
}

/// Opens the messages of a payload.
pub(super) fn messages(payload: &RawValue) -> Result<Vec<Message<'_>>, NoMessages> {
    let refused = |path, what| Err(NoMessages { path, what });
    if kind_of(payload) != "an object" {
        let found = excerpt(payload.get());
        return refused("", format!("must be an object with `messages`, found {found}"));
    }
    let Some(raw) = Object::look(payload).get("messages") else {
        return refused("messages", "is missing; must be an array of messages".to_string());
    };
    let Some(items) = array(raw) else {
        let found = excerpt(raw.get());
        return refused("messages", format!("must be an array of messages, found {found}"));
    };
    if items.is_empty() {
        return refused("messages", "is empty; must hold at least one message".to_string());
    }
    Ok(items.into_iter().enumerate().map(|(index, raw)| Message::open(index, raw)).collect())
}

impl<'a> Object<'a> {
    pub(super) fn look(raw: &'a RawValue) -> Self {
        // The first character tells; an error would be formatted for nothing.
        let text = raw.get();
        let object = if text.starts_with('{') { serde_json::from_str(text).ok() } else { None };
        object.unwrap_or(Self(Vec::new()))
    }

    /// A field's value, if it is there.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(field, _)| field.0 == name).map(|(_, raw)| *raw)
    }

    /// The fields' names, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &*name.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Vec<(Name<'de>, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(4);
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(ObjectVisitor).map(Object)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_bytes<E: de::Error>(self, name: &'de [u8]) -> Result<Self::Value, E> {
                Ok(String::from_utf8_lossy(name))
            }
            fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Self::Value, E> {
                Ok(Cow::Owned(String::from_utf8_lossy(name).into_owned()))
            }
        }
        // As bytes, since a name may hold an unpaired surrogate as well.
        deserializer.deserialize_bytes(NameVisitor).map(Name)
    }
}

impl<'a> Message<'a> {
    fn open(index: usize, raw: &'a RawValue) -> Self {
        let path = format!("messages[{index}]");
        let fields = Object::look(raw);
        let content = Content::open(fields.get("content"), &format!("{path}.content"));
        let role = string(fields.get("role"));
        Self { path, raw, fields, role, content }
    }
}

impl<'a> Content<'a> {
    /// Opens the field that stands at `path`.
    pub(super) fn open(raw: Option<&'a RawValue>, path: &str) -> Self {
        let Some(raw) = raw else { return Self::None };
        match kind_of(raw) {
            "null" => Self::None,
            "a string" => Self::Bare(Block::bare(path, raw)),
            "an array" => {
                let items = array(raw).unwrap_or_default().into_iter().enumerate();
                let open = |(at, raw)| Block::open(format!("{path}[{at}]"), raw);
                Self::Blocks(items.map(open).collect())
            }
            _ => Self::Other(raw),
        }
    }

    /// The blocks, a bare string as one.
    pub(super) fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::None | Self::Other(_) => &[],
            Self::Bare(block) => core::slice::from_ref(block),
            Self::Blocks(blocks) => blocks,
        }
    }

    /// The parts that the blocks are on the neutral wire. What is neither a
    /// string nor an array is one foreign part.
    pub(super) fn lift(&self, path: &str, body: impl Fn(&Block<'_>) -> Body) -> Vec<Part> {
        match self {
            Self::Other(raw) => {
                Vec::from([part(path.to_owned(), raw, Body::Foreign(kind_of(raw).to_owned()))])
            }
            Self::None | Self::Bare(_) | Self::Blocks(_) => {
                let lift = |block: &Block<'_>| part(block.path.clone(), block.raw, body(block));
                self.blocks().iter().map(lift).collect()
            }
        }
    }
}

impl<'a> Block<'a> {
    fn bare(path: &str, raw: &'a RawValue) -> Self {
        let fields = Object::look(raw);
        Self { path: path.to_owned(), raw, fields, form: Form::Bare, kind: "text".into() }
    }

    fn open(path: String, raw: &'a RawValue) -> Self {
        let fields = Object::look(raw);
        let (form, kind) = match string(fields.get("type")) {
            Some(kind) => (Form::Typed, kind),
            None => (Form::Untyped, kind_of(raw).into()),
        };
        Self { path, raw, fields, form, kind }
    }

    /// The string in a field, if one is there.
    pub(super) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        string(self.fields.get(name))
    }

    /// The text of a text block, however it is written.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        if self.form == Form::Bare { string(Some(self.raw)) } else { self.string("text") }
    }

    /// The path of that text.
    pub(super) fn text_path(&self) -> String {
        if self.form == Form::Bare { self.path.clone() } else { self.at("text") }
    }

    /// The path of a field.
    pub(super) fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// True if it says itself that it is of this type.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.form == Form::Typed && self.kind == kind
    }
}

/// A part of the neutral wire.
pub(super) fn part(path: String, raw: &RawValue, body: Body) -> Part {
    Part { path, sent: compact(raw.get()).into_owned(), body }
}

/// The string that a value is, with U+FFFD for each unpaired surrogate.
pub(super) fn string(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let text = raw?.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let text: Text = serde_json::from_str(text).ok()?;
    Some(Cow::Owned(text.to_unicode().into_owned()))
}

/// The same where the neutral wire wants a string at any rate.
pub(super) fn string_or_empty(raw: Option<&RawValue>) -> String {
    string(raw).unwrap_or_default().into_owned()
}

/// The elements that an array has.
pub(super) fn array(raw: &RawValue) -> Option<Vec<&RawValue>> {
    // The first character tells; an error would be formatted for nothing.
    let text = raw.get();
    if text.starts_with('[') { serde_json::from_str(text).ok() } else { None }
}

/// What stands in a field, for a message: `nothing` where it is absent.
pub(super) fn found(raw: Option<&RawValue>) -> String {
    raw.map_or_else(|| "nothing".to_string(), |raw| excerpt(&compact(raw.get())))
}

/// An id, a name or a type, for a message.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", excerpt(text))
}

/// True if all of a name's or an id's characters are letters of ASCII, digits,
/// `_` or `-`.
pub(super) fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// How many characters a text has.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// True if there is nothing in a text, or only white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The breaches found so far.
#[derive(Default)]
pub(super) struct Breaches(pub(super) Vec<Breach>);

impl Breaches {
    /// Notes a breach.
    pub(super) fn add(
        &mut self,
        rule: &'static str,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.0.push(Breach { rule, path: path.into(), message: message.into() });
    }

    /// Notes every string of the payload that is no valid Unicode.
    pub(super) fn add_unpaired_surrogates(&mut self, rule: &'static str, payload: &RawValue) {
        for path in unicode::broken_strings(payload.get()) {
            self.add(
                rule,
                path,
                "holds an unpaired surrogate escape; `\\ufffd` in its place would do",
            );
        }
    }
}
