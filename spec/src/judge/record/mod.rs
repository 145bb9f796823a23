//! The judges of chapter `record`.

mod kept;
mod opened;
mod refused;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) use kept::{
    append_only, blocks_typed, call_started, kinds_exhaustive, one_history, verbatim,
};
pub(super) use opened::{load_read_only, torn_tail};
pub(super) use refused::{expected_seq, expected_shape, seq_gap_free, unknown_row, version};

use super::canary::Class;
use super::context::What;
use super::crossing::Crossing;
use super::evidence::Evidence;
use crate::finding::{Finding, Ruling};
use crate::record::{DeltaPart, Event, Row, Status};
use crate::rule::Rule;
use crate::text::Text;

/// `record.interrupted-kept`: what an interrupted message delivered crosses once,
/// and nothing of a failed attempt crosses.
pub(super) fn interrupted_kept(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in &evidence.crossings {
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
        streams(crossing, &mut ruling);
    }
    ruling
}

/// Pieces of a stream cross as one message where the whole never came, and
/// nowhere beside it where it did.
fn streams(crossing: &Crossing<'_>, ruling: &mut Ruling) {
    let finding = |seq: u64, message: String| {
        Finding::new(Rule::RecordInterruptedKept, crossing.asked.step, message).row(seq)
    };
    for piece in crossing.context.pieces.iter().filter(|piece| piece.streamed) {
        let What::Said(_, text) = &piece.what else { continue };
        if text.trim().is_empty() {
            continue;
        }
        ruling.witness();
        let times = crossing.seen.of_text(text).count();
        if times != 1 {
            let message =
                format!("what was streamed before the end crosses {times} times: {text:?}");
            ruling.find(finding(piece.seq, message));
        }
    }
    for (id, seq, text) in streamed_beside_their_message(crossing.rows) {
        ruling.witness();
        let needle = crossing.seen.needles.find(&text);
        let only_here = needle.is_some_and(|needle| {
            crossing.seen.needles.sources[needle].iter().all(|(from, _)| *from == seq)
        });
        if only_here && let Some(sighting) = crossing.seen.of_text(&text).next() {
            let message = format!("the pieces of message `{id}` cross beside it: {text:?}");
            ruling.find(finding(seq, message).at(crossing.seen.place(sighting).path));
        }
    }
}

/// The streams whose whole message was stored: its id, the row of the first
/// piece, and the pieces joined.
fn streamed_beside_their_message(rows: &[Row]) -> Vec<(&Text, u64, String)> {
    let written: BTreeSet<&Text> = rows.iter().map(|row| &row.id).collect();
    let mut streams: BTreeMap<&Text, (u64, String)> = BTreeMap::new();
    for row in rows {
        if let Event::Delta(delta) = &row.event
            && delta.part == DeltaPart::Text
            && written.contains(&delta.message)
        {
            let stream = streams.entry(&delta.message).or_insert((row.seq, String::new()));
            stream.1.push_str(&delta.text.to_unicode());
        }
    }
    streams.into_iter().map(|(id, (seq, text))| (id, seq, text)).collect()
}
