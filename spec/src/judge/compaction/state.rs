//! The judges of what a compaction leaves behind: flags, parents, anchors, the
//! order of the context. They look at what `context` answers, and derive the same
//! by intervals: each row that stands in the context stands for a stretch of the
//! rows of append origin.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use crate::finding::{Finding, Ruling};
use crate::item::{Item, Shows};
use crate::op::{Context, Left, Op, Outcome};
use crate::record::{ReplacementSource, Row};
use crate::rule::Rule;
use crate::text::Text;

/// A context outcome, with what it must say.
struct Told<'a> {
    step: usize,
    held: Snapshot,
    said: &'a Context,
    due: Due<'a>,
}

/// What must be said of a record's context.
struct Due<'a> {
    rows: &'a [Row],
    places: BTreeMap<&'a Text, usize>,
    /// For each row that left, the row that took it.
    by: BTreeMap<usize, usize>,
    /// For each row, the first and the last row of append origin it stands for.
    spans: Vec<(usize, usize)>,
    /// The rows of the context: those that nobody took, by what they stand for.
    order: Vec<usize>,
}

impl<'a> Due<'a> {
    fn of(rows: &'a [Row], gone: &BTreeSet<&Text>) -> Self {
        let places: BTreeMap<&Text, usize> =
            rows.iter().enumerate().map(|(place, row)| (&row.id, place)).collect();
        let mut by = BTreeMap::new();
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let taken = row.replaces.iter().flat_map(|replaces| &replaces.rows);
            let taken: Vec<usize> = taken.filter_map(|id| places.get(id).copied()).collect();
            let of = |taken: &usize| spans.get(*taken).copied();
            let first = taken.iter().filter_map(of).map(|(first, _)| first).min();
            let last = taken.iter().filter_map(of).map(|(_, last)| last).max();
            spans.push((first.unwrap_or(place), last.unwrap_or(place)));
            by.extend(taken.into_iter().map(|taken| (taken, place)));
        }
        let mut order: Vec<usize> = (0..rows.len())
            .filter(|place| !by.contains_key(place) && !gone.contains(&rows[*place].id))
            .collect();
        order.sort_by_key(|place| spans[*place]);
        Self { rows, places, by, spans, order }
    }

    /// The row of the context that stands for a row.
    fn live(&self, place: usize) -> usize {
        let taken_by = |at: &usize| self.by.get(at).copied();
        core::iter::successors(Some(place), taken_by).last().unwrap_or(place)
    }

    /// What a row of the context must hang from.
    fn parent(&self, place: usize) -> Option<&'a Text> {
        let first = self.spans[place].0;
        let parent = self.places.get(self.rows[first].parent.as_ref()?)?;
        Some(&self.rows[self.live(*parent)].id)
    }

    fn id(&self, place: usize) -> &'a Text {
        &self.rows[place].id
    }
}

/// Every context outcome of the trace.
fn told<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = Told<'a>> {
    evidence.trace.steps.iter().enumerate().filter_map(|(step, taken)| {
        let Outcome::Context(said) = &taken.outcome else { return None };
        let held = evidence.holdings.before[step]?;
        let due = Due::of(evidence.holdings.rows(held), &evidence.holdings.gone(held));
        Some(Told { step, held, said, due })
    })
}

/// `compaction.flags-rows`: every row that left says by which row and when, and no
/// row of the context says so.
pub(in super::super) fn flags_rows(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let finding = |place: usize, message| {
            Finding::new(Rule::CompactionFlagsRows, told.step, message).row(place as u64)
        };
        // Of two flags of one row the first; that there are two is
        // `compaction.flag-once`.
        let flags: BTreeMap<&Text, &Left> =
            told.said.left.iter().rev().map(|left| (&left.id, left)).collect();
        for (place, by) in &told.due.by {
            let (id, by) = (told.due.id(*place), &told.due.rows[*by]);
            let source = by.replaces.as_ref().map(|replaces| replaces.source);
            let flag = flags.get(id);
            let message = match flag {
                Some(flag)
                    if flag.by == by.id && flag.seq == by.seq && Some(flag.source) == source =>
                {
                    ruling.witness();
                    continue;
                }
                Some(flag) => format!(
                    "`{id}` left by `{}` (row {}); it is said to have left by `{}` (row {})",
                    by.id, by.seq, flag.by, flag.seq
                ),
                None => format!("`{id}` left the context by `{}`, and nothing says so", by.id),
            };
            ruling.find(finding(*place, message));
        }
        for place in &told.due.order {
            let id = told.due.id(*place);
            if flags.contains_key(id) {
                ruling.find(finding(*place, format!("`{id}` is said to have left; it stands")));
            }
        }
    }
    ruling
}

