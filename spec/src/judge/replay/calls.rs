//! The judges of declared calls: together in one message, each answered once and
//! at once, with an id and arguments that the target takes.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::context::What;
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use super::super::words;
use crate::finding::{Finding, Ruling};
use crate::json::Tree;
use crate::record::Call;
use crate::rule::Rule;
use crate::target::Target;
use crate::text::Text;
use crate::wire::WireRole;

/// `replay.one-declaration`: the calls of one stored message are declared, all of
/// them, in one wire message; and what else it said is not in the next one.
pub(in super::super) fn one_declaration(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let mut rounds: BTreeMap<u64, Vec<(usize, &Call)>> = BTreeMap::new();
        for (at, piece, call) in crossing.context.calls() {
            rounds.entry(piece.seq).or_default().push((at, call));
        }
        ruling.witnesses += rounds.len();
        for (seq, calls) in &rounds {
            let finding = |message: String| {
                Finding::new(Rule::ReplayOneDeclaration, crossing.asked.step, message).row(*seq)
            };
            let mut messages = BTreeSet::new();
            for (at, call) in calls {
                match crossing.wire_call.get(at) {
                    Some(on_wire) => {
                        messages.insert(crossing.calls[*on_wire].message);
                    }
                    None => ruling.find(finding(format!("{} is not declared", told(call)))),
                }
            }
            // OpenAI takes 128 calls in a message and no more (OAI-CHAT-4).
            let allowed = match crossing.asked.replay.target {
                Target::OpenaiChat => calls.len().div_ceil(128),
                Target::Anthropic => 1,
            };
            if messages.len() > allowed {
                let count = messages.len();
                ruling.find(finding(format!(
                    "the {} calls of one stored message are declared in {count} messages",
                    calls.len()
                )));
            } else if let Some(split) = split_speech(crossing, *seq, &messages) {
                ruling.find(finding(split));
            }
        }
    }
    ruling
}

/// Tells that a stored message became two adjacent assistant messages.
fn split_speech(crossing: &Crossing<'_>, seq: u64, declared: &BTreeSet<usize>) -> Option<String> {
    let declared = *declared.first()?;
    let mut pieces = crossing.context.pieces.iter();
    pieces.find_map(|piece| {
        let What::Said(_, text) = &piece.what else { return None };
        if piece.seq != seq {
            return None;
        }
        let place = crossing.seen.place(crossing.seen.of_text(text).next()?);
        let both_assistant = crossing.wire.messages[place.message].role == WireRole::Assistant;
        (both_assistant && place.message.abs_diff(declared) == 1).then(|| {
            format!("one stored message became two adjacent ones; this text stands apart from its calls: {text:?}")
        })
    })
}

/// `replay.call-answered`: each declared call has one result, directly after its
/// declaration.
pub(in super::super) fn call_answered(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let stored: BTreeMap<usize, u64> = crossing
            .wire_call
            .iter()
            .map(|(piece, call)| (*call, crossing.context.pieces[*piece].seq))
            .collect();
        ruling.witnesses += crossing.calls.len();
        for (at, call) in crossing.calls.iter().enumerate() {
            let id = &call.call.id;
            let message = match crossing.answers[at].len() {
                1 => continue,
                0 => {
                    let elsewhere = crossing
                        .results
                        .iter()
                        .find(|result| result.message > call.message && result.result.call == *id);
                    match elsewhere {
                        Some(result) => format!(
                            "call `{id}` of {} is answered at {}, and not directly after its declaration",
                            call.call.name, result.path
                        ),
                        None => format!("call `{id}` of {} has no result", call.call.name),
                    }
                }
                count => format!("call `{id}` of {} has {count} results", call.call.name),
            };
            let mut finding =
                Finding::new(Rule::ReplayCallAnswered, crossing.asked.step, message).at(call.path);
            finding.seq = stored.get(&at).copied();
            ruling.find(finding);
        }
    }
    ruling
}

/// True if a target takes an id as it is, alone.
fn takes_id(target: Target, id: &str) -> bool {
    match target {
        Target::OpenaiChat => !id.trim().is_empty() && id.chars().count() <= 64,
        Target::Anthropic => {
            !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        }
    }
}

/// What of a record a replay is of: how many replacements, which stretch, how many
/// cuts without a row.
type View<'a> = (usize, Option<(&'a Text, &'a Text)>, usize);

