//! The reference: one way to keep a conversation and to replay it.
//!
//! Read it as an executable spec, in this order: [`record`] (what is held),
//! `load` and `append` (how rows come in), [`context`] (the rows that stand for
//! the model now), [`replay`] (what crosses to the model), `authority` (what
//! never replays), [`store`] (many conversations, and what is found again). Nothing here does I/O or knows a clock, and nothing panics.
//!
//! [`Reference`] puts all of it under test through the same trait as any other
//! program. It has no privileged way: it calls what is public here.
#![no_std]

extern crate alloc;

mod append;
pub mod archive;
mod authority;
mod balance;
pub mod bracket;
mod clear;
mod compact;
pub mod context;
mod cursor;
pub mod flags;
pub mod follow;
pub mod input;
mod keys;
mod load;
pub mod lookup;
pub mod migrate;
pub mod page;
mod policy;
pub mod recall;
pub mod record;
pub mod replay;
pub mod state;
pub mod store;
pub mod sync;
mod tokens;
pub mod transcript;
mod unanswered;
mod views;
pub mod window;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::json::{Json, to_json};
use onrecord_spec::op::{
    Bytes, Fault, FaultKind, Hello, Implementation, Input, Op, Outcome, Refusal, Replayed, Report,
    Wordings,
};
use onrecord_spec::target::Target;

pub use append::Appended;
pub use load::LONGEST_LINE;
pub use record::Record;
use replay::wording;
pub use store::Store;

/// The reference as an implementation under test: a store, held in memory.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    store: Store,
}

impl Reference {
    /// One that holds no record yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The record of the current conversation, if there is one.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.store.record()
    }

    fn held(&self) -> Result<&Record, Refused> {
        Ok(self.store.held()?)
    }

    fn outcome(&mut self, op: &Op) -> Result<Outcome, Refused> {
        let store = &mut self.store;
        match op {
            Op::Load { header, rows, beside } => {
                let record = Record::load(header.as_deref(), rows)?;
                let next = if *beside { store.begin_beside(record)? } else { store.begin(record) };
                Ok(Outcome::Loaded { next, damage: vec![] })
            }
            Op::Open { log } => {
                let (record, damage) = Record::open(&log.0)?;
                Ok(Outcome::Loaded { next: store.begin(record), damage })
            }
            Op::Enter { conversation } => {
                Ok(Outcome::Loaded { next: store.enter(conversation)?, damage: vec![] })
            }
            Op::Append { expect, rows } => {
                let appended = store.change(|record| record.append(*expect, rows))?;
                let record = self.held()?;
                let next = record.next();
                Ok(match appended {
                    Appended::Stored => Outcome::Appended { next },
                    Appended::Known(places) => {
                        Outcome::Known { next, rows: stored(record, places) }
                    }
                })
            }
            Op::Read { from, limit } => {
                let rows = self.held()?.read(from.unwrap_or(0), *limit);
                Ok(Outcome::Rows { rows: rows.map(to_json).collect::<Result<_, _>>()? })
            }
            Op::Log {} => Ok(Outcome::Log { bytes: Bytes(self.held()?.log().to_vec()) }),
            Op::Restart {} => {
                let (next, damage) = store.restart()?;
                Ok(Outcome::Loaded { next, damage })
            }
            Op::Replay(asked) => replayed(replay::replay(self.held()?, asked)),
            Op::Request { replay: asked, authority } => {
                replayed(replay::request(self.held()?, asked, authority))
            }
            Op::Context {} => Ok(Outcome::Context(state::context(self.held()?))),
            Op::Input { first, last, replay: asked } => {
                let input = input::input(self.held()?, first, last, asked)?;
                Ok(Outcome::Input(Input { rows: input.rows, replayed: written(input.replayed)? }))
            }
            Op::Compact(asked) => {
                Ok(Outcome::Changed(store.change(|record| record.compact(asked))?))
            }
            Op::Clear(asked) => Ok(Outcome::Changed(store.change(|record| record.clear(asked))?)),
            Op::Upgrade(asked) => {
                Ok(Outcome::Changed(store.change(|record| record.upgrade(asked))?))
            }
            Op::Transcript {} => {
                Ok(Outcome::Transcript { items: transcript::transcript(self.held()?)? })
            }
            Op::Follow { join } => {
                Ok(Outcome::Followed { events: follow::follow(self.held()?, *join)? })
            }
            Op::Page { limit, before } => {
                Ok(Outcome::Page(page::page(self.held()?, *limit, before.as_ref())?))
            }
            Op::Window { limit, at } => {
                Ok(Outcome::Window(window::window(self.held()?, *limit, at)?))
            }
            Op::Lookup(asked) => Ok(Outcome::Found { found: store.lookup(asked)? }),
            Op::Status { request } => {
                Ok(Outcome::Status { turn: lookup::status(self.held()?, request) })
            }
            Op::Delete { conversation } => {
                Ok(Outcome::Deleted { rows: store.delete(conversation.as_ref())? })
            }
            Op::Stamp {} => Ok(Outcome::Stamp(store.stamp()?)),
            Op::Sync { limit } => Ok(Outcome::Synced(store.sync(*limit)?)),
            Op::Recall { query } => Ok(Outcome::Recalled { hits: store.recall(query.as_ref())? }),
            Op::Archive { crash } => {
                Ok(store.archive(*crash)?.map_or(Outcome::Crashed {}, Outcome::Archived))
            }
            Op::Parts { conversation } => Ok(Outcome::Parts(store.parts(conversation.as_ref())?)),
            Op::Migrate(asked) => {
                Ok(store.migrate(asked)?.map_or(Outcome::Crashed {}, Outcome::Migrated))
            }
        }
    }
}

