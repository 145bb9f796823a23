//! The judges of chapter `transcript`: what was handed over, beside what must show.

mod live;
mod look;
mod must;
mod pairs;
mod shown;

pub(super) use live::{live_equals_replay, monotone};

use super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::op::{Op, Outcome};
use crate::record::{Block, CompactionOutcome, CompactionStage, Event, ReplacementSource, Row};
use crate::rule::Rule;
use look::{Look, looks};
use shown::{Kind, Shown, Slot};

/// What of a rule's own differences there is, and in how many places of the
/// transcripts it had something to decide. A transcript that shows nothing of what
/// must show decides nothing.
fn ruled(evidence: &Evidence<'_>, rule: Rule, decides: impl Fn(&Look<'_>) -> usize) -> Ruling {
    let mut ruling = Ruling::default();
    for look in looks(evidence) {
        if look.is_alive() {
            ruling.witnesses += decides(&look);
        }
        for breach in look.breaches().into_iter().filter(|breach| breach.rule == rule) {
            let finding = Finding::new(rule, look.step, breach.message);
            ruling.find(match breach.seq {
                Some(seq) => finding.row(seq),
                None => finding,
            });
        }
    }
    ruling
}

fn must_show(look: &Look<'_>, wanted: impl Fn(&Shown) -> bool) -> usize {
    look.must.iter().filter(|item| wanted(item)).count()
}

fn held(look: &Look<'_>, wanted: impl Fn(&Row) -> bool) -> usize {
    look.rows().iter().filter(|row| wanted(row)).count()
}

/// `transcript.append-origin`: every row of append origin shows, once, in the order
/// of the log. A record that is held has a transcript.
pub(super) fn append_origin(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::TranscriptAppendOrigin;
    let mut ruling =
        ruled(evidence, rule, |look| must_show(look, |item| item.slot != Slot::Marker));
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if let (Op::Transcript {}, Outcome::Refused(_), Some(_)) =
            (&taken.op, &taken.outcome, evidence.holdings.before[step])
        {
            ruling.find(Finding::new(rule, step, "the transcript of a held record is refused"));
        }
    }
    ruling
}

/// `transcript.marker-per-landing`: one for each landed compaction; none for what
/// did not land, and none for a better text.
pub(super) fn marker_per_landing(evidence: &Evidence<'_>) -> Ruling {
    let unmarked = |row: &Row| match &row.event {
        Event::Compaction(step) => match step.step {
            CompactionStage::Upgraded => true,
            CompactionStage::Ended => step.outcome != Some(CompactionOutcome::Landed),
            CompactionStage::Started | CompactionStage::Provenance => false,
        },
        Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => false,
    };
    ruled(evidence, Rule::TranscriptMarkerPerLanding, |look| {
        must_show(look, |item| item.slot == Slot::Marker) + held(look, unmarked)
    })
}

/// `transcript.payload-hidden`: what a summary says never shows.
pub(super) fn payload_hidden(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptPayloadHidden, |look| look.summaries())
}

/// `transcript.silent-replacements`: no other replacement shows, or changes what
/// does.
pub(super) fn silent_replacements(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptSilentReplacements, |look| {
        held(look, |row| {
            let range = row.replaces.as_ref();
            range.is_some_and(|range| range.source != ReplacementSource::Compaction)
        })
    })
}

/// `transcript.tool-pairing`: a return belongs to the card of its declaration, and
/// does not show where that did not.
pub(super) fn tool_pairing(evidence: &Evidence<'_>) -> Ruling {
    let is_return = |row: &Row| match &row.event {
        Event::Message(message) => {
            message.blocks.iter().any(|block| matches!(block, Block::Result(_)))
        }
        Event::Result(_) => true,
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => false,
    };
    ruled(evidence, Rule::TranscriptToolPairing, |look| held(look, is_return))
}

/// `transcript.reasoning-typed`: reasoning shows as reasoning, and nothing else
/// does.
pub(super) fn reasoning_typed(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptReasoningTyped, |look| {
        must_show(look, |item| item.kind() == Some(Kind::Reasoning))
    })
}

/// `transcript.verbatim-hydration`: what shows is what is stored.
pub(super) fn verbatim_hydration(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptVerbatimHydration, |look| {
        must_show(look, |item| item.kind().is_some())
    })
}

/// `transcript.audience`: who a row is for is declared on the row.
pub(super) fn audience(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptAudience, |look| {
        held(look, |row| row.is_append() && row.audience.is_some())
    })
}
