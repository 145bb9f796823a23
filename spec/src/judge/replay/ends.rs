//! The judges of a wire's form: nothing empty, and the ends as the target
//! demands them.

use alloc::collections::BTreeSet;

use super::super::canary::Kind;
use super::super::context::{What, outputs};
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::record::{Event, Role};
use crate::rule::Rule;
use crate::target::Target;
use crate::wire::WireRole;

/// `replay.no-empty`: no empty text, and no message with nothing in it.
pub(in super::super) fn no_empty(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        ruling.witnesses += blank_rows(crossing);
        for place in &crossing.seen.places {
            if matches!(place.kind, Kind::Speech(_)) && place.text.trim().is_empty() {
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