impl Implementation for Reference {
    fn hello(&mut self) -> Result<Hello, Fault> {
        let phrase = |words: &str| vec![words.to_string()];
        Ok(Hello {
            name: "reference".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            language: "Rust".to_string(),
            ops: Op::NAMES.map(ToString::to_string).into(),
            targets: Target::ALL.into(),
            reports: vec![Report::Anomalies, Report::Constraints],
            wordings: Wordings {
                did_not_complete: phrase(wording::DID_NOT_COMPLETE),
                still_running: phrase(wording::STILL_RUNNING),
                unseen: phrase(wording::UNSEEN),
                cleared: phrase(wording::CLEARED),
                invalid_arguments: phrase(wording::INVALID_ARGUMENTS),
                borrowed: phrase(wording::BORROWED),
                not_admitted: phrase(wording::NOT_ADMITTED),
            },
            limits: vec![],
        })
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        match self.outcome(op) {
            Ok(outcome) => Ok(outcome),
            Err(Refused::Refusal(refusal)) => Ok(Outcome::Refused(refusal)),
            Err(Refused::Unwritable(error)) => Err(Fault {
                kind: FaultKind::ErrorAnswer,
                message: format!("the outcome of `{}` cannot be written: {error}", op.name()),
                stderr: String::new(),
            }),
        }
    }
}

/// Why there is no outcome to hand over.
enum Refused {
    /// The op is refused.
    Refusal(Refusal),
    /// Its outcome could not be written as JSON.
    Unwritable(serde_json::Error),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl From<serde_json::Error> for Refused {
    fn from(error: serde_json::Error) -> Self {
        Self::Unwritable(error)
    }
}

/// The rows at these places, as they are stored.
fn stored(record: &Record, places: impl IntoIterator<Item = usize>) -> Vec<Json> {
    let rows = places.into_iter().filter_map(|place| record.read(place as u64, Some(1)).next());
    rows.map(ToOwned::to_owned).collect()
}

fn replayed(replayed: replay::Replayed<'_>) -> Result<Outcome, Refused> {
    Ok(Outcome::Replayed(written(replayed)?))
}

fn written(replayed: replay::Replayed<'_>) -> Result<Replayed, Refused> {
    Ok(Replayed {
        payload: to_json(&replayed.payload)?,
        anomalies: replayed.anomalies,
        constraints: replayed.constraints,
    })
}
