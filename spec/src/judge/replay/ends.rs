//! The judges of a wire's form: nothing empty, and the ends as the target
//! demands them.

use alloc::collections::BTreeSet;

use super::super::canary::{Kind, Place};
use super::super::context::{What, outputs};
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use super::super::words;
use crate::finding::{Finding, Ruling};
use crate::record::{Event, Role};
use crate::rule::Rule;
use crate::target::Target;
use crate::wire::{Body, WireRole};

/// `replay.no-empty`: no empty text, and no message with nothing in it.
pub(in super::super) fn no_empty(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        ruling.witnesses += blank_rows(crossing);
        for place in &crossing.seen.places {
            if is_text(crossing, place) && place.text.trim().is_empty() {
                let finding = Finding::new(Rule::ReplayNoEmpty, step, "this text is empty");
                ruling.find(finding.at(place.path));
            }
        }
        for message in crossing.wire.messages.iter().filter(|message| message.parts.is_empty()) {
            let finding = Finding::new(Rule::ReplayNoEmpty, step, "this message holds nothing");
            ruling.find(finding.at(&message.path));
        }
    }
    ruling
}

/// True if a place is a text of which something must be said: speech, and a text
/// block of a result. (A result of OpenAI Chat may be one empty string.)
fn is_text(crossing: &Crossing<'_>, place: &Place<'_>) -> bool {
    match place.kind {
        Kind::Speech(_) => true,
        Kind::Output(result) => {
            crossing.asked.replay.target == Target::Anthropic
                || crossing.results[result].result.content.len() > 1
        }
        Kind::Thought | Kind::Token | Kind::Arguments(_) | Kind::Image(_) => false,
    }
}

/// How many blank texts the context holds, results without output, and messages
/// with nothing to say.
fn blank_rows(crossing: &Crossing<'_>) -> usize {
    let pieces = &crossing.context.pieces;
    let blank = pieces
        .iter()
        .filter(|piece| matches!(&piece.what, What::Said(_, text) if text.trim().is_empty()));
    let filled: BTreeSet<u64> = pieces
        .iter()
        .filter(|piece| !matches!(piece.what, What::Thought(_)))
        .map(|piece| piece.seq)
        .collect();
    let thoughts = pieces.iter().filter(|piece| matches!(piece.what, What::Thought(_)));
    let silent = pieces.iter().filter(
        |piece| matches!(piece.what, What::Answered(result) if outputs(result).next().is_none()),
    );
    let hollow = crossing
        .rows
        .iter()
        .filter(|row| matches!(&row.event, Event::Message(message) if message.blocks.is_empty()));
    blank.count()
        + thoughts.filter(|piece| !filled.contains(&piece.seq)).count()
        + silent.count()
        + hollow.count()
}

/// `replay.ends-right`: the wire is not empty, and begins and ends as the target
/// demands.
pub(in super::super) fn ends_right(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        ruling.witnesses += usize::from(needs_an_end(crossing));
        let ends = [added_first(evidence, crossing), added_last(evidence, crossing)];
        for added in ends.into_iter().flatten().filter(|added| added.certain && !added.needed) {
            let message = "this message was added, and the target does not demand it";
            let finding = Finding::new(Rule::ReplayEndsRight, step, message);
            ruling.find(finding.at(&crossing.wire.messages[added.message].path));
        }
        let finding =
            |message: &str, path: &str| Finding::new(Rule::ReplayEndsRight, step, message).at(path);
        let mut spoken =
            crossing.wire.messages.iter().filter(|message| message.role != WireRole::System);
        let Some(first) = spoken.next() else {
            ruling.find(finding("there is no message to send", "messages"));
            continue;
        };
        let last = spoken.next_back().unwrap_or(first);
        let replay = crossing.asked.replay;
        match replay.target {
            Target::OpenaiChat => {}
            Target::Anthropic => {
                if first.role != WireRole::User {
                    ruling.find(finding("the first message must be the user's", &first.path));
                }
                if last.role == WireRole::Assistant && !replay.profile.prefill {
                    let message = "the last message must not be the assistant's for this model";
                    ruling.find(finding(message, &last.path));
                }
            }
        }
    }
    ruling
}

