//! The judge of `archive.manifest`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::ledger::{Answer, Ledger, Write, ledgers, newest};
use super::look::Look;
use super::{SEEN, archivable, due};
use crate::archive::HeldVersion;
use crate::finding::{Finding, Ruling};
use crate::judge::evidence::Evidence;
use crate::record::{Event, Row};
use crate::rule::Rule;
use crate::text::Text;

/// `archive.manifest`: it names the versions that the parts hold, each once and with
/// its part; and what is sealed is not read again.
pub fn manifest(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::ArchiveManifest;
    let mut ruling = Ruling::default();
    for ledger in &ledgers(evidence) {
        for answer in &ledger.answers {
            let look = Look::at(evidence, ledger, answer);
            let names = Names::of(evidence, ledger, answer);
            let named = look.due.iter().filter(|row| names.holds(answer, row)).count();
            ruling.witnesses += usize::from(named >= SEEN);
            if let Some((seq, message)) = names.wrong(answer, &look) {
                ruling.find(Finding { seq, ..Finding::new(rule, answer.step, message) });
            }
            if let Some(message) = seal(evidence, ledger, answer) {
                ruling.find(Finding::new(rule, answer.step, message));
            }
        }
        for finding in read_again(evidence, ledger) {
            ruling.find(finding);
        }
    }
    ruling
}

/// The rows that a manifest may name.
struct Names<'a> {
    /// By id: of each record of the conversation's name the one that has it.
    rows: BTreeMap<&'a Text, Vec<&'a Row>>,
    /// The messages of which only pieces came, which may be named for these.
    streamed: BTreeSet<&'a Text>,
}

impl<'a> Names<'a> {
    fn of(evidence: &'a Evidence<'_>, ledger: &Ledger<'_>, answer: &Answer<'_>) -> Self {
        let mut names = Self { rows: BTreeMap::new(), streamed: BTreeSet::new() };
        for held in newest(ledger.before(answer.step)).into_values() {
            for (row, _) in archivable(evidence.holdings.rows(held)) {
                names.rows.entry(&row.id).or_default().push(row);
                if let Event::Delta(delta) = &row.event {
                    names.streamed.insert(&delta.message);
                }
            }
        }
        names
    }

    /// True if the manifest names a row.
    fn holds(&self, answer: &Answer<'_>, row: &Row) -> bool {
        let message = if let Event::Delta(delta) = &row.event { &delta.message } else { &row.id };
        answer.manifest.held.iter().any(|held| held.row == row.id || held.row == *message)
    }

    /// What is wrong with what the manifest says is held.
    fn wrong(&self, answer: &Answer<'_>, look: &Look<'_>) -> Option<(Option<u64>, String)> {
        let mut seen: BTreeMap<&Text, usize> = BTreeMap::new();
        for HeldVersion { row: id, part } in &answer.manifest.held {
            let of_name = |place: &usize| answer.parts[*place].name == *part;
            let places: Vec<usize> = (0..answer.parts.len()).filter(of_name).collect();
            if places.is_empty() {
                return Some((None, format!("`{id}` is said to be in `{part}`, which is no part")));
            }
            let Some(rows) = self.rows.get(id) else {
                if self.streamed.contains(id) {
                    continue;
                }
                return Some((None, format!("`{id}` is no message that may be archived")));
            };
            let seq = rows.first().map(|row| row.seq);
            let times = seen.entry(id).or_default();
            *times += 1;
            if *times > rows.len() {
                return Some((seq, format!("`{id}` is named more than once")));
            }
            if !rows.iter().any(|row| places.iter().any(|place| look.is_in(*place, row))) {
                return Some((seq, format!("`{id}` is said to be in `{part}`, and is not")));
            }
        }
        // What is in no part at all is for `archive.complete`.
        let is_in = |row: &&&Row| (0..answer.parts.len()).any(|place| look.is_in(place, row));
        let missing = look.due.iter().filter(is_in).find(|row| !self.holds(answer, row))?;
        Some((Some(missing.seq), format!("`{}` is archived and not named", missing.id)))
    }
}

/// What is wrong with how far the manifest says that the record was read.
fn seal(evidence: &Evidence<'_>, ledger: &Ledger<'_>, answer: &Answer<'_>) -> Option<String> {
    let sealed = answer.manifest.sealed;
    let longest = newest(ledger.before(answer.step)).into_values().map(|held| held.rows as u64);
    let longest = longest.max().unwrap_or_default();
    if sealed > longest {
        return Some(format!("rows up to {sealed} are sealed, and {longest} were there"));
    }
    let (last, _) = ledger.written(answer.step).next_back()?;
    let due = due::sealable(evidence.holdings.rows(last.held));
    (sealed < due)
        .then(|| format!("only the rows before {sealed} are sealed; those before {due} settled"))
}

/// Writes that read what was sealed, or what an earlier write had written and could
/// have sealed.
fn read_again(evidence: &Evidence<'_>, ledger: &Ledger<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (write, done) in ledger.written(usize::MAX) {
        let of_same = |other: &&Write<'_>| other.held.generation == write.held.generation;
        let mut earlier = ledger.before(write.step).filter(|other| other.done.is_some());
        let Some(before) = earlier.rfind(of_same) else { continue };
        let answers = ledger.answers.iter();
        let said = answers.filter(|it| it.step > before.step && it.step < write.step);
        let said = said.map(|answer| answer.manifest.sealed).max().unwrap_or_default();
        let settled = due::sealable(evidence.holdings.rows(before.held));
        // A record of the name that came in between has a seal of its own.
        let said = if ledger.before(write.step).next_back().is_some_and(|last| of_same(&last)) {
            said
        } else {
            0
        };
        let from = done.read.from;
        if done.read.upto > from && from < said.max(settled) {
            let message = format!(
                "rows from {from} on were read; those before {} were read before",
                said.max(settled)
            );
            findings.push(Finding::new(Rule::ArchiveManifest, write.step, message));
        }
    }
    findings
}
