//! The judges of chapter `transcript`.

mod compare;
mod due;
mod live;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use compare::{Difference, differences};
use due::{Shown, due};

use super::evidence::Evidence;
use super::held::Snapshot;
use crate::finding::{Finding, Ruling};
use crate::op::Outcome;
use crate::record::{Block, CompactionStage, Event, Row};
use crate::rule::Rule;

pub(super) use live::live_equals_replay;

/// A transcript that came back, with what it must be.
struct Told<'a> {
    step: usize,
    held: Snapshot,
    rows: &'a [Row],
    said: Vec<Shown>,
    due: Vec<Shown>,
}

fn told<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = Told<'a>> {
    evidence.trace.steps.iter().enumerate().filter_map(|(step, taken)| {
        let Outcome::Transcript { items } = &taken.outcome else { return None };
        let held = evidence.holdings.before[step]?;
        let rows = evidence.holdings.rows(held);
        let said = items.iter().map(Shown::of).collect();
        Some(Told { step, held, rows, said, due: due(rows) })
    })
}

/// The differences that break one rule. `decides` says whether a transcript has
/// something for the rule to decide.
fn ruled(evidence: &Evidence<'_>, rule: Rule, decides: fn(&Told<'_>) -> bool) -> Ruling {
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let found = differences(told.rows, &told.said, &told.due);
        let mine: Vec<Difference> = found.into_iter().filter(|found| found.rule == rule).collect();
        // What shows nothing keeps nothing.
        let alive = !told.said.is_empty();
        ruling.witnesses += usize::from(mine.is_empty() && alive && decides(&told));
        for Difference { seq, message, .. } in mine {
            let finding = Finding::new(rule, told.step, message);
            ruling.find(Finding { seq, ..finding });
        }
    }
    ruling
}

/// `transcript.append-origin`: every row of append origin shows, in the order of
/// the log.
pub(super) fn append_origin(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptAppendOrigin, |told| !told.due.is_empty())
}

/// `transcript.marker-per-landing`: each landed compaction adds one marker.
pub(super) fn marker_per_landing(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptMarkerPerLanding, |told| {
        let step = |row: &Row| {
            matches!(&row.event, Event::Compaction(step)
                if matches!(step.step, CompactionStage::Ended | CompactionStage::Upgraded))
        };
        told.rows.iter().any(|row| row.compacts().is_some() || step(row))
    })
}

/// `transcript.payload-hidden`: of a summary's text nothing shows.
pub(super) fn payload_hidden(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptPayloadHidden, |told| {
        told.rows.iter().any(|row| row.compacts().is_some())
    })
}

/// `transcript.silent-replacements`: what is replaced otherwise changes nothing.
pub(super) fn silent_replacements(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptSilentReplacements, |told| {
        told.rows.iter().any(|row| row.replaces.is_some() && row.compacts().is_none())
    })
}

/// `transcript.tool-pairing`: a card and its return know each other.
pub(super) fn tool_pairing(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptToolPairing, |told| {
        told.due.iter().any(|shown| shown.kind == "tool-call" || shown.kind == "tool-return")
    })
}

/// `transcript.reasoning-typed`: reasoning shows as reasoning, and nothing else
/// does.
pub(super) fn reasoning_typed(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptReasoningTyped, |told| {
        told.due.iter().any(|shown| shown.kind == "reasoning-message")
    })
}

/// `transcript.verbatim-hydration`: what shows is what is stored.
pub(super) fn verbatim_hydration(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptVerbatimHydration, |told| {
        told.due.iter().any(|shown| shown.block.is_some())
    })
}

/// `transcript.audience`: a row shows to people if it is for them.
pub(super) fn audience(evidence: &Evidence<'_>) -> Ruling {
    ruled(evidence, Rule::TranscriptAudience, |told| {
        told.rows.iter().any(|row| {
            let content = match &row.event {
                Event::Message(message) => {
                    message.blocks.iter().any(|block| !matches!(block, Block::Authority(_)))
                }
                Event::Result(_) | Event::Delta(_) => true,
                Event::CallStarted(_)
                | Event::Compaction(_)
                | Event::Turn(_)
                | Event::Unknown(_) => false,
            };
            content && row.replaces.is_none() && row.audience.is_some()
        })
    })
}

/// `transcript.monotone`: what was shown stays, where it was and as it was; cards
/// are completed and pieces become whole.
pub(super) fn monotone(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::TranscriptMonotone;
    let mut ruling = Ruling::default();
    let mut earlier: Option<Told<'_>> = None;
    for now in told(evidence) {
        if let Some(before) = &earlier
            && before.held.generation == now.held.generation
            && before.rows.len() < now.rows.len()
            && !before.said.is_empty()
        {
            match shrunk(before, &now) {
                Some((seq, message)) => {
                    ruling.find(Finding::new(rule, now.step, message).row(seq));
                }
                None => ruling.witness(),
            }
        }
        earlier = Some(now);
    }
    ruling
}

/// The first item that is gone, moved or changed, other than by completion.
fn shrunk(before: &Told<'_>, now: &Told<'_>) -> Option<(u64, String)> {
    let mut from = 0;
    for old in &before.said {
        let same = now.said[from..].iter().position(|new| new.key() == old.key());
        let whole = |new: &Shown| new.row == old.row && new.part.is_none();
        let Some(at) = same else {
            // Pieces give way to their whole, wherever in the group that begins.
            if old.part.is_some() && now.said.iter().any(whole) {
                continue;
            }
            return Some((old.seq, format!("an item of `{}` was shown and is gone", old.row)));
        };
        let new = &now.said[from + at];
        let changed = old.kind != new.kind
            || old.part.is_none() && old.content != new.content
            || old.link.is_some() && old.link != new.link;
        if changed {
            return Some((old.seq, format!("an item of `{}` was shown otherwise before", old.row)));
        }
        from += at + 1;
    }
    None
}
