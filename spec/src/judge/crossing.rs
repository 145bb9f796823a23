//! One replay under judgement: what was to cross, what did, and which call and
//! result on the wire is which of the record's.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::canary::{self, Kind, Sightings};
use super::context::{Context, What};
use crate::json::Tree;
use crate::op::{Facts, Replay, Replayed};
use crate::record::{Call, Role, Row};
use crate::text::Text;
use crate::wire::{Body, Wire, WireCall, WireResult, WireRole};

/// A replay, lifted, with everything that its judges ask for.
#[derive(Debug)]
pub(super) struct Crossing<'a> {
    pub asked: Asked<'a>,
    /// The rows that were held.
    pub rows: &'a [Row],
    pub records_call_starts: bool,
    pub context: Context<'a>,
    pub seen: Sightings<'a>,
    pub wire: &'a Wire,
    pub calls: Vec<CallAt<'a>>,
    pub results: Vec<ResultAt<'a>>,
    /// For each call of the context (by piece), its call on the wire.
    pub wire_call: BTreeMap<usize, usize>,
    /// For each call on the wire, the results that directly follow its
    /// declaration and carry its id.
    pub answers: Vec<Vec<usize>>,
    /// For each result on the wire, the call that it answers.
    pub answered: Vec<Option<usize>>,
    /// For each result on the wire, the places of its text.
    result_places: Vec<Vec<usize>>,
}

/// A call on the wire, in its place.
#[derive(Debug)]
pub(super) struct CallAt<'a> {
    pub message: usize,
    pub part: usize,
    pub path: &'a str,
    pub call: &'a WireCall,
}

/// A result on the wire, in its place.
#[derive(Debug)]
pub(super) struct ResultAt<'a> {
    pub message: usize,
    pub part: usize,
    pub path: &'a str,
    pub result: &'a WireResult,
    /// The message that declared the calls of the run it stands in, if it stands
    /// directly behind one.
    pub declaration: Option<usize>,
}

/// What was asked, and what came back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub step: usize,
    pub replay: &'a Replay,
    /// The facts, where it was a request.
    pub facts: Option<&'a Facts>,
    pub replayed: &'a Replayed,
    /// The first and the last row of the stretch that was asked for, where it was
    /// not the whole context.
    pub stretch: Option<(&'a Text, &'a Text)>,
}

impl<'a> Crossing<'a> {
    /// Lays a wire beside the context.
    pub fn new(
        asked: Asked<'a>,
        rows: &'a [Row],
        records_call_starts: bool,
        context: Context<'a>,
        seen: Sightings<'a>,
        wire: &'a Wire,
    ) -> Self {
        let (calls, results) = calls_and_results(wire);
        let wire_call = match_calls(&context, &calls);
        let answers = answers(&calls, &results);
        let mut answered = alloc::vec![None; results.len()];
        for (call, mine) in answers.iter().enumerate() {
            mine.iter().for_each(|result| answered[*result] = Some(call));
        }
        let mut result_places = alloc::vec![Vec::new(); results.len()];
        for (at, place) in seen.places.iter().enumerate() {
            if let Kind::Output(result) = place.kind {
                result_places[result].push(at);
            }
        }
        Self {
            asked,
            rows,
            records_call_starts,
            context,
            seen,
            wire,
            calls,
            results,
            wire_call,
            answers,
            answered,
            result_places,
        }
    }

