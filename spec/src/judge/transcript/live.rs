//! The judge of the live path: what comes row by row, applied, is what must show
//! after every row.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::due::{Shown, due};
use crate::finding::{Finding, Ruling};
use crate::item::{Live, LiveEvent};
use crate::json::{Tree, to_line};
use crate::op::{Op, Outcome};
use crate::rule::Rule;
use crate::text::Text;

/// So many prefixes of one record are compared; of a longer one, as many evenly.
const MOST_PREFIXES: usize = 48;

/// `transcript.live-equals-replay`: from any row on, the events of `follow` applied
/// to the transcript of the rows before give the transcript of every prefix.
pub(in super::super) fn live_equals_replay(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::TranscriptLiveEqualsReplay;
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Follow { join }, Outcome::Followed { events }) = (&taken.op, &taken.outcome)
        else {
            continue;
        };
        let Some(held) = evidence.holdings.before[step] else { continue };
        let rows = evidence.holdings.rows(held);
        let join = usize::try_from(*join).unwrap_or(usize::MAX).min(rows.len());
        let mut items = due(&rows[..join]);
        let mut events = events.iter().peekable();
        let stride = (rows.len() - join).div_ceil(MOST_PREFIXES).max(1);
        let mut grew = false;
        let mut wrong = None;
        for seq in join..rows.len() {
            while let Some(live) = events.next_if(|live| live.seq <= seq as u64) {
                grew = true;
                apply(&mut items, live);
            }
            let compared = (seq + 1 - join) % stride == 0 || seq + 1 == rows.len();
            if compared && items != due(&rows[..=seq]) {
                wrong = Some(seq);
                break;
            }
        }
        if let Some(seq) = wrong {
            let message = format!("after row {seq} what was followed is not what must show");
            ruling.find(Finding::new(rule, step, message).row(seq as u64));
        } else if let Some(live) = events.next() {
            let message = format!("an event of row {} comes where no row does", live.seq);
            ruling.find(Finding::new(rule, step, message));
        } else {
            ruling.witnesses += usize::from(grew);
        }
    }
    same_as_rebuilt(evidence, &mut ruling);
    ruling
}

/// What is followed from row 0 on is the implementation's own transcript.
fn same_as_rebuilt(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    let steps = &evidence.trace.steps;
    for (step, taken) in steps.iter().enumerate() {
        let (Op::Follow { join: 0 }, Outcome::Followed { events }) = (&taken.op, &taken.outcome)
        else {
            continue;
        };
        let mut items = Vec::new();
        events.iter().for_each(|live| apply(&mut items, live));
        let rebuilt = steps.iter().enumerate().filter_map(|(other, taken)| {
            let same = evidence.holdings.before[other] == evidence.holdings.before[step];
            match &taken.outcome {
                Outcome::Transcript { items } if same => Some((other, items)),
                _other => None,
            }
        });
        for (other, rebuilt) in rebuilt {
            let rebuilt: Vec<Shown> = rebuilt.iter().map(Shown::of).collect();
            if rebuilt != items {
                let message = format!("what was followed is not the transcript of step {other}");
                ruling.find(Finding::new(Rule::TranscriptLiveEqualsReplay, step, message));
            }
        }
    }
}

fn apply(items: &mut Vec<Shown>, live: &Live) {
    match &live.event {
        LiveEvent::Shown(item) => {
            let item = Shown::of(item);
            let mates = |held: &Shown| held.part.is_some() && held.row == item.row;
            let behind = match item.part {
                Some(_) => items.iter().rposition(mates).map(|last| last + 1),
                None => None,
            };
            let at = behind.unwrap_or(items.len());
            items.insert(at, item);
            link(items, at..at + 1);
        }
        LiveEvent::Grown { row, part, text } => {
            for held in items.iter_mut().filter(|held| held.row == *row && held.part == Some(*part))
            {
                let mut whole = match &held.content {
                    Some(Tree::Text(text)) => text.clone(),
                    Some(_) | None => Text::default(),
                };
                whole.push(text);
                held.content = to_line(&whole).ok().and_then(|line| Tree::parse(&line));
            }
        }
        LiveEvent::Settled { row, items: whole } => {
            let whole: Vec<Shown> = whole.iter().map(Shown::of).collect();
            settle(items, row, whole);
        }
    }
}

fn settle(items: &mut Vec<Shown>, row: &Text, whole: Vec<Shown>) {
    use crate::record::DeltaPart::{Reasoning, Text as Words};
    let of_type = |name: &str| {
        whole.iter().any(|item| {
            let Some(Tree::Object(fields)) = &item.content else { return false };
            let kind = fields.iter().find(|(field, _)| **field == *"type");
            let is = matches!(kind, Some((_, Tree::Text(kind))) if *kind == *name);
            is && item.link.is_none() && item.kind != "tool-return"
        })
    };
    let (words, thought) = (of_type("text"), of_type("reasoning"));
    let pieces: Vec<usize> =
        (0..items.len()).filter(|at| items[*at].row == *row && items[*at].part.is_some()).collect();
    let gone: BTreeSet<usize> = pieces
        .iter()
        .copied()
        .filter(|at| match items[*at].part {
            Some(Words) => words,
            Some(Reasoning) => thought,
            None => false,
        })
        .collect();
    let end = pieces.last().map_or(items.len(), |last| last + 1);
    let at = gone.first().copied().unwrap_or(end);
    for piece in pieces {
        items[piece].open = false;
    }
    let mut place = 0;
    items.retain(|_| {
        place += 1;
        !gone.contains(&(place - 1))
    });
    let count = whole.len();
    items.splice(at..at, whole);
    link(items, at..at + count);
}

/// Tells the other half of each new item that it has come.
fn link(items: &mut [Shown], new: core::ops::Range<usize>) {
    for at in new {
        let Some(half) = items[at].link.clone() else { continue };
        let here = crate::item::Place {
            row: items[at].row.clone(),
            block: items[at].block.unwrap_or_default(),
        };
        let other =
            items.iter_mut().find(|held| held.row == half.row && held.block == Some(half.block));
        if let Some(other) = other {
            other.link = Some(here);
        }
    }
}
