//! Which rows an archive must hold, which it may, and which it must not.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::record::{Block, Event, Message, ReplacementSource, Row, TurnEdge};
use crate::text::Text;

/// How a row stands to the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has settled and must be there.
    Due,
    /// Nothing is said of it: it has not settled, or nobody could miss it.
    Free,
    /// It must not be there.
    Never,
}

/// How each of these rows stands to the archive that is written of them.
pub(super) fn standings(rows: &[Row]) -> Vec<Standing> {
    let whole: BTreeMap<&Text, usize> =
        rows.iter().enumerate().map(|(place, row)| (&row.id, place)).collect();
    let mut calls: BTreeSet<&Text> = BTreeSet::new();
    let mut found = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter().enumerate() {
        found.push(standing(rows, place, &whole, &calls));
        if let Event::Message(message) = &row.event
            && is_version(row)
            && !message.is_failed()
        {
            calls.extend(message.blocks.iter().filter_map(|block| {
                if let Block::Call(call) = block { Some(&call.id) } else { None }
            }));
        }
    }
    found
}

fn standing(
    rows: &[Row],
    place: usize,
    whole: &BTreeMap<&Text, usize>,
    calls: &BTreeSet<&Text>,
) -> Standing {
    let row = &rows[place];
    let by_another = matches!(&row.replaces, Some(it) if it.source == ReplacementSource::Other);
    if by_another && row.is_for_people() {
        return Standing::Free;
    }
    if !is_version(row) {
        return Standing::Never;
    }
    match &row.event {
        Event::Message(message) if says_nothing(message) => Standing::Free,
        Event::Message(_) => Standing::Due,
        Event::Result(result) if calls.contains(&result.call) => Standing::Due,
        Event::Result(_) | Event::Unknown(_) => Standing::Free,
        Event::Delta(delta) => {
            let came = whole.get(&delta.message).copied();
            let behind = &rows[place + 1..came.unwrap_or(rows.len()).max(place + 1)];
            match (came, behind.iter().any(ends_a_turn)) {
                (None, true) => Standing::Due,
                // What is not over may still come whole; what was over when it came
                // may have been written before.
                (None, false) | (Some(_), true) => Standing::Free,
                (Some(_), false) => Standing::Never,
            }
        }
        Event::CallStarted(_) | Event::Compaction(_) | Event::Turn(_) => Standing::Never,
    }
}

/// True for a row that people see as it came, and for one that was made anew.
fn is_version(row: &Row) -> bool {
    let source = row.replaces.as_ref().map(|replaces| replaces.source);
    row.is_for_people() && matches!(source, None | Some(ReplacementSource::Regeneration))
}

fn says_nothing(message: &Message) -> bool {
    message.blocks.iter().all(|block| matches!(block, Block::Authority(_)))
}

fn ends_a_turn(row: &Row) -> bool {
    matches!(&row.event, Event::Turn(turn) if turn.edge != TurnEdge::Started)
}

/// Up to where a write of these rows can seal at the least: behind the last row
/// that it must hold, and before the first piece of a message that may still come.
pub(super) fn sealable(rows: &[Row]) -> u64 {
    let standings = standings(rows);
    let last = standings.iter().rposition(|standing| *standing == Standing::Due);
    let open = rows.iter().zip(&standings).position(|(row, standing)| {
        let Event::Delta(delta) = &row.event else { return false };
        *standing == Standing::Free && !rows.iter().any(|other| other.id == delta.message)
    });
    let sealed = last.map_or(0, |last| last + 1);
    open.map_or(sealed, |open| open.min(sealed)) as u64
}
