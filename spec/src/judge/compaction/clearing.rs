//! The judges of clearing: only the bulk of older results goes, and each
//! replacement is one result with other content.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::canary::canary;
use super::super::context::{What, outputs};
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::super::words;
use super::asked::whole_crossings;
use super::ground::Ground;
use crate::finding::{Finding, Ruling};
use crate::json::{Tree, to_line};
use crate::op::{Changed, Op, Outcome};
use crate::record::{Block, Content, Event, ReplacementSource, Replaces, Row, ToolResult};
use crate::rule::Rule;
use crate::text::Text;

/// Content that is no larger than this, as JSON, may stay: its notice would be no
/// shorter.
const SMALL: usize = 256;

/// The content of a result was cleared.
const CLEARED: &[&str] =
    &["cleared", "removed", "omitted", "elided", "pruned", "truncated", "compacted", "no longer"];

/// The range of a row that replaces a result whose bulk was cleared.
fn clears(row: &Row) -> Option<&Replaces> {
    row.replaces.as_ref().filter(|range| range.source == ReplacementSource::Clearing)
}

/// The results that a row holds, with their blocks.
fn results_of(row: &Row) -> Vec<(usize, &ToolResult)> {
    match &row.event {
        Event::Result(result) => alloc::vec![(0, result)],
        Event::Message(message) => {
            let blocks = message.blocks.iter().enumerate();
            let results = blocks.filter_map(|(at, block)| match block {
                Block::Result(result) => Some((at, result)),
                Block::Text(_)
                | Block::Reasoning(_)
                | Block::Call(_)
                | Block::Image(_)
                | Block::Authority(_) => None,
            });
            results.collect()
        }
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => Vec::new(),
    }
}

fn content(result: &ToolResult) -> String {
    to_line(&result.content).unwrap_or_default()
}

/// A `clear` that was taken.
struct Cleared<'a> {
    evidence: &'a Evidence<'a>,
    step: usize,
    changed: &'a Changed,
    held: Snapshot,
    ground: Ground<'a>,
    /// Its rows that can be read.
    rows: &'a [Row],
    /// The newest results, which stay whole: row and block.
    newest: BTreeSet<(u64, usize)>,
}

fn all_cleared<'a>(evidence: &'a Evidence<'a>) -> Vec<Cleared<'a>> {
    let steps = evidence.trace.steps.iter().enumerate();
    steps
        .filter_map(|(step, taken)| {
            let (Op::Clear(clear), Outcome::Changed(changed)) = (&taken.op, &taken.outcome) else {
                return None;
            };
            let (held, after) = (evidence.holdings.before[step]?, evidence.holdings.after[step]?);
            let ground = Ground::of(evidence.holdings, held);
            let all: Vec<(u64, usize)> =
                ground.context.results().map(|(_, piece, _)| (piece.seq, piece.block)).collect();
            let keep = usize::try_from(clear.keep).unwrap_or(usize::MAX);
            let newest = all[all.len().saturating_sub(keep)..].iter().copied().collect();
            let rows = &evidence.holdings.rows(after)[held.rows..];
            Some(Cleared { evidence, step, changed, held, ground, rows, newest })
        })
        .collect()
}

impl<'a> Cleared<'a> {
    /// The row of the context that a clearing row takes.
    fn taken_by(&self, row: &Row) -> Option<&'a Row> {
        let range = clears(row)?;
        let [only] = range.rows.as_slice() else { return None };
        self.ground.place(only).map(|place| self.ground.row(place))
    }

    fn says_cleared(&self, text: &str) -> bool {
        words::says(text, &self.evidence.trace.hello.wordings.cleared, CLEARED)
    }

    /// True if the bulk of this result is gone already, or there is none.
    fn is_bare(&self, result: &ToolResult) -> bool {
        content(result).len() <= SMALL || outputs(result).any(|text| self.says_cleared(&text))
    }
}

