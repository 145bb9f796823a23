//! Which return belongs to which card: each id's calls and results are listed by
//! themselves, over the rows of append origin and every audience.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::record::{Block, Event, Role, Row};
use crate::text::Text;

/// A block: the index of its row, and its own.
pub(super) type At = (usize, usize);

/// The pairs of a record.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// For each result, its call.
    pub call_of: BTreeMap<At, At>,
    /// For each call, its result.
    pub result_of: BTreeMap<At, At>,
}

/// A call or a result of one id.
struct Use {
    at: At,
    is_call: bool,
    turn: usize,
}

impl Pairs {
    /// Pairs the calls and results of these rows.
    pub fn of(rows: &[Row]) -> Self {
        let mut lists: BTreeMap<&Text, Vec<Use>> = BTreeMap::new();
        let mut turn = 0;
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.is_append()) {
            match &row.event {
                Event::Message(message) if !message.is_failed() => {
                    for (block, stored) in message.blocks.iter().enumerate() {
                        let at = (index, block);
                        if let Block::Call(call) = stored
                            && message.role == Role::Assistant
                        {
                            lists.entry(&call.id).or_default().push(Use {
                                at,
                                is_call: true,
                                turn,
                            });
                        } else if let Block::Result(result) = stored {
                            let is_call = false;
                            lists.entry(&result.call).or_default().push(Use { at, is_call, turn });
                        }
                    }
                    let says = |block: &Block| matches!(block, Block::Text(_) | Block::Image(_));
                    let speaks = message.role == Role::User
                        && row.is_for_people()
                        && message.blocks.iter().any(says);
                    turn += usize::from(speaks);
                }
                Event::Result(result) => {
                    let list = lists.entry(&result.call).or_default();
                    list.push(Use { at: (index, 0), is_call: false, turn });
                }
                Event::Turn(_) => turn += 1,
                Event::Message(_)
                | Event::CallStarted(_)
                | Event::Compaction(_)
                | Event::Delta(_)
                | Event::Unknown(_) => {}
            }
        }
        let mut pairs = Self::default();
        lists.values().for_each(|list| pairs.add(list));
        pairs
    }

    /// One id: for each result the first call that may still take it, looked for
    /// in the newest round before it; and for each call, before that, the first
    /// result of its turn that found none.
    fn add(&mut self, list: &[Use]) {
        for (index, now) in list.iter().enumerate() {
            let before = &list[..index];
            if now.is_call {
                let early = before.iter().find(|early| {
                    !early.is_call
                        && early.turn == now.turn
                        && !self.call_of.contains_key(&early.at)
                        && !self.is_repeat(list, early.at)
                });
                if let Some(early) = early {
                    self.bind(now.at, early.at);
                }
                continue;
            }
            let round = before.iter().rev().find(|call| call.is_call).map(|call| call.at.0);
            let open = before.iter().find(|call| {
                call.is_call && Some(call.at.0) == round && !self.result_of.contains_key(&call.at)
            });
            if let Some(call) = open {
                self.bind(call.at, now.at);
            }
        }
    }

    /// True if the id was answered in the turn of this result when it came.
    fn is_repeat(&self, list: &[Use], at: At) -> bool {
        let Some(place) = list.iter().position(|one| one.at == at) else { return false };
        let turn = list[place].turn;
        // A pair is closed by its later half.
        let closed = |one: &Use| {
            let other = match one.is_call {
                true => self.result_of.get(&one.at),
                false => self.call_of.get(&one.at),
            };
            other.is_some_and(|other| *other < one.at)
        };
        list[..place].iter().any(|one| one.turn == turn && closed(one))
    }

    fn bind(&mut self, call: At, result: At) {
        self.call_of.insert(result, call);
        self.result_of.insert(call, result);
    }
}
