//! Recall: finding what is not in the prompt. Of the conversation that asks, the
//! rows that left its context; of every other, all rows (`recall.filter`).

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use onrecord_spec::found::Hit;
use onrecord_spec::json::Tree;
use onrecord_spec::record::{Block, Content, Event, Row, ToolResult};
use onrecord_spec::text::Text;

use crate::lookup::left;
use crate::record::Record;

/// Every row of a record that recall reaches and that holds all words of the
/// query. `asks` says whether this is the conversation that asks: what its context
/// holds is in the prompt already.
pub fn recall<'a>(
    record: &'a Record,
    asks: bool,
    query: Option<&'a Text>,
) -> impl Iterator<Item = Hit> + 'a {
    let words = query.map(|query| words([query.to_unicode()]));
    record.rows().iter().enumerate().filter_map(move |(place, row)| {
        let left = left(record, place);
        let within_reach = !asks || left.is_some();
        let matches =
            || words.as_ref().is_none_or(|words| words.is_subset(&self::words(texts(row))));
        (within_reach && matches()).then(|| Hit {
            conversation: record.header().conversation.clone(),
            row: row.id.clone(),
            left,
        })
    })
}

/// The words of texts: runs of letters and digits, in lower case.
fn words<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for text in texts {
        let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
        words.extend(runs.map(str::to_lowercase));
    }
    words
}

/// What of a row can be searched: everything that was said, thought, asked of a
/// tool and given back by it. Never the runtime's own facts
/// (`authority.never-stored`).
#[must_use]
pub fn texts(row: &Row) -> Vec<Cow<'_, str>> {
    match &row.event {
        Event::Message(message) => message.blocks.iter().flat_map(of_block).collect(),
        Event::Result(result) => of_result(result).collect(),
        Event::Delta(delta) => Vec::from([delta.text.to_unicode()]),
        Event::Compaction(step) => step.text.iter().map(Text::to_unicode).collect(),
        Event::CallStarted(_) | Event::Turn(_) | Event::Unknown(_) => Vec::new(),
    }
}

fn of_block(block: &Block) -> Vec<Cow<'_, str>> {
    match block {
        Block::Text(text) => Vec::from([text.text.to_unicode()]),
        Block::Reasoning(reasoning) => Vec::from([reasoning.text.to_unicode()]),
        Block::Call(call) => {
            let mut texts = Vec::from([call.name.to_unicode(), call.arguments.to_unicode()]);
            texts.extend(strings(&call.arguments));
            texts
        }
        Block::Result(result) => of_result(result).collect(),
        Block::Image(_) | Block::Authority(_) => Vec::new(),
    }
}

/// The strings in arguments, unescaped: where a line breaks, the raw form has an `n`
/// before the next word.
fn strings(arguments: &Text) -> Vec<Cow<'static, str>> {
    let tree = Tree::parse(&arguments.to_unicode());
    let strings = tree.iter().flat_map(Tree::strings);
    strings.map(|text| Cow::Owned(text.to_unicode().into_owned())).collect()
}

fn of_result(result: &ToolResult) -> impl Iterator<Item = Cow<'_, str>> {
    let name = result.name.iter().map(Text::to_unicode);
    name.chain(result.content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.text.to_unicode()),
        Content::Image(_) => None,
    }))
}
