//! The judge of what a summariser is given: typed rows, and a replay of them that
//! keeps doing, thinking and saying apart.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::canary::{Kind, canary};
use super::super::context::What;
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::ground::Ground;
use crate::finding::{Finding, Ruling};
use crate::json::Tree;
use crate::op::{Input, Op, Outcome, RefusalCode};
use crate::record::{Block, Event, Row};
use crate::rule::Rule;
use crate::text::Text;

/// `compaction.input-typed`: what is summarised is the stretch as it is stored,
/// typed; and what a model would be sent of it has calls as calls, no reasoning as
/// text and nothing of an authority block.
pub(in super::super) fn input_typed(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionInputTyped;
    let mut ruling = Ruling::default();
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Input { first, last, .. }, Some(held)) =
            (&taken.op, evidence.holdings.before[step])
        else {
            continue;
        };
        let ground = Ground::of(evidence.holdings, held);
        let rows: Option<Vec<&Row>> =
            ground.range(first, last).map(|range| range.map(|place| ground.row(place)).collect());
        let finding = |message: String| Finding::new(rule, step, message);
        match (&taken.outcome, rows) {
            (Outcome::Refused(refusal), None) if refusal.code == RefusalCode::NotInContext => {
                ruling.witness();
            }
            (Outcome::Refused(refusal), _) => ruling.find(finding(format!(
                "refused as {:?}, and that is not so: {}",
                refusal.code, refusal.detail
            ))),
            (Outcome::Input(_), None) => {
                ruling.find(finding(String::from("was given, and is no stretch of the context")));
            }
            (Outcome::Input(input), Some(rows)) => {
                // Of the whole record, the rows alone prove nothing.
                let part = !rows.is_empty() && rows.len() < held.rows;
                ruling.witnesses += usize::from(part || rows.iter().any(|row| is_typed(row)));
                let wrong = wrong_rows(evidence, held, &rows, input).into_iter();
                ruling.findings.extend(wrong.map(|(seq, what)| finding(what).row(seq)));
                let more = input.rows.len().saturating_sub(rows.len());
                if more > 0 {
                    let message = format!("{more} rows more than the stretch holds");
                    ruling.find(finding(message));
                }
                let mut crossings = evidence.crossings.iter();
                if let Some(crossing) = crossings.find(|crossing| crossing.asked.step == step) {
                    let wrong = wrong_wire(crossing, &rows).into_iter();
                    ruling.findings.extend(wrong.map(|(seq, what)| finding(what).row(seq)));
                }
            }
            _no_answer => {}
        }
    }
    ruling
}

/// True if a row holds what loses its type where it is told as text.
fn is_typed(row: &Row) -> bool {
    match &row.event {
        Event::Message(message) => message.blocks.iter().any(|block| match block {
            Block::Reasoning(_) | Block::Call(_) | Block::Authority(_) => true,
            Block::Text(_) | Block::Result(_) | Block::Image(_) => false,
        }),
        Event::Result(_)
        | Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => false,
    }
}

/// The rows of the stretch that are not given as they are stored.
fn wrong_rows(
    evidence: &Evidence<'_>,
    held: Snapshot,
    rows: &[&Row],
    input: &Input,
) -> Vec<(u64, String)> {
    let raw = evidence.holdings.raw(held);
    let stored = rows.iter().filter_map(|row| {
        let at = usize::try_from(row.seq).ok()?;
        Some((row.seq, without_authority(raw.get(at)?.get())))
    });
    let mut wrong = Vec::new();
    for (at, (seq, stored)) in stored.enumerate() {
        let message = match input.rows.get(at) {
            Some(given) if Tree::parse(given.get()) == stored => continue,
            Some(given) => format!("is not given as it is stored: {}", given.get()),
            None => String::from("is in the stretch, and is not given"),
        };
        wrong.push((seq, message));
    }
    wrong
}

/// A stored row without its authority blocks.
fn without_authority(raw: &str) -> Option<Tree> {
    let mut row = Tree::parse(raw)?;
    if let Tree::Object(members) = &mut row
        && let Some(Tree::Object(event)) = members.get_mut(&Text::from("event"))
        && let Some(Tree::List(blocks)) = event.get_mut(&Text::from("blocks"))
    {
        let kind = Tree::Text(Text::from("authority"));
        blocks.retain(|block| match block {
            Tree::Object(members) => members.get(&Text::from("type")) != Some(&kind),
            Tree::Bare(_) | Tree::Text(_) | Tree::List(_) | Tree::TooDeep(_) => true,
        });
    }
    Some(row)
}

/// What of the stretch lost its type on the wire, with its row.
fn wrong_wire(crossing: &Crossing<'_>, stretch: &[&Row]) -> Vec<(u64, String)> {
    let mut wrong = Vec::new();
    for (at, piece, call) in crossing.context.calls() {
        if !crossing.wire_call.contains_key(&at) {
            wrong.push((piece.seq, format!("{} is not given as a call", told(call))));
        }
    }
    let said = |text: &str| {
        crossing.context.pieces.iter().any(|piece| match &piece.what {
            What::Said(_, said) => said.contains(text),
            What::Thought(_)
            | What::Called(_)
            | What::Answered(_)
            | What::Shown(..)
            | What::Edge(_) => false,
        })
    };
    let crosses = |text: &str, told: fn(&Kind) -> bool| {
        let text = canary(text);
        let mut places = crossing.seen.places.iter().filter(|place| told(&place.kind));
        text.chars().count() >= 8 && !said(text) && places.any(|place| place.text.contains(text))
    };
    for row in stretch {
        let Event::Message(message) = &row.event else { continue };
        for block in &message.blocks {
            match block {
                Block::Reasoning(thought) => {
                    if crosses(&thought.text.to_unicode(), |kind| matches!(kind, Kind::Speech(_))) {
                        wrong.push((row.seq, String::from("its reasoning is given as speech")));
                    }
                }
                Block::Authority(stored) => {
                    let trees = stored.extra.iter().filter_map(|(_, raw)| Tree::parse(raw.get()));
                    let trees: Vec<Tree> = trees.collect();
                    let mut texts = trees.iter().flat_map(Tree::strings);
                    if texts.any(|text| crosses(&text.to_unicode(), |_| true)) {
                        wrong.push((row.seq, String::from("its authority block is given")));
                    }
                }
                Block::Text(_) | Block::Call(_) | Block::Result(_) | Block::Image(_) => {}
            }
        }
    }
    wrong
}
