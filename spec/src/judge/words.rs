//! The words by which a marker is known.
//!
//! An implementation declares phrases of its own, in any language
//! ([`crate::op::Wordings`]). For one that declares none, common English words
//! are looked for.

use alloc::string::String;

/// A call did not complete.
pub(super) const DID_NOT_COMPLETE: &[&str] = &[
    "not complete",
    "incomplete",
    "interrupt",
    "no result",
    "no output",
    "cancel",
    "abort",
    "unknown",
    "never",
    "fail",
    "error",
    "missing",
    "unavailable",
    "not available",
    "not executed",
    "not run",
    "did not finish",
    "not finished",
    "lost",
    "stopped",
    "skipped",
];

/// A call still runs.
pub(super) const STILL_RUNNING: &[&str] =
    &["running", "pending", "in progress", "not finished yet", "still", "not yet", "waiting"];

/// An image was not seen.
pub(super) const UNSEEN: &[&str] = &[
    "not seen",
    "unseen",
    "not shown",
    "not visible",
    "omitted",
    "cannot see",
    "can't see",
    "cannot be shown",
    "unable to view",
    "not supported",
    "unsupported",
    "does not support",
    "removed",
    "not available",
    "unavailable",
    "not viewed",
];

/// Arguments were not valid.
pub(super) const INVALID_ARGUMENTS: &[&str] =
    &["invalid", "malformed", "not valid", "unparsable", "unparseable", "not json", "broken"];

/// The agent acts under a person's account.
pub(super) const BORROWED: &[&str] =
    &["borrow", "on behalf", "not your own", "another user", "someone else", "shared account"];

/// The expected account was not admitted.
pub(super) const NOT_ADMITTED: &[&str] = &[
    "not admitted",
    "unadmitted",
    "not been admitted",
    "denied",
    "refused",
    "not granted",
    "without",
];

/// True if a text holds one of the declared phrases, or one of the common words
/// where none is declared. Blank phrases count as none.
pub(super) fn says(text: &str, declared: &[String], common: &[&str]) -> bool {
    let text = text.to_lowercase();
    let mut phrases = declared.iter().filter(|phrase| !phrase.trim().is_empty()).peekable();
    if phrases.peek().is_some() {
        phrases.any(|phrase| text.contains(&phrase.to_lowercase()))
    } else {
        common.iter().any(|word| text.contains(word))
    }
}

/// True if a text holds one of the declared phrases. Where none is declared,
/// nothing can be told: common words stand in many a text.
pub(super) fn surely_says(text: &str, declared: &[String]) -> bool {
    let text = text.to_lowercase();
    let mut phrases = declared.iter().filter(|phrase| !phrase.trim().is_empty());
    phrases.any(|phrase| text.contains(&phrase.to_lowercase()))
}

/// True if words look like a call: a tool's name with what could be arguments
/// behind it, or the marks by which programs flatten calls to text.
pub(super) fn looks_like_call(words: &str, name: &str) -> bool {
    const MARKS: &[&str] = &[
        "<tool_call",
        "<tool_use",
        "<function_call",
        "<invoke",
        "<function=",
        "[tool_use",
        "[tool use",
        "[tool_call",
        "[tool call",
        "[called ",
        "[calling ",
        "tool use:",
        "tool call:",
        "calling tool",
        "called tool",
        "tool_calls:",
        "\"arguments\":",
        "\"function\":",
    ];
    let lower = words.to_lowercase();
    if MARKS.iter().any(|mark| lower.contains(mark)) {
        return true;
    }
    let name = name.trim();
    if name.chars().count() < 2 {
        return false;
    }
    words.match_indices(name).any(|(at, _)| {
        let behind = words[at + name.len()..].trim_start_matches([' ', '`', '"', '\'']);
        let opens = behind.starts_with(['(', '{']) && !behind.starts_with("()");
        opens && words[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric())
    })
}
