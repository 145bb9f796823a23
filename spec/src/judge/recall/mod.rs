//! The judges of chapter `recall`.

mod reach;
mod search;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use reach::{Answer, Asked, asked};

use super::evidence::Evidence;
use super::migration::is_down;
use crate::finding::{Finding, Ruling};
use crate::found::Hit;
use crate::json::{RawValue, Tree};
use crate::op::{Key, Lookup, Op, Outcome};
use crate::record::{ReplacementSource, Row};
use crate::rule::Rule;
use crate::text::Text;

/// `recall.filter`: what is hit is not in the prompt already: a row of another
/// conversation that is held, or one that left the context of this one.
pub fn filter(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::RecallFilter;
    let mut ruling = Ruling::default();
    for recall in asked(evidence) {
        for hit in recall.hits() {
            match why_out_of_reach(&recall, hit) {
                Some((seq, message)) => {
                    let finding = Finding { seq, ..Finding::new(rule, recall.step, message) };
                    ruling.find(finding);
                }
                None => ruling.witness(),
            }
        }
    }
    ruling
}

/// Why a row may not be hit, if it may not, and its seq where it has one.
fn why_out_of_reach(recall: &Asked<'_>, hit: &Hit) -> Option<(Option<u64>, String)> {
    let Hit { conversation, row: id, .. } = hit;
    let Some(kept) = recall.kept.get(conversation) else {
        return Some((None, format!("`{id}` is of `{conversation}`, which is not held")));
    };
    let Some(row) = kept.row(id) else {
        return Some((None, format!("`{conversation}` holds no row `{id}`")));
    };
    let seq = recall.seq(conversation, row);
    if conversation == recall.asks && !kept.has_left(row) {
        return Some((seq, format!("`{id}` is in the context of the conversation that asks")));
    }
    let words = recall.words.as_ref()?;
    search::by_facts_alone(row, words)
        .then(|| (seq, format!("`{id}` is hit by what only its authority block says")))
}

/// `recall.covers`: every row that is not in the prompt is reached, once. Asked for
/// everything, recall gives of the conversation that asks every row that left, so
/// that context and recall together hold each row once; of every other one every
/// message and every result. Asked for words, it gives those of them that hold the
/// words.
pub fn covers(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::RecallCovers;
    let mut ruling = Ruling::default();
    for recall in asked(evidence) {
        if let Answer::Refused(refusal) = recall.answer {
            let message = format!("refused as {:?}: {}", refusal.code, refusal.detail);
            ruling.find(Finding::new(rule, recall.step, message));
            continue;
        }
        let mut given = BTreeSet::new();
        for hit in recall.hits() {
            if !given.insert((&hit.conversation, &hit.row)) {
                let row = recall.kept.get(&hit.conversation).and_then(|kept| kept.row(&hit.row));
                let seq = row.and_then(|row| recall.seq(&hit.conversation, row));
                let message = format!("`{}` of `{}` is hit twice", hit.row, hit.conversation);
                ruling.find(Finding { seq, ..Finding::new(rule, recall.step, message) });
            }
        }
        for (conversation, row) in recall.due() {
            if given.contains(&(conversation, &row.id)) {
                ruling.witness();
                continue;
            }
            let message = format!("`{}` of `{conversation}` is due and not hit", row.id);
            let seq = recall.seq(conversation, row);
            ruling.find(Finding { seq, ..Finding::new(rule, recall.step, message) });
        }
    }
    ruling
}

/// `recall.opens-source`: what is hit is labelled if it has left, and opens to the
/// whole row that was stored, with that label.
pub fn opens_source(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut hit_so_far: BTreeSet<(usize, &Text)> = BTreeSet::new();
    let mut recalls = asked(evidence).into_iter().peekable();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if let Some(recall) = recalls.next_if(|recall| recall.step == step) {
            for hit in recall.hits().iter().filter(|hit| why_out_of_reach(&recall, hit).is_none()) {
                let Some(kept) = recall.kept.get(&hit.conversation) else { continue };
                hit_so_far.insert((kept.generation, &hit.row));
                label(&mut ruling, &recall, hit);
            }
        }
        if let Op::Lookup(Lookup { by: Key::Row(id), conversation }) = &taken.op {
            let held = evidence.holdings.conversation(step, conversation.as_ref());
            let was_hit = held.is_some_and(|held| hit_so_far.contains(&(held.generation, id)));
            if was_hit {
                opened(&mut ruling, evidence, step, id, conversation.as_ref());
            }
        }
    }
    ruling
}

