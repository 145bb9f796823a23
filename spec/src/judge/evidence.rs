//! Everything that the judges of a trace look at, worked out once.

use alloc::vec::Vec;

use super::Trace;
use super::canary::Sightings;
use super::context::{Context, View};
use super::crossing::Crossing;
use super::held::Holdings;
use crate::op::{Input, Op, Outcome, Replayed, Report};
use crate::wire::Wire;

/// What a trace holds in itself: the records, and the wires of its replays.
#[derive(Debug)]
pub(super) struct Prepared {
    pub holdings: Holdings,
    /// For each replay that yielded a payload: its step, and the lifted wire.
    wires: Vec<(usize, Wire)>,
}

impl Prepared {
    pub fn of(trace: &Trace) -> Self {
        let mut wires = Vec::new();
        for (step, taken) in trace.steps.iter().enumerate() {
            if let (Some(replay), Some(replayed)) = (taken.op.replay(), replayed(&taken.outcome)) {
                wires.push((step, replay.target.lift(&replayed.payload)));
            }
        }
        Self { holdings: Holdings::of(trace), wires }
    }
}

/// A trace with everything that its judges ask for.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub trace: &'a Trace,
    pub holdings: &'a Holdings,
    /// The replays and requests that yielded a payload while a record was held.
    pub crossings: Vec<Crossing<'a>>,
}

impl<'a> Evidence<'a> {
    pub fn of(trace: &'a Trace, prepared: &'a Prepared) -> Self {
        let holdings = &prepared.holdings;
        let crossings = prepared
            .wires
            .iter()
            .filter_map(|(step, wire)| crossing(trace, holdings, *step, wire))
            .collect();
        Self { trace, holdings, crossings }
    }

    /// True unless no replay carries anything of its record: then the trace
    /// witnesses nothing about a wire.
    pub fn is_alive(&self) -> bool {
        self.crossings.is_empty() || self.crossings.iter().any(Crossing::is_alive)
    }

    /// True if the implementation reports this beside a payload.
    pub fn reports(&self, report: Report) -> bool {
        self.trace.hello.reports.contains(&report)
    }
}

fn crossing<'a>(
    trace: &'a Trace,
    holdings: &'a Holdings,
    step: usize,
    wire: &'a Wire,
) -> Option<Crossing<'a>> {
    let held = holdings.before[step]?;
    let rows = holdings.rows(held);
    let taken = &trace.steps[step];
    let replayed = replayed(&taken.outcome)?;
    let stretch =
        if let Op::Input { first, last, .. } = &taken.op { Some((first, last)) } else { None };
    let replay = taken.op.replay()?;
    let facts = match &taken.op {
        Op::Request { authority, .. } => Some(authority),
        Op::Load { .. }
        | Op::Open { .. }
        | Op::Append { .. }
        | Op::Read { .. }
        | Op::Log {}
        | Op::Restart {}
        | Op::Replay(_)
        | Op::Context {}
        | Op::Input { .. }
        | Op::Compact(_)
        | Op::Clear(_)
        | Op::Upgrade(_)
        | Op::Transcript {}
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
        | Op::Migrate(_) => None,
    };
    let view = View { gone: holdings.gone(held), stretch };
    let context = Context::of(rows, &view)?;
    let mut needles = super::canary::Needles::of(rows);
    needles.add_streams(&context);
    Some(Crossing::new(
        super::crossing::Asked { step, replay, facts, replayed, stretch },
        rows,
        holdings.generations[held.generation].records_call_starts,
        context,
        Sightings::of(needles, wire),
        wire,
    ))
}

/// The replay that an outcome holds, if it holds one.
fn replayed(outcome: &Outcome) -> Option<&Replayed> {
    match outcome {
        Outcome::Replayed(replayed) | Outcome::Input(Input { replayed, .. }) => Some(replayed),
        Outcome::Loaded { .. }
        | Outcome::Appended { .. }
        | Outcome::Rows { .. }
        | Outcome::Log { .. }
        | Outcome::Changed(_)
        | Outcome::Context(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Known { .. }
        | Outcome::Found { .. }
        | Outcome::Status { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Migrated(_)
        | Outcome::Crashed {}
        | Outcome::Refused(_)
        | Outcome::Unsupported { .. } => None,
    }
}
