//! A `compact` step, with what the context was then and the reasons for which it
//! had to be refused.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::ground::Ground;
use crate::finding::{Finding, Ruling};
use crate::op::{Budget, Changed, Compact, Cut, Ending, Mode, Op, Outcome, Refusal, RefusalCode};
use crate::record::{CompactionStage, CompactionStep, Event, Replaces, Row};
use crate::rule::Rule;
use crate::text::Text;

/// A `compact` step.
pub(super) struct Asked<'a> {
    pub step: usize,
    pub compact: &'a Compact,
    pub outcome: &'a Outcome,
    /// The rows that were held when it was asked.
    pub rows: &'a [Row],
    /// The record when it was done.
    pub after: Snapshot,
    /// The context when it was asked.
    pub ground: Ground<'a>,
    /// The compaction that is open in this lifetime.
    pub open: Option<&'a Text>,
    /// The compactions that an earlier lifetime left open.
    pub abandoned: Vec<&'a Text>,
    /// The stretch of the context that it is to take, where it names one.
    pub range: Option<Range<usize>>,
    pub due: Due,
}

/// The reasons for which a step is to be refused.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Those that apply. Any of them is right; with one, it must not be taken.
    pub must: BTreeSet<RefusalCode>,
    /// Those that are right too, where it may as well be taken.
    pub may: BTreeSet<RefusalCode>,
}

/// What a `compact` that was taken gave back.
pub(super) struct Given<'a> {
    pub changed: &'a Changed,
    /// Its rows that can be read.
    pub rows: &'a [Row],
}

/// All `compact` steps that were asked of a record.
pub(super) fn compactions<'a>(evidence: &Evidence<'a>) -> Vec<Asked<'a>> {
    let steps = evidence.trace.steps.iter().enumerate();
    steps
        .filter_map(|(step, taken)| {
            let Op::Compact(compact) = &taken.op else { return None };
            let held = evidence.holdings.before[step]?;
            let after = evidence.holdings.after[step]?;
            let rows = evidence.holdings.rows(held);
            let born = lifetime(evidence, step);
            let mut asked = Asked {
                step,
                compact,
                outcome: &taken.outcome,
                rows,
                after,
                ground: Ground::of(evidence.holdings, held),
                open: open_at(&rows[born.min(rows.len())..]),
                abandoned: Vec::new(),
                range: None,
                due: Due::default(),
            };
            asked.abandoned = never_ended(&rows[..born.min(rows.len())], rows);
            asked.work_out();
            Some(asked)
        })
        .collect()
}

/// The summaries that landed by a step of the trace: record and seq.
pub(super) fn landed(evidence: &Evidence<'_>) -> BTreeSet<(usize, u64)> {
    let mut landed = BTreeSet::new();
    for asked in compactions(evidence) {
        let row = asked.given(evidence).and_then(|given| given.landed(&asked.compact.id));
        landed.extend(row.map(|(row, _)| (asked.after.generation, row.seq)));
    }
    landed
}

/// The replays of a whole context; those of a stretch are left out.
pub(super) fn whole_crossings<'e, 'a>(
    evidence: &'e Evidence<'a>,
) -> impl Iterator<Item = &'e Crossing<'a>> {
    evidence.crossings.iter().filter(|crossing| crossing.asked.stretch.is_none())
}

/// How many rows the record of a step held when the lifetime began in which the step
/// was taken: at the last start of the store, or when it was loaded beside others.
pub(super) fn lifetime(evidence: &Evidence<'_>, step: usize) -> usize {
    let Some(held) = evidence.holdings.before[step] else { return 0 };
    let own = |at: usize| {
        let stores = evidence.holdings.stores.get(at + 1)?;
        stores.values().find(|other| other.generation == held.generation)
    };
    let began = (0..step).rev().find(|at| {
        let taken = &evidence.trace.steps[*at];
        match (&taken.op, &taken.outcome) {
            (Op::Load { beside: true, .. }, Outcome::Loaded { .. }) => {
                evidence.holdings.after[*at].is_some_and(|new| new.generation == held.generation)
            }
            (Op::Load { .. } | Op::Open { .. } | Op::Restart {}, Outcome::Loaded { .. })
            | (Op::Migrate(_), Outcome::Migrated(_)) => true,
            (_, _) => false,
        }
    });
    began.and_then(own).map_or(0, |born| born.rows)
}

