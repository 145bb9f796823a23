//! Text as it was stored, also where it is no valid Unicode.
//!
//! JSON lets a string hold half of a surrogate pair (`"\ud83d"`), and real logs
//! do: a cut in the middle of an emoji is enough (bugs B029, B031, B055). A Rust
//! `String` cannot hold it, so a reader built on `String` loses the whole
//! session for one label. [`Text`] keeps such a half and writes it back as it
//! was (rule `record.verbatim`).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{self, Serialize, Serializer};

use crate::json::RawValue;

/// A stored string: Unicode nearly always, and otherwise the exact code points,
/// unpaired surrogates included.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Form);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    Unicode(String),
    /// WTF-8: UTF-8, in which an unpaired surrogate is written like any other
    /// three-byte code point. Never valid UTF-8, or it would be `Unicode`.
    Wtf8(Vec<u8>),
}

/// U+FFFD in UTF-8. As long as an unpaired surrogate in WTF-8, so one can be
/// written over the other.
const REPLACEMENT: [u8; 3] = [0xEF, 0xBF, 0xBD];

impl Text {
    /// The text, if it is valid Unicode.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Form::Unicode(text) => Some(text),
            Form::Wtf8(_) => None,
        }
    }

    /// The text with U+FFFD for each unpaired surrogate: the form in which it
    /// can cross to a provider, all of which refuse the raw half.
    #[must_use]
    pub fn to_unicode(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Unicode(text) => Cow::Borrowed(text),
            Form::Wtf8(bytes) => {
                let mut mended = bytes.clone();
                let mut at = 0;
                while at + 2 < mended.len() {
                    if surrogate_at(&mended, at).is_some() {
                        mended[at..at + 3].copy_from_slice(&REPLACEMENT);
                        at += 3;
                    } else {
                        at += 1;
                    }
                }
                Cow::Owned(String::from_utf8_lossy(&mended).into_owned())
            }
        }
    }

    /// True if the text holds an unpaired surrogate.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(self.0, Form::Wtf8(_))
    }

    /// True if there is nothing in it, or only white space. Providers refuse
    /// such a text block (ANT-7).
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match &self.0 {
            Form::Unicode(text) => text.trim().is_empty(),
            Form::Wtf8(_) => false,
        }
    }

    /// Adds a text at the end. Two halves of a surrogate pair that meet there become
    /// the character that they are.
    pub fn push(&mut self, more: &Self) {
        match (&mut self.0, &more.0) {
            (Form::Unicode(text), Form::Unicode(more)) => text.push_str(more),
            (_, _) => {
                let mut bytes = self.as_bytes().to_vec();
                let mut rest = more.as_bytes();
                let high = bytes.len().checked_sub(3).and_then(|at| surrogate_at(&bytes, at));
                if let (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) =
                    (high, surrogate_at(rest, 0))
                {
                    let whole = char::decode_utf16([high, low]).flatten().next();
                    bytes.truncate(bytes.len() - 3);
                    bytes.extend_from_slice(
                        whole.unwrap_or_default().encode_utf8(&mut [0; 4]).as_bytes(),
                    );
                    rest = &rest[3..];
                }
                bytes.extend_from_slice(rest);
                *self = Self::from_wtf8(&bytes);
            }
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Form::Unicode(text) => text.as_bytes(),
            Form::Wtf8(bytes) => bytes,
        }
    }

    fn from_wtf8(bytes: &[u8]) -> Self {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self(Form::Unicode(String::from(text))),
            Err(_) => Self(Form::Wtf8(bytes.to_vec())),
        }
    }

    /// The JSON string literal of a text that is no valid Unicode.
    fn escaped(bytes: &[u8]) -> Result<String, serde_json::Error> {
        let mut literal = String::from("\"");
        let mut from = 0;
        let mut at = 0;
        let piece = |literal: &mut String, bytes: &[u8]| -> Result<(), serde_json::Error> {
            let quoted = serde_json::to_string(&String::from_utf8_lossy(bytes))?;
            literal.push_str(&quoted[1..quoted.len() - 1]);
            Ok(())
        };
        while at + 2 < bytes.len() {
            if let Some(unit) = surrogate_at(bytes, at) {
                piece(&mut literal, &bytes[from..at])?;
                literal.push_str(&format!("\\u{unit:04x}"));
                at += 3;
                from = at;
            } else {
                at += 1;
            }
        }
        piece(&mut literal, &bytes[from..])?;
        literal.push('"');
        Ok(literal)
    }
}

