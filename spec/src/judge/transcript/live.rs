//! The judges of the transcript as it grows: by events, and from one asking to the
//! next.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::look::{Records, looks};
use super::must::Stored;
use super::shown::{Key, Kind, Shown, Slot, What, all};
use crate::finding::{Finding, Ruling};
use crate::item::{Item, Live, LiveEvent, Place};
use crate::json::Tree;
use crate::op::{Op, Outcome};
use crate::rule::Rule;
use crate::text::Text;

/// How many rows are looked at over all prefixes of one record, about: a long
/// record is not compared after every row of it.
const EFFORT: usize = 400_000;

/// `transcript.live-equals-replay`: the events, applied one by one, give what must
/// show after every row, and what the implementation itself shows at once.
pub(in super::super) fn live_equals_replay(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::TranscriptLiveEqualsReplay;
    let mut ruling = Ruling::default();
    let mut records = Records::default();
    let own = looks(evidence);
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        let (Op::Follow { join }, Some(snapshot)) = (&taken.op, evidence.holdings.before[step])
        else {
            continue;
        };
        let join = usize::try_from(*join).unwrap_or(usize::MAX);
        let events = match &taken.outcome {
            Outcome::Followed { events } => events,
            Outcome::Refused(_) => {
                ruling.find(Finding::new(rule, step, "a held record is not followed"));
                continue;
            }
            Outcome::Loaded { .. }
            | Outcome::Appended { .. }
            | Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Replayed(_)
            | Outcome::Changed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Page(_)
            | Outcome::Window(_)
            | Outcome::Known { .. }
            | Outcome::Found { .. }
            | Outcome::Status { .. }
            | Outcome::Deleted { .. }
            | Outcome::Stamp(_)
            | Outcome::Synced(_)
            | Outcome::Recalled { .. }
            | Outcome::Archived(_)
            | Outcome::Parts(_)
            | Outcome::Migrated(_)
            | Outcome::Crashed {}
            | Outcome::Unsupported { .. } => continue,
        };
        let stored = records.of(evidence, snapshot);
        match follow(&stored, join, snapshot.rows, events) {
            Err((seq, message)) => {
                let finding = Finding::new(rule, step, message);
                ruling.find(match seq {
                    Some(seq) => finding.row(seq),
                    None => finding,
                });
            }
            Ok(state) => {
                if !events.is_empty() && !state.is_empty() {
                    ruling.witness();
                }
                let same = |seen: &[Shown]| join > snapshot.rows || seen == state.as_slice();
                let at_once = own.iter().find(|look| {
                    look.snapshot.generation == snapshot.generation
                        && look.snapshot.rows == snapshot.rows
                        && !same(&look.seen)
                });
                if let Some(look) = at_once {
                    let message = format!("step {} shows something else at once", look.step);
                    ruling.find(Finding::new(rule, step, message));
                }
            }
        }
    }
    ruling
}

/// Applies events. Gives the last state, or the row at which it goes wrong.
fn follow(
    stored: &Stored<'_>,
    join: usize,
    held: usize,
    events: &[Live],
) -> Result<Vec<Shown>, (Option<u64>, String)> {
    if join >= held {
        return match events.first() {
            Some(live) => Err((Some(live.seq), String::from("nothing has come, and it is told"))),
            None if join == held => Ok(stored.must(held)),
            None => Ok(Vec::new()),
        };
    }
    let mut state = stored.must(join);
    let mut rest = events;
    let stride = (held * held / EFFORT).max(1);
    for next in join..held {
        while let Some((live, more)) = rest.split_first() {
            let place = usize::try_from(live.seq).unwrap_or(usize::MAX);
            if place > next {
                break;
            }
            if place < next {
                return Err((Some(live.seq), String::from("its event comes out of turn")));
            }
            let fault = |what: &str| (Some(live.seq), format!("its event {what}"));
            apply(&mut state, &live.event).map_err(fault)?;
            rest = more;
        }
        let last = next + 1 == held;
        if (last || next % stride == 0) && stored.must(next + 1) != state {
            let message = String::from("after it, live shows other than what must show");
            return Err((Some(next as u64), message));
        }
    }
    match rest.first() {
        Some(live) => Err((Some(live.seq), String::from("no such row was held"))),
        None => Ok(state),
    }
}

