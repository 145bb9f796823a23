//! The judges of one page.

use alloc::format;
use alloc::string::String;

use super::{Told, Unit, counts, due_start, same, told, units};
use crate::finding::{Finding, Ruling};
use crate::judge::evidence::Evidence;
use crate::rule::Rule;

/// The longest cursor: a place, not a copy of what was seen.
const LONGEST_CURSOR: usize = 1024;

/// Judges every page: none where the rule has nothing to decide, and what is wrong
/// or not.
fn each(
    evidence: &Evidence<'_>,
    rule: Rule,
    judge: impl Fn(&Told<'_>) -> Option<Result<(), String>>,
) -> Ruling {
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        match judge(&told) {
            Some(Ok(())) => ruling.witnesses += usize::from(told.is_part()),
            Some(Err(message)) => ruling.find(Finding::new(rule, told.step, message)),
            None => {}
        }
    }
    ruling
}

/// `page.contiguous`: the rows are those of the record that end where they must,
/// one after another, as they are stored.
pub(in super::super) fn contiguous(evidence: &Evidence<'_>) -> Ruling {
    each(evidence, Rule::PageContiguous, |told| {
        let Some(start) = told.start() else {
            let message = format!("{} rows where there are {}", told.page.rows.len(), told.end);
            return Some(Err(message));
        };
        if told.page.rows.is_empty() {
            return (told.end > 0).then(|| Err("no row at all".into()));
        }
        for (place, row) in (start..told.end).zip(&told.page.rows) {
            if !told.raw.get(place).is_some_and(|stored| same(stored, row)) {
                return Some(Err(format!(
                    "where row {place} must be is {}",
                    crate::json::excerpt(row.get())
                )));
            }
        }
        Some(Ok(()))
    })
}

/// The start of a page that is a part of the record.
fn start_of(told: &Told<'_>) -> Option<usize> {
    let start = told.start()?;
    let first = told.page.rows.first()?;
    told.raw.get(start).is_some_and(|stored| same(stored, first)).then_some(start)
}

/// `page.counts-append-origin`: a page holds as many messages of append origin as
/// were asked for, if there are so many, and nothing else counts.
pub(in super::super) fn counts_append_origin(evidence: &Evidence<'_>) -> Ruling {
    each(evidence, Rule::PageCountsAppendOrigin, |told| {
        let start = start_of(told)?;
        let messages = told.rows[start..told.end].iter().filter(|row| counts(row)).count();
        let others =
            told.rows[start..told.end].iter().any(|row| row.replaces.is_some() || !counts(row));
        let due = due_start(told.rows, told.end, told.limit);
        let due_messages = told.rows[due..told.end].iter().filter(|row| counts(row)).count();
        if messages < due_messages {
            return Some(Err(format!(
                "{messages} messages of append origin; {} were asked for and are there",
                told.limit.min(due_messages)
            )));
        }
        if messages > due_messages {
            return Some(Err(format!(
                "{messages} messages of append origin; {} were asked for",
                told.limit
            )));
        }
        others.then_some(Ok(()))
    })
}

/// The unit of this kind that the start of a page cuts.
fn cut(told: &Told<'_>, kind: Unit) -> Option<Result<(), String>> {
    let start = start_of(told)?;
    let mut decides = false;
    for (unit, first, last) in units(told.rows) {
        if unit != kind || first >= told.end {
            continue;
        }
        if first < start && start <= last {
            return Some(Err(format!(
                "the page begins at row {start}, between {first} and {last}"
            )));
        }
        decides |= first >= start && first < last;
    }
    decides.then_some(Ok(()))
}

/// `page.provenance-together`: a compaction's provenance is on the page of the
/// replacement that cites it.
pub(in super::super) fn provenance_together(evidence: &Evidence<'_>) -> Ruling {
    each(evidence, Rule::PageProvenanceTogether, |told| cut(told, Unit::Provenance))
}

/// `page.never-mid-message`: a message and its pieces are on one page.
pub(in super::super) fn never_mid_message(evidence: &Evidence<'_>) -> Ruling {
    each(evidence, Rule::PageNeverMidMessage, |told| cut(told, Unit::Streamed))
}

/// `page.says-more`: whether older rows exist, where they begin, and how much of
/// the record the page reflects.
pub(in super::super) fn says_more(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = each(evidence, Rule::PageSaysMore, |told| {
        let start = start_of(told)?;
        let page = told.page;
        let wrong = if page.older != (start > 0) {
            format!("the page begins at row {start} and says older = {}", page.older)
        } else if page.older != page.before.is_some() {
            format!("older = {}, and a cursor: {}", page.older, page.before.is_some())
        } else if page.upto != told.held.rows as u64 {
            format!("the record has {} rows; the page says {}", told.held.rows, page.upto)
        } else {
            return Some(Ok(()));
        };
        Some(Err(wrong))
    });
    super::windows::says_more(evidence, &mut ruling);
    ruling
}

/// `page.cost`: a page holds what was asked for and what belongs to it, and no more
/// than that; its cursor is a place.
pub(in super::super) fn cost(evidence: &Evidence<'_>) -> Ruling {
    each(evidence, Rule::PageCost, |told| {
        let start = start_of(told)?;
        let due = due_start(told.rows, told.end, told.limit);
        if start < due {
            let message = format!("the page begins at row {start}; it needs no row before {due}");
            return Some(Err(message));
        }
        let cursor = told.page.before.as_ref().map_or(0, |cursor| cursor.to_unicode().len());
        if cursor > LONGEST_CURSOR {
            return Some(Err(format!("a cursor of {cursor} bytes, which is more than a place")));
        }
        // Where all is handed over, nothing shows what a page costs.
        (due > 0).then_some(Ok(()))
    })
}
