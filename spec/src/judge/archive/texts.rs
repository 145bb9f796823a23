//! The texts of records, followed into the parts of an archive.
//!
//! The form of a part is free. A text is found in it as it is or as a JSON string;
//! if the part is JSON, or lines of it, in what its strings stand for.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::archive::Part;
use crate::json::Tree;
use crate::judge::canary::{arguments, canary};
use crate::judge::context::outputs;
use crate::record::{Block, Event, Row};

/// A shorter text may stand anywhere by chance, and is not followed.
const LONG: usize = 8;

/// The texts by which a row is known.
pub(super) fn texts(row: &Row) -> BTreeSet<String> {
    let mut found = Vec::new();
    match &row.event {
        Event::Message(message) => {
            for block in &message.blocks {
                match block {
                    Block::Text(text) => found.push(text.text.to_unicode().into_owned()),
                    Block::Reasoning(thought) => found.push(thought.text.to_unicode().into_owned()),
                    Block::Call(call) => found.extend(arguments(&call.arguments.to_unicode())),
                    Block::Result(result) => {
                        found.extend(outputs(result).map(|text| text.into_owned()))
                    }
                    Block::Image(_) | Block::Authority(_) => {}
                }
            }
        }
        Event::Result(result) => found.extend(outputs(result).map(|text| text.into_owned())),
        Event::Delta(delta) => found.push(delta.text.to_unicode().into_owned()),
        Event::Compaction(step) => {
            found.extend(step.text.iter().map(|text| text.to_unicode().into_owned()));
        }
        Event::CallStarted(_) | Event::Turn(_) | Event::Unknown(_) => {}
    }
    found.iter().map(|text| canary(text)).filter(|text| is_long(text)).map(str::to_owned).collect()
}

/// True if a text is followed.
pub(super) fn is_long(text: &str) -> bool {
    text.chars().count() >= LONG
}

/// What a part says: its text, or the strings in it.
pub(super) fn said(part: &Part) -> Vec<String> {
    let text = String::from_utf8_lossy(&part.bytes.0);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let trees: Option<Vec<Tree>> = lines.map(Tree::parse).collect();
    match trees.or_else(|| Some([Tree::parse(&text)?].into())) {
        Some(trees) => trees.iter().flat_map(strings).collect(),
        None => [text.into_owned()].into(),
    }
}

/// The strings of a JSON value.
pub(super) fn strings(tree: &Tree) -> Vec<String> {
    tree.strings().iter().map(|text| text.to_unicode().into_owned()).collect()
}

/// Looks for texts, the longest first where one holds another.
pub(super) struct Search {
    texts: Vec<String>,
    /// For each pattern, the text that it is a form of.
    forms: Vec<usize>,
    automaton: Option<AhoCorasick>,
}

impl Search {
    pub fn of(texts: BTreeSet<String>) -> Self {
        let texts: Vec<String> = texts.into_iter().collect();
        let (mut forms, mut patterns) = (Vec::new(), Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let written = serde_json::to_string(text).unwrap_or_default();
            let escaped = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
            for form in [Some(text.clone()), (escaped != *text).then(|| escaped.to_owned())] {
                patterns.extend(form);
                forms.resize(patterns.len(), at);
            }
        }
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns).ok();
        Self { texts, forms, automaton }
    }

    /// How often each text stands there; none inside of another.
    pub fn count(&self, places: &[String]) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        let Some(automaton) = &self.automaton else { return counts };
        for place in places {
            for hit in automaton.find_iter(place) {
                let text = self.texts[self.forms[hit.pattern().as_usize()]].as_str();
                *counts.entry(text).or_default() += 1;
            }
        }
        counts
    }
}