/// The unpaired surrogate whose three bytes begin at `at`, if one does.
fn surrogate_at(bytes: &[u8], at: usize) -> Option<u16> {
    let [0xED, second @ 0xA0..=0xBF, third] = bytes.get(at..at + 3)? else {
        return None;
    };
    Some(0xD000 | (u16::from(second & 0x3F) << 6) | u16::from(third & 0x3F))
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Form::Unicode(String::from(text)))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Form::Unicode(text))
    }
}

impl Default for Text {
    fn default() -> Self {
        Self(Form::Unicode(String::new()))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(other)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_unicode(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_unicode(), f)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Unicode(text) => serializer.serialize_str(text),
            Form::Wtf8(bytes) => Self::escaped(bytes)
                .and_then(RawValue::from_string)
                .map_err(ser::Error::custom)?
                .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde_json promises WTF-8 from `deserialize_bytes`, and an error for
        // an unpaired surrogate from every other string method.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text::from_wtf8(bytes))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Text")
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_comes_back_as_it_was_stored() {
        let cases = [
            (r#""plain""#, r#""plain""#, "plain"),
            (r#""""#, r#""""#, ""),
            (r#""a\u0000b""#, r#""a\u0000b""#, "a\0b"),
            (r#""\ud83d""#, r#""\ud83d""#, "\u{FFFD}"),
            (r#""x\uDE00y\ud83d""#, r#""x\ude00y\ud83d""#, "x\u{FFFD}y\u{FFFD}"),
            (r#""\ud83d\ude00\ud83d\"""#, r#""😀\ud83d\"""#, "😀\u{FFFD}\""),
            (r#""\ud83d\u0041\\""#, r#""\ud83dA\\""#, "\u{FFFD}A\\"),
        ];
        for (stored, written, seen) in cases {
            let text: Text = serde_json::from_str(stored).unwrap();
            assert_eq!(serde_json::to_string(&text).unwrap(), written, "{stored}");
            assert_eq!(text.to_unicode(), seen, "{stored}");
            assert_eq!(text.is_broken(), seen.contains('\u{FFFD}'), "{stored}");
            let again: Text = serde_json::from_str(written).unwrap();
            assert_eq!(again, text, "{stored}");
        }
    }

    #[test]
    fn what_is_no_string_is_refused() {
        for raw in ["null", "1", "true", "{}"] {
            assert!(serde_json::from_str::<Text>(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn halves_that_meet_are_one_character() {
        let text = |json: &str| serde_json::from_str::<Text>(json).unwrap();
        for (first, second, whole) in [
            (r#""ab""#, r#""cd""#, r#""abcd""#),
            (r#""a\ud83d""#, r#""\ude00b""#, r#""a\ud83d\ude00b""#),
            (r#""a\ud83d""#, r#""b""#, r#""a\ud83db""#),
            (r#""a""#, r#""\ude00b""#, r#""a\ude00b""#),
            (r#""\ude00""#, r#""\ud83d""#, r#""\ude00\ud83d""#),
        ] {
            let mut joined = text(first);
            joined.push(&text(second));
            assert_eq!(joined, text(whole), "{first} and {second}");
        }
    }

    #[test]
    fn blank_is_empty_or_white_space() {
        for (text, blank) in [("", true), (" \n\t", true), ("a", false), ("\0", false)] {
            assert_eq!(Text::from(text).is_blank(), blank, "{text:?}");
        }
    }
}