/// Looks at the label of a hit.
fn label(ruling: &mut Ruling, recall: &Asked<'_>, hit: &Hit) {
    let Some(kept) = recall.kept.get(&hit.conversation) else { return };
    let Some(row) = kept.row(&hit.row) else { return };
    // What was let go of without a row that says so has nothing to name.
    if kept.is_gone(row) {
        return;
    }
    let due = kept.flag(row);
    if hit.left == due {
        ruling.witnesses += usize::from(due.is_some());
        return;
    }
    let message = match (&hit.left, &due) {
        (None, Some(due)) => {
            format!("`{}` left the context by `{}`, and the hit does not say so", hit.row, due.by)
        }
        (Some(_), None) => format!("`{}` never left, and the hit says that it did", hit.row),
        (_, _) => {
            format!("the hit says otherwise than the record when and by which `{}` left", hit.row)
        }
    };
    let seq = recall.seq(&hit.conversation, row);
    ruling.find(Finding { seq, ..Finding::new(Rule::RecallOpensSource, recall.step, message) });
}

/// Looks at what a row that was hit opens to.
fn opened(
    ruling: &mut Ruling,
    evidence: &Evidence<'_>,
    step: usize,
    id: &Text,
    conversation: Option<&Text>,
) {
    let holdings = evidence.holdings;
    let Some(held) = holdings.conversation(step, conversation) else { return };
    let kept = reach::Kept::of(holdings, held);
    let (Some(row), Some(stored)) = (kept.row(id), kept.stored(id)) else { return };
    let outcome = &evidence.trace.steps[step].outcome;
    if matches!(outcome, Outcome::Unsupported { .. }) || is_down(evidence, step) {
        return;
    }
    let found = if let Outcome::Found { found } = outcome { found.as_ref() } else { None };
    let message = match found {
        None => format!("`{id}` was hit, and does not open"),
        Some(found) if !same(&found.row, stored) => {
            format!("`{id}` opens to something else than what was stored")
        }
        Some(found) if found.left != kept.flag(row) && !kept.is_gone(row) => {
            format!("`{id}` opens without the label that it has left, or with a wrong one")
        }
        Some(_) => return ruling.witness(),
    };
    let is_current = holdings.before[step].is_some_and(|now| now.generation == held.generation);
    let seq = is_current.then_some(row.seq);
    ruling.find(Finding { seq, ..Finding::new(Rule::RecallOpensSource, step, message) });
}

/// The same stored value.
fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get() || Tree::parse(a.get()) == Tree::parse(b.get())
}

/// `recall.cleared`: words that only the original of a cleared result holds find
/// it.
pub fn cleared(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::RecallCleared;
    let mut ruling = Ruling::default();
    for recall in asked(evidence) {
        let Some(words) = &recall.words else { continue };
        let given: BTreeSet<(&Text, &Text)> =
            recall.hits().iter().map(|hit| (&hit.conversation, &hit.row)).collect();
        for (conversation, row, copy) in originals(&recall) {
            if !search::holds(row, words) || search::holds(copy, words) {
                continue;
            }
            if given.contains(&(conversation, &row.id)) {
                ruling.witness();
                continue;
            }
            let message = format!("`{}` was cleared, and its output is not found", row.id);
            let seq = recall.seq(conversation, row);
            ruling.find(Finding { seq, ..Finding::new(rule, recall.step, message) });
        }
    }
    ruling
}

/// The rows whose results were cleared, with the copies that stand for them.
fn originals<'r>(recall: &'r Asked<'_>) -> impl Iterator<Item = (&'r Text, &'r Row, &'r Row)> {
    recall.kept.iter().flat_map(|(conversation, kept)| {
        kept.rows.iter().filter_map(move |row| {
            let copy = kept.taken_by(row)?;
            let is_cleared = reach::source_of(copy) == Some(ReplacementSource::Clearing);
            is_cleared.then_some((*conversation, row, copy))
        })
    })
}
