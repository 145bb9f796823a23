//! JSON that is kept as it came.
//!
//! A record must give back what was stored in it (`record.verbatim`): numbers
//! beyond 64 bits, fields that nobody knows yet, argument strings that a model
//! garbled. So an object is opened into [`Fields`], each still raw text; the
//! known ones are taken and typed, and the rest is kept as [`Extra`].

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

pub use serde_json::value::RawValue;

use crate::text::Text;

/// Any JSON value, as the text that it was written as.
pub type Json = Box<RawValue>;

/// How deep a foreign value may nest before it is taken for hostile.
const MAX_DEPTH: usize = 128;

/// Why a value is not of the shape that was asked for: where in the value, and
/// what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The path from the row to the offending value, like `event.blocks[2].id`;
    /// empty for the row itself.
    pub path: String,
    /// What is wrong, in lower case, without the place.
    pub what: String,
}

impl Malformed {
    /// A complaint about the value at hand.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { path: String::new(), what: what.into() }
    }

    /// The same complaint, seen from the object that holds the value as `name`.
    #[must_use]
    pub fn inside(mut self, name: &str) -> Self {
        self.path = if self.path.is_empty() || self.path.starts_with('[') {
            format!("{name}{}", self.path)
        } else {
            format!("{name}.{}", self.path)
        };
        self
    }

    /// The same complaint, seen from the array that holds the value at `index`.
    #[must_use]
    pub fn at_index(self, index: usize) -> Self {
        self.inside(&format!("[{index}]"))
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.path, self.what)
        }
    }
}

impl core::error::Error for Malformed {}

/// An object, opened: each field's name, with its value still raw.
#[derive(Debug)]
pub struct Fields<'a>(Vec<(Text, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Opens an object. Refuses anything else, and an object that has one field
    /// twice: two readers would disagree about which counts.
    pub fn open(raw: &'a RawValue) -> Result<Self, Malformed> {
        let fields: Self = read(raw, "an object")?;
        let mut names: Vec<&Text> = fields.0.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Malformed::new(format!("field `{}` is there twice", pair[0]))),
            None => Ok(fields),
        }
    }

    /// Takes a field's raw value out, if it is there.
    pub fn take_raw(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(field, _)| field == name)?;
        Some(self.0.remove(at).1)
    }

    /// Takes a field that may be absent. `null` is not absence.
    pub fn take<T: Deserialize<'a>>(
        &mut self,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, Malformed> {
        self.take_raw(name)
            .map(|raw| read(raw, expected).map_err(|error| error.inside(name)))
            .transpose()
    }

    /// Takes a field that must be there.
    pub fn need<T: Deserialize<'a>>(&mut self, name: &str, expected: &str) -> Result<T, Malformed> {
        self.take(name, expected)?.ok_or_else(|| {
            Malformed::new(format!("field `{name}` is missing; it must be {expected}"))
        })
    }

    /// Takes a field that must be there, still raw.
    pub fn need_raw(&mut self, name: &str, expected: &str) -> Result<&'a RawValue, Malformed> {
        self.take_raw(name).ok_or_else(|| {
            Malformed::new(format!("field `{name}` is missing; it must be {expected}"))
        })
    }

    /// What was not taken: the fields that this version does not know.
    pub fn rest(self) -> Result<Extra, Malformed> {
        self.0
            .into_iter()
            .map(|(name, value)| match name.as_str() {
                Some(name) => Ok((name.to_string(), value.to_owned())),
                None => Err(Malformed::new(format!(
                    "the name of field `{name}` holds an unpaired surrogate"
                ))),
            })
            .collect::<Result<_, _>>()
            .map(Extra)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Vec<(Text, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(FieldsVisitor).map(Fields)
    }
}

/// The fields of an object that this version does not know, in their order and
/// as they were written. They are kept and written back, never interpreted.
#[derive(Debug, Clone, Default)]
pub struct Extra(Vec<(String, Json)>);

impl Extra {
    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Unknown fields may have any name and hold any value.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Extra {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Extra")
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": true })
    }
}

