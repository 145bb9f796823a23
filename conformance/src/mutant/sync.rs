//! Mutants of the chapter `sync`.

use onrecord_spec::op::{Implementation, Op, Outcome};
use onrecord_spec::rule::Rule;
use serde_json::json;

use super::Mutant;
use super::edit::{answer, changed};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "replaces-what-it-holds",
        Rule::SyncJoin,
        "A client drops what it held and keeps the newest page alone.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                changed(&mut outcome, |synced| {
                    let from = synced["reads"]
                        .as_array()
                        .and_then(|reads| reads.last())
                        .map(|read| read["from"].clone());
                    if let (Some(from), Some(rows)) = (from, synced["rows"].as_array_mut()) {
                        rows.retain(|row| row["seq"].as_u64() >= from.as_u64());
                    }
                });
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "a-counter-without-epoch",
        Rule::SyncStamp,
        "A stamp is a bare counter that begins anew with each process.",
        || answer(&["stamp"], |stamp| stamp["epoch"] = json!("the-same")),
    )
    .famous(),
    Mutant::new(
        "a-stamp-of-the-length",
        Rule::SyncStamp,
        "The version is how many rows there are that stand for the model.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Stamp(stamp) = &mut outcome
                    && let Outcome::Context(context) = reference.perform(&Op::Context {})?
                {
                    stamp.version = context.rows.len() as u64;
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "caches-before-it-settled",
        Rule::SyncSettled,
        "A client remembers the stamp while something that it read is still being written.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Synced(synced) = &mut outcome
                    && synced.cached.is_none()
                    && let Outcome::Stamp(stamp) = reference.perform(&Op::Stamp {})?
                {
                    synced.cached = Some(stamp);
                }
                Ok(outcome)
            })
        },
    )
    .famous(),
    Mutant::new(
        "reads-everything",
        Rule::SyncNewestOnly,
        "Each poll that found something moved reads the conversation from its beginning.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let (Op::Sync { .. }, Outcome::Synced(synced)) = (op, &mut outcome) {
                    for read in &mut synced.reads {
                        read.from = 0;
                    }
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "reads-to-see-that-nothing-moved",
        Rule::SyncCheap,
        "A poll reads the newest page whether something moved or not.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Synced(synced) = &mut outcome
                    && synced.reads.is_empty()
                {
                    let upto = synced.rows.len() as u64;
                    synced
                        .reads
                        .push(onrecord_spec::sync::Span { from: upto.saturating_sub(1), upto });
                }
                Ok(outcome)
            })
        },
    ),
];