/// `replay.ids-valid`: an id that the target refuses crosses as one that it
/// takes, of this call alone, the same on every replay.
pub(in super::super) fn ids_valid(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    // What each call was named on an earlier replay: by record, target, row and block.
    // A replacement may free an id, so only replays with the same ones compare.
    let mut earlier: BTreeMap<(usize, View<'_>, Target, u64, usize), &str> = BTreeMap::new();
    for crossing in &evidence.crossings {
        let target = crossing.asked.replay.target;
        let step = crossing.asked.step;
        let generation = evidence.holdings.before[step].map_or(0, |held| held.generation);
        // So does what was let go of, and a stretch that is replayed alone.
        let replacements = crossing.rows.iter().filter(|row| row.replaces.is_some()).count();
        let view = (
            replacements,
            crossing.asked.stretch,
            evidence.holdings.before[step].map_or(0, |held| held.cuts),
        );
        let mut taken: BTreeMap<(usize, &str), &Call> = BTreeMap::new();
        let mut raw_ids = BTreeSet::new();
        for (at, piece, call) in crossing.context.calls() {
            let raw = call.id.to_unicode().into_owned();
            let Some(on_wire) = crossing.wire_call.get(&at).map(|at| &crossing.calls[*at]) else {
                continue;
            };
            let scope = match target {
                Target::OpenaiChat => on_wire.message,
                Target::Anthropic => 0,
            };
            let refused = !takes_id(target, &raw) || !raw_ids.insert((scope, raw));
            ruling.witnesses += usize::from(refused);
            let id = on_wire.call.id.as_str();
            let finding = |message: String| {
                Finding::new(Rule::ReplayIdsValid, step, message).row(piece.seq).at(on_wire.path)
            };
            if !takes_id(target, id) {
                ruling
                    .find(finding(format!("the id {id:?} is one that {} refuses", target.name())));
            }
            if let Some(other) = taken.insert((scope, id), call) {
                ruling.find(finding(format!(
                    "two calls cross under one id, {id:?}: {} and {}",
                    told(other),
                    told(call)
                )));
            }
            let key = (generation, view, target, piece.seq, piece.block);
            if let Some(before) = earlier.insert(key, id).filter(|before| *before != id) {
                ruling.find(finding(format!(
                    "{} crossed as {before:?} on an earlier replay and crosses as {id:?} now",
                    told(call)
                )));
            }
        }
    }
    ruling
}

/// `replay.arguments-valid`: arguments that are no JSON object cross as one that
/// says so; all others cross as they are.
pub(in super::super) fn arguments_valid(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        for (at, piece, call) in crossing.context.calls() {
            let Some(on_wire) = crossing.wire_call.get(&at).map(|at| &crossing.calls[*at]) else {
                continue;
            };
            ruling.witness();
            let now = &on_wire.call.arguments;
            let message = match (object(&call.arguments.to_unicode()), sent_object(now)) {
                (_, None) => {
                    format!("the arguments of {} are sent as no JSON object: {now}", told(call))
                }
                (None, Some(object)) => match not_said(evidence, call, now, &object) {
                    Some(message) => message,
                    None => continue,
                },
                (Some(stored), Some(object)) if same_arguments(&stored, &object) => continue,
                (Some(_), Some(_)) => format!(
                    "the arguments of {} were changed from {} to {now}",
                    told(call),
                    call.arguments
                ),
            };
            let finding = Finding::new(Rule::ReplayArgumentsValid, crossing.asked.step, message);
            ruling.find(finding.row(piece.seq).at(on_wire.path));
        }
    }
    ruling
}

/// True if two values are the same to every reader: strings as they can cross,
/// and numbers by their value as a double.
fn same_arguments(stored: &Tree, now: &Tree) -> bool {
    match (stored, now) {
        (Tree::Bare(a), Tree::Bare(b)) => {
            a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
        }
        (Tree::Text(a), Tree::Text(b)) => a.to_unicode() == b.to_unicode(),
        (Tree::List(a), Tree::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_arguments(a, b))
        }
        (Tree::Object(a), Tree::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((name, a), (other, b))| {
                    name.to_unicode() == other.to_unicode() && same_arguments(a, b)
                })
        }
        (Tree::TooDeep(a), Tree::TooDeep(b)) => a == b,
        _of_other_kinds => false,
    }
}

/// The strings in a value, as they can cross.
fn texts(tree: &Tree) -> Vec<String> {
    tree.strings().iter().map(|text| text.to_unicode().into_owned()).collect()
}

/// The arguments, if they are a JSON object. No arguments at all are an empty one.
fn object(arguments: &str) -> Option<Tree> {
    if arguments.trim().is_empty() {
        return Some(Tree::Object(BTreeMap::new()));
    }
    Tree::parse(arguments).filter(|tree| matches!(tree, Tree::Object(_)))
}

/// The arguments as they are sent, if they are a JSON object that a provider can
/// read.
fn sent_object(arguments: &str) -> Option<Tree> {
    let whole = matches!(crate::json::mend_surrogates(arguments), Cow::Borrowed(_));
    Tree::parse(arguments).filter(|tree| whole && matches!(tree, Tree::Object(_)))
}

/// What is wrong with the form in which broken arguments cross.
fn not_said(evidence: &Evidence<'_>, call: &Call, sent: &str, now: &Tree) -> Option<String> {
    let declared = &evidence.trace.hello.wordings.invalid_arguments;
    let raw = call.arguments.to_unicode();
    let holds_raw = texts(now).iter().any(|text| text.contains(raw.trim()));
    let says = words::says(sent, declared, words::INVALID_ARGUMENTS);
    (!holds_raw && !says).then(|| {
        format!(
            "the arguments of {} are no JSON object, and cross as {sent} without a word of it",
            told(call)
        )
    })
}
