//! The judges of what a client holds when it has looked, and of what it read for
//! that.

use alloc::format;
use alloc::string::String;

use super::super::evidence::Evidence;
use super::super::page::{counts, due_start};
use super::{Poll, polls, same, seq, unsettled, wrongly_refused};
use crate::finding::{Finding, Ruling};
use crate::rule::Rule;
use crate::sync::Synced;

/// `sync.join`: what a client holds is the record from its start on, as it would be if
/// it had read all of that now. Nothing that it held is lost, and it holds nothing
/// that it never read.
pub(in super::super) fn join(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::SyncJoin;
    let mut ruling = Ruling::default();
    for poll in polls(evidence) {
        if let Some(wrong) = wrongly_refused(&poll).filter(|_| poll.limit.is_some()) {
            ruling.find(Finding::new(rule, poll.step, wrong));
        }
        let Some(synced) = poll.synced().filter(|_| poll.limit.is_some()) else { continue };
        let held = poll.before.is_some_and(|before| !before.synced.rows.is_empty());
        ruling.witnesses += usize::from(held && !poll.is_unchanged() && !synced.rows.is_empty());
        if let Some(finding) = wrong_rows(&poll, synced) {
            ruling.find(finding);
        }
        if let Some(finding) = lost_start(&poll, synced) {
            ruling.find(finding);
        }
    }
    ruling
}

/// Where the rows are not the end of the record, or were never read.
fn wrong_rows(poll: &Poll<'_>, synced: &Synced) -> Option<Finding> {
    let find = |message| Finding::new(Rule::SyncJoin, poll.step, message);
    let Some(first) = synced.rows.first() else {
        let message = format!("holds nothing of a record of {} rows", poll.raw.len());
        return (!poll.raw.is_empty()).then(|| find(message));
    };
    let start = seq(first).unwrap_or(usize::MAX);
    let due = poll.raw.get(start..).unwrap_or_default();
    for (at, stored) in due.iter().enumerate() {
        let place = start + at;
        let message = match synced.rows.get(at) {
            None => format!("row {place} is in the record and is not held"),
            Some(row) if !same(row, stored) => {
                format!("holds {} where the record has {}", row.get(), stored.get())
            }
            Some(_) if !was_read(poll, synced, place) => {
                format!("holds row {place}, which it never read")
            }
            Some(_) => continue,
        };
        return Some(find(message).row(place as u64));
    }
    let extra = synced.rows.get(due.len())?;
    Some(find(format!("holds {}, which the record does not", extra.get())))
}

/// Whether the client read the row now, or held it before.
fn was_read(poll: &Poll<'_>, synced: &Synced, place: usize) -> bool {
    let place = place as u64;
    let now = synced.reads.iter().any(|read| (read.from..read.upto).contains(&place));
    now || poll.before.is_some_and(|before| {
        before.synced.rows.iter().any(|row| {
            seq(row) == usize::try_from(place).ok()
                && poll
                    .raw
                    .get(seq(row).unwrap_or(usize::MAX))
                    .is_some_and(|stored| same(stored, row))
        })
    })
}

/// Where rows that it held, and that the record still holds, are not held any more.
fn lost_start(poll: &Poll<'_>, synced: &Synced) -> Option<Finding> {
    let due = poll.held_start()?;
    let start = seq(synced.rows.first()?)?;
    let message =
        format!("held the record from row {due} on, and holds it from row {start} on now");
    (start > due).then(|| Finding::new(Rule::SyncJoin, poll.step, message).row(due as u64))
}

/// `sync.newest-only`: a poll that found the stamp moved reads the newest messages,
/// so many at the most; and more only if they do not meet what is held, from there on.
pub(in super::super) fn newest_only(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::SyncNewestOnly;
    let mut ruling = Ruling::default();
    for poll in polls(evidence) {
        let Some(limit) = poll.limit else {
            let message = wrongly_refused(&poll)
                .or_else(|| poll.synced().map(|_| "a limit below one was taken"));
            if let Some(message) = message {
                ruling.find(Finding::new(rule, poll.step, message));
            }
            continue;
        };
        let Some(synced) = poll.synced() else { continue };
        let Some(newest) = synced.reads.first() else { continue };
        let messages = poll.rows.iter().filter(|row| counts(row)).count();
        ruling.witnesses += usize::from(messages > limit);
        if let Some(message) = not_the_newest(&poll, limit, synced) {
            ruling.find(Finding::new(rule, poll.step, message).row(newest.from));
        }
    }
    ruling
}

fn not_the_newest(poll: &Poll<'_>, limit: usize, synced: &Synced) -> Option<String> {
    let newest = synced.reads.first()?;
    let (from, end) = (usize::try_from(newest.from).ok()?, poll.rows.len() as u64);
    if newest.upto != end {
        return Some(format!("reads up to row {} first; the record ends at {end}", newest.upto));
    }
    let read = poll.rows.get(from..)?.iter().filter(|row| counts(row)).count();
    if read > limit && from < due_start(poll.rows, poll.rows.len(), limit) {
        return Some(format!("reads {read} messages; the newest {limit} were asked for"));
    }
    let more = synced.reads.get(1)?;
    let Some(start) = poll.before.and_then(|before| seq(before.synced.rows.first()?)) else {
        return Some(format!("reads from row {} too, and held nothing", more.from));
    };
    // A client whose rows are not in the record any more cannot know that.
    let held_end = poll.held_start().map_or(0, |start| start + still_held(poll, start));
    if from < held_end {
        return Some(format!(
            "reads from row {} too, though what it held goes up to row {held_end}",
            more.from
        ));
    }
    let start = start as u64;
    (more.from < start)
        .then(|| format!("reads from row {} on; it holds from {start} on", more.from))
}

/// How many of the rows that the client held the record still holds, from its start
/// on.
fn still_held(poll: &Poll<'_>, start: usize) -> usize {
    let held = poll.before.map_or(&[][..], |before| &before.synced.rows);
    let pairs = held.iter().zip(&poll.raw[start..]);
    pairs.take_while(|(held, stored)| same(held, stored)).count()
}

/// `sync.cheap`: a poll behind which nothing changed reads no row.
pub(in super::super) fn cheap(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::SyncCheap;
    let mut ruling = Ruling::default();
    for poll in polls(evidence) {
        let (Some(synced), Some(before)) = (poll.synced(), poll.before) else { continue };
        let start = before.synced.rows.first().and_then(|row| seq(row)).unwrap_or(0);
        let settled = unsettled(poll.rows.get(start..).unwrap_or_default()).is_empty();
        if !poll.is_unchanged() || !settled || !before.read || poll.limit.is_none() {
            continue;
        }
        ruling.witness();
        if let Some(read) = synced.reads.first() {
            let why = match &before.synced.cached {
                Some(_) => "nothing changed since its stamp",
                None => "all that it held had settled, and it kept no stamp",
            };
            let message = format!("reads rows {} to {}: {why}", read.from, read.upto);
            ruling.find(Finding::new(rule, poll.step, message));
        }
    }
    ruling
}
