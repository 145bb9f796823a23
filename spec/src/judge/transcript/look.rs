//! Each transcript that was handed over, beside what must show, and each
//! difference with the rule that it breaks.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::must::{Stored, is_shown};
use super::shown::{Key, Kind, Shown, Slot, What, all};
use crate::json::Tree;
use crate::op::{Op, Outcome};
use crate::record::{Audience, Block, Event, ReplacementSource, Row};
use crate::rule::Rule;

/// A text shorter than this is told only where it stands alone.
const STRONG: usize = 8;

/// One transcript.
pub(super) struct Look<'a> {
    pub step: usize,
    pub snapshot: Snapshot,
    pub stored: Rc<Stored<'a>>,
    pub must: Vec<Shown>,
    pub seen: Vec<Shown>,
}

/// One difference.
pub(super) struct Breach {
    pub rule: Rule,
    pub seq: Option<u64>,
    pub message: String,
}

/// The records of a trace, each prepared once.
#[derive(Default)]
pub(super) struct Records<'a>(BTreeMap<usize, Rc<Stored<'a>>>);

impl<'a> Records<'a> {
    pub fn of(&mut self, evidence: &Evidence<'a>, snapshot: Snapshot) -> Rc<Stored<'a>> {
        let generation = snapshot.generation;
        let made = || Rc::new(Stored::of(evidence.holdings, generation));
        self.0.entry(generation).or_insert_with(made).clone()
    }
}

/// Every transcript of a held record.
pub(super) fn looks<'a>(evidence: &Evidence<'a>) -> Vec<Look<'a>> {
    let mut records = Records::default();
    let mut looks = Vec::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if let (Op::Transcript {}, Outcome::Transcript { items }, Some(snapshot)) =
            (&taken.op, &taken.outcome, evidence.holdings.before[step])
        {
            let stored = records.of(evidence, snapshot);
            let must = stored.must(snapshot.rows);
            looks.push(Look { step, snapshot, stored, must, seen: all(items) });
        }
    }
    looks
}

