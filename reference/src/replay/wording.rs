//! Every text that the reference makes up, in one place.
//!
//! Wording is free, meaning is not: judges know these texts by the phrases
//! that [`crate::Reference`] declares, which are the constants here. None of the
//! texts is shaped like a call (`replay.doing-not-saying`), and none is in the
//! assistant's voice.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use onrecord_spec::text::Text;

/// In every result of a call that did not complete.
pub const DID_NOT_COMPLETE: &str = "did not complete";
/// In every result of a call that still runs.
pub const STILL_RUNNING: &str = "still running";
/// In every marker of an image that was not seen.
pub const UNSEEN: &str = "was not seen";
/// In every notice in the place of a result's bulk.
pub const CLEARED: &str = "was cleared";
/// The one field of the object that stands for arguments which are no JSON
/// object.
pub const INVALID_ARGUMENTS: &str = "invalid_arguments";
/// In an authority block of borrowed mode.
pub const BORROWED: &str = "borrow";
/// In an authority block whose account was not admitted.
pub const NOT_ADMITTED: &str = "not admitted";

/// A tool that gave nothing back. Some targets refuse empty content (ANT-7).
pub(crate) const NO_OUTPUT: &str = "(no output)";
/// A tool whose name is empty.
pub(crate) const UNNAMED_TOOL: &str = "unnamed_tool";
/// Before the first message, where a target wants a user's there (ANT-10).
pub(crate) const OPENED: &str = "(The conversation begins here.)";
/// After the last message, where a target refuses an assistant's there (ANT-12).
pub(crate) const CLOSED: &str = "(Nothing has been said since.)";
/// In a result, where an image stood that follows in a message of its own
/// (OAI-CHAT-6).
pub(crate) const IMAGE_FOLLOWS: &str =
    "[image: it follows after the results, in a message of its own]";
/// Instead of an image that the assistant's own message held. No target takes
/// one there (the IMG table).
pub(crate) const ASSISTANT_IMAGE: &str =
    "[image in the assistant's message above: it was not seen]";
/// Instead of an image, to a model without vision.
pub(crate) const IMAGE_WITHOUT_VISION: &str =
    "[image: it was not seen, this model takes no images]";
/// Instead of an image that cannot be sent as it is.
pub(crate) const IMAGE_NOT_WHOLE: &str =
    "[image: it was not seen, its data is broken or of a form that cannot be sent]";
/// The name of a tool that nothing in the record names.
pub(crate) const UNKNOWN_TOOL: &str = "unknown tool";

/// What is known of a call that has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It still runs.
    Running,
    /// It never started: the record marks every start, and not this one.
    NeverStarted,
    /// It may have had an effect.
    Unknown,
}

/// The result of a call that has none. Names the tool and invents no output
/// (`replay.did-not-complete`), and tells what may be retried from what may not
/// (`replay.never-started`).
pub(crate) fn unanswered(tool: &str, what: Unanswered) -> String {
    match what {
        Unanswered::Running => {
            format!("{tool} is {STILL_RUNNING}; its result is not there yet.")
        }
        Unanswered::NeverStarted => {
            format!("{tool} {DID_NOT_COMPLETE}: it never started; it may be called again.")
        }
        Unanswered::Unknown => {
            format!("{tool} {DID_NOT_COMPLETE}: outcome unknown; do not repeat blindly.")
        }
    }
}

/// A result whose call is gone, as prose (`replay.orphan-to-prose`).
pub(crate) fn orphan(tool: &str, error: bool, output: &str) -> String {
    let label = if error { "Error" } else { "Result" };
    format!("{label} ({tool}): {output}")
}

/// Before the images of a result that stand in a message of their own.
pub(crate) fn image_label(tool: &str) -> String {
    format!("[from the result of {tool} above]")
}

/// Texts that stand apart in the record and together on the wire. A single one,
/// which is the rule, is not copied.
pub(crate) fn joined<'a>(mut texts: impl Iterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut whole = texts.next().unwrap_or_default();
    for text in texts {
        let whole = whole.to_mut();
        whole.push_str("\n\n");
        whole.push_str(&text);
    }
    whole
}

/// In the place of a result's bulk (`compaction.clearing-keeps-calls`).
/// It says where the original is, which can be found by it, and is like no other.
pub(crate) fn cleared(tool: Option<&Text>, row: &Text, result: usize) -> String {
    let tool = tool.map_or_else(|| String::from("this tool"), |tool| format!("{tool}"));
    let place = match result {
        0 => format!("row {row}"),
        _later => format!("row {row}, result {result}"),
    };
    format!("[The output of {tool} {CLEARED} to save space; it is kept in {place}.]")
}
