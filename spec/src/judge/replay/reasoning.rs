//! The judges of reasoning: as reasoning or not at all.

use alloc::format;
use alloc::string::String;

use super::super::canary::{self, Class, Kind};
use super::super::context::What;
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::op::Constraint;
use crate::record::Reasoning;
use crate::rule::Rule;
use crate::target::{PlainReasoning, Target};
use crate::wire::{Body, WireRole};

/// True if the target takes this reasoning, by where it came from.
fn is_accepted(crossing: &Crossing<'_>, reasoning: &Reasoning) -> bool {
    let replay = crossing.asked.replay;
    let own = replay.model().is_some() && replay.model() == reasoning.from.as_ref();
    let form = match replay.target {
        Target::Anthropic => {
            replay.profile.thinking
                && reasoning.token.as_ref().is_some_and(|token| !token.is_blank())
        }
        Target::OpenaiChat => {
            replay.profile.plain_reasoning != PlainReasoning::Refused
                && reasoning.encrypted != Some(true)
        }
    };
    own && form
}

/// `replay.reasoning-native`: reasoning is text in no role, and reasoning only
/// where the target takes it, unchanged.
pub(in super::super) fn reasoning_native(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        for piece in &crossing.context.pieces {
            let What::Thought(reasoning) = &piece.what else { continue };
            ruling.witness();
            if let Some((message, path)) = misplaced(crossing, reasoning) {
                let finding =
                    Finding::new(Rule::ReplayReasoningNative, crossing.asked.step, message);
                ruling.find(finding.row(piece.seq).at(&path));
            }
        }
    }
    ruling
}

/// What is wrong with the way in which reasoning crosses, and where.
fn misplaced(crossing: &Crossing<'_>, reasoning: &Reasoning) -> Option<(String, String)> {
    let text = reasoning.text.to_unicode();
    let token = reasoning.token.as_ref().map(|token| token.to_unicode());
    for stored in [Some(&text), token.as_ref()].into_iter().flatten() {
        let Some(needle) = crossing.seen.needles.find(stored) else { continue };
        let sources = &crossing.seen.needles.sources[needle];
        let only_thought =
            sources.iter().all(|(_, class)| matches!(class, Class::Thought | Class::Token));
        for sighting in crossing.seen.of_text(stored) {
            let place = crossing.seen.place(sighting);
            let as_reasoning = matches!(place.kind, Kind::Thought | Kind::Token);
            if !as_reasoning && only_thought {
                let message = format!("reasoning crosses as {:?}: {stored:?}", place.kind);
                return Some((message, place.path.into()));
            }
            if as_reasoning && !is_accepted(crossing, reasoning) {
                let message = format!(
                    "reasoning crosses that {} cannot take for where it came from: {stored:?}",
                    crossing.asked.replay.target.name()
                );
                return Some((message, place.path.into()));
            }
        }
    }
    changed(crossing, reasoning)
}

/// Tells signed reasoning that crosses with other text or another token.
fn changed(crossing: &Crossing<'_>, reasoning: &Reasoning) -> Option<(String, String)> {
    if crossing.asked.replay.target != Target::Anthropic {
        return None;
    }
    let text = reasoning.text.to_unicode();
    let token = reasoning.token.as_ref()?.to_unicode();
    for (_, part) in crossing.wire.parts() {
        let Body::Reasoning(on_wire) = &part.body else { continue };
        let same_text = !text.trim().is_empty() && on_wire.text == *text;
        let same_token = on_wire.token.as_deref() == Some(&*token);
        let encrypted = reasoning.encrypted == Some(true);
        let holds = !text.trim().is_empty() && on_wire.text.contains(canary::canary(&text));
        if (holds && !(same_text && same_token))
            || (same_token && !encrypted && on_wire.text != *text)
        {
            let message = format!("signed reasoning crosses changed: {:?}", on_wire.text);
            return Some((message, part.path.clone()));
        }
    }
    None
}

/// `replay.reasoning-prefix`: behind a replaced range, where the signature is
/// bound to what stood before it, reasoning does not cross.
pub(in super::super) fn reasoning_prefix(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in
        evidence.crossings.iter().filter(|crossing| crossing.asked.replay.profile.prefix_bound)
    {
        for piece in crossing.context.pieces.iter().filter(|piece| piece.behind_replacement) {
            let What::Thought(reasoning) = &piece.what else { continue };
            if !is_accepted(crossing, reasoning)
                || crossing.asked.replay.target != Target::Anthropic
            {
                continue;
            }
            ruling.witness();
            let text = reasoning.text.to_unicode();
            let token = reasoning.token.as_ref().map(|token| token.to_unicode());
            let seen = [Some(&text), token.as_ref()].into_iter().flatten().find_map(|stored| {
                crossing
                    .seen
                    .of_text(stored)
                    .map(|sighting| crossing.seen.place(sighting))
                    .find(|place| matches!(place.kind, Kind::Thought | Kind::Token))
            });
            if let Some(place) = seen {
                let message = format!(
                    "reasoning crosses whose signature is bound to rows that were replaced: {text:?}"
                );
                let step = crossing.asked.step;
                let finding = Finding::new(Rule::ReplayReasoningPrefix, step, message);
                ruling.find(finding.row(piece.seq).at(place.path));
            }
        }
    }
    ruling
}

