//! What an implementation must be holding at each step, by the judges' own
//! reading of what it was given and what it accepted.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::log::{self, Reading};
use super::{Step, Trace};
use crate::json::{Fields, Json, RawValue};
use crate::op::{Migrate, Older, Op, Outcome, Refusal, RefusalCode};
use crate::record::{CompactionStage, Event, Header, Row, RowError};
use crate::text::Text;

/// One record, from the load that began it: rows are only ever added to it.
#[derive(Debug, Default)]
pub(super) struct Generation {
    /// The conversation's name, as its header says.
    pub conversation: Text,
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
    /// Every conversation that was held when each step began, by its name.
    pub stores: Vec<BTreeMap<Text, Snapshot>>,
}

/// The conversations that are held, and which of them is the current one.
#[derive(Debug, Default)]
struct Store {
    held: BTreeMap<Text, Snapshot>,
    current: Option<Text>,
}

impl Store {
    fn now(&self) -> Option<Snapshot> {
        self.held.get(self.current.as_ref()?).copied()
    }

    /// Holds a record that began, alone or beside the others.
    fn hold(&mut self, name: Text, begun: Snapshot, beside: bool) {
        if !beside {
            self.held.clear();
        }
        self.held.insert(name.clone(), begun);
        self.current = Some(name);
    }

    /// The current record has grown.
    fn grow(&mut self, grown: Snapshot) {
        if let Some(now) = self.current.as_ref().and_then(|name| self.held.get_mut(name)) {
            *now = grown;
        }
    }

    fn delete(&mut self, name: Option<&Text>) {
        let Some(name) = name.or(self.current.as_ref()).cloned() else { return };
        self.held.remove(&name);
        if self.current.as_ref() == Some(&name) {
            self.current = None;
        }
    }
}

/// The rows of an older store in their places, each once: those that stayed and
/// those of the side table, by seq.
pub(super) fn folded(older: &Older) -> Vec<Json> {
    let mut rows: BTreeMap<u64, Json> = BTreeMap::new();
    for raw in older.side.iter().chain(&older.rows) {
        if let Ok(row) = Row::decode(raw) {
            rows.insert(row.seq, raw.clone());
        }
    }
    rows.into_values().collect()
}

impl Holdings {
    pub fn of(trace: &Trace) -> Self {
        let mut holdings = Self::default();
        let mut store = Store::default();
        for step in &trace.steps {
            holdings.before.push(store.now());
            holdings.stores.push(store.held.clone());
            holdings.take(step, &mut store);
            holdings.after.push(store.now());
        }
        holdings
    }

    fn take(&mut self, step: &Step, store: &mut Store) {
        let loaded = matches!(step.outcome, Outcome::Loaded { .. });
        match &step.op {
            Op::Load { header, rows, beside } if loaded => {
                let begun = self.begin(header.as_deref(), rows.iter().map(|raw| &**raw));
                store.hold(self.name(begun), begun, *beside);
            }
            Op::Open { log } if loaded => {
                let Reading { header, rows, .. } = log::read(&log.0);
                let begun = self.begin(header.as_deref(), rows.iter().map(|(raw, _)| &**raw));
                store.hold(self.name(begun), begun, false);
            }
            Op::Migrate(Migrate { older: Some(older), .. })
                if matches!(step.outcome, Outcome::Migrated(_) | Outcome::Crashed {}) =>
            {
                let rows = folded(older);
                let begun = self.begin(older.header.as_deref(), rows.iter().map(|raw| &**raw));
                store.hold(self.name(begun), begun, false);
            }
            Op::Enter { conversation } if loaded => store.current = Some(conversation.clone()),
            Op::Delete { conversation } if matches!(step.outcome, Outcome::Deleted { .. }) => {
                store.delete(conversation.as_ref());
            }
            Op::Append { rows, .. } if matches!(step.outcome, Outcome::Appended { .. }) => {
                let Some(now) = store.now() else { return };
                let generation = &mut self.generations[now.generation];
                generation.extend(rows.iter().map(|raw| &**raw));
                store.grow(Snapshot { rows: generation.rows.len(), ..now });
            }
            Op::Compact(_) | Op::Clear(_) | Op::Upgrade(_) => {
                let (Outcome::Changed(changed), Some(now)) = (&step.outcome, store.now()) else {
                    return;
                };
                let generation = &mut self.generations[now.generation];
                generation.extend(changed.rows.iter().map(|raw| &**raw));
                if changed.rows.is_empty() && !changed.taken.is_empty() {
                    generation.cuts.push((now.rows, changed.taken.clone()));
                }
                let (rows, cuts) = (generation.rows.len(), generation.cuts.len());
                store.grow(Snapshot { rows, cuts, ..now });
            }
            // What is refused changes nothing, and a question does not either.
            Op::Load { .. }
            | Op::Open { .. }
            | Op::Enter { .. }
            | Op::Append { .. }
            | Op::Read { .. }
            | Op::Log {}
            | Op::Restart {}
            | Op::Replay(_)
            | Op::Request { .. }
            | Op::Context {}
            | Op::Input { .. }
            | Op::Transcript {}
            | Op::Follow { .. }
            | Op::Page { .. }
            | Op::Window { .. }
            | Op::Lookup(_)
            | Op::Status { .. }
            | Op::Delete { .. }
            | Op::Stamp {}
            | Op::Sync { .. }
            | Op::Recall { .. }
            | Op::Archive { .. }
            | Op::Parts { .. }
            | Op::Migrate(_) => {}
        }
    }

    fn name(&self, snapshot: Snapshot) -> Text {
        self.generations[snapshot.generation].conversation.clone()
    }

    /// What a conversation held when a step began; the current one, if none is
    /// named.
    pub fn conversation(&self, step: usize, name: Option<&Text>) -> Option<Snapshot> {
        match name {
            Some(name) => self.stores[step].get(name).copied(),
            None => self.before[step],
        }
    }

    fn begin<'a>(
        &mut self,
        header: Option<&RawValue>,
        rows: impl Iterator<Item = &'a RawValue>,
    ) -> Snapshot {
        let header = header.and_then(|raw| Header::decode(raw).ok());
        let mut generation = Generation {
            conversation: header
                .as_ref()
                .map(|header| header.conversation.clone())
                .unwrap_or_default(),
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
    use RefusalCode::{AuthorityStored, Busy, DuplicateKey, NotInContext, NotOneResult, Uncited};
    let code = refusal.code;
    let begins = |row: &Row| matches!(&row.event, Event::Compaction(step) if step.step == CompactionStage::Started);
    let gives_reason = |row: &Row| {
        matches!(code, NotInContext | Uncited | NotOneResult) && row.replaces.is_some()
            || code == AuthorityStored && row.holds_authority()
            || code == Busy && begins(row)
            || code == DuplicateKey && (row.request.is_some() || row.report.is_some())
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