impl<'a> Look<'a> {
    /// The rows that were held.
    pub fn rows(&self) -> &'a [Row] {
        self.stored.at(self.snapshot)
    }

    /// True if anything of what must show does: an empty answer tells nothing.
    pub fn is_alive(&self) -> bool {
        let must: BTreeSet<Key> = self.must.iter().map(Shown::key).collect();
        self.seen.iter().any(|seen| must.contains(&seen.key()))
    }

    /// Every difference, each with its rule; one for each rule and row.
    pub fn breaches(&self) -> Vec<Breach> {
        let mut found: Vec<Breach> = Vec::new();
        if let (true, Some(first)) = (self.seen.is_empty(), self.must.first()) {
            let message = format!("nothing shows; {} items must", self.must.len());
            return alloc::vec![Breach {
                rule: Rule::TranscriptAppendOrigin,
                seq: Some(first.seq),
                message
            }];
        }
        let mut told = BTreeSet::new();
        let mut tell = |rule, seq, message| {
            if told.insert((rule, seq)) {
                found.push(Breach { rule, seq, message });
            }
        };
        let mut seen: BTreeMap<Key, &Shown> = BTreeMap::new();
        let must: BTreeMap<Key, &Shown> = self.must.iter().map(|item| (item.key(), item)).collect();
        let canaries = self.canaries();
        for item in &self.seen {
            let twice = seen.insert(item.key(), item).is_some();
            let seq = Some(
                self.stored.row(&item.row, self.snapshot.rows).map_or(item.seq, |row| row.seq),
            );
            if shows_summary(item, &canaries) {
                tell(
                    Rule::TranscriptPayloadHidden,
                    seq,
                    format!("row {} shows what a summary says", item.row),
                );
            } else if twice {
                let rule = if item.slot == Slot::Marker {
                    Rule::TranscriptMarkerPerLanding
                } else {
                    Rule::TranscriptAppendOrigin
                };
                tell(rule, seq, format!("row {} shows twice", item.row));
            } else if let Some(must) = must.get(&item.key()) {
                for (rule, what) in self.changed(must, item) {
                    tell(
                        rule,
                        Some(must.seq),
                        format!("row {} shows with another {what}", item.row),
                    );
                }
            } else {
                tell(self.extra(item), seq, format!("row {} shows, and must not", item.row));
            }
        }
        for item in &self.must {
            if !seen.contains_key(&item.key()) {
                tell(
                    self.missing(item),
                    Some(item.seq),
                    format!("row {} does not show whole", item.row),
                );
            }
        }
        if let Some((rule, seq)) = self.out_of_order(&must) {
            tell(rule, Some(seq), String::from("it does not stand in its place"));
        }
        found
    }

    fn changed(&self, must: &Shown, seen: &Shown) -> Vec<(Rule, &'static str)> {
        let mut found = Vec::new();
        let verbatim = Rule::TranscriptVerbatimHydration;
        if must.kind() != seen.kind() {
            let reasoning = [must.kind(), seen.kind()].contains(&Some(Kind::Reasoning));
            found.push((if reasoning { Rule::TranscriptReasoningTyped } else { verbatim }, "kind"));
        }
        match (&must.what, &seen.what) {
            (What::Block { content: old, .. }, What::Block { content, .. }) if old != content => {
                let replaced = self
                    .others(must)
                    .any(|row| self.stored.contents(row).iter().any(|other| other == content));
                found.push((
                    if replaced { Rule::TranscriptSilentReplacements } else { verbatim },
                    "content",
                ));
            }
            (What::Pieces { text: old, .. }, What::Pieces { text, .. }) if old != text => {
                found.push((verbatim, "text"));
            }
            (What::Pieces { open: old, .. }, What::Pieces { open, .. }) if old != open => {
                found.push((Rule::TranscriptAppendOrigin, "state"));
            }
            (What::Marker { rows: old }, What::Marker { rows }) if old != rows => {
                found.push((Rule::TranscriptMarkerPerLanding, "number of rows"));
            }
            (What::Block { .. } | What::Pieces { .. } | What::Marker { .. }, _) => {}
        }
        if must.link() != seen.link() {
            found.push((Rule::TranscriptToolPairing, "other half"));
        }
        if must.status != seen.status {
            found.push((verbatim, "status"));
        }
        if must.seq != seen.seq {
            found.push((verbatim, "seq"));
        }
        if must.parent != seen.parent {
            found.push((self.hung_elsewhere(must), "parent"));
        }
        found
    }

    /// The rule that a wrong parent breaks: what the context holds must not show in
    /// it.
    fn hung_elsewhere(&self, must: &Shown) -> Rule {
        let held = self.snapshot.rows;
        let stored = self.stored.row(&must.row, held).and_then(|row| row.parent.as_ref());
        let Some(parent) = stored else { return Rule::TranscriptVerbatimHydration };
        let own = self.stored.row(parent, held).and_then(|row| row.replaces.as_ref());
        let sources = self.stored.takers(parent, held).map(|(_, source)| source);
        let sources: Vec<ReplacementSource> =
            own.map(|range| range.source).into_iter().chain(sources).collect();
        if sources.contains(&ReplacementSource::Compaction) {
            Rule::TranscriptAppendOrigin
        } else if sources.is_empty() {
            Rule::TranscriptVerbatimHydration
        } else {
            Rule::TranscriptSilentReplacements
        }
    }

    fn extra(&self, item: &Shown) -> Rule {
        let Some(row) = self.stored.row(&item.row, self.snapshot.rows) else {
            return self.extra_of_no_row(item);
        };
        match &row.replaces {
            Some(range) if range.source != ReplacementSource::Compaction => {
                return Rule::TranscriptSilentReplacements;
            }
            Some(_) if item.slot != Slot::Marker => return Rule::TranscriptPayloadHidden,
            Some(_) | None => {}
        }
        if item.slot == Slot::Marker {
            return Rule::TranscriptMarkerPerLanding;
        }
        if !is_shown(row) {
            let declares = item.kind() == Some(Kind::Call);
            return if declares { Rule::TranscriptToolPairing } else { Rule::TranscriptAudience };
        }
        let block = match (&row.event, item.slot) {
            (Event::Message(message), Slot::Block(block)) => {
                usize::try_from(block).ok().and_then(|block| message.blocks.get(block))
            }
            (Event::Result(_), Slot::Block(0)) => return Rule::TranscriptToolPairing,
            (_, _) => None,
        };
        match block {
            Some(Block::Authority(_)) => Rule::TranscriptVerbatimHydration,
            Some(Block::Result(_)) => Rule::TranscriptToolPairing,
            Some(Block::Text(_) | Block::Reasoning(_) | Block::Call(_) | Block::Image(_))
            | None => Rule::TranscriptAppendOrigin,
        }
    }

    /// An item that names no row: pieces of a message that has not come.
    fn extra_of_no_row(&self, item: &Shown) -> Rule {
        if item.slot == Slot::Marker {
            return Rule::TranscriptMarkerPerLanding;
        }
        let is_hidden = |row: &Row| {
            !row.is_for_people()
                && matches!(&row.event, Event::Delta(delta) if delta.message == item.row)
        };
        if self.rows().iter().any(is_hidden) {
            Rule::TranscriptAudience
        } else {
            Rule::TranscriptAppendOrigin
        }
    }

    fn missing(&self, item: &Shown) -> Rule {
        if item.slot == Slot::Marker {
            return Rule::TranscriptMarkerPerLanding;
        }
        let row = self.stored.row(&item.row, self.snapshot.rows);
        if row.is_some_and(|row| row.audience == Some(Audience::People)) {
            Rule::TranscriptAudience
        } else if self.others(item).next().is_some() {
            Rule::TranscriptSilentReplacements
        } else {
            Rule::TranscriptAppendOrigin
        }
    }

    /// The replacements that took an item's row and are no compactions.
    fn others(&self, item: &Shown) -> impl Iterator<Item = &'a Row> {
        let takers = self.stored.takers(&item.row, self.snapshot.rows);
        takers.filter(|(_, source)| *source != ReplacementSource::Compaction).map(|(row, _)| row)
    }

    /// The first item that stands elsewhere than it must. Where the others stand
    /// right, it is a marker.
    fn out_of_order(&self, must: &BTreeMap<Key, &Shown>) -> Option<(Rule, u64)> {
        let mut shown = BTreeSet::new();
        let seen: Vec<Key> = self
            .seen
            .iter()
            .map(Shown::key)
            .filter(|key| must.contains_key(key) && shown.insert(key.clone()))
            .collect();
        let wanted: Vec<&Shown> =
            self.must.iter().filter(|item| shown.contains(&item.key())).collect();
        let is_item = |slot: Slot| slot != Slot::Marker;
        let items = seen.iter().filter(|(_, slot)| is_item(*slot));
        let wrong = wanted.iter().filter(|item| is_item(item.slot)).zip(items);
        let wrong =
            wrong.filter(|(item, key)| item.key() != **key).map(|(item, _)| item.seq).next();
        if let Some(seq) = wrong {
            return Some((Rule::TranscriptAppendOrigin, seq));
        }
        let places = |keys: &mut dyn Iterator<Item = Key>| {
            let keys = keys.enumerate().filter(|(_, (_, slot))| *slot == Slot::Marker);
            keys.map(|(at, (row, _))| (row, at)).collect::<BTreeMap<_, _>>()
        };
        let stand = places(&mut seen.iter().cloned());
        let due = places(&mut wanted.iter().map(|item| item.key()));
        let wrong = wanted
            .iter()
            .find(|item| item.slot == Slot::Marker && stand.get(&item.row) != due.get(&item.row));
        wrong.map(|item| (Rule::TranscriptMarkerPerLanding, item.seq))
    }

    /// What summaries say, and no row of append origin does
    /// (`transcript.payload-hidden`).
    fn canaries(&self) -> BTreeSet<String> {
        let mut said = Vec::new();
        let mut own = Vec::new();
        for row in self.rows() {
            if row.compacts().is_some() {
                said.extend(self.stored.contents(row).iter().flat_map(|tree| spoken(tree)));
            } else if let Event::Compaction(step) = &row.event {
                said.extend(step.text.as_ref().map(|text| text.to_unicode().into_owned()));
            } else if row.is_append() {
                own.extend(self.stored.contents(row).iter().flat_map(|tree| spoken(tree)));
            }
        }
        let pieces = self.must.iter().flat_map(Shown::texts);
        own.extend(pieces.map(|text| text.to_unicode().into_owned()));
        said.retain(|text| !text.trim().is_empty() && !own.iter().any(|own| own.contains(text)));
        said.into_iter().collect()
    }

    /// The summaries that were held.
    pub fn summaries(&self) -> usize {
        self.rows().iter().filter(|row| row.compacts().is_some()).count()
    }
}

/// The strings of a block, the name of its kind left out.
fn spoken(block: &Tree) -> Vec<String> {
    let texts = block.strings().into_iter().map(|text| text.to_unicode().into_owned());
    texts.filter(|text| !Block::KINDS.contains(&text.as_str())).collect()
}

fn shows_summary(item: &Shown, canaries: &BTreeSet<String>) -> bool {
    item.texts().iter().any(|text| {
        let text = text.to_unicode();
        canaries
            .iter()
            .any(|said| *text == **said || said.len() >= STRONG && text.contains(&**said))
    })
}
