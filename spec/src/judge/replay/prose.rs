//! The judges of results that have no call: told in prose, by name, by nobody's
//! voice but the surroundings'.

use alloc::format;
use alloc::string::String;

use super::super::canary::Kind;
use super::super::context::outputs;
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::rule::Rule;
use crate::wire::WireRole;

/// `replay.orphan-to-prose`: the output of a result without a call, and of a
/// second result, crosses once, as text that names the tool, and in no tool role.
pub(in super::super) fn orphan_to_prose(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let rule = Rule::ReplayOrphanToProse;
        let stray =
            crossing.results.iter().enumerate().filter(|(at, _)| crossing.answered[*at].is_none());
        for (_, result) in stray {
            ruling.witness();
            let message = format!("a result for {:?} crosses without its call", result.result.call);
            ruling.find(Finding::new(rule, step, message).at(result.path));
        }
        for &at in &crossing.context.unbound {
            let Some((_, piece, result)) =
                crossing.context.results().find(|(place, _, _)| *place == at)
            else {
                continue;
            };
            for text in outputs(result) {
                let strong = crossing
                    .seen
                    .needles
                    .find(&text)
                    .is_some_and(|needle| crossing.seen.needles.is_strong(needle));
                if !strong {
                    continue;
                }
                ruling.witness();
                if let Some(message) = not_told(crossing, at, &text, result.is_error()) {
                    ruling.find(Finding::new(rule, step, message).row(piece.seq));
                }
            }
        }
    }
    ruling
}

/// What is wrong with the way in which an orphan's output crosses.
fn not_told(crossing: &Crossing<'_>, result: usize, text: &str, is_error: bool) -> Option<String> {
    let needle = crossing.seen.needles.find(text)?;
    let stored = crossing.seen.needles.sources[needle].len();
    let in_speech: usize = crossing
        .seen
        .of_text(text)
        .filter(|sighting| matches!(crossing.seen.place(sighting).kind, Kind::Speech(_)))
        .count();
    let Some(sighting) = crossing
        .seen
        .of_text(text)
        .find(|sighting| matches!(crossing.seen.place(sighting).kind, Kind::Speech(_)))
    else {
        return Some(match crossing.seen.of_text(text).next() {
            Some(sighting) => format!(
                "the output of a result without a call crosses as {:?}: {text:?}",
                crossing.seen.place(sighting).kind
            ),
            None => format!("the output of a result without a call is lost: {text:?}"),
        });
    };
    if in_speech > stored {
        return Some(format!("stored {stored} times, told {in_speech} times: {text:?}"));
    }
    let words = crossing.seen.own_words(sighting.place);
    let names = crossing.context.tools_of(result);
    if !names.is_empty() && !names.iter().any(|name| words.contains(&**name)) {
        return Some(format!("the prose for a result of {names:?} does not name it: {words:?}"));
    }
    let lower = words.to_lowercase();
    (is_error && !lower.contains("error") && !lower.contains("fail"))
        .then(|| format!("the prose for a failed result does not say that it failed: {words:?}"))
}

/// `replay.orphan-not-speech`: that prose is not in the assistant's voice.
pub(in super::super) fn orphan_not_speech(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        for &at in &crossing.context.unbound {
            let Some((_, piece, result)) =
                crossing.context.results().find(|(place, _, _)| *place == at)
            else {
                continue;
            };
            for text in outputs(result) {
                for sighting in crossing.seen.of_text(&text) {
                    let place = crossing.seen.place(sighting);
                    let Kind::Speech(role) = place.kind else { continue };
                    ruling.witness();
                    if role == WireRole::Assistant {
                        let message = format!(
                            "a result without a call crosses as the assistant's words: {text:?}"
                        );
                        let finding =
                            Finding::new(Rule::ReplayOrphanNotSpeech, crossing.asked.step, message);
                        ruling.find(finding.row(piece.seq).at(place.path));
                    }
                }
            }
        }
    }
    ruling
}
