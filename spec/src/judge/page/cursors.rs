//! The judges of cursors, and of the pages that they lead to.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::{Told, same, told};
use crate::finding::{Finding, Ruling};
use crate::judge::evidence::Evidence;
use crate::op::{Op, Outcome, RefusalCode};
use crate::page::WindowAt;
use crate::rule::Rule;
use crate::text::Text;

/// `page.covers-once`: from the newest page back to row 0, each page begins where
/// the next newer one ends; joined they are the record as of the first.
pub(in super::super) fn covers_once(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::PageCoversOnce;
    let mut ruling = Ruling::default();
    let pages = told(evidence);
    for (at, newest) in pages.iter().enumerate() {
        if !matches!(evidence.trace.steps[newest.step].op, Op::Page { before: None, .. }) {
            continue;
        }
        let walk = walk(evidence, &pages, at);
        let last = walk.last().copied().unwrap_or(newest);
        let ended = last.page.before.is_none();
        let mut given: BTreeSet<&Text> = BTreeSet::new();
        let again = walk.iter().filter_map(|told| told.page.before.as_ref());
        let stands_still = again.into_iter().any(|cursor| !given.insert(cursor));
        if stands_still {
            let message = "the same cursor is given twice: the walk does not end";
            ruling.find(Finding::new(rule, last.step, message));
            continue;
        }
        if !ended {
            continue;
        }
        let rows: Vec<_> = walk.iter().rev().flat_map(|told| &told.page.rows).collect();
        let whole = rows.len() == newest.end
            && rows.iter().zip(newest.raw).all(|(row, stored)| same(stored, row));
        if !whole {
            let message = format!(
                "the pages joined have {} rows and are not the record of {} that was there",
                rows.len(),
                newest.end
            );
            ruling.find(Finding::new(rule, last.step, message));
        } else if walk.len() > 1 {
            ruling.witness();
        }
    }
    ruling
}

/// The pages that follow from this one by their cursors.
fn walk<'t, 'a>(
    evidence: &Evidence<'_>,
    pages: &'t [Told<'a>],
    newest: usize,
) -> Vec<&'t Told<'a>> {
    let mut walk = alloc::vec![&pages[newest]];
    for told in &pages[newest + 1..] {
        let Op::Page { before: Some(before), .. } = &evidence.trace.steps[told.step].op else {
            continue;
        };
        let last = walk.last().copied();
        let follows = last.is_some_and(|last| {
            last.page.before.as_ref() == Some(before)
                && last.held.generation == told.held.generation
        });
        if follows {
            walk.push(told);
        }
    }
    walk
}

/// `page.cursor-strict`: a cursor that was not given out, a limit below one, a row
/// that is not there: refused by name. A cursor that was given out is taken.
pub(in super::super) fn cursor_strict(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::PageCursorStrict;
    let mut ruling = Ruling::default();
    let mut given: BTreeSet<(usize, &Text)> = BTreeSet::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let Some(held) = evidence.holdings.before[step] else { continue };
        let known = |id: &Text| evidence.holdings.rows(held).iter().any(|row| row.id == *id);
        let (limit, place) = match &taken.op {
            Op::Page { limit, before } => {
                let known = |cursor: &Text| given.contains(&(held.generation, cursor));
                (*limit, before.as_ref().map(known))
            }
            Op::Window { limit, at } => {
                let place = match at {
                    WindowAt::Newest => None,
                    WindowAt::Before(row) | WindowAt::From(row) => Some(known(row)),
                };
                (limit.unwrap_or(1), place)
            }
            Op::Load { .. }
            | Op::Open { .. }
            | Op::Append { .. }
            | Op::Read { .. }
            | Op::Log {}
            | Op::Restart {}
            | Op::Replay(_)
            | Op::Request { .. }
            | Op::Context {}
            | Op::Input { .. }
            | Op::Compact(_)
            | Op::Clear(_)
            | Op::Upgrade(_)
            | Op::Transcript {}
            | Op::Follow { .. }
            | Op::Enter { .. }
            | Op::Lookup(_)
            | Op::Status { .. }
            | Op::Delete { .. }
            | Op::Stamp {}
            | Op::Sync { .. }
            | Op::Recall { .. }
            | Op::Archive { .. }
            | Op::Parts { .. }
            | Op::Migrate(_) => continue,
        };
        if let Outcome::Page(page) = &taken.outcome
            && let Some(cursor) = &page.before
        {
            given.insert((held.generation, cursor));
        }
        let due = match (limit < 1, place) {
            (true, _) => Some(RefusalCode::BadLimit),
            (false, Some(false)) => Some(RefusalCode::BadCursor),
            (false, Some(true) | None) => None,
        };
        let message = match (due, &taken.outcome) {
            (_, Outcome::Unsupported { .. }) => continue,
            (Some(due), Outcome::Refused(refusal)) => {
                let both = limit < 1 && place == Some(false);
                let right = refusal.code == due || both && refusal.code == RefusalCode::BadCursor;
                if right {
                    ruling.witness();
                    continue;
                }
                format!("refused as {:?}; the reason is {due:?}", refusal.code)
            }
            (Some(due), _) => format!("was answered; it must be refused as {due:?}"),
            (None, Outcome::Refused(refusal)) => {
                format!("refused as {:?}, without a reason: {}", refusal.code, refusal.detail)
            }
            (None, Outcome::Page(page)) => {
                let moved = place.is_some() && !ends_right(evidence, step, page.rows.len());
                if !moved {
                    ruling.witnesses += usize::from(place.is_some() && !page.rows.is_empty());
                    continue;
                }
                "the page does not end where the cursor stands".into()
            }
            (None, _) => continue,
        };
        ruling.find(Finding::new(rule, step, message));
    }
    ruling
}

/// Whether the page of this step ends at its cursor.
fn ends_right(evidence: &Evidence<'_>, step: usize, rows: usize) -> bool {
    let pages = told(evidence);
    let Some(told) = pages.iter().find(|told| told.step == step) else { return true };
    let last = told.page.rows.last();
    rows == 0
        || told.end > 0
            && last.is_some_and(|last| {
                told.raw.get(told.end - 1).is_some_and(|stored| same(stored, last))
            })
}
