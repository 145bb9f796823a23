//! The judge of chapter `migration`.
//!
//! What must be held follows from what was given: the rows of both tables by seq,
//! each once. It is looked for in what the start says of itself, and in what can be
//! read, seen and found afterwards.

mod older;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use super::evidence::Evidence;
use super::held::{Fault, Snapshot};
use crate::finding::{Finding, Ruling};
use crate::json::{Json, RawValue, Tree};
use crate::op::{Context, Key, Lookup, Migrate, Migrated, Op, Outcome};
use crate::record::Row;
use crate::rule::Rule;
use crate::text::Text;
use older::Tables;

const RULE: Rule = Rule::MigrationSideTable;

/// A store that came from an older one.
struct Start<'a> {
    generation: usize,
    tables: Tables<'a>,
}

/// True if the process died in a start and was not started again since: what is
/// asked then is asked of nobody.
pub(super) fn is_down(evidence: &Evidence<'_>, step: usize) -> bool {
    let before = evidence.trace.steps[..step].iter().rev();
    let mut starts = before.filter(|taken| {
        let begins =
            matches!(taken.op, Op::Migrate(_) | Op::Restart {} | Op::Load { .. } | Op::Open { .. });
        begins && !matches!(taken.outcome, Outcome::Refused(_))
    });
    starts.next().is_some_and(|start| matches!(start.outcome, Outcome::Crashed {}))
}

/// `migration.side-table`: what an older version moved to a side table returns to
/// its place; then there is nothing left to move, and a start that dies on the way
/// is made good by the next.
pub fn side_table(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut start: Option<Start<'_>> = None;
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if matches!(taken.outcome, Outcome::Unsupported { .. }) {
            continue;
        }
        if let Op::Migrate(Migrate { older: Some(older), crash }) = &taken.op {
            let tables = Tables::of(older);
            if !tables.has_header {
                continue;
            }
            first(&mut ruling, step, &tables, *crash, &taken.outcome);
            let begun = evidence.holdings.after[step].filter(|_| is_taken(&taken.outcome));
            start = begun.map(|held| Start { generation: held.generation, tables }).or(start);
            continue;
        }
        let Some(held) = evidence.holdings.before[step] else { continue };
        let from = start.as_ref().filter(|start| start.generation == held.generation);
        again(&mut ruling, evidence, step, held, from);
        if let Some(from) = from.filter(|_| !is_down(evidence, step)) {
            let raw = evidence.holdings.raw(held);
            match (&taken.op, &taken.outcome) {
                (Op::Read { from: first, limit }, Outcome::Rows { rows }) => {
                    let asked = (first.unwrap_or(0), limit.unwrap_or(u64::MAX));
                    read(&mut ruling, step, from, raw, asked, rows);
                }
                (_, Outcome::Context(context)) => {
                    let since = left_since(evidence, held, from);
                    seen(&mut ruling, step, from, &since, context);
                }
                (Op::Lookup(Lookup { by, conversation: None }), outcome) => {
                    found(&mut ruling, step, from, by, outcome);
                }
                (_, _) => {}
            }
        }
    }
    ruling
}

fn is_taken(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Migrated(_) | Outcome::Crashed {})
}

/// Looks at what the first start on an older store says of itself.
fn first(ruling: &mut Ruling, step: usize, tables: &Tables<'_>, crash: bool, outcome: &Outcome) {
    let faults = tables.faults();
    let message = match (faults.first(), outcome) {
        (Some(due), Outcome::Refused(refusal)) => {
            let is_one = |fault: &Fault| {
                fault.code == refusal.code && (fault.seq.is_none() || fault.seq == refusal.seq)
            };
            (!faults.iter().any(is_one))
                .then(|| format!("refused as {:?}; the reason is {:?}", refusal.code, due.code))
        }
        (Some(due), _) => Some(format!("was taken; it must be refused as {:?}", due.code)),
        (None, Outcome::Refused(refusal)) => {
            if tables.may_be_refused_for_ranges(refusal) {
                return;
            }
            Some(format!("refused, though each row has its place: {}", refusal.detail))
        }
        (None, Outcome::Migrated(said)) => {
            let due = tables.moved() as u64;
            wrong(said, tables.rows() as u64, |returned| returned == due)
        }
        // What the crash left is seen by the next start.
        (None, Outcome::Crashed {}) if crash => return,
        (None, _) => Some("it died, and nothing asked it to".into()),
    };
    let Some(message) = message else {
        let decided = !faults.is_empty() || tables.moved() > 0 && !crash;
        ruling.witnesses += usize::from(decided);
        return;
    };
    let seq = faults.first().and_then(|fault| fault.seq);
    ruling.find(Finding { seq, ..Finding::new(RULE, step, message) });
}

