//! The judges of chapter `archive`.

mod due;
mod ledger;
mod linear;
mod look;
mod manifest;
mod texts;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use due::{Standing, standings};
use ledger::{Answer, Ledger, Write, ledgers};
pub use linear::linear;
use look::Look;
pub use manifest::manifest;

use super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::record::Row;
use crate::rule::Rule;

/// How many messages must be seen for an archive to show anything: one alone is
/// whole by chance.
const SEEN: usize = 2;

/// `archive.parts`: what a part holds stays in it, and later parts hold what is new.
/// Where a write died before, this is for `archive.crash-safe`.
pub fn parts(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::ArchiveParts;
    let mut ruling = Ruling::default();
    for ledger in &ledgers(evidence) {
        for (at, answer) in ledger.answers.iter().enumerate() {
            if ledger.is_hurt(answer.step) {
                continue;
            }
            let look = Look::at(evidence, ledger, answer);
            let earlier = ledger.answers[..at].iter().rev().find(|it| !it.parts.is_empty());
            let grew = earlier.is_some_and(|earlier| earlier.parts.len() < answer.parts.len());
            ruling.witnesses += usize::from(grew && look.sighted() >= SEEN);
            if let Some(why) = rewritten(ledger, at) {
                ruling.find(Finding::new(rule, answer.step, why));
            } else if let Some((wrong, false)) = look.doubled() {
                let message = format!("a later part holds again what one holds: {:?}", wrong.text);
                ruling.find(Finding::new(rule, answer.step, message).row(wrong.seq));
            }
        }
        for finding in empty_parts(evidence, ledger) {
            ruling.find(finding);
        }
    }
    ruling
}

/// Why the parts of an answer are not the earlier ones with others behind them.
fn rewritten(ledger: &Ledger<'_>, at: usize) -> Option<String> {
    let answer = &ledger.answers[at];
    let mut names = BTreeSet::new();
    if let Some(part) = answer.parts.iter().find(|part| !names.insert(&part.name)) {
        return Some(format!("two parts have the name `{}`", part.name));
    }
    let earlier = ledger.answers[..at].last().map_or(&[][..], |earlier| earlier.parts);
    for (place, part) in earlier.iter().enumerate() {
        match answer.parts.get(place) {
            Some(now) if now.name != part.name => {
                return Some(format!("the part `{}` is not in its place any more", part.name));
            }
            Some(now) if now.bytes != part.bytes => {
                return Some(format!("the part `{}` was rewritten", part.name));
            }
            Some(_) => {}
            None => return Some(format!("the part `{}` is not there any more", part.name)),
        }
    }
    // What a write says that it wrote is there afterwards.
    let mut written = ledger.written(answer.step).filter_map(|(_, done)| done.part.as_ref());
    let part = written.find(|part| !names.contains(part))?;
    Some(format!("the part `{part}` was written, and is not there"))
}

/// Writes that had nothing new to write, and wrote a part.
fn empty_parts(evidence: &Evidence<'_>, ledger: &Ledger<'_>) -> Vec<Finding> {
    let idle = ledger.writes.windows(2).filter(|pair| is_idle(evidence, &pair[0], &pair[1]));
    let wrote = idle.filter_map(|pair| Some((pair[1].step, pair[1].done?.part.as_ref()?)));
    wrote
        .map(|(step, part)| {
            let message = format!("nothing was new, and the part `{part}` was written");
            Finding::new(Rule::ArchiveParts, step, message)
        })
        .collect()
}

/// True if a write finds nothing that the one before it did not write: of the same
/// record, and the one before came to its end.
fn is_idle(evidence: &Evidence<'_>, before: &Write<'_>, now: &Write<'_>) -> bool {
    if before.done.is_none() || before.held.generation != now.held.generation {
        return false;
    }
    let was = standings(evidence.holdings.rows(before.held));
    let is = standings(evidence.holdings.rows(now.held));
    is.iter()
        .enumerate()
        .all(|(place, standing)| *standing == Standing::Never || was.get(place) == Some(standing))
}

/// `archive.complete`: what people see is in the parts, each version once, and no
/// summary is; also when the conversation is deleted.
pub fn complete(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::ArchiveComplete;
    let mut ruling = Ruling::default();
    for ledger in &ledgers(evidence) {
        for step in &ledger.refused {
            let message = "refused, where there is something to archive, or archived";
            ruling.find(Finding::new(rule, *step, message));
        }
        for answer in &ledger.answers {
            let look = Look::at(evidence, ledger, answer);
            if let Some(wrong) = look.leaked() {
                let message = format!("what is not for the archive is in it: {:?}", wrong.text);
                ruling.find(Finding::new(rule, answer.step, message).row(wrong.seq));
            }
            if ledger.is_hurt(answer.step) {
                continue;
            }
            ruling.witnesses += usize::from(look.sighted() >= SEEN);
            if let Some(wrong) = look.lost() {
                let message = format!("not in the archive, or not often enough: {:?}", wrong.text);
                ruling.find(Finding::new(rule, answer.step, message).row(wrong.seq));
            }
            if let Some((wrong, true)) = look.doubled() {
                let message = format!("twice in one part: {:?}", wrong.text);
                ruling.find(Finding::new(rule, answer.step, message).row(wrong.seq));
            }
        }
    }
    ruling
}

/// `archive.crash-safe`: where a write died, the next one leaves nothing lost and
/// nothing doubled, and a part is handed over only when the manifest names it.
pub fn crash_safe(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::ArchiveCrashSafe;
    let mut ruling = Ruling::default();
    for ledger in &ledgers(evidence) {
        for (at, answer) in ledger.answers.iter().enumerate() {
            let Some(crash) = ledger.last_crash(answer.step) else { continue };
            let look = Look::at(evidence, ledger, answer);
            let mended = ledger.written(answer.step).any(|(write, _)| write.step > crash);
            ruling.witnesses += usize::from(mended && look.sighted() >= SEEN);
            if let Some((seq, message)) = hurt(ledger, at, answer, &look) {
                let finding = Finding { seq, ..Finding::new(rule, answer.step, message) };
                ruling.find(finding);
            }
        }
    }
    ruling
}

/// What a crash did to an archive, if it did something.
fn hurt(
    ledger: &Ledger<'_>,
    at: usize,
    answer: &Answer<'_>,
    look: &Look<'_>,
) -> Option<(Option<u64>, String)> {
    if let Some(why) = rewritten(ledger, at) {
        return Some((None, why));
    }
    let named: BTreeSet<_> = answer.manifest.held.iter().map(|held| &held.part).collect();
    if let Some(part) = answer.parts.iter().find(|part| !named.contains(&part.name)) {
        return Some((None, format!("the manifest does not name the part `{}`", part.name)));
    }
    if let Some(wrong) = look.lost() {
        return Some((Some(wrong.seq), format!("lost by a crash: {:?}", wrong.text)));
    }
    let (wrong, _) = look.doubled()?;
    Some((Some(wrong.seq), format!("doubled by a crash: {:?}", wrong.text)))
}

/// The rows that may be in an archive that is written of these.
fn archivable(rows: &[Row]) -> impl Iterator<Item = (&Row, Standing)> {
    rows.iter().zip(standings(rows)).filter(|(_, standing)| *standing != Standing::Never)
}