/// `compaction.flag-once`: a flag is there once, and a later compaction that takes
/// the summary does not change it.
pub(in super::super) fn flag_once(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut earlier: Option<(Snapshot, BTreeMap<&Text, &Text>)> = None;
    let all: Vec<Told<'_>> = told(evidence).collect();
    for told in &all {
        let finding = |message| Finding::new(Rule::CompactionFlagOnce, told.step, message);
        let mut flags: BTreeMap<&Text, &Text> = BTreeMap::new();
        for left in &told.said.left {
            if flags.insert(&left.id, &left.by).is_some() {
                ruling.find(finding(format!("`{}` has two flags", left.id)));
            }
        }
        // Through a summary that was taken itself, a flag could be set again.
        let again = told.due.by.iter().filter(|(_, by)| told.due.by.contains_key(by));
        ruling.witnesses += again.filter(|(row, _)| flags.contains_key(told.due.id(**row))).count();
        for (row, by) in &told.due.by {
            let (id, by) = (told.due.id(*row), told.due.id(*by));
            if let Some(said) = flags.get(id)
                && *said != by
            {
                let message = format!("`{id}` was flagged by `{by}`; now its flag says `{said}`");
                ruling.find(finding(message).row(*row as u64));
            }
        }
        if let Some((held, before)) = &earlier
            && held.generation == told.held.generation
        {
            for (id, by) in before.iter().filter(|(id, _)| told.due.places.contains_key(**id)) {
                if flags.get(id).is_none_or(|now| now != by) {
                    ruling.find(finding(format!("the flag of `{id}`, set by `{by}`, changed")));
                }
            }
        }
        earlier = Some((told.held, flags));
    }
    ruling
}

/// `compaction.summary-before-kept`: the context is in order, a summary in the
/// place of what it took.
pub(in super::super) fn summary_before_kept(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionSummaryBeforeKept;
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let due: Vec<&Text> = told.due.order.iter().map(|place| told.due.id(*place)).collect();
        let said: Vec<&Text> = told.said.rows.iter().map(|row| &row.id).collect();
        let summary =
            due.iter().position(|id| told.due.rows[told.due.places[*id]].compacts().is_some());
        if said == due {
            // Something must stand behind a summary for the order to show.
            ruling.witnesses += usize::from(summary.is_some_and(|at| at + 1 < due.len()));
            continue;
        }
        let at = said.iter().zip(&due).position(|(said, due)| said != due);
        let at = at.unwrap_or(said.len().min(due.len()));
        let name = |ids: &[&Text]| ids.get(at).map_or("nothing".into(), |id| format!("`{id}`"));
        let message =
            format!("place {at} of the context is {}; {} stands there", name(&said), name(&due));
        ruling.find(Finding::new(rule, told.step, message));
    }
    ruling
}

/// `compaction.reparents-kept`: each row of the context hangs from one of the
/// context that stands before it, and from the one that stands for its parent.
pub(in super::super) fn reparents_kept(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        for row in &told.said.rows {
            let Some(place) = told.due.places.get(&row.id) else { continue };
            let due = told.due.parent(*place);
            let stored = told.due.rows[*place].parent.as_ref();
            if row.parent.as_ref() == due {
                ruling.witnesses += usize::from(due.is_some() && due != stored);
                continue;
            }
            let name = |id: Option<&Text>| id.map_or("nothing".into(), |id| format!("`{id}`"));
            let message = format!(
                "`{}` hangs from {}; what stands for its parent is {}",
                row.id,
                name(row.parent.as_ref()),
                name(due)
            );
            let finding = Finding::new(Rule::CompactionReparentsKept, told.step, message);
            ruling.find(finding.row(*place as u64));
        }
    }
    ruling
}

/// `compaction.screen-anchor`: for each landed compaction, the archived row that
/// it follows and how many rows it took.
pub(in super::super) fn screen_anchor(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let finding = |message| Finding::new(Rule::CompactionScreenAnchor, told.step, message);
        let mut said = told.said.summaries.iter();
        for (place, row) in told.due.rows.iter().enumerate() {
            let Some(replaces) = row.compacts() else { continue };
            let follows = told.due.id(told.due.spans[place].1);
            let replaced = replaces.rows.len() as u64;
            let message = match said.next() {
                Some(anchor) if anchor.summary != row.id => {
                    format!("`{}` is told where `{}` must be", anchor.summary, row.id)
                }
                Some(anchor) if anchor.follows != *follows => format!(
                    "`{}` follows `{follows}` on screen; it is said to follow `{}`",
                    row.id, anchor.follows
                ),
                Some(anchor) if anchor.replaced != replaced => format!(
                    "`{}` took {replaced} rows; it is said to have taken {}",
                    row.id, anchor.replaced
                ),
                Some(_) => {
                    ruling.witness();
                    continue;
                }
                None => format!("nothing says where `{}` stands on screen", row.id),
            };
            ruling.find(finding(message).row(place as u64));
        }
        // One too many of what is no compaction is `compaction.declared-checkpoint`.
    }
    ruling
}