/// Looks at a start on what is there: one that makes good what died, or one that
/// finds nothing to do.
fn again(
    ruling: &mut Ruling,
    evidence: &Evidence<'_>,
    step: usize,
    held: Snapshot,
    from: Option<&Start<'_>>,
) {
    let taken = &evidence.trace.steps[step];
    if !matches!(taken.op, Op::Migrate(_) | Op::Restart {}) {
        return;
    }
    let was_down = is_down(evidence, step);
    let moved = from.map_or(0, |start| start.tables.moved());
    let rows = held.rows as u64;
    let message = match (&taken.op, &taken.outcome) {
        (_, Outcome::Refused(refusal)) if was_down || matches!(taken.op, Op::Migrate(_)) => {
            Some(format!("a start on what is there is refused as {:?}", refusal.code))
        }
        (Op::Restart {}, Outcome::Loaded { next, .. }) if was_down => (*next != rows)
            .then(|| format!("{rows} rows are due after the crash; the next is said to be {next}")),
        (Op::Migrate(_), Outcome::Migrated(said)) => {
            let most = if was_down { moved as u64 } else { 0 };
            wrong(said, rows, |returned| returned <= most)
        }
        (_, _) => return,
    };
    match message {
        Some(message) => ruling.find(Finding::new(RULE, step, message)),
        None => ruling.witnesses += usize::from(moved > 0),
    }
}

/// What a start says of itself that is not so.
fn wrong(said: &Migrated, rows: u64, right: impl Fn(u64) -> bool) -> Option<String> {
    let Migrated { next, returned, side } = said;
    if *side != 0 {
        return Some(format!("the side table is said to hold {side} rows still"));
    }
    if *next != rows {
        return Some(format!("{rows} rows are due; the next is said to be {next}"));
    }
    (!right(*returned)).then(|| format!("{returned} rows are said to have returned"))
}

/// Looks at the merged rows where they are read back.
fn read(
    ruling: &mut Ruling,
    step: usize,
    start: &Start<'_>,
    held: &[Json],
    (first, limit): (u64, u64),
    rows: &[Json],
) {
    let upto = start.tables.rows().min(held.len()) as u64;
    for seq in first..upto.min(first.saturating_add(limit)) {
        let place = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX);
        let Some(due) = held.get(place(seq)) else { return };
        let message = match rows.get(place(seq - first)) {
            Some(row) if same(row, due) => {
                ruling.witnesses += usize::from(start.tables.was_moved(seq));
                continue;
            }
            Some(_) => "another row stands in its place",
            None => "it does not come back",
        };
        ruling.find(Finding::new(RULE, step, message).row(seq));
    }
}

/// The rows that left the context after the start: what became of them is for the
/// judges of compactions.
fn left_since<'a>(
    evidence: &'a Evidence<'_>,
    held: Snapshot,
    start: &Start<'_>,
) -> BTreeSet<&'a Text> {
    let added = evidence.holdings.rows(held).iter().skip(start.tables.rows());
    let cited = added.flat_map(|row| &row.replaces).flat_map(|replaces| &replaces.rows);
    cited.chain(evidence.holdings.gone(held)).collect()
}

/// Looks at the context: a row that returned, and that a replacement took, is
/// flagged and not in it; one that nothing took is.
fn seen(
    ruling: &mut Ruling,
    step: usize,
    start: &Start<'_>,
    since: &BTreeSet<&Text>,
    context: &Context,
) {
    for (row, taker) in start.tables.returned().filter(|(row, _)| !since.contains(&row.id)) {
        let times = context.rows.iter().filter(|live| live.id == row.id).count();
        let flag = context.left.iter().find(|left| left.id == row.id);
        let message = match (taker, flag) {
            (None, None) if times == 1 => {
                ruling.witness();
                continue;
            }
            (Some(taker), Some(flag)) if times == 0 && flag.by == taker.id => {
                ruling.witness();
                continue;
            }
            (Some(_), None) if times == 0 => "it is not flagged",
            (Some(_), Some(_)) if times == 0 => "it is flagged as taken by another row",
            (Some(_), _) => "it returned to the context, which it had left",
            (None, _) => "no row took it, and it does not stand in the context, once and unflagged",
        };
        ruling.find(Finding::new(RULE, step, message).row(row.seq));
    }
}

/// Looks at a lookup of a row that returned.
fn found(ruling: &mut Ruling, step: usize, start: &Start<'_>, by: &Key, outcome: &Outcome) {
    let Some((row, raw)) = start.tables.first_with(by) else { return };
    let found = if let Outcome::Found { found } = outcome { found.as_ref() } else { None };
    let message = match found {
        Some(found) if same(&found.row, raw) => return ruling.witness(),
        Some(_) => "something else is found under its key",
        None => "it returned, and is not found by its key",
    };
    ruling.find(Finding::new(RULE, step, message).row(row.seq));
}

/// The same stored value.
fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// True for the key that a row carries.
fn carries(row: &Row, key: &Key) -> bool {
    match key {
        Key::Row(id) => row.id == *id,
        Key::Request(key) => row.request.as_ref() == Some(key),
        Key::Report(key) => row.report.as_ref() == Some(key),
    }
}