/// `compaction.clearing-keeps-calls`: older results lose their bulk to a notice,
/// once; everything else stays.
pub(in super::super) fn clearing_keeps_calls(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionClearingKeepsCalls;
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        if let (Op::Clear(_), Outcome::Refused(refusal), Some(_)) =
            (&taken.op, &taken.outcome, evidence.holdings.before[step])
        {
            let message = format!("clearing was refused: {}", refusal.detail);
            ruling.find(Finding::new(rule, step, message));
        }
    }
    let mut made: BTreeSet<(usize, u64)> = BTreeSet::new();
    for cleared in all_cleared(evidence) {
        let again = made.iter().any(|(generation, _)| *generation == cleared.held.generation);
        ruling.witnesses += usize::from(!cleared.rows.is_empty() || again);
        for (seq, message) in wrong_results(&cleared) {
            ruling.find(Finding::new(rule, cleared.step, message).row(seq));
        }
        if let Some(message) = wrong_taken(&cleared) {
            ruling.find(Finding::new(rule, cleared.step, message));
        }
        made.extend(cleared.rows.iter().map(|row| (cleared.held.generation, row.seq)));
    }
    for crossing in whole_crossings(evidence) {
        crosses_without_bulk(evidence, crossing, &mut ruling);
    }
    read_back(evidence, &made, &mut ruling);
    ruling
}

/// What is wrong with what became of each result, with the row that held it.
fn wrong_results(cleared: &Cleared<'_>) -> Vec<(u64, String)> {
    let mut wrong = Vec::new();
    let copies: BTreeMap<u64, &Row> =
        cleared.rows.iter().filter_map(|row| Some((cleared.taken_by(row)?.seq, row))).collect();
    for row in cleared.ground.rows() {
        let known = |block: usize| {
            let mut pieces = cleared.ground.context.results();
            pieces.any(|(_, piece, _)| piece.seq == row.seq && piece.block == block)
        };
        let copy = copies.get(&row.seq);
        let mut bared = false;
        for (block, result) in results_of(row).into_iter().filter(|(block, _)| known(*block)) {
            let now =
                copy.and_then(|copy| results_of(copy).into_iter().find(|(at, _)| *at == block));
            let changed = now.is_some_and(|(_, now)| content(now) != content(result));
            bared |= changed;
            let newest = cleared.newest.contains(&(row.seq, block));
            let small = content(result).len() <= SMALL;
            let message = match now {
                Some(_) if changed && newest => "is among the newest results, and was cleared",
                Some((_, now)) if changed && !is_notice(cleared, now) => {
                    "was changed, and no notice says that it was cleared"
                }
                Some(_) if changed && small => continue,
                Some(_) if changed && cleared.is_bare(result) => "was cleared before",
                _not_changed if changed || newest || cleared.is_bare(result) => continue,
                // By its row it was cleared before, together with others.
                _not_changed if clears(row).is_some() => continue,
                _not_changed => "is an older result, and was not cleared",
            };
            wrong.push((row.seq, format!("`{}` {message}", row.id)));
        }
        if copy.is_some() && !bared {
            wrong.push((row.seq, format!("`{}` was replaced, and nothing of it cleared", row.id)));
        }
    }
    wrong
}

/// True if all that is left of a result is a notice that it was cleared.
fn is_notice(cleared: &Cleared<'_>, result: &ToolResult) -> bool {
    match result.content.as_slice() {
        [Content::Text(text)] => cleared.says_cleared(&text.text.to_unicode()),
        _other => false,
    }
}

/// The rows that it says have left must be those that its rows take, in the order
/// of the context.
fn wrong_taken(cleared: &Cleared<'_>) -> Option<String> {
    let mut due: Vec<(usize, &Text)> = cleared
        .rows
        .iter()
        .filter_map(clears)
        .flat_map(|range| &range.rows)
        .filter_map(|id| Some((cleared.ground.place(id)?, id)))
        .collect();
    due.sort_unstable();
    let taken = cleared.changed.taken.iter();
    if !taken.eq(due.iter().map(|(_, id)| *id)) {
        return Some(String::from(
            "the rows that it says have left are not those that it replaced",
        ));
    }
    let next = (cleared.held.rows + cleared.changed.rows.len()) as u64;
    (cleared.changed.next != next)
        .then(|| format!("the next row is {next}, and it says {}", cleared.changed.next))
}

