//! The judge of `archive.linear`.

use alloc::format;
use alloc::vec::Vec;

use super::ledger::{Ledger, Write, ledgers, newest};
use super::texts::texts;
use super::{SEEN, Standing, archivable, is_idle};
use crate::finding::{Finding, Ruling};
use crate::judge::evidence::Evidence;
use crate::rule::Rule;

/// What a write may cost beside the rows, and what one may cost that has nothing to
/// write.
const A_WRITE: u64 = 1024;

/// How often the bytes of a row may be written: once as the row, and once for what
/// is said of it.
const TIMES: u64 = 2;

/// `archive.linear`: all writes together write what there is to archive, and not what
/// there is times how often it was archived.
pub fn linear(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::ArchiveLinear;
    let mut ruling = Ruling::default();
    for ledger in &ledgers(evidence) {
        let mut bytes: u64 = 0;
        for (at, write) in ledger.writes.iter().enumerate() {
            let Some(done) = write.done else { continue };
            bytes = bytes.saturating_add(done.bytes);
            let size = Size::of(evidence, ledger, write);
            let most = (TIMES * size.rows).saturating_add(A_WRITE * (at as u64 + 1));
            ruling.witnesses += usize::from(at > 0 && size.due >= SEEN && bytes >= size.texts);
            let idle = at > 0 && is_idle(evidence, &ledger.writes[at - 1], write);
            if idle && done.bytes > A_WRITE {
                let message = format!("nothing was new, and {} bytes were written", done.bytes);
                ruling.find(Finding::new(rule, write.step, message));
            } else if bytes > most {
                let message = format!(
                    "{bytes} bytes were written in {} writes, of rows of {} bytes",
                    at + 1,
                    size.rows
                );
                ruling.find(Finding::new(rule, write.step, message));
            }
        }
        for finding in undersaid(ledger) {
            ruling.find(finding);
        }
    }
    ruling
}

/// How much there is to archive.
struct Size {
    /// The rows that must be there.
    due: usize,
    /// The bytes of the rows that may be there.
    rows: u64,
    /// The bytes of what the rows say that must be there.
    texts: u64,
}

impl Size {
    /// What there was by this write.
    fn of(evidence: &Evidence<'_>, ledger: &Ledger<'_>, write: &Write<'_>) -> Self {
        let mut size = Self { due: 0, rows: 0, texts: 0 };
        for held in newest(ledger.before(write.step + 1)).into_values() {
            let raw = evidence.holdings.raw(held);
            let rows = evidence.holdings.rows(held);
            for (row, standing) in archivable(rows) {
                let stored = usize::try_from(row.seq).ok().and_then(|place| raw.get(place));
                size.rows += stored.map_or(0, |raw| raw.get().len() as u64);
                if standing == Standing::Due {
                    size.due += 1;
                    size.texts += texts(row).iter().map(|text| text.len() as u64).sum::<u64>();
                }
            }
        }
        size
    }
}

/// Writes that say that they wrote less than their part holds.
fn undersaid(ledger: &Ledger<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (write, done) in ledger.written(usize::MAX) {
        let Some(name) = &done.part else { continue };
        let answer = ledger.answers.iter().find(|answer| answer.step > write.step);
        let part = answer.and_then(|answer| answer.parts.iter().find(|part| part.name == *name));
        if let Some(part) = part.filter(|part| part.bytes.0.len() as u64 > done.bytes) {
            let message =
                format!("{} bytes were said, and `{name}` has {}", done.bytes, part.bytes.0.len());
            findings.push(Finding::new(Rule::ArchiveLinear, write.step, message));
        }
    }
    findings
}
