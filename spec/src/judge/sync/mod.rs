//! The judges of chapter `sync`.

mod join;
mod stamps;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub(super) use join::{cheap, join, newest_only};
pub(super) use stamps::{settled, stamp};

use super::evidence::Evidence;
use super::held::Snapshot;
use crate::json::{Fields, Json, RawValue, Tree};
use crate::op::{Op, Outcome, RefusalCode};
use crate::record::{Event, Row, TurnEdge};
use crate::sync::{NEWEST, Synced};
use crate::text::Text;

/// A client that was asked to look.
struct Poll<'a> {
    step: usize,
    /// How many of the newest messages it may read; none if the limit is below one.
    limit: Option<usize>,
    outcome: &'a Outcome,
    held: Snapshot,
    rows: &'a [Row],
    raw: &'a [Json],
    /// How often the store had started by then.
    starts: usize,
    /// The last answer of this client, if it gave one.
    before: Option<Before<'a>>,
}

/// What a client answered last.
#[derive(Clone, Copy)]
struct Before<'a> {
    synced: &'a Synced,
    held: Snapshot,
    starts: usize,
    /// Whether it ever read a row.
    read: bool,
}

impl<'a> Poll<'a> {
    fn synced(&self) -> Option<&'a Synced> {
        if let Outcome::Synced(synced) = self.outcome { Some(synced) } else { None }
    }

    /// The seq of the first row that the client held before, if the record still
    /// holds that row.
    fn held_start(&self) -> Option<usize> {
        let first = self.before?.synced.rows.first()?;
        let start = seq(first)?;
        same(self.raw.get(start)?, first).then_some(start)
    }

    /// True if nothing changed since the client's last answer.
    fn is_unchanged(&self) -> bool {
        self.before.is_some_and(|before| before.held == self.held && before.starts == self.starts)
    }
}

/// Every poll of the trace.
fn polls<'a>(evidence: &'a Evidence<'_>) -> Vec<Poll<'a>> {
    let mut clients: BTreeMap<&Text, Before<'a>> = BTreeMap::new();
    let mut polls = Vec::new();
    let mut starts = 0;
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        starts += usize::from(is_start(&taken.op, &taken.outcome));
        if forgets(&taken.op, &taken.outcome) {
            clients.clear();
        }
        let (Op::Sync { limit }, Some(held)) = (&taken.op, evidence.holdings.before[step]) else {
            continue;
        };
        if matches!(taken.outcome, Outcome::Unsupported { .. }) {
            continue;
        }
        let name = &evidence.holdings.generations[held.generation].conversation;
        let before = clients.get(name).copied();
        let limit = usize::try_from(limit.unwrap_or(NEWEST)).ok().filter(|limit| *limit > 0);
        let (rows, raw) = (evidence.holdings.rows(held), evidence.holdings.raw(held));
        polls.push(Poll { step, limit, outcome: &taken.outcome, held, rows, raw, starts, before });
        if let Outcome::Synced(synced) = &taken.outcome {
            let read = !synced.reads.is_empty() || before.is_some_and(|before| before.read);
            clients.insert(name, Before { synced, held, starts, read });
        }
    }
    polls
}

/// Whether the store began to live with this step.
fn is_start(op: &Op, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Loaded { .. } => {
            matches!(op, Op::Load { beside: false, .. } | Op::Open { .. } | Op::Restart {})
        }
        Outcome::Migrated(_) => true,
        Outcome::Crashed {} => matches!(op, Op::Migrate(_)),
        Outcome::Appended { .. }
        | Outcome::Known { .. }
        | Outcome::Rows { .. }
        | Outcome::Log { .. }
        | Outcome::Replayed(_)
        | Outcome::Changed(_)
        | Outcome::Context(_)
        | Outcome::Input(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Found { .. }
        | Outcome::Status { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Refused(_)
        | Outcome::Unsupported { .. } => false,
    }
}

/// Whether everything was forgotten with this step, what clients hold included.
fn forgets(op: &Op, outcome: &Outcome) -> bool {
    is_start(op, outcome)
        && !matches!(op, Op::Restart {})
        && !matches!(op, Op::Migrate(migrate) if migrate.older.is_none())
}

/// The places of the pieces that are not settled: their message is not there, and no
/// edge behind them ends their turn.
fn unsettled(rows: &[Row]) -> Vec<usize> {
    let over = rows.iter().rposition(|row| match &row.event {
        Event::Turn(turn) => matches!(turn.edge, TurnEdge::Ended | TurnEdge::Interrupted),
        Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Delta(_)
        | Event::Unknown(_) => false,
    });
    let open = rows.iter().enumerate().filter(|(place, row)| match &row.event {
        Event::Delta(delta) => {
            over.is_none_or(|over| over < *place)
                && !rows.iter().any(|other| other.id == delta.message)
        }
        Event::Message(_)
        | Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Unknown(_) => false,
    });
    open.map(|(place, _)| place).collect()
}

fn seq(raw: &RawValue) -> Option<usize> {
    Fields::open(raw).ok()?.take("seq", "a number").ok()?
}

/// The same stored value.
fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// What is wrong with a refusal of a poll, if it is wrong.
fn wrongly_refused(poll: &Poll<'_>) -> Option<&'static str> {
    let Outcome::Refused(refusal) = poll.outcome else { return None };
    match poll.limit {
        Some(_) => Some("a poll of a conversation that is held was refused"),
        None if refusal.code != RefusalCode::BadLimit => {
            Some("refused for another reason than its limit, which is below one")
        }
        None => None,
    }
}
