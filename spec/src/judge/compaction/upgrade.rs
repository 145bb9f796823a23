//! The judge of an upgrade: better words for a summary, and nothing else.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::canary::{Kind, canary};
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::asked::{step_of, whole_crossings};
use super::ground::Ground;
use super::unchanged::asked_twice;
use crate::finding::{Finding, Ruling};
use crate::op::{Changed, Op, Outcome, RefusalCode, Upgrade};
use crate::record::{Block, CompactionStage, Event, Row};
use crate::rule::Rule;
use crate::text::Text;
use crate::wire::WireRole;

const RULE: Rule = Rule::CompactionUpgrade;

/// `compaction.upgrade`: one row that names the summary and its new words; these
/// cross from then on, the old ones do not, and nothing else changes.
pub(in super::super) fn upgrade(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if let (Op::Upgrade(upgrade), Some(held)) = (&taken.op, evidence.holdings.before[step]) {
            one(evidence, (step, upgrade, held), &taken.outcome, &mut ruling);
        }
    }
    for crossing in whole_crossings(evidence) {
        if let Some(held) = evidence.holdings.before[crossing.asked.step] {
            new_words(evidence, crossing, held, &mut ruling);
        }
    }
    for twice in asked_twice(evidence, is_upgrade) {
        if twice.added.is_empty() || !twice.is_for_people() {
            continue;
        }
        ruling.witness();
        if let Some(what) = twice.difference_for_people() {
            let message = format!(
                "only an upgrade came since step {}, and {what} is another now",
                twice.before
            );
            ruling.find(Finding::new(RULE, twice.step, message));
        }
    }
    ruling
}

fn is_upgrade(row: &Row) -> bool {
    step_of(row).is_some_and(|step| step.step == CompactionStage::Upgraded)
}

/// Judges one upgrade.
fn one(
    evidence: &Evidence<'_>,
    (step, upgrade, held): (usize, &Upgrade, Snapshot),
    outcome: &Outcome,
    ruling: &mut Ruling,
) {
    let rows = evidence.holdings.rows(held);
    let ground = Ground::of(evidence.holdings, held);
    let summary = ground.place(&upgrade.summary).map(|place| ground.row(place));
    let summary = summary.filter(|row| row.compacts().is_some());
    let mut must = BTreeSet::new();
    if summary.is_none() {
        must.insert(RefusalCode::NotInContext);
    }
    if upgrade.text.is_blank() {
        must.insert(RefusalCode::EmptySummary);
    }
    if rows.iter().any(|row| row.id == upgrade.id) {
        must.insert(RefusalCode::DuplicateId);
    }
    if upgrade.id.is_blank() {
        must.insert(RefusalCode::Malformed);
    }
    let finding = |message: String| Finding::new(RULE, step, message);
    if let Outcome::Refused(refusal) = outcome {
        if must.contains(&refusal.code) {
            ruling.witness();
        } else {
            let (code, detail) = (refusal.code, &refusal.detail);
            ruling.find(finding(format!("refused as {code:?}, and that is not so: {detail}")));
        }
    } else if let Outcome::Changed(changed) = outcome {
        ruling.witness();
        if !must.is_empty() {
            ruling.find(finding(format!("was taken; it must be refused as one of {must:?}")));
        } else if let Some(message) = wrong_row(upgrade, summary, rows.len(), changed) {
            ruling.find(finding(message));
        }
    }
}

/// What is wrong with what an upgrade stored.
fn wrong_row(
    upgrade: &Upgrade,
    summary: Option<&Row>,
    held: usize,
    changed: &Changed,
) -> Option<String> {
    let [raw] = changed.rows.as_slice() else {
        return Some(format!("stored {} rows; an upgrade is one", changed.rows.len()));
    };
    let Ok(row) = Row::decode(raw) else {
        return Some(String::from("stored a row that cannot be read"));
    };
    if row.seq != held as u64 || changed.next != row.seq + 1 || row.id != upgrade.id {
        return Some(format!("stored its row as {} `{}`", row.seq, row.id));
    }
    if !changed.taken.is_empty() || row.replaces.is_some() {
        return Some(String::from("took rows; an upgrade takes none"));
    }
    let Some(step) = step_of(&row).filter(|step| step.step == CompactionStage::Upgraded) else {
        return Some(String::from("its row is not the step `upgraded`"));
    };
    let compaction = summary.and_then(Row::compacts).and_then(|range| range.compaction.as_ref());
    let wrong = [
        (step.compaction != *compaction.unwrap_or(&upgrade.summary), "names another compaction"),
        (step.summary.as_ref() != Some(&upgrade.summary), "does not name the summary's row"),
        (step.text.as_ref() != Some(&upgrade.text), "does not hold the new text"),
        (upgrade.agent.is_some() && step.agent != upgrade.agent, "does not name the agent"),
        (step.counts.is_some(), "counts rows"),
        (step.rows.is_some(), "names rows"),
        (upgrade.at.is_some() && row.at != upgrade.at, "does not hold the time that was given"),
    ];
    wrong.iter().find(|(wrong, _)| *wrong).map(|(_, what)| format!("its row {what}"))
}

