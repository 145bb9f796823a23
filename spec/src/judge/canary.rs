//! Canaries: the strings that the record holds, and where each is seen on the
//! wire. Whole texts are never compared, so any wording around them is free.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::context::{Context, What, outputs};
use crate::json::Tree;
use crate::record::{
    Block, Content, DeltaPart, Event, Image, ImageSource, Reasoning, Role, Row, ToolResult,
};
use crate::wire::{Body, Part, Wire, WireRole};

/// A string shorter than this is told only where it fills a place alone: in
/// other text it may stand by chance.
const STRONG: usize = 8;

/// How much of a long string the search looks for; the rest is compared there.
const HEAD: usize = 48;

/// What a stored string was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Said(Role2),
    Thought,
    Token,
    Argument,
    Output,
    Image,
    Authority,
}

/// A role that can be ordered; see [`Role`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role2 {
    User,
    Assistant,
}

impl From<Role> for Role2 {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

/// What a place on the wire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text in a message of this role.
    Speech(WireRole),
    /// The readable text of reasoning.
    Thought,
    /// The token of reasoning.
    Token,
    /// The arguments of the call with this index among the wire's calls.
    Arguments(usize),
    /// Text in the result with this index among the wire's results.
    Output(usize),
    /// An image; inside the result with this index, if in one.
    Image(Option<usize>),
}

/// A place on the wire that holds text.
#[derive(Debug)]
pub(super) struct Place<'w> {
    pub kind: Kind,
    /// The index of the message.
    pub message: usize,
    /// The index of the part among all parts of the wire.
    pub part: usize,
    pub path: &'w str,
    /// The text; of arguments, the strings in them.
    pub text: Cow<'w, str>,
}

/// One stored string, seen at one place.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    pub needle: usize,
    pub place: usize,
    pub span: Range<usize>,
}

/// Everything that was seen on a wire.
#[derive(Debug)]
pub(super) struct Sightings<'w> {
    pub places: Vec<Place<'w>>,
    pub needles: Needles,
    /// In the order of the wire.
    pub all: Vec<Sighting>,
    /// For each needle, the indices of its sightings.
    by_needle: Vec<Vec<usize>>,
    /// For each place, the indices of its sightings.
    by_place: Vec<Vec<usize>>,
    /// The parts in which anything was seen.
    parts: BTreeSet<usize>,
}

/// The strings of a record, each once, with the rows and classes they stand for.
#[derive(Debug, Default)]
pub(super) struct Needles {
    pub texts: Vec<String>,
    pub sources: Vec<Vec<(u64, Class)>>,
    index: BTreeMap<String, usize>,
}

impl Needles {
    /// The strings of these rows.
    pub fn of(rows: &[Row]) -> Self {
        let mut needles = Self::default();
        let mut streams: BTreeMap<String, (u64, String)> = BTreeMap::new();
        for row in rows {
            match &row.event {
                Event::Message(message) => {
                    for block in &message.blocks {
                        needles.add_block(row.seq, message.role, block);
                    }
                }
                Event::Result(result) => needles.add_result(row.seq, result),
                Event::Delta(delta) if delta.part == DeltaPart::Text => {
                    let id = delta.message.to_unicode().into_owned();
                    let stream = streams.entry(id).or_insert((row.seq, String::new()));
                    stream.1.push_str(&delta.text.to_unicode());
                }
                Event::Delta(delta) => {
                    needles.add(row.seq, Class::Thought, &delta.text.to_unicode())
                }
                Event::Compaction(_)
                | Event::CallStarted(_)
                | Event::Turn(_)
                | Event::Unknown(_) => {}
            }
        }
        // A better text of a summary is said by the summary's row.
        let by_id = |id: &crate::text::Text| rows.iter().find(|row| row.id == *id);
        for (summary, text) in super::context::upgrades(rows) {
            if let Some(row) = by_id(summary) {
                let role = match &row.event {
                    Event::Message(message) => message.role,
                    Event::CallStarted(_)
                    | Event::Result(_)
                    | Event::Compaction(_)
                    | Event::Turn(_)
                    | Event::Delta(_)
                    | Event::Unknown(_) => continue,
                };
                needles.add(row.seq, Class::Said(role.into()), &text.to_unicode());
            }
        }
        for (seq, text) in streams.into_values() {
            needles.add(seq, Class::Said(Role2::Assistant), &text);
        }
        needles
    }

    /// Adds what stands in the context of messages of which only deltas were
    /// stored: less than all of them, where some were replaced.
    pub fn add_streams(&mut self, context: &Context<'_>) {
        for piece in context.pieces.iter().filter(|piece| piece.streamed) {
            if let What::Said(_, text) = &piece.what
                && self.find(text).is_none()
            {
                self.add(piece.seq, Class::Said(Role2::Assistant), text);
            }
        }
    }