/// The compaction that these rows of one lifetime leave open.
pub(super) fn open_at(rows: &[Row]) -> Option<&Text> {
    let last =
        rows.iter().filter_map(step_of).rfind(|step| step.step == CompactionStage::Started)?;
    let ended = ends(rows, &last.compaction);
    (!ended).then_some(&last.compaction)
}

/// The compactions that began in an earlier lifetime and have not ended since.
fn never_ended<'a>(earlier: &'a [Row], rows: &'a [Row]) -> Vec<&'a Text> {
    let started = earlier.iter().filter_map(step_of);
    let started = started.filter(|step| step.step == CompactionStage::Started);
    started.map(|step| &step.compaction).filter(|id| !ends(rows, id)).collect()
}

fn ends(rows: &[Row], compaction: &Text) -> bool {
    rows.iter()
        .filter_map(step_of)
        .any(|step| step.step == CompactionStage::Ended && step.compaction == *compaction)
}

/// The step of a bracket that a row is.
pub(super) fn step_of(row: &Row) -> Option<&CompactionStep> {
    match &row.event {
        Event::Compaction(step) => Some(step),
        Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => None,
    }
}

/// The rule that a refusal is for.
pub(super) fn owner(code: RefusalCode) -> Rule {
    match code {
        RefusalCode::Busy => Rule::CompactionOneAtATime,
        RefusalCode::Unbalanced => Rule::CompactionBalancedCut,
        RefusalCode::LiveRound => Rule::CompactionLiveRoundKept,
        RefusalCode::Changed => Rule::CompactionConcurrentAppend,
        RefusalCode::NotInContext | RefusalCode::Uncited => Rule::CompactionReplacesRange,
        RefusalCode::NoRecord
        | RefusalCode::NoHeader
        | RefusalCode::NewerVersion
        | RefusalCode::WrongSeq
        | RefusalCode::Conflict
        | RefusalCode::DuplicateId
        | RefusalCode::UnknownParent
        | RefusalCode::UnknownType
        | RefusalCode::Malformed
        | RefusalCode::NotOpen
        | RefusalCode::EmptySummary
        | RefusalCode::NotOneResult
        | RefusalCode::BadCursor
        | RefusalCode::BadLimit
        | RefusalCode::AuthorityStored
        | RefusalCode::DuplicateKey
        | RefusalCode::Exists
        | RefusalCode::NoArchive => Rule::CompactionBracket,
    }
}