/// A message at an end of the wire that holds nothing of the record: whoever made
/// the wire added it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Added {
    /// True if the target demands it there.
    pub needed: bool,
    /// False if its words may stand for something silent in the record: a result
    /// without output, or an image that was not seen.
    pub certain: bool,
    /// The index of the message.
    pub message: usize,
}

/// The message that was added before the first one.
pub(super) fn added_first(evidence: &Evidence<'_>, crossing: &Crossing<'_>) -> Option<Added> {
    let (message, next) = {
        let mut spoken = spoken(crossing);
        (spoken.next()?, spoken.next())
    };
    let demands = crossing.asked.replay.target == Target::Anthropic;
    let before_assistant = next.is_some_and(|next| role(crossing, next) == WireRole::Assistant);
    let needed = next.is_none() || demands && before_assistant;
    is_added(crossing, message).then(|| Added {
        needed,
        certain: is_certain(evidence, crossing, message),
        message,
    })
}

/// The message that was added behind the last one.
pub(super) fn added_last(evidence: &Evidence<'_>, crossing: &Crossing<'_>) -> Option<Added> {
    let mut spoken = spoken(crossing).rev();
    let (message, before) = (spoken.next()?, spoken.next()?);
    let replay = crossing.asked.replay;
    // A prefill and thinking exclude each other.
    let demands =
        replay.target == Target::Anthropic && (!replay.profile.prefill || replay.profile.thinking);
    let needed = demands && role(crossing, before) == WireRole::Assistant;
    is_added(crossing, message).then(|| Added {
        needed,
        certain: is_certain(evidence, crossing, message),
        message,
    })
}

fn spoken(crossing: &Crossing<'_>) -> impl DoubleEndedIterator<Item = usize> {
    let messages = crossing.wire.messages.iter().enumerate();
    messages.filter(|(_, message)| message.role != WireRole::System).map(|(at, _)| at)
}

fn role(crossing: &Crossing<'_>, message: usize) -> WireRole {
    crossing.wire.messages[message].role
}

/// True if a message is the user's, in words of its maker alone.
fn is_added(crossing: &Crossing<'_>, message: usize) -> bool {
    let parts = &crossing.wire.messages[message].parts;
    // The runtime's facts are out of place here, and no added words.
    let facts = crossing.asked.facts.map(super::super::authority::told).unwrap_or_default();
    let tells_facts = facts.iter().any(|fact| parts.iter().any(|part| part.sent.contains(&**fact)));
    let only_text = parts.iter().all(|part| matches!(part.body, Body::Text(_)));
    let own_words =
        places_of(crossing, message).all(|(at, _)| crossing.seen.in_place(at).next().is_none());
    let by_user = role(crossing, message) == WireRole::User && !parts.is_empty();
    by_user && only_text && own_words && !tells_facts
}

/// True if the words of such a message can stand for nothing that the record
/// holds.
fn is_certain(evidence: &Evidence<'_>, crossing: &Crossing<'_>, message: usize) -> bool {
    let silent = crossing.context.results().any(|(at, _, result)| {
        crossing.context.unbound.contains(&at) && outputs(result).next().is_none()
    });
    let declared = &evidence.trace.hello.wordings.unseen;
    let unseen = places_of(crossing, message)
        .any(|(_, place)| words::says(&place.text, declared, words::UNSEEN));
    !silent && !unseen
}

fn places_of<'c>(
    crossing: &'c Crossing<'_>,
    message: usize,
) -> impl Iterator<Item = (usize, &'c Place<'c>)> {
    let places = crossing.seen.places.iter().enumerate();
    places.filter(move |(_, place)| place.message == message)
}

/// True if the context begins or ends with the assistant, or holds nothing that
/// crosses: then there is something to do.
fn needs_an_end(crossing: &Crossing<'_>) -> bool {
    let mut spoken = crossing.context.pieces.iter().filter_map(|piece| match &piece.what {
        What::Said(role, text) => (!text.trim().is_empty()).then_some(*role),
        What::Shown(role, _) => Some(*role),
        What::Called(_) => Some(Role::Assistant),
        What::Answered(_) => Some(Role::User),
        What::Thought(_) | What::Edge(_) => None,
    });
    match spoken.next() {
        None => true,
        Some(first) => {
            let last = spoken.next_back().unwrap_or(first);
            first == Role::Assistant || last == Role::Assistant
        }
    }
}