    /// True if the wire carries anything of the record, in the roles that said it;
    /// or there is nothing that could be told. A wire that carries nothing keeps
    /// no rule.
    pub fn is_alive(&self) -> bool {
        let strong = |text: &str| {
            let needle = self.seen.needles.find(text);
            needle.is_some_and(|needle| self.seen.needles.is_strong(needle))
        };
        let spoken = |whose: Role, on_wire: WireRole| {
            let mut texts = self.context.pieces.iter().filter_map(|piece| match &piece.what {
                What::Said(role, text) if *role == whose && strong(text) => Some(text),
                What::Said(..)
                | What::Thought(_)
                | What::Called(_)
                | What::Answered(_)
                | What::Shown(..)
                | What::Edge(_) => None,
            });
            let there = |text: &str| {
                let mut seen = self.seen.of_text(text).map(|sighting| self.seen.place(sighting));
                seen.any(|place| place.kind == Kind::Speech(on_wire))
            };
            let mut expected = texts.clone().peekable();
            expected.peek().is_none() || texts.any(|text| there(text))
        };
        let nothing = self.context.pieces.iter().all(|piece| match &piece.what {
            What::Said(_, text) => text.trim().is_empty(),
            What::Called(_) | What::Answered(_) => false,
            What::Thought(_) | What::Shown(..) | What::Edge(_) => true,
        });
        let anything = !self.seen.all.is_empty() || !self.wire_call.is_empty();
        (nothing || anything)
            && spoken(Role::User, WireRole::User)
            && spoken(Role::Assistant, WireRole::Assistant)
    }

    /// All text in a result.
    pub fn text_in_result(&self, result: usize) -> String {
        let places = self.result_places[result].iter();
        let texts: Vec<&str> = places.map(|at| &*self.seen.places[*at].text).collect();
        texts.join(" ")
    }
}

fn calls_and_results(wire: &Wire) -> (Vec<CallAt<'_>>, Vec<ResultAt<'_>>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    // The declaration whose run of results has not been broken yet.
    let mut open: Option<usize> = None;
    let mut number = 0;
    for (message, said) in wire.messages.iter().enumerate() {
        let mut declares = false;
        for part in &said.parts {
            match &part.body {
                Body::Call(call) => {
                    calls.push(CallAt { message, part: number, path: &part.path, call });
                    declares = true;
                }
                Body::Result(result) => results.push(ResultAt {
                    message,
                    part: number,
                    path: &part.path,
                    result,
                    declaration: open,
                }),
                Body::Text(_) | Body::Reasoning(_) | Body::Image(_) | Body::Foreign(_) => {
                    open = None;
                }
            }
            number += 1;
        }
        if declares {
            open = Some(message);
        } else if said.parts.is_empty() {
            open = None;
        }
    }
    (calls, results)
}

/// Which call of the context is which on the wire. First those that have kept id,
/// name and arguments; then those that have another id, as a target may demand;
/// each time the first that is free. The rest by their place.
fn match_calls(context: &Context<'_>, wire: &[CallAt<'_>]) -> BTreeMap<usize, usize> {
    let stored: Vec<(usize, Known)> =
        context.calls().map(|(at, _, call)| (at, Known::of(call))).collect();
    let on_wire: Vec<Known> = wire.iter().map(|at| Known::on_wire(at.call)).collect();
    let mut free: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, known) in on_wire.iter().enumerate() {
        free.entry(&known.name).or_default().push(at);
    }
    let mut matched = BTreeMap::new();
    let fits: [fn(&Known, &Known) -> bool; 2] = [
        |stored, wire| stored.id == wire.id && stored.is_told_by(wire) == Some(true),
        |stored, wire| stored.is_told_by(wire) == Some(true),
    ];
    for fits in fits {
        for (at, known) in &stored {
            if matched.contains_key(at) {
                continue;
            }
            for name in known.names_on_wire(&free) {
                let Some(places) = free.get_mut(name) else { continue };
                if let Some(found) = places.iter().position(|place| fits(known, &on_wire[*place])) {
                    matched.insert(*at, places.remove(found));
                    break;
                }
            }
        }
    }
    match_by_place(&stored, &on_wire, &mut matched);
    matched
}

