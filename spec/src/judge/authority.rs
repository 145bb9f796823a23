//! The judges of chapter `authority`.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::canary::{Class, Needles};
use super::crossing::Crossing;
use super::evidence::Evidence;
use super::held::fault_of;
use super::lookup::is_known;
use super::words::{self, says, surely_says};
use crate::archive::Part;
use crate::finding::{Finding, Ruling};
use crate::json::Json;
use crate::op::{AuthorityMode, Facts, Op, Outcome, RefusalCode};
use crate::record::Row;
use crate::rule::Rule;
use crate::wire::{Body, WireRole};

/// The facts that can be followed: each as it must be told.
pub(super) fn told(facts: &Facts) -> Vec<Cow<'_, str>> {
    [Some(&facts.user), Some(&facts.expected_account), Some(&facts.node), facts.drift.as_ref()]
        .into_iter()
        .flatten()
        .map(|fact| fact.to_unicode())
        .filter(|fact| !fact.trim().is_empty())
        .collect()
}

/// The requests, with their facts.
fn requests<'e>(evidence: &'e Evidence<'_>) -> impl Iterator<Item = (&'e Crossing<'e>, &'e Facts)> {
    evidence.crossings.iter().filter_map(|crossing| Some((crossing, crossing.asked.facts?)))
}

/// All text of the system's messages; and how many parts it is in.
fn system_text(crossing: &Crossing<'_>) -> (String, usize) {
    let system = crossing.wire.parts().filter(|(message, _)| message.role == WireRole::System);
    let texts: Vec<&str> = system
        .filter_map(|(_, part)| match &part.body {
            Body::Text(text) => Some(text.as_str()),
            Body::Reasoning(_)
            | Body::Call(_)
            | Body::Result(_)
            | Body::Image(_)
            | Body::Foreign(_) => None,
        })
        .collect();
    (texts.join("\n"), texts.len())
}

/// `authority.fresh`: each request carries one system block, and it tells the
/// facts of that request.
pub(super) fn fresh(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (crossing, facts) in requests(evidence) {
        ruling.witness();
        let step = crossing.asked.step;
        let (text, blocks) = system_text(crossing);
        if blocks != 1 {
            let message = format!("a request must carry one authority block; it carries {blocks}");
            ruling.find(Finding::new(Rule::AuthorityFresh, step, message));
        }
        for fact in told(facts).iter().filter(|fact| !text.contains(fact.trim())) {
            let message =
                format!("the authority block does not tell a fact of its request: {fact:?}");
            ruling.find(Finding::new(Rule::AuthorityFresh, step, message));
        }
    }
    ruling
}

/// `authority.never-stored`: an append that carries an authority block is
/// refused, and what a request was told is in no row afterwards.
pub(super) fn never_stored(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let rule = Rule::AuthorityNeverStored;
    let mut facts: BTreeSet<Cow<'_, str>> = BTreeSet::new();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        match (&taken.op, &taken.outcome) {
            (Op::Request { authority, .. }, _) => facts.extend(told(authority)),
            // What is known already is not looked at (`record.keyed-append`).
            (Op::Append { rows, .. }, outcome) if !is_known(evidence, step) => {
                let carriers = rows.iter().filter_map(|raw| Row::decode(raw).ok());
                let Some(row) = carriers.into_iter().find(Row::holds_authority) else { continue };
                ruling.witness();
                // Another fault, before it or in the same row, may be named instead.
                let held = evidence.holdings.before[step];
                let held = held.map_or(&[][..], |held| evidence.holdings.rows(held));
                let other = fault_of(held, rows.iter().map(|raw| &**raw));
                let codes = [
                    Some(RefusalCode::AuthorityStored),
                    Some(RefusalCode::Conflict),
                    other
                        .filter(|due| due.seq.is_none_or(|seq| seq <= row.seq))
                        .map(|due| due.code),
                ];
                let refused = matches!(outcome, Outcome::Refused(refusal) if codes.contains(&Some(refusal.code)));
                if !refused && !matches!(outcome, Outcome::Unsupported { .. }) {
                    let message =
                        "an authority block was given to be stored, and not refused as that";
                    ruling.find(Finding::new(rule, step, message).row(row.seq));
                }
            }
            (Op::Log {}, Outcome::Log { bytes }) if !facts.is_empty() => {
                let Some(held) = evidence.holdings.before[step] else { continue };
                ruling.witnesses += usize::from(!bytes.0.is_empty());
                let log = String::from_utf8_lossy(&bytes.0);
                let given = evidence.holdings.raw(held);
                let stored = facts.iter().find(|f| log.contains(&***f) && !holds(given, f));
                if let Some(fact) = stored {
                    let message = format!("a request's fact is in the log: {fact:?}");
                    ruling.find(Finding::new(rule, step, message));
                }
            }
            (Op::Read { .. }, Outcome::Rows { rows }) if !facts.is_empty() => {
                let Some(held) = evidence.holdings.before[step] else { continue };
                ruling.witnesses += usize::from(!rows.is_empty() || held.rows == 0);
                let given = evidence.holdings.raw(held);
                for fact in facts.iter().filter(|fact| !holds(given, fact)) {
                    if let Some(at) = rows.iter().position(|row| row.get().contains(&**fact)) {
                        let message = format!("a request's fact is in a row: {fact:?}");
                        ruling.find(Finding::new(rule, step, message).row(at as u64));
                    }
                }
            }
            (Op::Parts { .. }, Outcome::Parts(given)) => {
                in_parts(evidence, step, &facts, &given.parts, &mut ruling);
            }
            _other => {}
        }
    }
    ruling
}

