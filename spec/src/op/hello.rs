//! What is under test: what it says of itself, and how it can break.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Op, Outcome};
use crate::target::Target;

/// What an implementation says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its name.
    pub name: String,
    /// Its version, and the pinned versions of what it puts under test.
    pub version: String,
    /// The language it is written in.
    pub language: String,
    /// The names of the ops that it performs.
    pub ops: Vec<String>,
    /// The targets that it replays to.
    pub targets: Vec<Target>,
    /// What it reports with a replay beside the payload.
    #[serde(default)]
    pub reports: Vec<Report>,
    /// The words that it uses where the spec leaves wording free.
    #[serde(default)]
    pub wordings: Wordings,
    /// What it cannot take, in words, for people.
    #[serde(default)]
    pub limits: Vec<String>,
}

/// What an implementation reports with a replay beside the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// Every repair, by name.
    Anomalies,
    /// What the rest of the request must respect.
    Constraints,
}

/// Phrases by which an implementation's markers are known, in any language. Each
/// is a piece of text that occurs in every such marker. An empty list means that
/// the judges look for common English words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wordings {
    /// A call did not complete.
    pub did_not_complete: Vec<String>,
    /// A call still runs.
    pub still_running: Vec<String>,
    /// An image was not seen.
    pub unseen: Vec<String>,
    /// The content of a result was cleared.
    pub cleared: Vec<String>,
    /// Arguments were not valid JSON.
    pub invalid_arguments: Vec<String>,
    /// The agent borrows a person's account.
    pub borrowed: Vec<String>,
    /// The expected account was not admitted.
    pub not_admitted: Vec<String>,
}

/// Everything that can be under test. An `open`, or a `load` that is not beside
/// others, makes it forget all that came before, so one value serves any number of
/// fixtures.
pub trait Implementation {
    /// Says what it is and what it does.
    fn hello(&mut self) -> Result<Hello, Fault>;

    /// Performs one step. What the implementation decides (a refusal, an op it
    /// does not do) is an [`Outcome`]; a [`Fault`] says that the program itself
    /// broke, which is never a verdict.
    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault>;
}

/// The program under test broke: an error of the adapter, never a pass and
/// never a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// How.
    pub kind: FaultKind,
    /// In words.
    pub message: String,
    /// The last of what it wrote to its own log.
    pub stderr: String,
}

/// How a program under test can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// It could not be started.
    NotStarted,
    /// It ended before it answered.
    Died,
    /// It did not answer in time.
    Timeout,
    /// Its output is not JSON.
    NotJson,
    /// Its output is JSON and no answer of the protocol.
    NotAnAnswer,
    /// It answered another request.
    WrongId,
    /// It wrote a line that is longer than the limit.
    TooLong,
    /// It answered with an error of its own.
    ErrorAnswer,
    /// It panicked, in process.
    Panicked,
}