/// Matches the calls whose arguments tell nothing, or were changed: with the free
/// call of their name between those of their neighbours, or else anywhere with
/// their id and name.
fn match_by_place(
    stored: &[(usize, Known)],
    on_wire: &[Known],
    matched: &mut BTreeMap<usize, usize>,
) {
    let mut taken: BTreeSet<usize> = matched.values().copied().collect();
    // For each stored call, the first call on the wire of those that follow it.
    let mut ends = alloc::vec![on_wire.len(); stored.len() + 1];
    for (index, (at, _)) in stored.iter().enumerate().rev() {
        ends[index] = matched.get(at).copied().unwrap_or(on_wire.len()).min(ends[index + 1]);
    }
    let mut from = 0;
    for (index, (at, known)) in stored.iter().enumerate() {
        if let Some(call) = matched.get(at) {
            from = from.max(call + 1);
            continue;
        }
        let free = |call: &usize| !taken.contains(call) && known.is_named(&on_wire[*call]);
        let same_id = |call: &usize| known.id == on_wire[*call].id;
        let mut between = from..ends[index].max(from);
        let found = between.clone().filter(free).find(same_id);
        let found = found.or_else(|| between.find(free));
        let found = found.or_else(|| (0..on_wire.len()).filter(free).find(same_id));
        if let Some(call) = found {
            matched.insert(*at, call);
            taken.insert(call);
            from = from.max(call + 1);
        }
    }
}

/// By what a call is known: its id, its name without what a target may refuse in
/// it, and the strings in its arguments.
struct Known {
    id: String,
    name: String,
    arguments: Option<Tree>,
    strings: Vec<String>,
}

impl Known {
    fn of(call: &Call) -> Self {
        let arguments = call.arguments.to_unicode();
        let arguments = crate::json::mend_surrogates(&arguments);
        Self::new(&call.id.to_unicode(), &call.name.to_unicode(), &arguments)
    }

    fn on_wire(call: &WireCall) -> Self {
        Self::new(&call.id, &call.name, &call.arguments)
    }

    fn new(id: &str, name: &str, arguments: &str) -> Self {
        let strings = canary::arguments(arguments);
        Self {
            id: id.into(),
            name: name.chars().filter(char::is_ascii_alphanumeric).collect(),
            arguments: Tree::parse(arguments),
            strings: strings.iter().map(|text| String::from(canary::canary(text))).collect(),
        }
    }

    /// The names under which the call may be found: its own, but for one that is
    /// blank or too long, which a target has to replace.
    fn names_on_wire<'n>(&self, free: &BTreeMap<&'n str, Vec<usize>>) -> Vec<&'n str> {
        let replaced = self.name.is_empty() || self.name.len() > 64;
        let fits = |name: &&&str| **name == self.name || replaced;
        free.keys().filter(fits).copied().collect()
    }

    /// True if the call on the wire has this name, or one that had to replace it.
    fn is_named(&self, wire: &Self) -> bool {
        self.name == wire.name || self.name.is_empty() || self.name.len() > 64
    }

    /// Whether the arguments are those of this call on the wire; None where they
    /// hold nothing to be known by.
    fn is_told_by(&self, wire: &Self) -> Option<bool> {
        let mut strings = self.strings.iter().filter(|text| text.len() >= 8).peekable();
        strings.peek()?;
        let same = self.arguments.is_some() && self.arguments == wire.arguments;
        let holds = |text: &String| wire.strings.iter().any(|other| other.contains(text.as_str()));
        Some(same || strings.all(holds))
    }
}

/// For each call, the results in the run behind its declaration that carry its
/// id. Where one declaration has an id twice, they are dealt out in order.
fn answers(calls: &[CallAt<'_>], results: &[ResultAt<'_>]) -> Vec<Vec<usize>> {
    let mut by_id: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for (at, result) in results.iter().enumerate() {
        if let Some(declaration) = result.declaration {
            by_id.entry((declaration, &result.result.call)).or_default().push(at);
        }
    }
    let mut shared: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for (at, call) in calls.iter().enumerate() {
        shared.entry((call.message, &call.call.id)).or_default().push(at);
    }
    let mut answers = alloc::vec![Vec::new(); calls.len()];
    for (key, group) in shared {
        let found = by_id.remove(&key).unwrap_or_default();
        for (index, result) in found.into_iter().enumerate() {
            answers[group[index.min(group.len() - 1)]].push(result);
        }
    }
    answers
}

/// A stored call, told for a message.
pub(super) fn told(call: &Call) -> String {
    format!("call `{}` of {}", call.id, call.name)
}