impl<'a> Asked<'a> {
    /// The refusal, if it was refused.
    pub fn refusal(&self) -> Option<&'a Refusal> {
        if let Outcome::Refused(refusal) = self.outcome { Some(refusal) } else { None }
    }

    /// What it gave back, if it was taken.
    pub fn given(&self, evidence: &Evidence<'a>) -> Option<Given<'a>> {
        let Outcome::Changed(changed) = self.outcome else { return None };
        let rows = &evidence.holdings.rows(self.after)[self.rows.len()..];
        Some(Given { changed, rows })
    }

    /// The bracket's row of this step, among those that are held already.
    pub fn begun(&self, stage: CompactionStage) -> Option<(&'a Row, &'a CompactionStep)> {
        let mine = |step: &CompactionStep| step.step == stage && step.compaction == self.compact.id;
        let rows = self.rows;
        rows.iter().rev().find_map(|row| Some((row, step_of(row).filter(|step| mine(step))?)))
    }

    /// Adds what the rule has to say of a refusal, or of one that did not come.
    pub fn judge_refusal(&self, rule: Rule, ruling: &mut Ruling) {
        let Some(refusal) = self.refusal() else {
            let mut missed = self.due.must.iter().filter(|code| owner(**code) == rule);
            if let (Outcome::Changed(_), Some(code)) = (self.outcome, missed.next()) {
                let message = format!("was taken; it must be refused as {code:?}");
                ruling.find(Finding::new(rule, self.step, message));
            }
            return;
        };
        if owner(refusal.code) != rule {
            return;
        }
        if self.due.must.contains(&refusal.code) || self.due.may.contains(&refusal.code) {
            ruling.witness();
        } else {
            let message =
                format!("refused as {:?}, and that is not so: {}", refusal.code, refusal.detail);
            ruling.find(Finding::new(rule, self.step, message));
        }
    }

    fn must(&mut self, code: RefusalCode) {
        self.due.must.insert(code);
    }

    fn work_out(&mut self) {
        let compact = self.compact;
        match (&compact.cut, &compact.end) {
            (None, None) => self.must(RefusalCode::Malformed),
            (Some(cut), _) => {
                if self.open.is_some() {
                    self.must(RefusalCode::Busy);
                }
                self.work_out_id();
                self.work_out_cut(cut);
            }
            (None, Some(end)) => {
                if self.open != Some(&compact.id) {
                    self.must(RefusalCode::NotOpen);
                } else if matches!(end, Ending::Summary(_)) {
                    self.work_out_landing();
                }
            }
        }
        let summary = match &compact.end {
            Some(Ending::Summary(summary)) => Some(summary),
            Some(Ending::Failed { .. } | Ending::Cancelled {}) | None => None,
        };
        if summary.is_some_and(|summary| summary.error || summary.text.is_blank()) {
            // Where nothing has to go, nothing needs a summary.
            let idle = matches!(&compact.cut, Some(Cut::Budget(budget)) if self.is_within(*budget) != Some(false));
            let due = if idle { &mut self.due.may } else { &mut self.due.must };
            due.insert(RefusalCode::EmptySummary);
        }
    }

    fn work_out_id(&mut self) {
        let id = &self.compact.id;
        if self.rows.iter().filter_map(step_of).any(|step| step.compaction == *id) {
            self.must(RefusalCode::DuplicateId);
        }
        let cites = |range: &Replaces| range.compaction.as_ref() == Some(id);
        if self.rows.iter().any(|row| row.replaces.as_ref().is_some_and(cites)) {
            self.due.may.insert(RefusalCode::DuplicateId);
        }
        if id.is_blank() {
            self.due.may.insert(RefusalCode::Malformed);
        }
    }

    fn work_out_cut(&mut self, cut: &Cut) {
        let range = match cut {
            Cut::Range { first, last } => self.ground.range(first, last),
            Cut::Nearest { first, last } => {
                self.ground.range(first, last).map(|range| self.ground.closure(range))
            }
            Cut::Budget(budget) => return self.work_out_budget(*budget),
        };
        let Some(range) = range else { return self.must(RefusalCode::NotInContext) };
        if self.ground.live_in(range.clone(), self.compact.turn).is_some() {
            self.must(RefusalCode::LiveRound);
        }
        if self.ground.split_by(range.clone()).is_some() {
            self.must(RefusalCode::Unbalanced);
        }
        self.range = Some(range);
    }

    /// Landing: the rows that it said it would take must still be a stretch of the
    /// context.
    fn work_out_landing(&mut self) {
        let Some((_, provenance)) = self.begun(CompactionStage::Provenance) else {
            self.due.may.extend([RefusalCode::Changed, RefusalCode::NotOpen]);
            return;
        };
        let cited = provenance.rows.as_deref().unwrap_or_default();
        self.range = self.ground.stretch(cited);
        let Some(range) = self.range.clone() else { return self.must(RefusalCode::Changed) };
        // What is said of balance and of live rows is said of the beginning. Rows that
        // came since may have made the stretch a bad one; to see that is no fault.
        if self.ground.live_in(range.clone(), Mode::Running).is_some() {
            self.due.may.insert(RefusalCode::LiveRound);
        }
        if self.ground.split_by(range).is_some() {
            self.due.may.insert(RefusalCode::Unbalanced);
        }
    }

    fn work_out_budget(&mut self, budget: Budget) {
        if self.is_within(budget) == Some(true) {
            return;
        }
        // Without a stretch from the start that may go, either reason is right; some
        // other stretch may still be taken.
        if self.cuts().next().is_none() {
            self.due.may.extend([RefusalCode::LiveRound, RefusalCode::Unbalanced]);
        }
    }

    /// Whether the context keeps to a budget already; None where that depends on
    /// how one counts.
    pub fn is_within(&self, budget: Budget) -> Option<bool> {
        let (least, most) = self.ground.messages(0..self.ground.len());
        match budget {
            Budget::Messages(allowed) if most <= allowed => Some(true),
            Budget::Messages(allowed) => (least > allowed).then_some(false),
            Budget::Tokens(0) => (least > 0).then_some(false),
            Budget::Tokens(_) => None,
        }
    }

    /// True if it was to keep to a budget that is kept already, and took nothing.
    pub fn is_idle(&self, given: &Given<'_>) -> bool {
        let kept = |budget: Budget| self.is_within(budget) == Some(true);
        given.is_nothing()
            && matches!(&self.compact.cut, Some(Cut::Budget(budget)) if kept(*budget))
    }

    /// The stretches from the start of the context that may be taken: balanced,
    /// with nothing live in them, and with more in them than one message, which a
    /// summary would only replace.
    pub fn cuts(&self) -> impl Iterator<Item = Range<usize>> {
        let all = self.ground.len();
        let free = self.ground.live_in(0..all, self.compact.turn).unwrap_or(all);
        let cuts = (1..=free).map(|end| 0..end);
        cuts.filter(|range| {
            self.ground.split_by(range.clone()).is_none()
                && self.ground.messages(range.clone()).0 > 1
        })
    }
}

