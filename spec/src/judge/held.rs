//! What an implementation must be holding at each step, by the judges' own
//! reading of what it was given and what it accepted.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::log::{self, Reading};
use super::{Step, Trace};
use crate::json::{Fields, Json, RawValue};
use crate::op::{Op, Outcome, Refusal, RefusalCode};
use crate::record::{CompactionStage, Event, Header, Row, RowError};
use crate::text::Text;

/// One record, from the load that began it: rows are only ever added to it.
#[derive(Debug, Default)]
pub(super) struct Generation {
    /// Whether the header promises a row for each start of a tool.
    pub records_call_starts: bool,
    /// The rows, as they were given.
    pub raw: Vec<Json>,
    /// The same rows, read.
    pub rows: Vec<Row>,
    /// What an implementation let go of without a row that says so: how many rows
    /// were held, and the ids of those that left the context.
    pub cuts: Vec<(usize, Vec<Text>)>,
}

/// A record at one moment: so many rows of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub generation: usize,
    pub rows: usize,
    /// How many of the generation's cuts were made by then.
    pub cuts: usize,
}

/// What was held, over a whole trace.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    pub generations: Vec<Generation>,
    /// What was held when each step began.
    pub before: Vec<Option<Snapshot>>,
    /// What was held when each step had ended.
    pub after: Vec<Option<Snapshot>>,
}

impl Holdings {
    pub fn of(trace: &Trace) -> Self {
        let mut holdings = Self::default();
        let mut now: Option<Snapshot> = None;
        for step in &trace.steps {
            holdings.before.push(now);
            now = holdings.after_step(step, now);
            holdings.after.push(now);
        }
        holdings
    }

    fn after_step(&mut self, step: &Step, now: Option<Snapshot>) -> Option<Snapshot> {
        let loaded = matches!(step.outcome, Outcome::Loaded { .. });
        match &step.op {
            Op::Load { header, rows } if loaded => {
                let raws = rows.iter().map(|raw| &**raw);
                Some(self.begin(header.as_deref(), raws))
            }
            Op::Open { log } if loaded => {
                let Reading { header, rows, .. } = log::read(&log.0);
                Some(self.begin(header.as_deref(), rows.iter().map(|(raw, _)| &**raw)))
            }
            // A refused load changes nothing.
            Op::Load { .. } | Op::Open { .. } => now,
            Op::Append { rows, .. } => match (&step.outcome, now) {
                (Outcome::Appended { .. }, Some(now)) => {
                    let generation = &mut self.generations[now.generation];
                    generation.extend(rows.iter().map(|raw| &**raw));
                    Some(Snapshot { rows: generation.rows.len(), ..now })
                }
                _other => now,
            },
            Op::Compact(_) | Op::Clear(_) | Op::Upgrade(_) => match (&step.outcome, now) {
                (Outcome::Changed(changed), Some(now)) => {
                    let generation = &mut self.generations[now.generation];
                    generation.extend(changed.rows.iter().map(|raw| &**raw));
                    if changed.rows.is_empty() && !changed.taken.is_empty() {
                        generation.cuts.push((now.rows, changed.taken.clone()));
                    }
                    let (rows, cuts) = (generation.rows.len(), generation.cuts.len());
                    Some(Snapshot { rows, cuts, ..now })
                }
                _other => now,
            },
            Op::Read { .. }
            | Op::Log {}
            | Op::Restart {}
            | Op::Replay(_)
            | Op::Request { .. }
            | Op::Context {}
            | Op::Input { .. }
            | Op::Transcript {}
            | Op::Follow { .. }
            | Op::Page { .. }
            | Op::Window { .. } => now,
        }
    }

