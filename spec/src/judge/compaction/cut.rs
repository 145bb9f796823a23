//! The judges of what a compaction may take: no unit in two, nothing that is not
//! answered yet, and dead calls like any row.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::super::context::outputs;
use super::super::crossing::{Crossing, told};
use super::super::evidence::Evidence;
use super::asked::{Asked, compactions, landed, whole_crossings};
use crate::finding::{Finding, Ruling};
use crate::op::{Budget, Cut, Mode, RefusalCode};
use crate::record::Event;
use crate::rule::Rule;
use crate::text::Text;

/// `compaction.balanced-cut`: a range that would separate a call from its result
/// is refused, and the nearest one that does not is what can be asked for.
pub(in super::super) fn balanced_cut(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionBalancedCut;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        asked.judge_refusal(rule, &mut ruling);
        let (Some(cut), Some(given)) = (&asked.compact.cut, asked.given(evidence)) else {
            continue;
        };
        let finding = |message: String| Finding::new(rule, asked.step, message);
        ruling.witnesses += usize::from(asked.is_idle(&given) && !evidence.crossings.is_empty());
        let took = given.takes(&asked.compact.id);
        let places = took.map(|ids| places(&asked, ids));
        match (cut, &places) {
            (Cut::Range { .. }, Some(places)) if asked.due.must.is_empty() => {
                ruling.witnesses += usize::from(!places.is_empty() && has_units(&asked));
            }
            (Cut::Nearest { .. }, Some(places)) => {
                let Some(nearest) = asked.range.clone() else { continue };
                if places.iter().copied().eq(nearest.clone()) {
                    ruling.witnesses += usize::from(has_units(&asked));
                } else {
                    let message = format!(
                        "took {}; the nearest balanced stretch is {}",
                        told_ids(took.unwrap_or_default()),
                        told_range(&asked, &nearest)
                    );
                    ruling.find(finding(message));
                }
            }
            (Cut::Budget(budget), _) => {
                let places = places.unwrap_or_default();
                if let Some(split) = split(&asked, &places) {
                    ruling.find(finding(split));
                } else if let Some(missed) = missed(&asked, *budget, &places) {
                    ruling.find(finding(missed));
                } else {
                    ruling.witnesses += usize::from(!places.is_empty());
                }
            }
            (Cut::Range { .. } | Cut::Nearest { .. }, _) => {}
        }
    }
    ruling
}

/// The places in the context of these rows; those that are not in it are left
/// out.
fn places(asked: &Asked<'_>, ids: &[Text]) -> Vec<usize> {
    ids.iter().filter_map(|id| asked.ground.place(id)).collect()
}

/// True if the context holds what a cut may separate, or what only looks like it:
/// a call that nothing answers, or pieces of a message.
fn has_units(asked: &Asked<'_>) -> bool {
    let mut pieces = asked.ground.rows().map(|row| matches!(row.event, Event::Delta(_)));
    !asked.ground.units.is_empty()
        || !asked.ground.open_calls.is_empty()
        || pieces.any(|is_piece| is_piece)
}

/// Tells which unit is taken in part.
fn split(asked: &Asked<'_>, places: &[usize]) -> Option<String> {
    let units = &asked.ground.units;
    let torn = units.iter().find(|unit| {
        let taken = unit.iter().filter(|place| places.contains(place)).count();
        taken > 0 && taken < unit.len()
    })?;
    let ids: Vec<Text> = torn.iter().map(|place| asked.ground.row(*place).id.clone()).collect();
    Some(format!("what belongs together is taken in part: {}", told_ids(&ids)))
}

/// Tells that a budget was missed, or that something was taken though it was kept.
fn missed(asked: &Asked<'_>, budget: Budget, places: &[usize]) -> Option<String> {
    let within = asked.is_within(budget);
    if within == Some(true) {
        return (!places.is_empty())
            .then(|| String::from("the context keeps to the budget, and something was taken"));
    }
    let Budget::Messages(most) = budget else {
        let none = within == Some(false) && places.is_empty();
        return none.then(|| String::from("the context is over the budget, and nothing was taken"));
    };
    let stays = (0..asked.ground.len()).filter(|place| !places.contains(place));
    let (left, _) = asked.ground.messages(stays);
    if left <= most {
        return None;
    }
    if places.is_empty() && within == Some(false) {
        return Some(format!("{left} messages and results may be {most}, and nothing was taken"));
    }
    // The summary is a message too, as some count.
    let enough = asked.cuts().find(|cut| {
        let (_, rest) = asked.ground.messages(cut.end..asked.ground.len());
        rest < most
    })?;
    Some(format!(
        "{left} messages and results stay, and {most} may; {} could have gone",
        told_range(asked, &enough)
    ))
}

fn told_ids(ids: &[Text]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    if ids.is_empty() { String::from("nothing") } else { ids.join(", ") }
}

fn told_range(asked: &Asked<'_>, range: &Range<usize>) -> String {
    let ids: Vec<Text> = range.clone().map(|place| asked.ground.row(place).id.clone()).collect();
    told_ids(&ids)
}

