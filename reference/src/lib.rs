//! The reference: one way to keep a conversation and to replay it.
//!
//! Read it as an executable spec, in this order: [`record`] (what is held),
//! `load` and `append` (how rows come in), [`context`] (the rows that stand for
//! the model now), [`replay`] (what crosses to the model), `authority` (what
//! never replays). Nothing here does I/O or knows a clock, and nothing panics.
//!
//! [`Reference`] puts all of it under test through the same trait as any other
//! program. It has no privileged way: it calls what is public here.
#![no_std]

extern crate alloc;

mod append;
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
mod load;
pub mod page;
mod policy;
pub mod record;
pub mod replay;
pub mod state;
mod tokens;
pub mod transcript;
mod unanswered;
mod views;
pub mod window;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

use onrecord_spec::json::to_json;
use onrecord_spec::op::{
    Bytes, Fault, FaultKind, Hello, Implementation, Input, Op, Outcome, Refusal, RefusalCode,
    Replayed, Report, Wordings,
};
use onrecord_spec::target::Target;

pub use load::LONGEST_LINE;
pub use record::Record;
use replay::wording;

/// The reference as an implementation under test: at most one record, held in
/// memory.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    record: Option<Record>,
}

impl Reference {
    /// One that holds no record yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The record that is held, if there is one.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    fn held(&self) -> Result<&Record, Refused> {
        self.record.as_ref().ok_or_else(|| Refused::Refusal(no_record()))
    }

    fn held_mut(&mut self) -> Result<&mut Record, Refused> {
        self.record.as_mut().ok_or_else(|| Refused::Refusal(no_record()))
    }

    fn outcome(&mut self, op: &Op) -> Result<Outcome, Refused> {
        match op {
            Op::Load { header, rows } => {
                let record = Record::load(header.as_deref(), rows)?;
                let next = self.record.insert(record).next();
                Ok(Outcome::Loaded { next, damage: vec![] })
            }
            Op::Open { log } => {
                let (record, damage) = Record::open(&log.0)?;
                let next = self.record.insert(record).next();
                Ok(Outcome::Loaded { next, damage })
            }
            Op::Append { expect, rows } => {
                let record = self.record.as_mut().ok_or_else(no_record)?;
                Ok(Outcome::Appended { next: record.append(*expect, rows)? })
            }
            Op::Read { from, limit } => {
                let rows = self.held()?.read(from.unwrap_or(0), *limit);
                Ok(Outcome::Rows { rows: rows.map(to_json).collect::<Result<_, _>>()? })
            }
            Op::Log {} => Ok(Outcome::Log { bytes: Bytes(self.held()?.log().to_vec()) }),
            Op::Restart {} => {
                let (record, damage) = Record::open(self.held()?.log())?;
                let next = self.record.insert(record).next();
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
            Op::Compact(asked) => Ok(Outcome::Changed(self.held_mut()?.compact(asked)?)),
            Op::Clear(asked) => Ok(Outcome::Changed(self.held_mut()?.clear(asked)?)),
            Op::Upgrade(asked) => Ok(Outcome::Changed(self.held_mut()?.upgrade(asked)?)),
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

fn no_record() -> Refusal {
    Refusal {
        code: RefusalCode::NoRecord,
        seq: None,
        detail: "no record is held; `load` or `open` one first".to_string(),
    }
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
