//! The same question before and after something that must change nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use crate::json::{Tree, to_line};
use crate::op::{Context, ContextRow, Op, Outcome, Replayed};
use crate::record::Row;
use crate::text::Text;

/// A projection that was asked for before and after.
pub(super) struct Twice<'a> {
    pub before: usize,
    pub step: usize,
    /// The rows that were added in between.
    pub added: &'a [Row],
    old: &'a Outcome,
    now: &'a Outcome,
}

/// Every projection that was asked for again, with the nearest time before it
/// since which the record was changed by nothing but rows like these, or by
/// nothing at all.
pub(super) fn asked_twice<'a>(
    evidence: &Evidence<'a>,
    wanted: impl Fn(&Row) -> bool,
) -> Vec<Twice<'a>> {
    let mut earlier: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    let mut twice = Vec::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let Some(now) = evidence.holdings.before[step] else { continue };
        if !is_projection(&taken.op) {
            continue;
        }
        let key = (now.generation, to_line(&taken.op).unwrap_or_default());
        let asked = earlier.entry(key).or_default();
        let found = asked.iter().rev().find_map(|before| {
            let then = evidence.holdings.before[*before]?;
            let added = &evidence.holdings.rows(now)[then.rows..];
            let only = then.cuts == now.cuts && added.iter().all(&wanted);
            only.then_some((*before, added))
        });
        if let Some((before, added)) = found {
            let old = &evidence.trace.steps[before].outcome;
            twice.push(Twice { before, step, added, old, now: &taken.outcome });
        }
        asked.push(step);
    }
    twice
}

fn is_projection(op: &Op) -> bool {
    match op {
        Op::Log {} | Op::Replay(_) | Op::Request { .. } | Op::Context {} | Op::Transcript {} => {
            true
        }
        Op::Load { .. }
        | Op::Open { .. }
        | Op::Append { .. }
        | Op::Read { .. }
        | Op::Restart {}
        | Op::Input { .. }
        | Op::Compact(_)
        | Op::Clear(_)
        | Op::Upgrade(_)
        | Op::Follow { .. }
        | Op::Page { .. }
        | Op::Window { .. }
        | Op::Enter { .. }
        | Op::Lookup(_)
        | Op::Status { .. }
        | Op::Delete { .. }
        | Op::Stamp {}
        | Op::Sync { .. }
        | Op::Recall { .. }
        | Op::Archive { .. }
        | Op::Parts { .. }
        | Op::Migrate(_) => false,
    }
}

impl Twice<'_> {
    /// What of the projection is another now, if anything is.
    pub fn difference(&self) -> Option<&'static str> {
        match (self.old, self.now) {
            (Outcome::Replayed(old), Outcome::Replayed(now)) => replayed(old, now),
            (Outcome::Context(old), Outcome::Context(now)) => {
                let rows = self.kept(old) != self.kept(now);
                let tokens = old.tokens.is_some() && old.tokens != now.tokens;
                rows.then_some("the context's rows")
                    .or_else(|| flags(old, now))
                    .or_else(|| tokens.then_some("the context's size"))
            }
            (Outcome::Transcript { .. }, Outcome::Transcript { .. }) => self.transcript(),
            (Outcome::Log { bytes: old }, Outcome::Log { bytes: now }) => {
                (self.added.is_empty() && old.0 != now.0).then_some("the log")
            }
            (Outcome::Refused(_) | Outcome::Unsupported { .. }, _)
            | (_, Outcome::Unsupported { .. }) => None,
            (_, Outcome::Refused(_)) => Some("the answer: it is refused now"),
            _other => None,
        }
    }

    /// What of the projection for people, and of the flags, is another now.
    pub fn difference_for_people(&self) -> Option<&'static str> {
        match (self.old, self.now) {
            (Outcome::Context(old), Outcome::Context(now)) => flags(old, now),
            (Outcome::Transcript { .. }, Outcome::Transcript { .. }) => self.transcript(),
            _other => None,
        }
    }

    /// True if it was one of the projections that [`Twice::difference_for_people`]
    /// compares.
    pub fn is_for_people(&self) -> bool {
        matches!(self.now, Outcome::Context(_) | Outcome::Transcript { .. })
    }

    /// The rows of the context without those that were added in between.
    fn kept<'c>(&self, context: &'c Context) -> Vec<&'c ContextRow> {
        let added: BTreeSet<&Text> = self.added.iter().map(|row| &row.id).collect();
        context.rows.iter().filter(|row| !added.contains(&row.id)).collect()
    }

    fn transcript(&self) -> Option<&'static str> {
        let tree = |outcome| to_line(outcome).ok().and_then(|line| Tree::parse(&line));
        (tree(self.old) != tree(self.now)).then_some("the transcript")
    }
}

fn replayed(old: &Replayed, now: &Replayed) -> Option<&'static str> {
    if Tree::parse(old.payload.get()) != Tree::parse(now.payload.get()) {
        return Some("the payload");
    }
    let anomalies =
        |replayed: &Replayed| replayed.anomalies.iter().cloned().collect::<BTreeSet<_>>();
    if anomalies(old) != anomalies(now) {
        return Some("what is reported");
    }
    (old.constraints != now.constraints).then_some("what the request must respect")
}

/// The flags and the anchors.
fn flags(old: &Context, now: &Context) -> Option<&'static str> {
    if old.left != now.left {
        return Some("what has left the context");
    }
    (old.summaries != now.summaries).then_some("the summaries")
}