/// Reads a raw value as `T`; the error says what was expected and what is there.
pub fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue, expected: &str) -> Result<T, Malformed> {
    serde_json::from_str(raw.get())
        .map_err(|_| Malformed::new(format!("must be {expected}, found {}", excerpt(raw.get()))))
}

/// The elements of an array, each still raw.
pub fn elements<'a>(raw: &'a RawValue, expected: &str) -> Result<Vec<&'a RawValue>, Malformed> {
    read(raw, expected)
}

/// The beginning of a JSON text, for a message: at most 40 characters.
#[must_use]
pub fn excerpt(raw: &str) -> String {
    const LONGEST: usize = 40;
    match raw.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &raw[..end]),
        None => raw.to_string(),
    }
}

/// What kind of value a JSON text is, with its article, for a message.
#[must_use]
pub fn kind_of(raw: &RawValue) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) | None => "a number",
    }
}

/// The JSON text without the white space between its tokens. Borrowed where
/// there is none. Order, numbers and escapes stay as they were written.
#[must_use]
pub fn compact(json: &str) -> Cow<'_, str> {
    let mut dense = String::new();
    let mut kept = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            dense.push_str(&json[kept..at]);
            kept = at + 1;
        } else {
            in_string = byte == b'"';
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    dense.push_str(&json[kept..]);
    Cow::Owned(dense)
}

/// Keeps a JSON text as a raw value.
pub fn keep(text: &str) -> Result<Json, Malformed> {
    RawValue::from_string(text.to_string())
        .map_err(|error| Malformed::new(format!("is not valid JSON: {error}")))
}

/// Writes a value as one line of JSON.
///
/// Raw values inside may have been written over several lines. A line break is
/// never part of a JSON string, so each can become a space.
pub fn to_line<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let line = serde_json::to_string(value)?;
    if line.contains(['\n', '\r']) { Ok(line.replace(['\n', '\r'], " ")) } else { Ok(line) }
}

/// Writes a value as a raw value of one line.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Json, serde_json::Error> {
    to_line(value).and_then(RawValue::from_string)
}

/// A JSON value whose parts can be compared and walked, with numbers as written
/// and strings as stored. For those who look, not for those who keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// `null`, `true`, `false` or a number, as written.
    Bare(String),
    /// A string.
    Text(Text),
    /// An array.
    List(Vec<Tree>),
    /// An object. Of a repeated name the last counts.
    Object(BTreeMap<Text, Tree>),
    /// Nested too deep to be looked into; as written.
    TooDeep(String),
}

impl Tree {
    /// Reads a JSON text. None if it is not JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok().map(|raw| Self::of(raw, 0))
    }

    fn of(raw: &RawValue, depth: usize) -> Self {
        let text = raw.get();
        if depth == MAX_DEPTH {
            return Self::TooDeep(text.to_string());
        }
        let tree = match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str(text).ok().map(Self::Text),
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text).ok().map(|items| {
                Self::List(items.iter().map(|raw| Self::of(raw, depth + 1)).collect())
            }),
            Some(b'{') => serde_json::from_str::<Fields<'_>>(text).ok().map(|fields| {
                let members = fields.0.into_iter();
                Self::Object(members.map(|(name, raw)| (name, Self::of(raw, depth + 1))).collect())
            }),
            Some(_) | None => None,
        };
        tree.unwrap_or_else(|| Self::Bare(text.to_string()))
    }

    /// Every string in the value, names of fields left out, in order.
    pub fn strings(&self) -> Vec<&Text> {
        let mut found = Vec::new();
        self.collect_strings(&mut found);
        found
    }

    fn collect_strings<'a>(&'a self, found: &mut Vec<&'a Text>) {
        match self {
            Self::Bare(_) | Self::TooDeep(_) => {}
            Self::Text(text) => found.push(text),
            Self::List(items) => items.iter().for_each(|item| item.collect_strings(found)),
            Self::Object(members) => members.values().for_each(|item| item.collect_strings(found)),
        }
    }
}