fn apply(state: &mut Vec<Shown>, event: &LiveEvent) -> Result<(), &'static str> {
    match event {
        LiveEvent::Shown(item) => {
            let item = Shown::of(item);
            let behind = match item.slot {
                Slot::Said | Slot::Thought => last_piece(state, &item.row),
                Slot::Block(_) | Slot::Marker => None,
            };
            link(state, &item)?;
            state.insert(behind.map_or(state.len(), |at| at + 1), item);
            Ok(())
        }
        LiveEvent::Grown { row, part, text: more } => {
            let slot = Slot::from(*part);
            let grows = state.iter_mut().find(|item| item.row == *row && item.slot == slot);
            match grows.map(|item| &mut item.what) {
                Some(What::Pieces { text, open: true }) => {
                    text.push(more);
                    Ok(())
                }
                Some(What::Pieces { .. } | What::Block { .. } | What::Marker { .. }) | None => {
                    Err("grows pieces that are not open")
                }
            }
        }
        LiveEvent::Settled { row, items } => settle(state, row, items),
    }
}

fn settle(state: &mut Vec<Shown>, row: &Text, items: &[Item]) -> Result<(), &'static str> {
    let items = all(items);
    let Some(last) = last_piece(state, row) else { return Err("settles what did not stream") };
    let held: BTreeSet<Slot> = items.iter().filter_map(part_of).collect();
    let taken: Vec<usize> = state
        .iter()
        .enumerate()
        .filter(|(_, item)| item.row == *row && item.is_open() && held.contains(&item.slot))
        .map(|(at, _)| at)
        .collect();
    let mut place = taken.first().copied().unwrap_or(last + 1);
    taken.iter().rev().for_each(|at| drop(state.remove(*at)));
    for item in state.iter_mut().filter(|item| item.row == *row) {
        if let What::Pieces { open, .. } = &mut item.what {
            *open = false;
        }
    }
    for item in items {
        link(state, &item)?;
        state.insert(place, item);
        place += 1;
    }
    Ok(())
}

/// Of which pieces a block is the whole.
fn part_of(item: &Shown) -> Option<Slot> {
    let Some(Tree::Object(members)) = item.content() else { return None };
    let Some(Tree::Text(kind)) = members.get(&Text::from("type")) else { return None };
    match kind.as_str() {
        Some("text") => Some(Slot::Said),
        Some("reasoning") => Some(Slot::Thought),
        Some(_) | None => None,
    }
}

fn last_piece(state: &[Shown], row: &Text) -> Option<usize> {
    state
        .iter()
        .rposition(|item| item.row == *row && matches!(item.slot, Slot::Said | Slot::Thought))
}

/// Completes the other half of a card or a return.
fn link(state: &mut [Shown], item: &Shown) -> Result<(), &'static str> {
    let Some(other) = item.link() else { return Ok(()) };
    let half = match item.kind() {
        Some(Kind::Call) => Kind::Return,
        Some(Kind::Return | Kind::User | Kind::Assistant | Kind::Reasoning) | None => Kind::Call,
    };
    let own: Option<Place> = item.place();
    let found = state
        .iter_mut()
        .find(|shown| shown.kind() == Some(half) && shown.place().as_ref() == Some(other));
    match found.map(|shown| &mut shown.what) {
        Some(What::Block { link, .. }) => {
            *link = own;
            Ok(())
        }
        Some(What::Pieces { .. } | What::Marker { .. }) | None => {
            Err("names another half that does not show")
        }
    }
}

/// `transcript.monotone`: what showed once shows from then on, in the same order.
pub(in super::super) fn monotone(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::TranscriptMonotone;
    let mut ruling = Ruling::default();
    let looks = looks(evidence);
    for (index, now) in looks.iter().enumerate() {
        let earlier = looks[..index].iter().rev();
        let before = earlier.into_iter().find(|look| {
            look.snapshot.generation == now.snapshot.generation
                && look.snapshot.rows <= now.snapshot.rows
        });
        let Some(before) = before.filter(|look| look.is_alive()) else { continue };
        if before.snapshot.rows < now.snapshot.rows && now.is_alive() {
            ruling.witness();
        }
        if let Some((seq, what)) = shrunk(&before.seen, &now.seen) {
            let message = format!("since step {}, {what}", before.step);
            ruling.find(Finding::new(rule, now.step, message).row(seq));
        }
    }
    ruling
}

fn shrunk(before: &[Shown], now: &[Shown]) -> Option<(u64, &'static str)> {
    let places: BTreeMap<Key, usize> =
        now.iter().enumerate().map(|(at, item)| (item.key(), at)).collect();
    let came: BTreeSet<&Text> = now
        .iter()
        .filter(|item| matches!(item.slot, Slot::Block(_)))
        .map(|item| &item.row)
        .collect();
    let mut last = None;
    for item in before {
        let Some(at) = places.get(&item.key()).copied() else {
            if item.is_open() && came.contains(&item.row) {
                continue;
            }
            return Some((item.seq, "it is gone"));
        };
        if !now[at].continues(item) {
            return Some((item.seq, "it has changed"));
        }
        if last.is_some_and(|last| last > at) {
            return Some((item.seq, "it has moved"));
        }
        last = Some(at);
    }
    None
}
