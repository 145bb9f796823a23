//! Where a JSON text holds half of a surrogate pair: every provider refuses the
//! whole request for one (bugs B029, B055).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::mend_surrogates;
use crate::text::Text;

/// How many names and indices a path has at the most. A path is as long as its
/// place is deep, and a hostile payload may be all depth.
const MAX_STEPS: usize = 64;

/// An array or object that the walk is inside of.
enum Inside {
    /// An array, at this element.
    Array(usize),
    /// An object, at the field of this name, once the name was read.
    Object(Option<String>),
}

/// The path of each string, or name of a field, that holds an unpaired
/// surrogate, in order. A name counts for the object that it stands in. One
/// pass, without recursion; the text must be JSON.
pub(super) fn broken_strings(json: &str) -> Vec<String> {
    let mut broken = Vec::new();
    if matches!(mend_surrogates(json), Cow::Borrowed(_)) {
        return broken;
    }
    let mut inside = Vec::new();
    let mut at = 0;
    while let Some(byte) = json.as_bytes().get(at) {
        match byte {
            b'[' => inside.push(Inside::Array(0)),
            b'{' => inside.push(Inside::Object(None)),
            b']' | b'}' => {
                inside.pop();
            }
            b',' => match inside.last_mut() {
                Some(Inside::Array(index)) => *index += 1,
                Some(Inside::Object(name)) => *name = None,
                None => {}
            },
            b'"' => {
                let end = end_of_string(json.as_bytes(), at);
                let text: Option<Text> = serde_json::from_str(&json[at..end]).ok();
                if text.as_ref().is_some_and(Text::is_broken) {
                    broken.push(path(&inside));
                }
                // In an object the first string is the name, the next the value.
                if let (Some(Inside::Object(name @ None)), Some(text)) = (inside.last_mut(), text) {
                    *name = Some(text.to_unicode().into_owned());
                }
                at = end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    broken
}

/// The offset behind the string literal that begins at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    bytes.len().min(end + 1)
}

fn path(inside: &[Inside]) -> String {
    let mut path = String::new();
    for step in inside.iter().take(MAX_STEPS) {
        match step {
            Inside::Array(index) => path.push_str(&format!("[{index}]")),
            Inside::Object(Some(name)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            Inside::Object(None) => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_broken_string_is_found_where_it_stands() {
        let broken = [
            r#"{"messages":[{"content":"\ud83d\ude00"},{"content":[{"text":"a\ud83d"}]}]}"#,
            r#"{"a":[["x"],{"b":1,"c":"\ude00","d":["","\ud83d\ud83d"]}],"e":"\ud800"}"#,
            r#"{"a":{"\ud83d":1,"b":{"c":"\\ud83d","d":"\"\ud83d"}}}"#,
            r#""\ud83d""#,
            r#"{"a":"no\\ud83d"}"#,
        ];
        let expected: [&[&str]; 5] = [
            &["messages[1].content[0].text"],
            &["a[1].c", "a[1].d[1]", "e"],
            &["a", "a.b.d"],
            &[""],
            &[],
        ];
        for (json, expected) in broken.iter().zip(expected) {
            assert_eq!(broken_strings(json), expected, "{json}");
        }
    }

    #[test]
    fn a_very_deep_place_is_named_by_the_steps_above_it() {
        let deep = "[".repeat(50_000) + r#""\ud83d""# + &"]".repeat(50_000);
        let found = broken_strings(&deep);
        assert_eq!(found, ["[0]".repeat(MAX_STEPS).to_string()]);
    }
}
