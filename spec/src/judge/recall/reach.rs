//! What recall reaches: of each conversation that is held, what became of its rows,
//! and which of them are due. Nothing is folded: a row has left if a later row names
//! it as taken.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::search;
use crate::found::Hit;
use crate::json::Json;
use crate::judge::evidence::Evidence;
use crate::judge::held::{Holdings, Snapshot};
use crate::judge::migration;
use crate::op::{Left, Op, Outcome, Refusal};
use crate::record::{Event, ReplacementSource, Row};
use crate::text::Text;

/// A recall that was answered in some way, with what was held.
pub(super) struct Asked<'a> {
    pub step: usize,
    /// The words that were asked for; none if everything was.
    pub words: Option<BTreeSet<alloc::string::String>>,
    /// The conversation that asks.
    pub asks: &'a Text,
    /// Every conversation that is held.
    pub kept: BTreeMap<&'a Text, Kept<'a>>,
    pub answer: Answer<'a>,
}

/// What came back.
pub(super) enum Answer<'a> {
    Hits(&'a [Hit]),
    Refused(&'a Refusal),
}

/// A conversation at one moment.
pub(super) struct Kept<'a> {
    pub generation: usize,
    pub rows: &'a [Row],
    raw: &'a [Json],
    places: BTreeMap<&'a Text, usize>,
    /// For each row that left, the row that took it.
    taken: BTreeMap<&'a Text, usize>,
    gone: BTreeSet<&'a Text>,
}

/// Every recall of the trace while a record was held. A query without a word in it
/// asks for nothing that could be told, and is left out.
pub(super) fn asked<'a>(evidence: &'a Evidence<'_>) -> Vec<Asked<'a>> {
    let holdings = evidence.holdings;
    let mut found = Vec::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let Op::Recall { query } = &taken.op else { continue };
        let answer = if let Outcome::Recalled { hits } = &taken.outcome {
            Answer::Hits(hits)
        } else if let Outcome::Refused(refusal) = &taken.outcome {
            Answer::Refused(refusal)
        } else {
            continue;
        };
        let Some(now) = holdings.before[step] else { continue };
        let words = query.as_ref().map(search::words);
        if words.as_ref().is_some_and(BTreeSet::is_empty) || migration::is_down(evidence, step) {
            continue;
        }
        let asks = &holdings.generations[now.generation].conversation;
        let stores = holdings.stores[step].iter();
        let kept = stores.map(|(name, held)| (name, Kept::of(holdings, *held))).collect();
        found.push(Asked { step, words, asks, kept, answer });
    }
    found
}

impl<'a> Asked<'a> {
    /// What was hit; nothing where it was refused.
    pub fn hits(&self) -> &'a [Hit] {
        match self.answer {
            Answer::Hits(hits) => hits,
            Answer::Refused(_) => &[],
        }
    }

    /// The seq of a row for a finding: only of the conversation that asks, whose log
    /// a reader has before them.
    pub fn seq(&self, conversation: &Text, row: &Row) -> Option<u64> {
        (conversation == self.asks).then_some(row.seq)
    }

    /// The rows that must be hit. With words, a row that was cleared is left to
    /// `recall.cleared`.
    pub fn due(&self) -> impl Iterator<Item = (&'a Text, &'a Row)> {
        self.kept.iter().flat_map(move |(conversation, kept)| {
            let asks = *conversation == self.asks;
            kept.rows.iter().filter_map(move |row| {
                let within_reach = !asks || kept.has_left(row);
                let wanted = match &self.words {
                    None => asks || is_said(row),
                    Some(words) => {
                        let copy = kept.taken_by(row).and_then(source_of);
                        copy != Some(ReplacementSource::Clearing) && search::holds(row, words)
                    }
                };
                (within_reach && wanted).then_some((*conversation, row))
            })
        })
    }
}

impl<'a> Kept<'a> {
    pub fn of(holdings: &'a Holdings, held: Snapshot) -> Self {
        let rows = holdings.rows(held);
        let places: BTreeMap<&Text, usize> =
            rows.iter().enumerate().map(|(place, row)| (&row.id, place)).collect();
        let mut taken = BTreeMap::new();
        for (by, row) in rows.iter().enumerate() {
            for id in row.replaces.iter().flat_map(|replaces| &replaces.rows) {
                if places.get(id).is_some_and(|place| *place < by) {
                    taken.entry(id).or_insert(by);
                }
            }
        }
        let (raw, gone) = (holdings.raw(held), holdings.gone(held));
        Self { generation: held.generation, rows, raw, places, taken, gone }
    }

    pub fn row(&self, id: &Text) -> Option<&'a Row> {
        self.rows.get(*self.places.get(id)?)
    }

    /// The row as it was stored.
    pub fn stored(&self, id: &Text) -> Option<&'a Json> {
        self.raw.get(*self.places.get(id)?)
    }

    /// The row that took this one out of the context, if one did.
    pub fn taken_by(&self, row: &Row) -> Option<&'a Row> {
        self.rows.get(*self.taken.get(&row.id)?)
    }

    /// True if no row says that this one left, and it did.
    pub fn is_gone(&self, row: &Row) -> bool {
        self.gone.contains(&row.id) && !self.taken.contains_key(&row.id)
    }

    pub fn has_left(&self, row: &Row) -> bool {
        self.taken.contains_key(&row.id) || self.gone.contains(&row.id)
    }

    /// The label that the row must have.
    pub fn flag(&self, row: &Row) -> Option<Left> {
        let by = self.taken_by(row)?;
        Some(Left { id: row.id.clone(), by: by.id.clone(), seq: by.seq, source: source_of(by)? })
    }
}

/// What kind of replacement a row is.
pub(super) fn source_of(row: &Row) -> Option<ReplacementSource> {
    row.replaces.as_ref().map(|replaces| replaces.source)
}

/// True for what somebody said or a tool gave back.
fn is_said(row: &Row) -> bool {
    matches!(row.event, Event::Message(_) | Event::Result(_))
}