/// `compaction.declared-checkpoint`: what declares itself a compaction is one, and
/// nothing else is, whatever it looks like.
pub(in super::super) fn declared_checkpoint(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionDeclaredCheckpoint;
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let Some(held) = evidence.holdings.before[step] else { continue };
        let said: Vec<&Text> = if let Outcome::Context(context) = &taken.outcome {
            context.summaries.iter().map(|anchor| &anchor.summary).collect()
        } else if let Outcome::Transcript { items } = &taken.outcome {
            let is_marker = |item: &&Item| matches!(item.shows, Shows::Marker { .. });
            items.iter().filter(is_marker).map(|item| &item.row).collect()
        } else {
            continue;
        };
        for row in evidence.holdings.rows(held) {
            let is = row.compacts().is_some();
            let other = row
                .replaces
                .as_ref()
                .is_some_and(|replaces| replaces.source != ReplacementSource::Compaction);
            let message = match (is, said.contains(&&row.id)) {
                (true, false) => {
                    format!("`{}` declares itself a compaction, and is told as none", row.id)
                }
                (false, true) => {
                    format!("`{}` is told as a compaction, and declares itself none", row.id)
                }
                (true, true) => {
                    ruling.witness();
                    continue;
                }
                (false, false) => {
                    ruling.witnesses += usize::from(other && !said.is_empty());
                    continue;
                }
            };
            ruling.find(Finding::new(rule, step, message).row(row.seq));
        }
    }
    ruling
}

/// `compaction.summary-of-summary`: the context holds one live summary for each
/// landed compaction that no later one covers, and each row that left reaches a
/// row of the context through its flags.
pub(in super::super) fn summary_of_summary(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionSummaryOfSummary;
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let due = &told.due;
        let standing: BTreeSet<&Text> = told.said.rows.iter().map(|row| &row.id).collect();
        let flags: BTreeMap<&Text, &Text> =
            told.said.left.iter().map(|left| (&left.id, &left.by)).collect();
        let order: BTreeSet<usize> = due.order.iter().copied().collect();
        let covered = due.by.iter().any(|(row, _)| due.rows[*row].compacts().is_some());
        for (place, row) in due.rows.iter().enumerate() {
            let stands = order.contains(&place);
            if row.compacts().is_some() && stands != standing.contains(&row.id) {
                let what = if stands { "is not in the context" } else { "is covered, and stands" };
                let finding =
                    Finding::new(rule, told.step, format!("the summary `{}` {what}", row.id));
                ruling.find(finding.row(place as u64));
            }
            if !due.by.contains_key(&place) {
                continue;
            }
            let chain = core::iter::successors(Some(&row.id), |at| flags.get(at).copied());
            let at = chain.take(due.rows.len()).last().unwrap_or(&row.id);
            if !standing.contains(at) {
                let message =
                    format!("through its flags `{}` reaches `{at}`, which does not stand", row.id);
                ruling.find(Finding::new(rule, told.step, message).row(place as u64));
            } else {
                ruling.witnesses += usize::from(covered);
            }
        }
    }
    ruling
}

/// `compaction.record-first`: what is projected after a change is what is
/// projected after the log was read again, so nothing edits what is sent.
pub(in super::super) fn record_first(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let steps = &evidence.trace.steps;
    let key = |op: &Op| crate::json::to_line(op).unwrap_or_default();
    let answer = |outcome: &Outcome| {
        crate::json::to_line(outcome).ok().and_then(|line| crate::json::Tree::parse(&line))
    };
    for (step, taken) in steps.iter().enumerate() {
        if !matches!(taken.op, Op::Replay(_) | Op::Request { .. } | Op::Context {}) {
            continue;
        }
        // The same question before a restart, with a change before that.
        let question = key(&taken.op);
        let held = evidence.holdings.before[step];
        let restart = steps[..step].iter().rposition(|step| matches!(step.op, Op::Restart {}));
        let Some(restart) = restart else { continue };
        let before = (0..restart)
            .rev()
            .find(|at| key(&steps[*at].op) == question && evidence.holdings.before[*at] == held);
        let Some(before) = before else { continue };
        let changed = steps[..before].iter().any(|step| {
            matches!(&step.outcome, Outcome::Changed(changed) if !changed.taken.is_empty() || !changed.rows.is_empty())
        });
        if !changed {
            continue;
        }
        if answer(&taken.outcome) == answer(&steps[before].outcome) {
            ruling.witness();
        } else {
            let message = format!(
                "after the log was read again `{}` answers otherwise than in step {before}",
                taken.op.name()
            );
            ruling.find(Finding::new(Rule::CompactionRecordFirst, step, message));
        }
    }
    ruling
}