/// The row that a clearing row stood for at first.
fn original<'a>(rows: &'a [Row], row: &'a Row) -> Option<&'a Row> {
    let mut now = row;
    while let Some(range) = clears(now) {
        now = rows[..usize::try_from(now.seq).ok()?.min(rows.len())]
            .iter()
            .find(|row| Some(&row.id) == range.rows.first())?;
    }
    (now.seq != row.seq).then_some(now)
}

/// Looks for cleared results on a wire: their bulk is gone, and their calls are
/// answered as before.
fn crosses_without_bulk(evidence: &Evidence<'_>, crossing: &Crossing<'_>, ruling: &mut Ruling) {
    let rule = Rule::CompactionClearingKeepsCalls;
    let step = crossing.asked.step;
    let Some(held) = evidence.holdings.before[step] else { return };
    let ground = Ground::of(evidence.holdings, held);
    for (at, piece, result) in crossing.context.results() {
        let row = crossing.rows.iter().find(|row| row.seq == piece.seq);
        let Some(first) = row.and_then(|row| original(crossing.rows, row)) else { continue };
        let found = results_of(first).into_iter().find(|(block, _)| *block == piece.block);
        let Some((_, whole)) = found.filter(|(_, whole)| content(whole) != content(result)) else {
            continue;
        };
        let Some(call_at) = crossing.context.call_of.get(&at) else { continue };
        let What::Called(call) = crossing.context.pieces[*call_at].what else { continue };
        ruling.witness();
        let mut find = |message: String| {
            ruling.find(Finding::new(rule, step, message).row(piece.seq));
        };
        let answers = crossing.wire_call.get(call_at).map(|call| &crossing.answers[*call]);
        match answers.map(Vec::as_slice) {
            None | Some([]) => {
                find(format!("its result was cleared, and {} is not there with it", told(call)));
            }
            Some([first, ..]) => {
                let error = crossing.results[*first].result.error;
                if error.is_some() && error != Some(whole.is_error())
                    || error.is_none() && whole.is_error() && has_a_mark(crossing)
                {
                    find(format!("the cleared result of {} has another error flag", told(call)));
                }
            }
        }
        for text in outputs(whole) {
            let text = canary(&text);
            let bulk = text.chars().count() >= 8 && !still_held(&ground, text);
            if bulk && crossing.seen.places.iter().any(|place| place.text.contains(text)) {
                find(format!("what was cleared crosses: {text:?}"));
            }
        }
    }
}

fn has_a_mark(crossing: &Crossing<'_>) -> bool {
    match crossing.asked.replay.target {
        crate::target::Target::Anthropic => true,
        crate::target::Target::OpenaiChat => false,
    }
}

/// True if some row of the context holds this text.
fn still_held(ground: &Ground<'_>, text: &str) -> bool {
    ground.rows().any(|row| {
        let line = row.to_line().unwrap_or_default();
        let tree = Tree::parse(&line);
        tree.iter().flat_map(Tree::strings).any(|held| held.to_unicode().contains(text))
    })
}

/// What was cleared comes back whole by `read`.
fn read_back(evidence: &Evidence<'_>, made: &BTreeSet<(usize, u64)>, ruling: &mut Ruling) {
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Read { from, limit }, Outcome::Rows { rows: came }) = (&taken.op, &taken.outcome)
        else {
            continue;
        };
        let Some(held) = evidence.holdings.before[step] else { continue };
        let rows = evidence.holdings.rows(held);
        let (from, limit) = (from.unwrap_or(0), limit.unwrap_or(u64::MAX));
        let mine = made.iter().filter(|(generation, _)| *generation == held.generation);
        let copies = mine.filter_map(|(_, seq)| rows.get(usize::try_from(*seq).ok()?));
        for first in copies.filter_map(|row| original(rows, row)) {
            if first.seq < from || first.seq - from >= limit {
                continue;
            }
            ruling.witness();
            let stored = Tree::parse(evidence.holdings.raw(held)[first.seq as usize].get());
            let now = came.get((first.seq - from) as usize);
            if now.and_then(|row| Tree::parse(row.get())) != stored {
                let message = "was cleared, and does not come back as it was stored";
                let finding = Finding::new(Rule::CompactionClearingKeepsCalls, step, message);
                ruling.find(finding.row(first.seq));
            }
        }
    }
}
