//! What moves in the store, and what its stamp shows of it.

use onrecord::spec::op::{Budget, Cut, Ending, Op, Outcome};
use onrecord::spec::record::{Event, Role, Row};
use serde_json::json;

use super::{Action, Poll, Stamps, State};
use crate::models::{Mark, compact, edge, made_anew, refused, says, summary};

/// What the world has done.
#[derive(Clone, PartialEq, Hash, Default)]
pub(super) struct World {
    pub(super) steps: u8,
    pub(super) edits: u8,
    pub(super) starts: u8,
    pub(super) stream: Stream,
    /// The pieces that streamed, and the number of the stream.
    pub(super) pieces: u8,
    pub(super) streams: u8,
    /// Another message came behind its first piece.
    pub(super) overtaken: bool,
    /// The compaction that is open.
    pub(super) compacting: Option<String>,
    /// What a store counted that counts for itself.
    pub(super) counted: u64,
}

/// A message that comes in pieces.
#[derive(Clone, Copy, PartialEq, Hash, Default)]
pub(super) enum Stream {
    #[default]
    None,
    Open,
    /// Its turn was interrupted.
    Cut,
}

impl Poll {
    /// The stamp that the store gives.
    pub(super) fn stamp(&self, state: &State) -> Mark {
        match self.stamps {
            Stamps::EveryChange => state.kept.stamp.clone(),
            Stamps::Settled | Stamps::NoFirstPiece | Stamps::NoOvertaken | Stamps::NoLateWhole => {
                (state.kept.stamp.0.clone(), state.world.counted)
            }
            Stamps::BareCounter => (Default::default(), state.world.counted),
        }
    }

    /// Whether a store that counts for itself counts this step.
    fn counts(&self, action: Action, world: &World) -> bool {
        let of_stream = matches!(action, Action::Piece | Action::Whole);
        let open = world.stream == Stream::Open;
        let may_leave_out = of_stream && open && !world.overtaken;
        match self.stamps {
            Stamps::EveryChange | Stamps::BareCounter => true,
            Stamps::Settled => !may_leave_out,
            Stamps::NoFirstPiece => !may_leave_out && action != Action::Piece,
            Stamps::NoOvertaken => !(of_stream && open),
            Stamps::NoLateWhole => !may_leave_out && action != Action::Whole,
        }
    }

    /// A step of the world.
    pub(super) fn change(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let (kept, world) = (&state.kept, &mut next.world);
        world.steps += 1;
        let row = kept.record().next();
        let stream = format!("s{}", world.streams);
        next.kept = match action {
            Action::Say => {
                world.overtaken |= world.stream != Stream::None;
                kept.append(&format!("m{row}"), says("assistant", "The barn is red."))
            }
            Action::Edit => {
                world.edits += 1;
                let answer = kept.record().context().find(|row| is_answer(row))?;
                kept.append(&format!("e{row}"), made_anew(&answer.id, "The barn is blue."))
            }
            Action::Piece => {
                if world.stream == Stream::None {
                    (world.streams, world.pieces) = (world.streams + 1, 0);
                    world.overtaken = false;
                }
                world.pieces += 1;
                world.stream = Stream::Open;
                let piece = json!({ "event": { "type": "delta", "part": "text", "text": "The ",
                    "message": format!("s{}", world.streams) } });
                kept.append(&format!("d{row}"), piece)
            }
            Action::Whole => {
                world.stream = Stream::None;
                kept.append(&stream, says("assistant", "The barn is gone."))
            }
            Action::Interrupt => {
                world.stream = Stream::Cut;
                kept.append(&format!("t{row}"), edge("interrupted"))
            }
            Action::Begin => {
                let id = format!("k{row}");
                let cut = Cut::Budget(Budget::Messages(1));
                let (kept, outcome) = kept.perform(&compact(&id, Some(cut), None));
                world.compacting = Some(id);
                matches!(outcome, Outcome::Changed(changed) if !changed.rows.is_empty())
                    .then_some(kept)?
            }
            Action::Land => {
                let id = world.compacting.take()?;
                let (kept, outcome) = kept.perform(&compact(&id, None, Some(summary("A barn."))));
                match refused(&outcome) {
                    None => kept,
                    Some(_) => kept.perform(&compact(&id, None, Some(Ending::Cancelled {}))).0,
                }
            }
            Action::Restart => {
                world.starts += 1;
                world.compacting = None;
                if self.stamps == Stamps::BareCounter {
                    world.counted = 0;
                }
                kept.perform(&Op::Restart {}).0
            }
            Action::AskStamp | Action::Read | Action::Take => return None,
        };
        if action != Action::Restart {
            world.counted += u64::from(self.counts(action, &state.world));
        }
        Some(next)
    }
}

/// The model said it, and nothing else stands for it yet.
fn is_answer(row: &Row) -> bool {
    matches!(&row.event, Event::Message(message) if message.role == Role::Assistant)
        && row.is_append()
}