    fn add_block(&mut self, seq: u64, role: Role, block: &Block) {
        match block {
            Block::Text(text) => self.add(seq, Class::Said(role.into()), &text.text.to_unicode()),
            Block::Reasoning(reasoning) => self.add_reasoning(seq, reasoning),
            Block::Call(call) => {
                for argument in arguments(&call.arguments.to_unicode()) {
                    self.add(seq, Class::Argument, &argument);
                }
            }
            Block::Result(result) => self.add_result(seq, result),
            Block::Image(image) => self.add(seq, Class::Image, &source(image)),
            Block::Authority(stored) => {
                for (_, value) in stored.extra.iter() {
                    for text in Tree::parse(value.get()).iter().flat_map(Tree::strings) {
                        // The names of the modes are words that a fresh block uses too.
                        if *text != "borrowed" && *text != "dedicated" {
                            self.add(seq, Class::Authority, &text.to_unicode());
                        }
                    }
                }
            }
        }
    }

    fn add_reasoning(&mut self, seq: u64, reasoning: &Reasoning) {
        self.add(seq, Class::Thought, &reasoning.text.to_unicode());
        if let Some(token) = &reasoning.token {
            self.add(seq, Class::Token, &token.to_unicode());
        }
    }

    fn add_result(&mut self, seq: u64, result: &ToolResult) {
        for text in outputs(result) {
            self.add(seq, Class::Output, &text);
        }
        for part in &result.content {
            if let Content::Image(image) = part {
                self.add(seq, Class::Image, &source(image));
            }
        }
    }

    /// Adds a string of the record.
    pub fn add(&mut self, seq: u64, class: Class, text: &str) {
        let canary = canary(text);
        if canary.is_empty() {
            return;
        }
        let at = match self.index.get(canary) {
            Some(at) => *at,
            None => {
                self.index.insert(canary.to_string(), self.texts.len());
                self.texts.push(canary.to_string());
                self.sources.push(Vec::new());
                self.texts.len() - 1
            }
        };
        self.sources[at].push((seq, class));
    }

    /// The needle of a stored string.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.index.get(canary(text)).copied()
    }

    pub fn is_strong(&self, needle: usize) -> bool {
        self.texts[needle].chars().count() >= STRONG
    }
}

/// The part of a stored string that is followed: without white space at its
/// ends, and its longest stretch between characters that had to be replaced.
pub(super) fn canary(text: &str) -> &str {
    let mut longest = "";
    for stretch in text.split('\u{FFFD}').map(str::trim) {
        if stretch.len() > longest.len() {
            longest = stretch;
        }
    }
    longest
}

/// The strings by which arguments are known: those inside, if they are JSON that
/// holds any, and otherwise the arguments themselves.
pub(super) fn arguments(raw: &str) -> Vec<String> {
    let strings: Vec<String> = Tree::parse(raw)
        .iter()
        .flat_map(Tree::strings)
        .map(|text| text.to_unicode().into_owned())
        .filter(|text| !text.trim().is_empty())
        .collect();
    if strings.is_empty() { alloc::vec![raw.to_string()] } else { strings }
}

/// What an image is known by.
pub(super) fn source(image: &Image) -> String {
    match &image.source {
        ImageSource::Data(text) | ImageSource::Url(text) => text.to_unicode().into_owned(),
    }
}

impl<'w> Sightings<'w> {
    /// Looks for every needle in every place of a wire.
    pub fn of(needles: Needles, wire: &'w Wire) -> Self {
        let places = places(wire);
        let mut sightings = Self {
            by_needle: alloc::vec![Vec::new(); needles.texts.len()],
            by_place: alloc::vec![Vec::new(); places.len()],
            places,
            needles,
            all: Vec::new(),
            parts: BTreeSet::new(),
        };
        let search = Search::new(&sightings.needles);
        for at in 0..sightings.places.len() {
            let found = search.find_all(&sightings.needles, &sightings.places[at].text);
            for (needle, span) in found {
                sightings.by_needle[needle].push(sightings.all.len());
                sightings.by_place[at].push(sightings.all.len());
                sightings.parts.insert(sightings.places[at].part);
                sightings.all.push(Sighting { needle, place: at, span });
            }
        }
        sightings
    }

    /// Where a stored string was seen, in the order of the wire.
    pub fn of_text(&self, text: &str) -> impl Iterator<Item = &Sighting> + Clone {
        let found = self.needles.find(text).map_or(&[][..], |needle| &self.by_needle[needle]);
        found.iter().map(|at| &self.all[*at])
    }

