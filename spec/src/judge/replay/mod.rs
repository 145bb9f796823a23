//! The judges of chapter `replay`, over the wire as it would be sent.

mod calls;
mod ends;
mod images;
mod open;
mod pairs;
mod prose;
mod reasoning;
mod relations;
mod reports;
mod speech;

use alloc::collections::BTreeSet;
use alloc::format;

pub(super) use calls::{arguments_valid, call_answered, ids_valid, one_declaration};
pub(super) use ends::{ends_right, no_empty};
pub(super) use images::{image_or_marker, vision_only_images};
pub(super) use open::{did_not_complete, never_started, running_or_cold};
pub(super) use pairs::{early_result, late_result, pairs_by_place, result_bound};
pub(super) use prose::{orphan_not_speech, orphan_to_prose};
pub(super) use reasoning::{reasoning_native, reasoning_prefix, reasoning_required};
pub(super) use relations::{deterministic, prefix_stable};
pub(super) use reports::{anomalies_named, constraints_said, tools_absent};
pub(super) use speech::{doing_not_saying, saying_not_doing, text_as_speech};

use super::canary::Class;
use super::context::{What, outputs};
use super::crossing::Crossing;
use super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::op::{Op, Outcome};
use crate::rule::Rule;

/// `replay.total`: each replay of a held record yields a wire, and the target's
/// own rules accept it.
pub(super) fn total(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let replays = matches!(taken.op, Op::Replay(_) | Op::Request { .. });
        let asked = replays && evidence.holdings.before[step].is_some();
        if let (true, Outcome::Refused(refusal)) = (asked, &taken.outcome) {
            ruling.witness();
            let message = format!("a replay was refused: {}", refusal.detail);
            ruling.find(Finding::new(Rule::ReplayTotal, step, message));
        }
    }
    for crossing in &evidence.crossings {
        ruling.witnesses += usize::from(crossing.is_alive());
        let asked = &crossing.asked;
        let replay = asked.replay;
        let constraints = &asked.replayed.constraints;
        for breach in replay.target.check(&replay.profile, &asked.replayed.payload, constraints) {
            let mut finding =
                Finding::new(Rule::ReplayTotal, asked.step, breach.message).at(&breach.path);
            finding.target_rule = Some(breach.rule);
            ruling.find(finding);
        }
    }
    ruling
}

/// `replay.context-only`: of a row that is not in the context nothing crosses.
pub(super) fn context_only(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let outside: BTreeSet<u64> = crossing.context.outside.iter().map(|row| row.seq).collect();
        for (needle, text) in crossing.seen.needles.texts.iter().enumerate() {
            let sources = &crossing.seen.needles.sources[needle];
            let gone = sources.iter().all(|(seq, _)| outside.contains(seq));
            if !gone || !crossing.seen.needles.is_strong(needle) {
                continue;
            }
            ruling.witness();
            for sighting in crossing.seen.of_text(text) {
                let message = format!("this row is not in the context, and crosses: {text:?}");
                let finding = Finding::new(Rule::ReplayContextOnly, crossing.asked.step, message);
                ruling.find(finding.row(sources[0].0).at(crossing.seen.place(sighting).path));
            }
        }
    }
    ruling
}

/// `replay.kinds-exhaustive`: of a context that holds every kind of block, no
/// kind vanishes whole.
pub(super) fn kinds_exhaustive(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let context = &crossing.context;
        let has =
            |wanted: fn(&What<'_>) -> bool| context.pieces.iter().any(|piece| wanted(&piece.what));
        let every_kind = has(|what| matches!(what, What::Said(_, text) if !text.trim().is_empty()))
            && has(|what| matches!(what, What::Thought(_)))
            && has(|what| matches!(what, What::Called(_)))
            && has(
                |what| matches!(what, What::Answered(result) if outputs(result).next().is_some()),
            )
            && has(|what| matches!(what, What::Shown(..)));
        if !every_kind {
            continue;
        }
        ruling.witness();
        let crosses = |class: fn(&Class) -> bool| {
            crossing.seen.all.iter().any(|sighting| {
                crossing.seen.needles.sources[sighting.needle].iter().any(|(_, of)| class(of))
            })
        };
        let marked = crossing.seen.places.iter().enumerate().any(|(at, _)| {
            let words = crossing.seen.own_words(at);
            super::words::says(&words, &evidence.trace.hello.wordings.unseen, super::words::UNSEEN)
        });
        let shown = crosses(|class| matches!(class, Class::Image)) || marked;
        for (kind, there) in [
            ("blocks of kind `text`", crosses(|class| matches!(class, Class::Said(_)))),
            ("blocks of kind `call`", !crossing.wire_call.is_empty()),
            ("blocks of kind `result`", crosses(|class| matches!(class, Class::Output))),
            ("blocks of kind `image`", shown),
            ("rows of kind `delta`", streams_cross(crossing)),
        ] {
            if !there {
                let message = format!("the context holds {kind}; nothing stands for them");
                let step = crossing.asked.step;
                ruling.find(Finding::new(Rule::ReplayKindsExhaustive, step, message));
            }
        }
    }
    ruling
}

/// True if the text of messages of which only pieces were stored crosses, or there is
/// none to follow.
fn streams_cross(crossing: &Crossing<'_>) -> bool {
    let streamed: BTreeSet<u64> = crossing
        .context
        .pieces
        .iter()
        .filter(|piece| piece.streamed && matches!(piece.what, What::Said(..)))
        .map(|piece| piece.seq)
        .collect();
    let sources = &crossing.seen.needles.sources;
    let is_streamed =
        |needle: &[(u64, Class)]| needle.iter().any(|(seq, _)| streamed.contains(seq));
    !sources.iter().any(|needle| is_streamed(needle))
        || crossing.seen.all.iter().any(|sighting| is_streamed(&sources[sighting.needle]))
}