/// `compaction.tokens-from-context`: the count follows what will be sent. It grows
/// with a row for the model and not with one for people alone, and shrinks when a
/// compaction takes more than it puts there.
pub(in super::super) fn tokens_from_context(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionTokensFromContext;
    let mut ruling = Ruling::default();
    let mut earlier: Option<(Snapshot, u64)> = None;
    for told in told(evidence) {
        let Some(now) = told.said.tokens else { continue };
        let before = earlier.replace((told.held, now));
        let Some((held, before)) = before else { continue };
        if held.generation != told.held.generation || held.cuts != told.held.cuts {
            continue;
        }
        let rows = &told.due.rows[held.rows..];
        if rows.is_empty() {
            continue;
        }
        let message = match expected(&told.due, held.rows) {
            Some(Change::More) if now <= before => "a row for the model adds nothing to the count",
            Some(Change::Same) if now != before => "a row for people alone changes the count",
            Some(Change::Less) if now >= before => "a compaction frees nothing of the count",
            Some(_) => {
                ruling.witness();
                continue;
            }
            None => continue,
        };
        let message = format!("{message}: it was {before} and is {now}");
        ruling.find(Finding::new(rule, told.step, message).row(held.rows as u64));
    }
    ruling
}

/// How a count must change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    More,
    Same,
    Less,
}

/// How the rows from this one on change the count, where that is plain.
fn expected(due: &Due<'_>, from: usize) -> Option<Change> {
    let rows = &due.rows[from..];
    if let Some(change) = upgraded(due, from) {
        return change;
    }
    let weight = |row: &Row| if row.is_for_model() { weight(row) } else { 0 };
    let is_plain =
        |row: &&Row| row.replaces.is_none() && !matches!(row.event, crate::record::Event::Delta(_));
    if rows.iter().all(|row| is_plain(&row)) {
        let added: usize = rows.iter().map(weight).sum();
        return match added {
            0 => Some(Change::Same),
            40.. => Some(Change::More),
            _few => None,
        };
    }
    let taken: usize = (0..from)
        .filter(|place| due.by.get(place).is_some_and(|by| *by >= from))
        .map(|place| weight(&due.rows[place]))
        .sum();
    let put: usize = rows.iter().map(weight).sum();
    (taken > 4 * put + 400).then_some(Change::Less)
}

/// How a better text of a summary changes the count, if one of the rows from this
/// one on brings it. None if none does.
fn upgraded(due: &Due<'_>, from: usize) -> Option<Option<Change>> {
    let texts = |rows: &'_ [Row]| -> usize {
        let newest = super::super::context::upgrades(rows);
        let of = |row: &Row| match newest.get(&row.id) {
            Some(text) => text.to_unicode().len(),
            None => weight(row),
        };
        rows.iter().filter(|row| row.is_for_model()).map(of).sum()
    };
    let is_upgrade = |row: &Row| {
        matches!(&row.event, crate::record::Event::Compaction(step)
            if step.step == crate::record::CompactionStage::Upgraded)
    };
    if !due.rows[from..].iter().any(is_upgrade) {
        return None;
    }
    let plain = due.rows[from..].iter().all(|row| row.replaces.is_none());
    let (before, now) = (texts(&due.rows[..from]), texts(due.rows));
    Some(if plain && now >= before + 40 {
        Some(Change::More)
    } else if plain && now + 40 <= before {
        Some(Change::Less)
    } else {
        None
    })
}

/// Roughly how much a row says: the bytes of what its event holds in texts.
fn weight(row: &Row) -> usize {
    use crate::record::{Block, Content, Event, ToolResult};
    let output = |result: &ToolResult| -> usize {
        let parts = result.content.iter().map(|part| match part {
            Content::Text(text) => text.text.to_unicode().len(),
            Content::Image(_) => 0,
        });
        parts.sum()
    };
    let block = |block: &Block| match block {
        Block::Text(text) => text.text.to_unicode().len(),
        Block::Reasoning(reasoning) => reasoning.text.to_unicode().len(),
        Block::Call(call) => call.arguments.to_unicode().len(),
        Block::Result(result) => output(result),
        Block::Image(_) | Block::Authority(_) => 0,
    };
    match &row.event {
        Event::Message(message) if message.is_failed() => 0,
        Event::Message(message) => message.blocks.iter().map(block).sum(),
        Event::Result(result) => output(result),
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => 0,
    }
}