/// Looks for the words of upgraded summaries on a wire.
fn new_words(
    evidence: &Evidence<'_>,
    crossing: &Crossing<'_>,
    held: Snapshot,
    ruling: &mut Ruling,
) {
    let ground = Ground::of(evidence.holdings, held);
    let live: Vec<&Row> = ground.rows().collect();
    no_effect(crossing, &live, ruling);
    for summary in live.iter().filter(|row| row.compacts().is_some() && row.is_for_model()) {
        let upgrades = crossing.rows.iter().filter(|row| row.seq > summary.seq);
        let texts = upgrades.filter_map(step_of).filter(|step| {
            step.step == CompactionStage::Upgraded && step.summary.as_ref() == Some(&summary.id)
        });
        let mut texts: Vec<&Text> = texts.filter_map(|step| step.text.as_ref()).collect();
        let Some(newest) = texts.pop().filter(|text| !text.is_blank()) else { continue };
        texts.extend(said(summary));
        ruling.witness();
        let finding =
            |message: String| Finding::new(RULE, crossing.asked.step, message).row(summary.seq);
        let new = newest.to_unicode();
        let new = canary(&new);
        if !crosses(crossing, new) {
            ruling.find(finding(format!("the summary's new words do not cross: {new:?}")));
        }
        for old in texts {
            let old = old.to_unicode();
            let old = canary(&old);
            let elsewhere = new.contains(old)
                || live.iter().any(|row| {
                    row.id != summary.id
                        && said(row).iter().any(|text| text.to_unicode().contains(old))
                });
            if old.chars().count() >= 8 && !elsewhere && crosses(crossing, old) {
                ruling.find(finding(format!("the summary's old words cross: {old:?}")));
            }
        }
    }
}

/// An upgrade of what is no summary of the context changes nothing: its words do
/// not cross.
fn no_effect(crossing: &Crossing<'_>, live: &[&Row], ruling: &mut Ruling) {
    for (row, step) in crossing.rows.iter().filter_map(|row| Some((row, step_of(row)?))) {
        let (CompactionStage::Upgraded, Some(text)) = (step.step, &step.text) else { continue };
        let summary = live.iter().find(|row| Some(&row.id) == step.summary.as_ref());
        let text = text.to_unicode();
        let text = canary(&text);
        let held = |row: &&Row| said(row).iter().any(|held| held.to_unicode().contains(text));
        let upgraded = summary.is_some_and(|summary| summary.compacts().is_some());
        if upgraded || text.chars().count() < 8 || live.iter().any(held) {
            continue;
        }
        ruling.witness();
        if crosses(crossing, text) {
            let message = format!("upgrades no summary of the context, and crosses: {text:?}");
            ruling.find(Finding::new(RULE, crossing.asked.step, message).row(row.seq));
        }
    }
}

/// True if this is said on the wire.
fn crosses(crossing: &Crossing<'_>, text: &str) -> bool {
    crossing.seen.places.iter().any(|place| {
        let said = matches!(place.kind, Kind::Speech(WireRole::User | WireRole::Assistant));
        said && place.text.contains(text)
    })
}

/// The texts of a message.
fn said(row: &Row) -> Vec<&Text> {
    let Event::Message(message) = &row.event else { return Vec::new() };
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(&text.text),
        Block::Reasoning(_)
        | Block::Call(_)
        | Block::Result(_)
        | Block::Image(_)
        | Block::Authority(_) => None,
    });
    texts.collect()
}
