//! What a call must be on both targets: its name, its arguments, its id.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use onrecord_spec::json::{RawValue, mend_surrogates};
use onrecord_spec::text::Text;
use serde::ser::{Error, Serialize, SerializeMap, Serializer};

use super::wording::{INVALID_ARGUMENTS, UNNAMED_TOOL};

/// The longest name that a target takes (OAI-CHAT-10).
const LONGEST_NAME: usize = 64;

/// True for the characters that both targets take in a name, and Anthropic in an
/// id (ANT-6, OAI-CHAT-10).
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A tool's name as both targets take it. Owned if it had to be changed.
pub(super) fn tool_name(stored: &Text) -> Cow<'_, str> {
    let name = stored.to_unicode();
    if name.is_empty() {
        return Cow::Owned(String::from(UNNAMED_TOOL));
    }
    if name.len() <= LONGEST_NAME && name.chars().all(is_plain) {
        return name;
    }
    let plain = |c| if is_plain(c) { c } else { '_' };
    Cow::Owned(name.chars().take(LONGEST_NAME).map(plain).collect())
}

/// A call's arguments: always a JSON object, whatever the model wrote
/// (`replay.arguments-valid`). Serialised, they are that object; [`AsText`] is
/// the same as a string.
#[derive(Debug, Clone)]
pub enum Arguments<'a> {
    /// The object as it was stored: order of keys and form of numbers included.
    Stored(&'a RawValue),
    /// The object in a valid form, where half a surrogate pair stood in it, or
    /// on one line.
    Mended(Box<RawValue>),
    /// There were none.
    None,
    /// What was stored is no JSON object. It crosses as a string in an object
    /// that says so.
    Invalid(Cow<'a, str>),
}

impl<'a> Arguments<'a> {
    /// Reads stored arguments, once. Beside them, whether they had to be mended.
    pub(super) fn read(stored: &'a Text) -> (Self, bool) {
        let text = stored.to_unicode();
        if text.trim().is_empty() {
            return (Self::None, false);
        }
        let read = match &text {
            Cow::Borrowed(text) => Self::object(text),
            // Half a surrogate pair stood in the string itself.
            Cow::Owned(text) => Self::object(text).and_then(|(arguments, _)| match arguments {
                Arguments::Stored(raw) => Some((Self::Mended(raw.to_owned()), true)),
                Arguments::Mended(raw) => Some((Self::Mended(raw), true)),
                Arguments::None | Arguments::Invalid(_) => None,
            }),
        };
        read.unwrap_or((Self::Invalid(text), true))
    }

    /// The object that a text holds, if it does.
    fn object(text: &str) -> Option<(Arguments<'_>, bool)> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        let object = raw.get();
        if !object.starts_with('{') {
            return None;
        }
        if !object.contains(['\n', '\r', '\\']) {
            return Some((Arguments::Stored(raw), false));
        }
        // The bare half is refused by every provider (bugs B029, B030). A line
        // break in JSON never stands in a string, so it can be a space.
        let paired = mend_surrogates(object);
        let mended = matches!(paired, Cow::Owned(_));
        if !mended && !object.contains(['\n', '\r']) {
            return Some((Arguments::Stored(raw), false));
        }
        let line = paired.replace(['\n', '\r'], " ");
        RawValue::from_string(line).ok().map(|raw| (Arguments::Mended(raw), mended))
    }
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stored(raw) => raw.serialize(serializer),
            Self::Mended(raw) => raw.serialize(serializer),
            Self::None => serializer.serialize_map(Some(0))?.end(),
            Self::Invalid(text) => {
                let mut object = serializer.serialize_map(Some(1))?;
                object.serialize_entry(INVALID_ARGUMENTS, text)?;
                object.end()
            }
        }
    }
}

/// Arguments as the string of their JSON (OAI-CHAT-5).
#[derive(Debug, Clone)]
pub struct AsText<'a>(pub Arguments<'a>);

impl Serialize for AsText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Arguments::Stored(raw) => serializer.serialize_str(raw.get()),
            Arguments::Mended(raw) => serializer.serialize_str(raw.get()),
            Arguments::None | Arguments::Invalid(_) => {
                let text = serde_json::to_string(&self.0).map_err(S::Error::custom)?;
                serializer.serialize_str(&text)
            }
        }
    }
}

/// The ids that are given out on the wire (`replay.ids-valid`). A function of
/// what came before, so that an id never changes when rows are appended.
#[derive(Debug, Default)]
pub(super) struct Ids<'a> {
    given: BTreeSet<Cow<'a, str>>,
}

impl<'a> Ids<'a> {
    /// The id of the call at place `block` of row `seq`. The stored one, if the
    /// target takes it and it is not given out; else one made of the call's
    /// place. Owned if it had to be made.
    pub fn give(
        &mut self,
        stored: &'a Text,
        is_taken: impl Fn(&str) -> bool,
        seq: u64,
        block: usize,
    ) -> Cow<'a, str> {
        let kept = stored.as_str().filter(|id| is_taken(id) && !self.given.contains(*id));
        let id = kept.map_or_else(|| Cow::Owned(self.make(seq, block)), Cow::Borrowed);
        self.given.insert(id.clone());
        id
    }

    fn make(&self, seq: u64, block: usize) -> String {
        let base = format!("call_{seq}_{block}");
        let mut id = base.clone();
        let mut tries = 1_u64;
        while self.given.contains(id.as_str()) {
            id = if tries == 1 { format!("{base}_x") } else { format!("{base}_x{tries}") };
            tries += 1;
        }
        id
    }
}

/// An id that Anthropic takes (ANT-6).
pub(super) fn is_anthropic_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(is_plain)
}

/// An id that OpenAI Chat takes: 1 to 64 characters (OAI-CHAT-3). A blank one
/// would be no id to those who are compatible with it.
pub(super) fn is_openai_id(id: &str) -> bool {
    !id.trim().is_empty() && id.chars().nth(64).is_none()
}

/// The names of the tools that are called, for a request that offers none (ANT-22).
#[derive(Debug, Default)]
pub(super) struct Called(BTreeSet<String>);

impl Called {
    pub fn note(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(String::from(name));
        }
    }

    /// The names, sorted, if there are any.
    pub fn names(self) -> Option<Vec<String>> {
        (!self.0.is_empty()).then(|| self.0.into_iter().collect())
    }
}