/// `replay.reasoning-required`: a target that demands reasoning gets it, or its
/// stand-in, or the request is told what to switch off.
pub(in super::super) fn reasoning_required(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        match crossing.asked.replay.target {
            Target::Anthropic => open_loop(crossing, &mut ruling),
            Target::OpenaiChat => plain(crossing, &mut ruling),
        }
    }
    ruling
}

/// With thinking on, the message of an open tool loop begins with thinking
/// (ANT-15).
fn open_loop(crossing: &Crossing<'_>, ruling: &mut Ruling) {
    let off = crossing.asked.replayed.constraints.contains(&Constraint::ThinkingOff);
    let Some(message) = open_loop_message(crossing) else { return };
    ruling.witness();
    if !off && !begins_with_thinking(crossing, message) {
        let text = "an open tool loop does not begin with thinking, and the request is not told to switch it off";
        let finding = Finding::new(Rule::ReplayReasoningRequired, crossing.asked.step, text);
        ruling.find(finding.at(&crossing.wire.messages[message].path));
    }
}

/// The message that declares the calls of a tool loop which the next answer goes
/// on with, where that matters.
pub(super) fn open_loop_message(crossing: &Crossing<'_>) -> Option<usize> {
    let last = latest_loop_message(crossing)?;
    let messages = &crossing.wire.messages;
    let mut behind = messages[last + 1..].iter().flat_map(|message| &message.parts).peekable();
    let only_results =
        behind.peek().is_some() && behind.all(|part| matches!(part.body, Body::Result(_)));
    only_results.then_some(last)
}

/// The last assistant message, if it declares calls and thinking is on. Whether
/// its loop is still open when prose follows its results, nobody says; so it may
/// be taken for open.
pub(super) fn latest_loop_message(crossing: &Crossing<'_>) -> Option<usize> {
    let replay = crossing.asked.replay;
    if replay.target != Target::Anthropic || !replay.profile.thinking {
        return None;
    }
    let messages = &crossing.wire.messages;
    let last = messages.iter().rposition(|message| message.role == WireRole::Assistant)?;
    messages[last].parts.iter().any(|part| matches!(part.body, Body::Call(_))).then_some(last)
}

pub(super) fn begins_with_thinking(crossing: &Crossing<'_>, message: usize) -> bool {
    crossing.wire.messages[message]
        .parts
        .first()
        .is_some_and(|part| matches!(part.body, Body::Reasoning(_)))
}

/// Where plain reasoning is required, each message that declares calls has it:
/// its own if there is any (DS-1, KIMI-1).
fn plain(crossing: &Crossing<'_>, ruling: &mut Ruling) {
    if crossing.asked.replay.profile.plain_reasoning != PlainReasoning::Required {
        return;
    }
    for message in &crossing.wire.messages {
        let has = |wanted: fn(&Body) -> bool| message.parts.iter().any(|part| wanted(&part.body));
        if message.role != WireRole::Assistant || !has(|body| matches!(body, Body::Call(_))) {
            continue;
        }
        ruling.witness();
        if !has(|body| matches!(body, Body::Reasoning(_))) {
            let text =
                "calls are declared without the reasoning that the target demands beside them";
            let finding = Finding::new(Rule::ReplayReasoningRequired, crossing.asked.step, text);
            ruling.find(finding.at(&message.path));
        }
    }
    for piece in &crossing.context.pieces {
        let What::Thought(reasoning) = &piece.what else { continue };
        let has_call = crossing.context.calls().any(|(_, call, _)| call.seq == piece.seq);
        let text = reasoning.text.to_unicode();
        if has_call && is_accepted(crossing, reasoning) && !text.trim().is_empty() {
            ruling.witness();
            if crossing.seen.of_text(&text).next().is_none() {
                let message =
                    format!("the target demands this reasoning, and it does not cross: {text:?}");
                let finding =
                    Finding::new(Rule::ReplayReasoningRequired, crossing.asked.step, message);
                ruling.find(finding.row(piece.seq));
            }
        }
    }
}