/// `compaction.live-round-kept`: what a person said and nobody answered, and the
/// round in flight, are never taken; and a call in flight when a compaction lands
/// is answered by its own result afterwards.
pub(in super::super) fn live_round_kept(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionLiveRoundKept;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        asked.judge_refusal(rule, &mut ruling);
        let (Some(cut), Some(given)) = (&asked.compact.cut, asked.given(evidence)) else {
            continue;
        };
        let Some(ids) = given.takes(&asked.compact.id) else { continue };
        let turn = asked.compact.turn;
        let live = |place: &usize| asked.ground.is_live(*place, turn);
        let taken = places(&asked, ids);
        // Of a stretch that was named, the missing refusal is the finding.
        let chosen = matches!(cut, Cut::Budget(_)) || given.is_trim();
        if let Some(place) = taken.iter().copied().find(live).filter(|_| chosen) {
            let row = asked.ground.row(place);
            let message = format!("took `{}`, which is not answered yet", row.id);
            ruling.find(Finding::new(rule, asked.step, message).row(row.seq));
        } else {
            let decided = (0..asked.ground.len()).any(|place| live(&place))
                || taken.iter().any(|place| asked.ground.was_live(*place));
            ruling.witnesses += usize::from(!taken.is_empty() && decided);
        }
    }
    for crossing in whole_crossings(evidence) {
        answered_afterwards(crossing, &mut ruling);
    }
    ruling
}

/// Looks for the answers of calls that were in flight when a compaction landed.
fn answered_afterwards(crossing: &Crossing<'_>, ruling: &mut Ruling) {
    let context = &crossing.context;
    let landings: Vec<u64> =
        crossing.rows.iter().filter(|row| row.compacts().is_some()).map(|row| row.seq).collect();
    for (at, piece, call) in context.calls() {
        let Some(result_at) = context.result_of.get(&at) else { continue };
        let result = &context.pieces[*result_at];
        let in_flight = landings.iter().any(|landed| piece.seq < *landed && *landed < result.seq);
        let super::super::context::What::Answered(stored) = result.what else { continue };
        let mut texts = outputs(stored).peekable();
        if !in_flight || texts.peek().is_none() {
            continue;
        }
        ruling.witness();
        let answers = crossing.wire_call.get(&at).map(|call| crossing.answers[*call].as_slice());
        let answer: String =
            answers.unwrap_or_default().iter().map(|at| crossing.text_in_result(*at)).collect();
        if !texts.all(|text| answer.contains(super::super::canary::canary(&text))) {
            let message = format!(
                "{} was in flight when a compaction landed, and its own result does not answer it",
                told(call)
            );
            let step = crossing.asked.step;
            ruling.find(Finding::new(Rule::CompactionLiveRoundKept, step, message).row(piece.seq));
        }
    }
}

/// `compaction.dead-call`: a call that will never be answered blocks no
/// compaction.
pub(in super::super) fn dead_call(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::CompactionDeadCall;
    let mut ruling = Ruling::default();
    for asked in compactions(evidence) {
        let Some(cut) = &asked.compact.cut else { continue };
        let (range, turn) = match cut {
            Cut::Range { .. } | Cut::Nearest { .. } => (asked.range.clone(), asked.compact.turn),
            Cut::Budget(_) => (asked.cuts().last(), asked.compact.turn),
        };
        let Some(range) = range else { continue };
        let Some(dead) = dead_in(&asked, range, turn) else { continue };
        if let Some(refusal) = asked.refusal() {
            let blocked = matches!(refusal.code, RefusalCode::LiveRound | RefusalCode::Unbalanced);
            if blocked && !allowed(&asked, refusal.code) {
                let row = asked.ground.row(dead);
                let message = format!("refused, and `{}` holds only a call that is dead", row.id);
                ruling.find(Finding::new(rule, asked.step, message).row(row.seq));
            }
        } else if let Some(given) = asked.given(evidence) {
            let ids = given.takes(&asked.compact.id).unwrap_or_default();
            ruling.witnesses += usize::from(ids.contains(&asked.ground.row(dead).id));
        }
    }
    let landed = landed(evidence);
    for crossing in whole_crossings(evidence) {
        let held = evidence.holdings.before[crossing.asked.step];
        let generation = held.map_or(usize::MAX, |held| held.generation);
        let landings = landed.iter().filter(|(of, seq)| {
            *of == generation && crossing.rows.iter().any(|row| row.seq == *seq)
        });
        if let Some(last) = landings.map(|(_, seq)| *seq).max() {
            closed(crossing, last, &mut ruling);
        }
    }
    ruling
}

/// Calls that were open when a compaction landed, and will never be answered, are
/// closed.
fn closed(crossing: &Crossing<'_>, landed: u64, ruling: &mut Ruling) {
    let context = &crossing.context;
    let pending = context.pending(crossing.asked.replay.mode);
    for (at, piece, call) in context.calls() {
        let open = !context.result_of.contains_key(&at) && !pending.contains(&at);
        let Some(on_wire) = crossing.wire_call.get(&at) else { continue };
        if !open || piece.seq > landed {
            continue;
        }
        ruling.witness();
        if crossing.answers[*on_wire].len() != 1 {
            let message = format!("{} is dead, and not closed", told(call));
            let step = crossing.asked.step;
            ruling.find(Finding::new(Rule::CompactionDeadCall, step, message).row(piece.seq));
        }
    }
}

/// The place of the first row in a stretch that holds a call which nothing will
/// answer.
fn dead_in(asked: &Asked<'_>, range: Range<usize>, turn: Mode) -> Option<usize> {
    let mut dead = asked.ground.open_calls.iter().copied().filter(|place| range.contains(place));
    dead.find(|place| !asked.ground.is_live(*place, turn))
}

fn allowed(asked: &Asked<'_>, code: RefusalCode) -> bool {
    asked.due.must.contains(&code) || asked.due.may.contains(&code)
}