    /// True if a part of the wire holds anything of the record.
    pub fn is_sighted(&self, part: usize) -> bool {
        self.parts.contains(&part)
    }

    /// What was seen in a place.
    pub fn in_place(&self, place: usize) -> impl Iterator<Item = &Sighting> {
        self.by_place[place].iter().map(|at| &self.all[*at])
    }

    /// The place of a sighting.
    pub fn place(&self, sighting: &Sighting) -> &Place<'w> {
        &self.places[sighting.place]
    }

    /// The text of a place that no stored string accounts for: the words of
    /// whoever made the wire.
    pub fn own_words(&self, place: usize) -> String {
        let text = &self.places[place].text;
        let mut words = String::new();
        let mut from = 0;
        for sighting in self.in_place(place) {
            words.push_str(&text[from..sighting.span.start]);
            words.push(' ');
            from = sighting.span.end;
        }
        words.push_str(&text[from..]);
        words
    }
}

struct Search {
    automaton: Option<AhoCorasick>,
    /// For each pattern, the needles that begin with it, longest first.
    candidates: Vec<Vec<usize>>,
}

impl Search {
    fn new(needles: &Needles) -> Self {
        let mut by_head: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, text) in needles.texts.iter().enumerate() {
            by_head.entry(head(text)).or_default().push(at);
        }
        let mut candidates: Vec<Vec<usize>> = by_head.values().cloned().collect();
        for group in &mut candidates {
            group.sort_by_key(|at| core::cmp::Reverse(needles.texts[*at].len()));
        }
        // Each wire is searched once, so what counts is how soon the search is built.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(by_head.keys())
            .ok();
        Self { automaton, candidates }
    }

    /// The needles in a text, from left to right, none inside another.
    fn find_all(&self, needles: &Needles, text: &str) -> Vec<(usize, Range<usize>)> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = automaton.find(aho_corasick::Input::new(text).span(from..text.len()))
        {
            let rest = &text[hit.start()..];
            let whole = self.candidates[hit.pattern().as_usize()].iter().copied().find(|needle| {
                rest.starts_with(&needles.texts[*needle])
                    && (needles.is_strong(*needle) || text.trim() == needles.texts[*needle])
            });
            match whole {
                Some(needle) => {
                    let end = hit.start() + needles.texts[needle].len();
                    found.push((needle, hit.start()..end));
                    from = end;
                }
                None => from = next_char(text, hit.start()),
            }
        }
        found
    }
}

fn next_char(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(text.len(), |c| at + c.len_utf8())
}

/// The beginning of a needle: what the search looks for.
fn head(text: &str) -> &str {
    let end = (0..=HEAD.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

fn places(wire: &Wire) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    let (mut calls, mut results, mut parts) = (0, 0, 0);
    for (message, said) in wire.messages.iter().enumerate() {
        for part in &said.parts {
            let mut add = |kind, path, text| {
                places.push(Place { kind, message, part: parts, path, text });
            };
            match &part.body {
                Body::Text(text) => add(Kind::Speech(said.role), &part.path, text.into()),
                Body::Reasoning(reasoning) => {
                    add(Kind::Thought, &part.path, Cow::from(&reasoning.text));
                    if let Some(token) = &reasoning.token {
                        add(Kind::Token, &part.path, token.into());
                    }
                }
                Body::Call(call) => {
                    add(Kind::Arguments(calls), &part.path, inside(&call.arguments));
                    calls += 1;
                }
                Body::Result(result) => {
                    for inner in &result.content {
                        add_output(&mut add, results, inner);
                    }
                    results += 1;
                }
                Body::Image(image) => add(Kind::Image(None), &part.path, Cow::from(&image.source)),
                Body::Foreign(_) => {}
            }
            parts += 1;
        }
    }
    places
}

/// The text of arguments on the wire: the strings in them, a line each.
fn inside(arguments: &str) -> Cow<'_, str> {
    match self::arguments(arguments).as_slice() {
        [] => Cow::Borrowed(arguments),
        strings => Cow::Owned(strings.join("\n")),
    }
}

fn add_output<'w>(
    add: &mut impl FnMut(Kind, &'w str, Cow<'w, str>),
    result: usize,
    part: &'w Part,
) {
    match &part.body {
        Body::Text(text) => add(Kind::Output(result), &part.path, text.into()),
        Body::Image(image) => {
            add(Kind::Image(Some(result)), &part.path, Cow::from(&image.source));
        }
        Body::Reasoning(_) | Body::Call(_) | Body::Result(_) | Body::Foreign(_) => {}
    }
}
