//! An archive that was handed over, beside what it must hold by then.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::due::{Standing, standings};
use super::ledger::{Answer, Ledger, newest};
use super::texts::{Search, is_long, said, strings, texts};
use crate::json::Tree;
use crate::judge::canary::canary;
use crate::judge::evidence::Evidence;
use crate::judge::held::Snapshot;
use crate::record::{Event, Row};
use crate::text::Text;

/// What is found wrong with a text, and the row that it is of.
#[derive(Debug, Clone)]
pub(super) struct Wrong {
    pub seq: u64,
    pub text: String,
}

/// What an archive that was handed over holds.
pub(super) struct Look<'a> {
    /// The rows that were due at the last write that came to its end.
    pub due: Vec<&'a Row>,
    /// The texts of rows that may be there, with how often they may.
    most: BTreeMap<String, usize>,
    /// The texts of rows that must not be there.
    never: BTreeMap<String, u64>,
    /// For each message that was only streamed, its pieces joined.
    streams: BTreeMap<&'a Text, String>,
    /// For each part, how often each text stands in it.
    parts: Vec<BTreeMap<String, usize>>,
}

impl<'a> Look<'a> {
    pub fn at(evidence: &'a Evidence<'_>, ledger: &Ledger<'_>, answer: &Answer<'_>) -> Self {
        let mut look = Self {
            due: Vec::new(),
            most: BTreeMap::new(),
            never: BTreeMap::new(),
            streams: BTreeMap::new(),
            parts: Vec::new(),
        };
        // A record that came back from a copy of its log need not be written again.
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for held in newest(ledger.written(answer.step).map(|(write, _)| write)).into_values() {
            let rows = evidence.holdings.rows(held);
            let raw = evidence.holdings.raw(held);
            for ((row, raw), standing) in rows.iter().zip(raw).zip(standings(rows)) {
                if standing == Standing::Due && seen.insert(raw.get()) {
                    look.due.push(row);
                }
            }
        }
        let tried: Vec<Snapshot> = newest(ledger.before(answer.step)).into_values().collect();
        let search = look.search(evidence, &tried);
        for held in &tried {
            look.allow(evidence, *held, &search);
        }
        let counted = |places: &[String]| {
            search.count(places).into_iter().map(|(text, count)| (text.to_owned(), count)).collect()
        };
        look.parts = answer.parts.iter().map(|part| counted(&said(part))).collect();
        look
    }

    /// The search for every text of these records that is no name in them.
    fn search(&mut self, evidence: &'a Evidence<'_>, tried: &[Snapshot]) -> Search {
        let mut all: BTreeSet<String> = BTreeSet::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for held in tried {
            let rows = evidence.holdings.rows(*held);
            let conversation = &evidence.holdings.generations[held.generation].conversation;
            names.insert(conversation.to_unicode().into_owned());
            names.extend(rows.iter().map(|row| row.id.to_unicode().into_owned()));
            for row in rows {
                all.extend(texts(row));
                if let Event::Delta(delta) = &row.event {
                    let joined = self.streams.entry(&delta.message).or_default();
                    joined.push_str(&delta.text.to_unicode());
                }
            }
        }
        for joined in self.streams.values_mut() {
            *joined = canary(joined).to_owned();
        }
        all.extend(self.streams.values().filter(|joined| is_long(joined)).cloned());
        all.retain(|text| !names.iter().any(|name| name.contains(text.as_str())));
        Search::of(all)
    }

    /// Notes what may be there of a record, and what must not.
    fn allow(&mut self, evidence: &'a Evidence<'_>, held: Snapshot, search: &Search) {
        let rows = evidence.holdings.rows(held);
        let raw = evidence.holdings.raw(held);
        let mut joined: BTreeSet<&Text> = BTreeSet::new();
        for ((row, raw), standing) in rows.iter().zip(raw).zip(standings(rows)) {
            if standing == Standing::Never {
                for text in texts(row) {
                    self.never.entry(text).or_insert(row.seq);
                }
                continue;
            }
            // A row may say a thing more than once, and may be kept as it is.
            let places = Tree::parse(raw.get()).map(|tree| strings(&tree)).unwrap_or_default();
            let counted = search.count(&places);
            for text in texts(row) {
                let count = counted.get(text.as_str()).copied().unwrap_or(1);
                *self.most.entry(text).or_default() += count.max(1);
            }
            if let Event::Delta(delta) = &row.event
                && joined.insert(&delta.message)
                && let Some(text) = self.streams.get(&delta.message)
                && !texts(row).contains(text)
            {
                *self.most.entry(text.clone()).or_default() += 1;
            }
        }
    }

    fn count(&self, text: &str) -> usize {
        self.parts.iter().filter_map(|part| part.get(text)).sum()
    }

    /// The texts of a row by which it is told whether it is there.
    fn followed(&self, row: &Row) -> Vec<String> {
        texts(row).into_iter().filter(|text| self.is_followed(text)).collect()
    }

    /// A text that is part of a name is told nowhere.
    fn is_followed(&self, text: &str) -> bool {
        self.most.contains_key(text)
    }

    /// True if a part holds a row: each of its texts, or the message whose piece it
    /// is.
    pub fn is_in(&self, part: usize, row: &Row) -> bool {
        let Some(counts) = self.parts.get(part) else { return false };
        let whole = if let Event::Delta(delta) = &row.event {
            self.streams.get(&delta.message).is_some_and(|text| counts.contains_key(text))
        } else {
            false
        };
        whole || self.followed(row).iter().all(|text| counts.contains_key(text))
    }

    /// How many rows that are due are seen by a text of theirs.
    pub fn sighted(&self) -> usize {
        let seen = |row: &&&Row| self.followed(row).iter().any(|text| self.count(text) > 0);
        self.due.iter().filter(seen).count()
    }

    /// The first row that is due and is not there, or not as often as it is due.
    pub fn lost(&self) -> Option<Wrong> {
        let mut due: BTreeMap<String, usize> = BTreeMap::new();
        for row in &self.due {
            let joined = if let Event::Delta(delta) = &row.event {
                self.streams.get(&delta.message).is_some_and(|text| self.count(text) > 0)
            } else {
                false
            };
            for text in self.followed(row).into_iter().filter(|_| !joined) {
                let count = due.entry(text.clone()).or_default();
                *count += 1;
                if *count > self.count(&text) {
                    return Some(Wrong { seq: row.seq, text });
                }
            }
        }
        None
    }

    /// A text that is there more often than it may, and whether one part alone has
    /// it too often.
    pub fn doubled(&self) -> Option<(Wrong, bool)> {
        let too_often =
            |text: &String| self.most.get(text).is_some_and(|most| self.count(text) > *most);
        let row = self.due.iter().find(|row| self.followed(row).iter().any(too_often))?;
        let text = self.followed(row).into_iter().find(too_often)?;
        let most = self.most.get(&text).copied().unwrap_or_default();
        let alone =
            self.parts.iter().any(|part| part.get(&text).is_some_and(|count| *count > most));
        Some((Wrong { seq: row.seq, text }, alone))
    }

    /// A text that is there and is of no row that may be.
    pub fn leaked(&self) -> Option<Wrong> {
        let leaks =
            |(text, _): &(&String, &u64)| !self.most.contains_key(*text) && self.count(text) > 0;
        let (text, seq) = self.never.iter().filter(leaks).min_by_key(|(_, seq)| **seq)?;
        Some(Wrong { seq: *seq, text: text.clone() })
    }
}