/// What a request was told, and what an authority block says that an imported record
/// holds, is in no part of an archive.
fn in_parts(
    evidence: &Evidence<'_>,
    step: usize,
    facts: &BTreeSet<Cow<'_, str>>,
    parts: &[Part],
    ruling: &mut Ruling,
) {
    let rule = Rule::AuthorityNeverStored;
    let texts: Vec<_> = parts.iter().map(|part| String::from_utf8_lossy(&part.bytes.0)).collect();
    let is_in = |fact: &str| {
        let written = serde_json::to_string(fact).unwrap_or_default();
        let escaped = written.trim_matches('"');
        texts.iter().any(|text| text.contains(fact) || text.contains(escaped))
    };
    let begun = evidence.holdings.generations.iter();
    let rows: Vec<Row> = begun.flat_map(|generation| generation.rows.iter().cloned()).collect();
    let needles = Needles::of(&rows);
    let stored = needles.texts.iter().zip(&needles.sources).enumerate();
    let stale = stored.filter(|(needle, (_, sources))| {
        needles.is_strong(*needle) && sources.iter().all(|(_, class)| *class == Class::Authority)
    });
    for (_, (text, sources)) in stale {
        ruling.witnesses += usize::from(!texts.is_empty());
        if is_in(text) {
            let message = format!("an authority block is in the archive: {text:?}");
            ruling.find(Finding::new(rule, step, message).row(sources[0].0));
        }
    }
    let given = evidence.holdings.generations.iter().flat_map(|generation| &generation.raw);
    let given: Vec<_> = given.collect();
    let fresh = facts.iter().filter(|fact| {
        fact.chars().count() >= 6 && !given.iter().any(|raw| raw.get().contains(&***fact))
    });
    for fact in fresh {
        ruling.witnesses += usize::from(!texts.is_empty());
        if is_in(fact) {
            let message = format!("a request's fact is in the archive: {fact:?}");
            ruling.find(Finding::new(rule, step, message));
        }
    }
}

fn holds(rows: &[Json], text: &str) -> bool {
    rows.iter().any(|row| row.get().contains(text))
}

/// `authority.recomputed`: two requests with other facts over one record differ
/// in the authority block, and in nothing else.
pub(super) fn recomputed(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let all: Vec<_> = requests(evidence).collect();
    for (at, (crossing, facts)) in all.iter().enumerate() {
        let step = crossing.asked.step;
        let earlier = all[..at].iter().rev().find(|(other, before)| {
            let same_record =
                evidence.holdings.before[other.asked.step] == evidence.holdings.before[step];
            same_record && other.asked.replay == crossing.asked.replay && before != facts
        });
        let Some((other, _)) = earlier else { continue };
        ruling.witness();
        if system_text(other) == system_text(crossing) {
            let message = format!(
                "the facts are not those of step {}, and the authority block is the same",
                other.asked.step
            );
            ruling.find(Finding::new(Rule::AuthorityRecomputed, step, message));
        }
        if rest(other) != rest(crossing) {
            let message = format!(
                "only the authority block may differ from step {}; something else does",
                other.asked.step
            );
            ruling.find(Finding::new(Rule::AuthorityRecomputed, step, message));
        }
    }
    for finding in facts_of_before(evidence) {
        if ruling.findings.iter().all(|other| other.step != finding.step) {
            ruling.find(finding);
        }
    }
    ruling
}

