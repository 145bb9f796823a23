//! The client, step by step.

use std::hash::{Hash, Hasher};

use onrecord::spec::json::keep;
use onrecord::spec::record::Row;
use onrecord_reference::page;
use onrecord_reference::sync::{Ask, Client};

use super::{Action, Caching, LIMIT, Poll, State};
use crate::models::{Kept, Mark, mark, stamp};

/// The client, and where it is in a poll.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) client: Client,
    /// The stamp that it compares with.
    pub(super) cached: Option<Mark>,
    pub(super) phase: Phase,
}

#[derive(Clone, PartialEq, Hash)]
pub(super) enum Phase {
    Rests,
    /// It has asked for rows, with this stamp in hand; and what the newest page held,
    /// if that did not meet what it holds.
    Asks(Asked, Mark, Vec<String>),
    /// The rows have come.
    InHand(Asked, Mark, Vec<String>, Vec<String>),
}

#[derive(Clone, Copy, PartialEq, Hash)]
pub(super) enum Asked {
    Newest,
    From(u64),
}

impl Reader {
    pub(super) fn held(&self) -> Vec<&str> {
        self.client.held().iter().map(|row| row.get()).collect()
    }

    /// The seq of the first row that it holds.
    pub(super) fn first(&self) -> Option<u64> {
        self.client.held().first().map(|row| Row::decode(row).unwrap().seq)
    }

    /// What the client itself has cached.
    pub(super) fn settled(&self) -> Option<Mark> {
        self.client.synced(vec![]).cached.map(mark)
    }
}

// What a client has under way is the stamp and the page that it was given: both stand
// in the phase.
impl PartialEq for Reader {
    fn eq(&self, other: &Self) -> bool {
        self.held() == other.held()
            && self.settled() == other.settled()
            && self.cached == other.cached
            && self.phase == other.phase
    }
}

impl Hash for Reader {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.held().hash(hasher);
        self.settled().hash(hasher);
        self.cached.hash(hasher);
        self.phase.hash(hasher);
    }
}

impl Poll {
    /// A step of the client; none if it has nothing to do.
    pub(super) fn look(&self, state: &State, action: Action) -> Option<Reader> {
        let mut reader = state.reader.clone();
        match (action, &state.reader.phase) {
            (Action::AskStamp, Phase::Rests) => {
                let now = self.stamp(state);
                if reader.cached.as_ref() == Some(&now) {
                    return None;
                }
                let asked = asked(reader.client.begin(stamp(&now))?);
                reader.phase = Phase::Asks(asked, now, vec![]);
            }
            (Action::Read, Phase::Asks(asked, then, newest)) => {
                let rows = match asked {
                    Asked::Newest => newest_page(&state.kept),
                    Asked::From(seq) => state.kept.texts(*seq, None),
                };
                reader.phase = Phase::InHand(*asked, then.clone(), newest.clone(), rows);
            }
            (Action::Take, Phase::InHand(_, then, _, rows)) => {
                let read = rows.iter().map(|row| keep(row).unwrap()).collect();
                if let Some(ask) = reader.client.take(read) {
                    reader.phase = Phase::Asks(asked(ask), then.clone(), rows.clone());
                    return Some(reader);
                }
                reader.phase = Phase::Rests;
                reader.cached = match self.caching {
                    Caching::OnceSettled => reader.settled(),
                    Caching::AtOnce => Some(then.clone()),
                    Caching::AskedBehind => reader.settled().map(|_| self.stamp(state)),
                };
            }
            (_, _) => return None,
        }
        Some(reader)
    }
}

fn asked(ask: Ask) -> Asked {
    match ask {
        Ask::Newest => Asked::Newest,
        Ask::From(seq) => Asked::From(seq),
    }
}

fn newest_page(kept: &Kept) -> Vec<String> {
    // What the op `page` answers with; a question needs no copy of the store.
    let page = page::page(kept.record(), LIMIT, None).unwrap();
    page.rows.iter().map(|row| row.get().to_string()).collect()
}