/// The JSON text with `\ufffd` for each escape of an unpaired surrogate, which
/// every provider refuses (bugs B029, B030). Borrowed where there is none.
#[must_use]
pub fn mend_surrogates(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    let bytes = json.as_bytes();
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match escaped_unit(bytes, at) {
            Some(0xD800..=0xDBFF)
                if matches!(escaped_unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                mended.push_str(&json[kept..at]);
                mended.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[kept..]);
    Cow::Owned(mended)
}

/// The code unit that a `\uXXXX` at `at` stands for.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes.get(at..at + 6)? else {
        return None;
    };
    let digits = core::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_opened_and_its_rest_kept() {
        let raw = keep(r#"{"b":1e400,"id":"x","a":{"k":[1.0]}}"#).unwrap();
        let mut fields = Fields::open(&raw).unwrap();
        assert_eq!(fields.need::<Text>("id", "a string").unwrap(), "x");
        let rest = fields.rest().unwrap();
        assert_eq!(to_line(&rest).unwrap(), r#"{"b":1e400,"a":{"k":[1.0]}}"#);
    }

    #[test]
    fn a_wrong_shape_is_told_with_its_place() {
        let refused = |text: &str| {
            let raw = keep(text).unwrap();
            let outcome =
                Fields::open(&raw).and_then(|mut fields| fields.need::<Text>("id", "a string"));
            outcome.unwrap_err().inside("event").to_string()
        };
        for (text, message) in [
            ("[]", "event: must be an object, found []"),
            ("{}", "event: field `id` is missing; it must be a string"),
            (r#"{"id":null}"#, "event.id: must be a string, found null"),
            (r#"{"id":"a","x":1,"x":2}"#, "event: field `x` is there twice"),
        ] {
            assert_eq!(refused(text), message);
        }
    }

    #[test]
    fn unpaired_surrogates_are_mended_and_pairs_left_alone() {
        for (json, mended) in [
            (r#"{"a":"plain"}"#, r#"{"a":"plain"}"#),
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"\ude00":"\ud83d\ude00"}"#, r#"{"\ufffd":"\ud83d\ude00"}"#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\ud83d\ud83d\ude00\n""#, r#""\ufffd\ud83d\ude00\n""#),
            (r#""\u00e9\"\ud83"#, r#""\u00e9\"\ud83"#),
        ] {
            assert_eq!(mend_surrogates(json), mended);
        }
    }

    #[test]
    fn white_space_between_tokens_is_left_out_and_nothing_else() {
        for (json, dense) in [
            ("{\"a\":[1,2]}", "{\"a\":[1,2]}"),
            (" { \"b\" :\t1.0 ,\r\n \"a\": [ 1e400 ] } ", "{\"b\":1.0,\"a\":[1e400]}"),
            (r#"[ "a b", "\" c", "\\" , "\\\" d" ]"#, r#"["a b","\" c","\\","\\\" d"]"#),
            ("\" ü \"", "\" ü \""),
        ] {
            assert_eq!(compact(json), dense);
        }
    }

    #[test]
    fn kinds_are_named() {
        for (json, kind) in [
            ("{}", "an object"),
            ("[]", "an array"),
            (r#""a""#, "a string"),
            ("true", "a boolean"),
            ("null", "null"),
            ("-1", "a number"),
        ] {
            assert_eq!(kind_of(&keep(json).unwrap()), kind);
        }
    }

    #[test]
    fn trees_compare_by_meaning_and_keep_numbers() {
        let same = |a, b| Tree::parse(a).unwrap() == Tree::parse(b).unwrap();
        assert!(same(r#"{"a": [1, "é"], "b":null}"#, r#"{"b":null,"a":[1,"\u00e9"]}"#));
        assert!(!same("1.0", "1"));
        assert!(!same("12345678901234567890123", "12345678901234567890124"));
        assert!(same(r#""\ud83d""#, r#""\uD83D""#));
        assert!(Tree::parse("{").is_none());
    }

    #[test]
    fn deep_nesting_is_kept_and_not_entered() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(Tree::parse(&deep).is_some());
    }
}
