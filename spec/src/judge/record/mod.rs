//! The judges of chapter `record`.

mod kept;
mod opened;
mod refused;

use alloc::collections::BTreeSet;
use alloc::format;

pub(super) use kept::{
    append_only, blocks_typed, call_started, kinds_exhaustive, one_history, verbatim,
};
pub(super) use opened::{load_read_only, torn_tail};
pub(super) use refused::{expected_seq, expected_shape, seq_gap_free, unknown_row, version};

use super::canary::Class;
use super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::record::{Event, Status};
use crate::rule::Rule;

/// `record.interrupted-kept`: what an interrupted message delivered crosses once,
/// and nothing of a failed attempt crosses.
pub(super) fn interrupted_kept(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in evidence.alive() {
        let live: BTreeSet<u64> = crossing.context.pieces.iter().map(|piece| piece.seq).collect();
        for row in crossing.rows {
            let Event::Message(message) = &row.event else { continue };
            let finding = |message| {
                Finding::new(Rule::RecordInterruptedKept, crossing.asked.step, message).row(row.seq)
            };
            let mine = crossing.seen.needles.texts.iter().enumerate().filter(|(needle, _)| {
                let sources = &crossing.seen.needles.sources[*needle];
                let only_here = sources.iter().all(|(seq, _)| *seq == row.seq);
                let said = sources.iter().any(|(_, class)| matches!(class, Class::Said(_)));
                only_here
                    && (said || message.is_failed())
                    && crossing.seen.needles.is_strong(*needle)
            });
            match message.status {
                Some(Status::Interrupted) if live.contains(&row.seq) => {
                    ruling.witness();
                    for (_, text) in mine {
                        let times = crossing.seen.of_text(text).count();
                        if times != 1 {
                            ruling.find(finding(format!(
                                "what this interrupted message had delivered crosses {times} times: {text:?}"
                            )));
                        }
                    }
                }
                Some(Status::Failed) => {
                    ruling.witness();
                    for (_, text) in mine {
                        if let Some(sighting) = crossing.seen.of_text(text).next() {
                            let path = crossing.seen.place(sighting).path;
                            ruling.find(
                                finding(format!("this failed attempt crosses: {text:?}")).at(path),
                            );
                        }
                    }
                }
                Some(Status::Interrupted | Status::Complete) | None => {}
            }
        }
    }
    ruling
}