    fn begin<'a>(
        &mut self,
        header: Option<&RawValue>,
        rows: impl Iterator<Item = &'a RawValue>,
    ) -> Snapshot {
        let header = header.and_then(|raw| Header::decode(raw).ok());
        let mut generation = Generation {
            records_call_starts: header.is_some_and(|h| h.records_call_starts == Some(true)),
            ..Generation::default()
        };
        generation.extend(rows);
        let snapshot =
            Snapshot { generation: self.generations.len(), rows: generation.rows.len(), cuts: 0 };
        self.generations.push(generation);
        snapshot
    }

    /// The rows of a snapshot, read.
    pub fn rows(&self, snapshot: Snapshot) -> &[Row] {
        &self.generations[snapshot.generation].rows[..snapshot.rows]
    }

    /// The rows that left the context of a snapshot without a row that says so.
    pub fn gone(&self, snapshot: Snapshot) -> BTreeSet<&Text> {
        let cuts = &self.generations[snapshot.generation].cuts[..snapshot.cuts];
        cuts.iter().flat_map(|(_, ids)| ids).collect()
    }

    /// The rows of a snapshot, as they were given.
    pub fn raw(&self, snapshot: Snapshot) -> &[Json] {
        &self.generations[snapshot.generation].raw[..snapshot.rows]
    }
}

impl Generation {
    /// Adds the rows that can be read. One that cannot should have been refused;
    /// that it was not is for the judge of `record.expected-shape`.
    fn extend<'a>(&mut self, rows: impl Iterator<Item = &'a RawValue>) {
        for raw in rows {
            if let Ok(row) = Row::decode(raw) {
                self.raw.push(raw.to_owned());
                self.rows.push(row);
            }
        }
    }
}

/// Why a row must be refused, and under which seq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub code: RefusalCode,
    pub seq: Option<u64>,
}

/// The first reason for which rows must be refused when they are to follow
/// `held`, by the rules of section `record`; None where they are in order.
pub(super) fn fault_of<'a>(
    held: &[Row],
    rows: impl Iterator<Item = &'a RawValue>,
) -> Option<Fault> {
    let mut ids: BTreeSet<Text> = held.iter().map(|row| row.id.clone()).collect();
    for (next, raw) in (held.len() as u64..).zip(rows) {
        let fault = |code, seq| Some(Fault { code, seq });
        let row = match Row::decode(raw) {
            Ok(row) => row,
            Err(RowError::UnknownType { seq, .. }) => {
                return fault(RefusalCode::UnknownType, Some(seq));
            }
            Err(RowError::Newer { .. }) => return fault(RefusalCode::NewerVersion, None),
            Err(RowError::Malformed { seq, .. }) => return fault(RefusalCode::Malformed, seq),
        };
        let seq = Some(row.seq);
        if row.seq != next {
            return fault(RefusalCode::WrongSeq, seq);
        }
        if row.id.is_blank() {
            return fault(RefusalCode::Malformed, seq);
        }
        if ids.contains(&row.id) {
            return fault(RefusalCode::DuplicateId, seq);
        }
        if row.parent.as_ref().is_some_and(|parent| !ids.contains(parent)) {
            return fault(RefusalCode::UnknownParent, seq);
        }
        ids.insert(row.id);
    }
    None
}

/// True if rows were refused for what another chapter refuses rows for, and one of
/// them, up to this seq, gives reason to look there. Whether the refusal is right
/// is for the judges of that chapter.
pub(super) fn is_for_another_chapter<'a>(
    refusal: &Refusal,
    rows: impl Iterator<Item = &'a RawValue>,
    until: Option<u64>,
) -> bool {
    use RefusalCode::{AuthorityStored, Busy, NotInContext, NotOneResult, Uncited};
    let code = refusal.code;
    let begins = |row: &Row| matches!(&row.event, Event::Compaction(step) if step.step == CompactionStage::Started);
    let gives_reason = |row: &Row| {
        matches!(code, NotInContext | Uncited | NotOneResult) && row.replaces.is_some()
            || code == AuthorityStored && row.holds_authority()
            || code == Busy && begins(row)
    };
    let mut rows = rows.filter_map(|raw| Row::decode(raw).ok());
    rows.any(|row| until.is_none_or(|until| row.seq <= until) && gives_reason(&row))
}

/// The event type that a raw row names.
pub(super) fn event_type(raw: &RawValue) -> Option<Text> {
    let mut row = Fields::open(raw).ok()?;
    let mut event = Fields::open(row.take_raw("event")?).ok()?;
    event.take("type", "a string").ok()?
}
