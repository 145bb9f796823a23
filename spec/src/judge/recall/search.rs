//! Whether a row holds words, by the judges' own test: each word is looked for in
//! the row's texts, and must not go on at either end there.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Tree;
use crate::record::{Block, Event, Row, ToolResult};
use crate::text::Text;

/// The words of a query.
pub(super) fn words(query: &Text) -> BTreeSet<String> {
    let query = query.to_unicode();
    let runs = query.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_lowercase).collect()
}

/// True if a message or a result holds all of the words: in what was said, thought,
/// asked of a tool and given back. What recall may also look at, like the names of
/// tools, the pieces of streams and the steps of compactions, makes nothing due.
pub(super) fn holds(row: &Row, words: &BTreeSet<String>) -> bool {
    let texts = lowered(texts(row));
    words.iter().all(|word| texts.iter().any(|text| has_word(text, word)))
}

/// True if the words stand in the row's authority blocks, and none of them anywhere
/// else in it.
pub(super) fn by_facts_alone(row: &Row, words: &BTreeSet<String>) -> bool {
    let Event::Message(message) = &row.event else { return false };
    let (facts, others): (Vec<&Block>, Vec<&Block>) =
        message.blocks.iter().partition(|block| matches!(block, Block::Authority(_)));
    let facts = lowered(facts.into_iter().flat_map(anything));
    let others = lowered(others.into_iter().flat_map(anything));
    words.iter().all(|word| facts.iter().any(|text| has_word(text, word)))
        && words.iter().all(|word| others.iter().all(|text| !text.contains(word.as_str())))
}

fn lowered<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> Vec<String> {
    texts.into_iter().map(|text| text.to_lowercase()).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn texts(row: &Row) -> Vec<Cow<'_, str>> {
    match &row.event {
        Event::Message(message) => message.blocks.iter().flat_map(of_block).collect(),
        Event::Result(result) => outputs(result),
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => Vec::new(),
    }
}

fn of_block(block: &Block) -> Vec<Cow<'_, str>> {
    match block {
        Block::Text(text) => Vec::from([text.text.to_unicode()]),
        Block::Reasoning(reasoning) => Vec::from([reasoning.text.to_unicode()]),
        Block::Call(call) => arguments(&call.arguments),
        Block::Result(result) => outputs(result),
        Block::Image(_) | Block::Authority(_) => Vec::new(),
    }
}

fn outputs(result: &ToolResult) -> Vec<Cow<'_, str>> {
    crate::judge::context::outputs(result).collect()
}

/// The strings of arguments, if they are JSON: a line break is written `\n` there,
/// and the word behind it does not begin with an n. Otherwise the whole.
fn arguments(raw: &Text) -> Vec<Cow<'_, str>> {
    let whole = raw.to_unicode();
    match Tree::parse(&whole) {
        Some(tree) => {
            let strings = tree.strings().into_iter();
            strings.map(|text| Cow::Owned(text.to_unicode().into_owned())).collect()
        }
        None => Vec::from([whole]),
    }
}

/// Every string of a block, whatever it is for.
fn anything(block: &Block) -> Vec<Cow<'_, str>> {
    let tree = crate::json::to_line(block).ok().and_then(|line| Tree::parse(&line));
    let strings = tree.iter().flat_map(Tree::strings);
    strings.map(|text| Cow::Owned(text.to_unicode().into_owned())).collect()
}
