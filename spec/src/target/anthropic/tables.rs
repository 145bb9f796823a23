//! The payloads that keep and break each rule of Anthropic Messages.

use crate::target::tests::Table;

/// A message of some blocks.
macro_rules! message {
    ($role:literal; $first:expr $(, $block:expr)* $(,)?) => {
        concat!(r#"{"role":""#, $role, r#"","content":["#, $first, $(",", $block,)* "]}")
    };
}
macro_rules! user { ($($block:expr),* $(,)?) => { message!("user"; $($block),*) }; }
macro_rules! assistant { ($($block:expr),* $(,)?) => { message!("assistant"; $($block),*) }; }
macro_rules! messages {
    ($first:expr $(, $message:expr)* $(,)?) => { concat!($first $(, ",", $message)*) };
}
macro_rules! text {
    ($text:literal) => {
        concat!(r#"{"type":"text","text":""#, $text, r#""}"#)
    };
}
macro_rules! call {
    ($id:literal) => {
        concat!(r#"{"type":"tool_use","id":""#, $id, r#"","name":"f","input":{}}"#)
    };
}
macro_rules! result {
    ($id:literal) => {
        result!($id, r#""1""#)
    };
    ($id:literal, $content:expr) => {
        concat!(r#"{"type":"tool_result","tool_use_id":""#, $id, r#"","content":"#, $content, "}")
    };
}
macro_rules! thinking {
    ($token:literal) => {
        concat!(r#"{"type":"thinking","thinking":"t","signature":""#, $token, r#""}"#)
    };
}
macro_rules! go {
    () => {
        r#"{"role":"user","content":"go"}"#
    };
}
macro_rules! search {
    ($id:literal) => {
        concat!(r#"{"type":"server_tool_use","id":""#, $id, r#"","name":"web_search","input":{}}"#)
    };
}
macro_rules! searched {
    ($id:literal) => {
        concat!(r#"{"type":"web_search_tool_result","tool_use_id":""#, $id, r#"","content":[]}"#)
    };
}

// Behind the macros, which they write their payloads with.
mod contents;
mod ends;
mod pairs;
mod shapes;

pub(super) const TABLES: &[Table] = &[
    pairs::PAIRS,
    pairs::SERVER_TOOLS,
    pairs::NO_TOOLS,
    pairs::DECLARED,
    contents::TEXTS,
    contents::RESULTS,
    contents::FIELDS,
    shapes::SHAPES,
    shapes::PLACES,
    shapes::SYSTEM,
    ends::ENDS,
    ends::PREFILL,
    ends::THINKING,
    ends::THINKING_OFF,
];
