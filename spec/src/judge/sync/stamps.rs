//! The judges of stamps: of what they say, and of when a client may keep one.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::{is_start, polls, seq, unsettled};
use crate::finding::{Finding, Ruling};
use crate::op::Outcome;
use crate::rule::Rule;
use crate::sync::Stamp;

/// A stamp that was told, and of what.
struct Told<'a> {
    step: usize,
    stamp: &'a Stamp,
    held: Snapshot,
    starts: usize,
}

/// Every stamp of the trace: those that were asked for, and those that a client
/// kept.
fn told<'a>(evidence: &'a Evidence<'_>) -> Vec<Told<'a>> {
    let mut starts = 0;
    let mut told = Vec::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        starts += usize::from(is_start(&taken.op, &taken.outcome));
        let Some(held) = evidence.holdings.before[step] else { continue };
        let stamp = if let Outcome::Stamp(stamp) = &taken.outcome {
            Some(stamp)
        } else if let Outcome::Synced(synced) = &taken.outcome {
            // One that was kept before says nothing of now.
            synced.cached.as_ref().filter(|_| !synced.reads.is_empty())
        } else {
            None
        };
        told.extend(stamp.map(|stamp| Told { step, stamp, held, starts }));
    }
    told
}

/// `sync.stamp`: equal only if nothing changed; a version rises, and an epoch does not
/// come again.
pub(in super::super) fn stamp(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::SyncStamp;
    let mut ruling = Ruling::default();
    let told = told(evidence);
    for (at, now) in told.iter().enumerate() {
        for then in &told[..at] {
            let restarted = then.starts != now.starts;
            ruling.witnesses += usize::from(restarted || changed(evidence, then, now));
            if let Some(message) = wrong(evidence, then, now) {
                ruling.find(Finding::new(rule, now.step, message));
                break;
            }
        }
    }
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let asked = matches!(taken.op, crate::op::Op::Stamp {});
        if asked
            && evidence.holdings.before[step].is_some()
            && matches!(taken.outcome, Outcome::Refused(_))
        {
            ruling.find(Finding::new(rule, step, "the stamp of a conversation was refused"));
        }
    }
    ruling
}

fn name<'a>(evidence: &'a Evidence<'_>, held: Snapshot) -> Cow<'a, str> {
    evidence.holdings.generations[held.generation].conversation.to_unicode()
}

/// True if the conversation of two stamps is one, and it changed in between.
fn changed(evidence: &Evidence<'_>, then: &Told<'_>, now: &Told<'_>) -> bool {
    name(evidence, then.held) == name(evidence, now.held) && then.held != now.held
}

fn wrong(evidence: &Evidence<'_>, then: &Told<'_>, now: &Told<'_>) -> Option<String> {
    if then.starts != now.starts && then.stamp.epoch == now.stamp.epoch {
        return Some(format!(
            "the epoch {} of step {} came again behind a start",
            now.stamp.epoch, then.step
        ));
    }
    let one_epoch = then.stamp.epoch == now.stamp.epoch;
    let rises = then.stamp.version < now.stamp.version;
    (one_epoch && changed(evidence, then, now) && !rises).then(|| {
        format!(
            "the conversation changed since step {}, and its version went from {} to {}",
            then.step, then.stamp.version, now.stamp.version
        )
    })
}

/// `sync.settled`: a client keeps the stamp only once every message that it holds is
/// settled, and it is the stamp of that moment.
pub(in super::super) fn settled(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::SyncSettled;
    let mut ruling = Ruling::default();
    let told = told(evidence);
    for poll in polls(evidence) {
        let Some(synced) = poll.synced() else { continue };
        let start = synced.rows.first().and_then(|row| seq(row)).unwrap_or(poll.rows.len());
        let open = unsettled(poll.rows.get(start..).unwrap_or_default());
        let was_open = poll.before.is_some_and(|before| {
            let rows = evidence.holdings.rows(before.held);
            let start = before.synced.rows.first().and_then(|row| seq(row)).unwrap_or(rows.len());
            !unsettled(rows.get(start..).unwrap_or_default()).is_empty()
        });
        let Some(cached) = &synced.cached else { continue };
        if let Some(piece) = open.first() {
            let message = "keeps the stamp while a message is still being streamed";
            let finding = Finding::new(rule, poll.step, message);
            ruling.find(finding.row((start + piece) as u64));
            continue;
        }
        ruling.witnesses += usize::from(was_open);
        let now = told.iter().find(|told| {
            told.step != poll.step && told.held == poll.held && told.starts == poll.starts
        });
        if let Some(now) = now.filter(|now| now.stamp != cached) {
            let message = format!(
                "keeps version {} of epoch {}; step {} says version {} of epoch {}",
                cached.version, cached.epoch, now.step, now.stamp.version, now.stamp.epoch
            );
            ruling.find(Finding::new(rule, poll.step, message));
        }
    }
    ruling
}