/// Replays and requests whose system text tells a fact of an earlier request that
/// is none of their own.
fn facts_of_before(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut earlier: BTreeSet<Cow<'_, str>> = BTreeSet::new();
    for crossing in &evidence.crossings {
        let own = crossing.asked.facts.map(told).unwrap_or_default();
        let (mut text, _) = system_text(crossing);
        for fact in &own {
            // One fact may be part of another.
            text = text.replace(&**fact, "");
        }
        let stale = earlier.iter().find(|fact| !own.contains(*fact) && text.contains(&***fact));
        if let Some(fact) = stale {
            let message = format!("a fact of an earlier request is told again: {fact:?}");
            findings.push(Finding::new(Rule::AuthorityRecomputed, crossing.asked.step, message));
        }
        earlier.extend(own);
    }
    findings
}

/// Everything on a wire but the system's messages.
fn rest<'c>(crossing: &'c Crossing<'_>) -> Vec<(WireRole, &'c str)> {
    crossing
        .wire
        .parts()
        .filter(|(message, _)| message.role != WireRole::System)
        .map(|(message, part)| (message.role, part.sent.as_str()))
        .collect()
}

/// `authority.not-speech`: the facts are the system's words and nobody else's.
pub(super) fn not_speech(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for (crossing, facts) in requests(evidence) {
        let given = evidence.holdings.before[crossing.asked.step];
        let given = given.map_or(&[][..], |held| evidence.holdings.raw(held));
        let facts = told(facts);
        let mine = facts.iter().filter(|fact| fact.chars().count() >= 6 && !holds(given, fact));
        for fact in mine {
            let told = crossing.wire.parts().any(|(_, part)| part.sent.contains(&**fact));
            ruling.witnesses += usize::from(told);
            let elsewhere = crossing.wire.parts().find(|(message, part)| {
                message.role != WireRole::System && part.sent.contains(&**fact)
            });
            if let Some((message, part)) = elsewhere {
                let text = format!("a fact of the runtime crosses as {:?}: {fact:?}", message.role);
                let finding = Finding::new(Rule::AuthorityNotSpeech, crossing.asked.step, text);
                ruling.find(finding.at(&part.path));
            }
        }
    }
    ruling
}

/// `authority.stale-inert`: of an authority block that is stored nothing crosses;
/// and the fresh one says who borrows and who was not admitted.
pub(super) fn stale_inert(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let fresh: Vec<_> = crossing.asked.facts.map(told).unwrap_or_default();
        for (needle, text) in crossing.seen.needles.texts.iter().enumerate() {
            let sources = &crossing.seen.needles.sources[needle];
            let only_stale = sources.iter().all(|(_, class)| *class == Class::Authority);
            if !only_stale
                || !crossing.seen.needles.is_strong(needle)
                || fresh.iter().any(|fact| fact == text)
            {
                continue;
            }
            ruling.witness();
            if let Some(sighting) = crossing.seen.of_text(text).next() {
                let message = format!("a stale authority block crosses: {text:?}");
                let finding = Finding::new(Rule::AuthorityStaleInert, step, message);
                ruling.find(finding.row(sources[0].0).at(crossing.seen.place(sighting).path));
            }
        }
    }
    for (crossing, facts) in requests(evidence) {
        let (text, _) = system_text(crossing);
        let wordings = &evidence.trace.hello.wordings;
        let borrows = facts.mode == AuthorityMode::Borrowed;
        ruling.witnesses += usize::from(borrows) + usize::from(!facts.admitted);
        let step = crossing.asked.step;
        if !borrows && surely_says(&text, &wordings.borrowed) {
            let message = "a mode that borrows nothing is told that it borrows";
            ruling.find(Finding::new(Rule::AuthorityStaleInert, step, message));
        }
        if facts.admitted && surely_says(&text, &wordings.not_admitted) {
            let message = "an account that was admitted is told that it was not";
            ruling.find(Finding::new(Rule::AuthorityStaleInert, step, message));
        }
        if borrows && !says(&text, &wordings.borrowed, words::BORROWED) {
            let message = "a borrowed mode is not told that it borrows";
            ruling.find(Finding::new(Rule::AuthorityStaleInert, step, message));
        }
        if !facts.admitted && !says(&text, &wordings.not_admitted, words::NOT_ADMITTED) {
            let message = "an account that was not admitted is not told so";
            ruling.find(Finding::new(Rule::AuthorityStaleInert, step, message));
        }
    }
    ruling
}