impl<'a> Given<'a> {
    /// True if it holds nothing and took nothing.
    pub fn is_nothing(&self) -> bool {
        self.changed.rows.is_empty() && self.changed.taken.is_empty()
    }

    /// True if it only says what its history no longer holds.
    pub fn is_trim(&self) -> bool {
        self.changed.rows.is_empty() && !self.changed.taken.is_empty()
    }

    /// Its rows that are this step of this compaction.
    pub fn steps(
        &self,
        compaction: &'a Text,
        stage: CompactionStage,
    ) -> impl Iterator<Item = (&'a Row, &'a CompactionStep)> {
        let rows = self.rows.iter().filter_map(|row| Some((row, step_of(row)?)));
        rows.filter(move |(_, step)| step.step == stage && step.compaction == *compaction)
    }

    /// The landed replacement of this compaction, with its range.
    pub fn landed(&self, compaction: &Text) -> Option<(&'a Row, &'a Replaces)> {
        self.rows.iter().find_map(|row| {
            let range = row.compacts()?;
            (range.compaction.as_ref() == Some(compaction)).then_some((row, range))
        })
    }

    /// The ids of the rows that it takes, or says that it will take; None where it
    /// says nothing of any.
    pub fn takes(&self, compaction: &'a Text) -> Option<&'a [Text]> {
        if self.is_trim() {
            return Some(&self.changed.taken);
        }
        if let Some((_, range)) = self.landed(compaction) {
            return Some(&range.rows);
        }
        let (_, provenance) = self.steps(compaction, CompactionStage::Provenance).next()?;
        provenance.rows.as_deref()
    }
}
