//! What a trace shows of archives: for each conversation's name the writes, the
//! crashes and what was handed over.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::archive::{Archived, Manifest, Part, Parts};
use crate::judge::evidence::Evidence;
use crate::judge::held::{Holdings, Snapshot};
use crate::judge::migration;
use crate::op::{Migrate, Op, Outcome};
use crate::text::Text;

/// The archive of one name, from when the store forgot everything to when it did
/// again. The name may have been deleted in between, and have begun anew.
#[derive(Default)]
pub(super) struct Ledger<'a> {
    /// The writes, in order, with those that died.
    pub writes: Vec<Write<'a>>,
    pub answers: Vec<Answer<'a>>,
    /// The steps that refused to write or to hand over what there is.
    pub refused: Vec<usize>,
}

/// A write.
pub(super) struct Write<'a> {
    pub step: usize,
    /// What the conversation held.
    pub held: Snapshot,
    /// What was done; none if it died.
    pub done: Option<&'a Archived>,
}

/// An archive that was handed over.
pub(super) struct Answer<'a> {
    pub step: usize,
    pub parts: &'a [Part],
    pub manifest: &'a Manifest,
}

/// Every archive of a trace.
pub(super) fn ledgers<'a>(evidence: &Evidence<'a>) -> Vec<Ledger<'a>> {
    let holdings = evidence.holdings;
    let mut ledgers: Vec<Ledger<'a>> = Vec::new();
    let mut open: BTreeMap<Text, usize> = BTreeMap::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if forgets(&taken.op, &taken.outcome) {
            open.clear();
        }
        if !matches!(taken.op, Op::Archive { .. } | Op::Parts { .. })
            || migration::is_down(evidence, step)
        {
            continue;
        }
        let held = holdings.before[step];
        let asked = if let Op::Parts { conversation } = &taken.op { conversation } else { &None };
        let Some(name) = asked.clone().or_else(|| Some(name(holdings, held?))) else { continue };
        let at = *open.entry(name).or_insert_with(|| {
            ledgers.push(Ledger::default());
            ledgers.len() - 1
        });
        ledgers[at].take(step, &taken.op, &taken.outcome, held);
    }
    ledgers
}

fn name(holdings: &Holdings, held: Snapshot) -> Text {
    holdings.generations[held.generation].conversation.clone()
}

/// True if a step makes the store forget everything, its archives too.
fn forgets(op: &Op, outcome: &Outcome) -> bool {
    let begins = matches!(
        op,
        Op::Load { beside: false, .. }
            | Op::Open { .. }
            | Op::Migrate(Migrate { older: Some(_), .. })
    );
    begins && matches!(outcome, Outcome::Loaded { .. } | Outcome::Migrated(_) | Outcome::Crashed {})
}

impl<'a> Ledger<'a> {
    fn take(&mut self, step: usize, op: &Op, outcome: &'a Outcome, held: Option<Snapshot>) {
        match (op, held) {
            (Op::Archive { .. }, Some(held)) => {
                if let Outcome::Archived(done) = outcome {
                    self.writes.push(Write { step, held, done: Some(done) });
                } else if matches!(outcome, Outcome::Crashed {}) {
                    self.writes.push(Write { step, held, done: None });
                } else if matches!(outcome, Outcome::Refused(_)) {
                    self.refused.push(step);
                }
            }
            (Op::Parts { .. }, _) => {
                if let Outcome::Parts(Parts { parts, manifest }) = outcome {
                    self.answers.push(Answer { step, parts, manifest });
                } else if matches!(outcome, Outcome::Refused(_))
                    && self.written(step).any(|(_, done)| done.part.is_some())
                {
                    self.refused.push(step);
                }
            }
            (_, _) => {}
        }
    }

    /// The writes before a step.
    pub fn before(&self, step: usize) -> impl DoubleEndedIterator<Item = &Write<'a>> {
        self.writes.iter().filter(move |write| write.step < step)
    }

    /// The writes before a step that came to their end.
    pub fn written(
        &self,
        step: usize,
    ) -> impl DoubleEndedIterator<Item = (&Write<'a>, &'a Archived)> {
        self.before(step).filter_map(|write| Some((write, write.done?)))
    }

    /// True if a write before a step died.
    pub fn is_hurt(&self, step: usize) -> bool {
        self.before(step).any(|write| write.done.is_none())
    }

    /// The step of the last write before a step that died.
    pub fn last_crash(&self, step: usize) -> Option<usize> {
        self.before(step).rev().find(|write| write.done.is_none()).map(|write| write.step)
    }
}

/// Of each record that these writes were of, what the last of them found.
pub(super) fn newest<'w, 'a: 'w>(
    writes: impl Iterator<Item = &'w Write<'a>>,
) -> BTreeMap<usize, Snapshot> {
    writes.map(|write| (write.held.generation, write.held)).collect()
}
