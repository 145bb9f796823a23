//! What of a case's steps is only known when they are run: the place of an append
//! behind a compaction, the cursor of an earlier page, and how many pages a record
//! has.

use std::collections::{BTreeMap, BTreeSet};

use onrecord_spec::judge::{Step, Trace};
use onrecord_spec::op::{Changed, Hello, Migrated, Op, Outcome};
use onrecord_spec::text::Text;

use crate::expect::Breach;
use crate::fixture::{Case, CaseStep, placed};

/// After so many pages a walk is given up: no record of a case has as many.
const MOST_PAGES: usize = 10_000;

/// A case on its way: what was asked and what came back so far.
pub(crate) struct Walk {
    pub(crate) trace: Trace,
    /// What cases expect and did not get, with the step of the trace.
    pub(crate) breaches: Vec<(usize, Breach)>,
    /// The seq that the next row will have, as the implementation told last.
    next: u64,
    /// The cursors that pages gave, by the step of the case.
    cursors: BTreeMap<usize, Option<Text>>,
    /// The cursors that this step was given.
    seen: BTreeSet<Text>,
}

impl Walk {
    pub(crate) fn of(case: &Case, hello: Hello) -> Self {
        let steps = Vec::with_capacity(case.steps.len());
        let trace = Trace { hello, steps };
        Self {
            trace,
            breaches: Vec::new(),
            next: 0,
            cursors: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// What is asked first for a step. None if it stands on a page that is the
    /// oldest already: then there is nothing before it.
    pub(crate) fn first(&mut self, index: usize, step: &CaseStep) -> Option<Op> {
        self.seen.clear();
        match (&step.op, step.late.before_step) {
            (Op::Append { rows, .. }, _) if step.late.place => Some(placed(rows, self.next)),
            (Op::Page { limit, .. }, Some(before)) => {
                let cursor = self.cursors.get(&before).cloned().flatten();
                if cursor.is_none() {
                    let message = format!(
                        "step {index} goes on before the page of step {before}; that page gave no \
                         cursor"
                    );
                    let at = self.trace.steps.len().saturating_sub(1);
                    self.breaches.push((at, Breach { rule: None, message }));
                }
                cursor.map(|before| Op::Page { limit: *limit, before: Some(before) })
            }
            (op, _) => Some(op.clone()),
        }
    }

    /// Takes note of what came back, and says what is asked next for the step.
    pub(crate) fn took(
        &mut self,
        index: usize,
        step: &CaseStep,
        op: Op,
        outcome: Outcome,
    ) -> Option<Op> {
        let mut more = None;
        match &outcome {
            Outcome::Loaded { next, .. }
            | Outcome::Appended { next }
            | Outcome::Known { next, .. }
            | Outcome::Migrated(Migrated { next, .. })
            | Outcome::Changed(Changed { next, .. }) => self.next = *next,
            Outcome::Page(page) => {
                self.cursors.insert(index, page.before.clone());
                // A cursor that was given before would lead round for ever (bug B264).
                let fresh = page.before.clone().filter(|cursor| self.seen.insert(cursor.clone()));
                more = fresh.filter(|_| step.late.walk && self.seen.len() < MOST_PAGES);
            }
            Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Replayed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Followed { .. }
            | Outcome::Window(_)
            | Outcome::Found { .. }
            | Outcome::Status { .. }
            | Outcome::Deleted { .. }
            | Outcome::Stamp(_)
            | Outcome::Synced(_)
            | Outcome::Recalled { .. }
            | Outcome::Archived(_)
            | Outcome::Parts(_)
            | Outcome::Crashed {}
            | Outcome::Refused(_)
            | Outcome::Unsupported { .. } => {}
        }
        let limit = if let Op::Page { limit, .. } = &op { Some(*limit) } else { None };
        self.trace.steps.push(Step { op, outcome });
        let (before, limit) = (more?, limit?);
        Some(Op::Page { limit, before: Some(before) })
    }
}
