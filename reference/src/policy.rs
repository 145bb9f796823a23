//! What a compaction takes: the stretch of the context that was asked for, or as
//! much as keeps the rest within a budget.

use alloc::format;
use core::ops::RangeInclusive;

use onrecord_spec::op::{Budget, Cut, Mode, Refusal, RefusalCode};
use onrecord_spec::record::{Event, Row};
use onrecord_spec::text::Text;

use crate::balance::Balance;
use crate::input::no_stretch;
use crate::record::{Record, named, refusal};
use crate::tokens;
use crate::unanswered::unanswered;

/// The stretch of the context that a cut takes, by position; none where the
/// context keeps to its budget already.
pub(crate) fn taken(
    record: &Record,
    balance: &Balance<'_>,
    cut: &Cut,
    turn: Mode,
) -> Result<Option<RangeInclusive<usize>>, Refusal> {
    let live = unanswered(balance, turn);
    let stretch = match cut {
        Cut::Range { first, last } => between(balance, first, last)?,
        Cut::Nearest { first, last } => balance.nearest(between(balance, first, last)?),
        Cut::Budget(budget) => return within(record, balance, &live, *budget),
    };
    if let Some(at) = stretch.clone().find(|at| live[*at]) {
        let detail = format!(
            "the range holds {}, which is not answered yet (compaction.live-round-kept)",
            named(&balance.rows[at].id)
        );
        return Err(refusal(RefusalCode::LiveRound, None, detail));
    }
    if !balance.holds_together(&stretch) {
        let nearest = balance.nearest(stretch);
        let detail = format!(
            "the range would separate a call from its result, or pieces of one message; the \
             nearest that does not goes from {} to {} (compaction.balanced-cut)",
            named(&balance.rows[*nearest.start()].id),
            named(&balance.rows[*nearest.end()].id)
        );
        return Err(refusal(RefusalCode::Unbalanced, None, detail));
    }
    Ok(Some(stretch))
}

fn between(
    balance: &Balance<'_>,
    first: &Text,
    last: &Text,
) -> Result<RangeInclusive<usize>, Refusal> {
    match (balance.position(first), balance.position(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        (_, _) => Err(no_stretch(first, last)),
    }
}

/// The policy: the context is cut from its first row on, at the first edge that
/// separates nothing, takes nothing that waits for an answer, and leaves no more
/// than the budget. If no edge leaves as little, at the last one that may be cut.
fn within(
    record: &Record,
    balance: &Balance<'_>,
    live: &[bool],
    budget: Budget,
) -> Result<Option<RangeInclusive<usize>>, Refusal> {
    let most = match budget {
        Budget::Messages(most) | Budget::Tokens(most) => most,
    };
    let weight = |row: &Row| match budget {
        Budget::Messages(_) => u64::from(is_content(row)),
        Budget::Tokens(_) => tokens::of_row(record, row),
    };
    let mut left: u64 = balance.rows.iter().map(|row| weight(row)).sum();
    if left <= most {
        return Ok(None);
    }
    let edges = balance.edges();
    let mut cut = None;
    for (at, row) in balance.rows.iter().enumerate().take_while(|(at, _)| !live[*at]) {
        left -= weight(row);
        if edges[at + 1] {
            cut = Some(0..=at);
            if left <= most {
                break;
            }
        }
    }
    match cut {
        Some(cut) => Ok(Some(cut)),
        None if live.contains(&true) => {
            let detail = "nothing may be taken before what is not answered yet \
                          (compaction.live-round-kept)";
            Err(refusal(RefusalCode::LiveRound, None, detail.into()))
        }
        None => {
            let detail = "no edge of the context separates nothing (compaction.balanced-cut)";
            Err(refusal(RefusalCode::Unbalanced, None, detail.into()))
        }
    }
}

/// A row that a budget of messages counts.
fn is_content(row: &Row) -> bool {
    match &row.event {
        Event::Message(_) | Event::Result(_) => true,
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => false,
    }
}
