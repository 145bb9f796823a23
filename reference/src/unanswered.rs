//! What is not answered yet, and is not to be taken (`compaction.live-round-kept`):
//! the question that a person waits for, the round in flight, the message that is
//! being streamed.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::op::Mode;
use onrecord_spec::record::{Block, Event, Message, Role, Row, TurnEdge};
use onrecord_spec::text::Text;

use crate::balance::Balance;

/// For each position of the context, whether its row is not answered yet.
///
/// In a cold turn nothing runs any more: a call that is open will never be
/// answered, and blocks nobody (`compaction.dead-call`). A person's question still
/// waits.
pub(crate) fn unanswered(balance: &Balance<'_>, turn: Mode) -> Vec<bool> {
    let mut live = vec![false; balance.rows.len()];
    questions(&balance.rows, &mut live);
    match turn {
        Mode::Cold => {}
        Mode::Running => {
            let since = balance.rows.iter().rposition(|row| ends_turn(row));
            in_flight(balance, since, &mut live);
        }
    }
    live
}

/// A person's message waits until the model has come to rest after it, or the
/// turn has ended.
fn questions(rows: &[&Row], live: &mut [bool]) {
    for (at, row) in rows.iter().enumerate().rev() {
        match &row.event {
            Event::Turn(_) if ends_turn(row) => return,
            Event::Message(message) if is_answer(message) => return,
            Event::Message(message) => live[at] = is_question(row, message),
            Event::CallStarted(_)
            | Event::Result(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => {}
        }
    }
}

/// Rounds with an open call, and streams, behind the last end of a turn.
fn in_flight(balance: &Balance<'_>, since: Option<usize>, live: &mut [bool]) {
    let runs = |at: usize| since.is_none_or(|end| at > end);
    // The last round that armed each id: the calls before can get no result.
    let mut armed: BTreeMap<&Text, usize> = BTreeMap::new();
    for (round, (at, _)) in balance.rounds.iter().enumerate() {
        armed.extend(calls(balance.rows[*at]).map(|id| (id, round)));
    }
    for (round, (at, answers)) in balance.rounds.iter().enumerate().filter(|(_, (at, _))| runs(*at))
    {
        let mut open = calls(balance.rows[*at]).zip(answers);
        if open.any(|(id, answer)| answer.is_none() && armed.get(id) == Some(&round)) {
            live[*at] = true;
            answers.iter().flatten().for_each(|answer| live[*answer] = true);
        }
    }
    for pieces in &balance.streams {
        if pieces.last().is_some_and(|last| runs(*last)) {
            pieces.iter().for_each(|at| live[*at] = true);
        }
    }
}

fn calls(row: &Row) -> impl Iterator<Item = &Text> {
    let blocks = match &row.event {
        Event::Message(message) => &message.blocks[..],
        Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => &[],
    };
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(&call.id),
        Block::Text(_)
        | Block::Reasoning(_)
        | Block::Result(_)
        | Block::Image(_)
        | Block::Authority(_) => None,
    })
}

fn ends_turn(row: &Row) -> bool {
    matches!(&row.event, Event::Turn(turn)
        if matches!(turn.edge, TurnEdge::Ended | TurnEdge::Interrupted))
}

/// The model came to rest: a message of it that calls nothing.
fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant
        && !message.is_failed()
        && !message.blocks.iter().any(|block| matches!(block, Block::Call(_)))
}

/// A person said something.
fn is_question(row: &Row, message: &Message) -> bool {
    message.role == Role::User
        && row.is_append()
        && row.is_for_people()
        && !message.is_failed()
        && message.blocks.iter().any(|block| matches!(block, Block::Text(_) | Block::Image(_)))
}
