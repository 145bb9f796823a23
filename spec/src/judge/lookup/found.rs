//! The judge of lookups: whatever was stored is found, and how far its turn is.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::Step;
use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::super::migration::is_down;
use super::same;
use crate::finding::{Finding, Ruling};
use crate::found::{Found, Turn, TurnState};
use crate::op::{Key, Left, Lookup, Op, Outcome};
use crate::record::{Event, Row, TurnEdge};
use crate::rule::Rule;
use crate::text::Text;

const RULE: Rule = Rule::RecordLookupShadowed;

/// `record.lookup-shadowed`: lookups and turn states answer from the record, and
/// never from the context. That a row has left is a label on the answer; of one that
/// a recall hit, the label is `recall.opens-source`.
pub(in super::super) fn lookup_shadowed(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let unsupported = matches!(taken.outcome, Outcome::Unsupported { .. });
        if unsupported || is_down(evidence, step) {
            continue;
        }
        if let Op::Lookup(asked) = &taken.op {
            let Some(held) = evidence.holdings.conversation(step, asked.conversation.as_ref())
            else {
                continue;
            };
            let place = place(evidence.holdings.rows(held), asked);
            let message = looked_up(evidence, held, place, &taken.outcome)
                .or_else(|| wrong_label(evidence, step, held, place?));
            // A row of another conversation has no place in the current one.
            let is_current = evidence.holdings.before[step] == Some(held);
            settle(&mut ruling, step, place, message, is_current);
        } else if let Op::Status { request } = &taken.op {
            let Some(held) = evidence.holdings.before[step] else { continue };
            let rows = evidence.holdings.rows(held);
            let place = rows.iter().position(|row| row.request.as_ref() == Some(request));
            let message = told(rows, place, &taken.outcome);
            settle(&mut ruling, step, place, message, true);
        }
    }
    ruling
}

/// Notes what is wrong with an answer; that there is nothing to be found proves
/// nothing, since whoever finds nothing at all says so too.
fn settle(
    ruling: &mut Ruling,
    step: usize,
    place: Option<usize>,
    wrong: Option<String>,
    is_current: bool,
) {
    if let Some(message) = wrong {
        let finding = Finding::new(RULE, step, message);
        ruling.find(match place.filter(|_| is_current) {
            Some(place) => finding.row(place as u64),
            None => finding,
        });
    } else if place.is_some() {
        ruling.witness();
    }
}

/// The first row that is what was asked for.
fn place(rows: &[Row], asked: &Lookup) -> Option<usize> {
    rows.iter().position(|row| match &asked.by {
        Key::Row(id) => row.id == *id,
        Key::Request(key) => row.request.as_ref() == Some(key),
        Key::Report(key) => row.report.as_ref() == Some(key),
    })
}

/// What is wrong with the answer to a lookup.
fn looked_up(
    evidence: &Evidence<'_>,
    held: Snapshot,
    place: Option<usize>,
    outcome: &Outcome,
) -> Option<String> {
    if let Outcome::Refused(refusal) = outcome {
        return Some(format!(
            "refused as {:?}, without a reason: {}",
            refusal.code, refusal.detail
        ));
    }
    let Outcome::Found { found } = outcome else { return None };
    match (place, found) {
        (None, None) => None,
        (Some(place), None) => {
            Some(format!("was stored as row {place}, and is said never to have been"))
        }
        (None, Some(_)) => Some("nothing was stored under it, and a row comes back".into()),
        (Some(place), Some(Found { row, .. })) => {
            let stored = &evidence.holdings.raw(held)[place];
            let as_stored = same(row, stored);
            (!as_stored).then(|| format!("stored as {}, found as {}", stored.get(), row.get()))
        }
    }
}

/// What is wrong with the label of the row that was found.
fn wrong_label(
    evidence: &Evidence<'_>,
    step: usize,
    held: Snapshot,
    place: usize,
) -> Option<String> {
    let steps = &evidence.trace.steps;
    let Outcome::Found { found: Some(Found { left, .. }) } = &steps[step].outcome else {
        return None;
    };
    let rows = evidence.holdings.rows(held);
    let id = &rows[place].id;
    let was_hit = |taken: &Step| matches!(&taken.outcome, Outcome::Recalled { hits } if hits.iter().any(|hit| hit.row == *id));
    // What was let go of without a row that says so has nothing to name.
    if steps[..step].iter().any(was_hit) || evidence.holdings.gone(held).contains(id) {
        return None;
    }
    let due = rows[place + 1..].iter().find_map(|by| {
        let replaces = by.replaces.as_ref().filter(|replaces| replaces.rows.contains(id))?;
        Some(Left { id: id.clone(), by: by.id.clone(), seq: by.seq, source: replaces.source })
    });
    if *left == due {
        return None;
    }
    Some(match (&due, left) {
        (Some(due), None) => format!("`{id}` left by `{}`, and the answer does not say so", due.by),
        (Some(due), Some(left)) => format!(
            "`{id}` left by `{}` (row {}); it is said to have left by `{}` (row {})",
            due.by, due.seq, left.by, left.seq
        ),
        (None, _) => format!("`{id}` is said to have left the context, where it stands"),
    })
}

/// What is wrong with the answer to a question for a turn.
fn told(rows: &[Row], place: Option<usize>, outcome: &Outcome) -> Option<String> {
    if let Outcome::Refused(refusal) = outcome {
        return Some(format!(
            "refused as {:?}, without a reason: {}",
            refusal.code, refusal.detail
        ));
    }
    let Outcome::Status { turn } = outcome else { return None };
    match (place, turn) {
        (None, None) => None,
        (Some(place), None) => Some(format!(
            "the request was stored as row {place}, and is said never to have arrived"
        )),
        (None, Some(turn)) => {
            Some(format!("no such request was stored; it is said to be row `{}`", turn.row))
        }
        (Some(place), Some(turn)) => wrong_turn(rows, place, turn),
    }
}

fn wrong_turn(rows: &[Row], place: usize, said: &Turn) -> Option<String> {
    let id: &Text = &rows[place].id;
    if said.row != *id {
        return Some(format!("the request is row `{id}`; it is said to be row `{}`", said.row));
    }
    // An edge that carries a key may be taken to stand in either turn.
    if edge(&rows[place]).is_some() {
        return None;
    }
    let due = states(rows)[place];
    (said.state != due).then(|| format!("the turn is {due:?}; it is said to be {:?}", said.state))
}

fn edge(row: &Row) -> Option<TurnEdge> {
    if let Event::Turn(turn) = &row.event { Some(turn.edge) } else { None }
}

/// For each row, how far its turn is. The record is told as a story: rows wait for
/// a turn to stand in; a start takes them in; an end, or another start, settles
/// them.
fn states(rows: &[Row]) -> Vec<TurnState> {
    let mut states = alloc::vec![TurnState::Open; rows.len()];
    let mut begun = false;
    let mut unsettled: Vec<usize> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let settled = match edge(row) {
            None => {
                unsettled.push(place);
                continue;
            }
            Some(TurnEdge::Started) if !begun => {
                begun = true;
                continue;
            }
            Some(TurnEdge::Started | TurnEdge::Interrupted) => TurnState::Interrupted,
            Some(TurnEdge::Ended) => TurnState::Ended,
        };
        begun = edge(row) == Some(TurnEdge::Started);
        for place in unsettled.drain(..) {
            states[place] = settled;
        }
    }
    states
}
