//! The one alphabet: the fixture's step, the protocol's request, the fuzzer's
//! alphabet, the benchmark's workload. And the trait of everything under test.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::Json;
use crate::record::Provenance;
use crate::target::{Profile, Target};
use crate::text::Text;

/// One step. Written as `{"<name>": {…}}`; in the protocol the name is the
/// method and the rest its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Op {
    /// Forget everything and hold the record made of these rows.
    Load {
        /// The header; absent means one for a nameless conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Json>,
        /// The rows.
        rows: Vec<Json>,
    },
    /// Forget everything and hold the record that a log file with these bytes
    /// stands for.
    Open {
        /// The file's content.
        log: Bytes,
    },
    /// Add rows at the end: all of them or none.
    Append {
        /// The seq that the first of them will have, as the writer believes.
        expect: u64,
        /// The rows.
        rows: Vec<Json>,
    },
    /// Hand over stored rows.
    Read {
        /// The seq of the first; absent means 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
        /// How many at the most; absent means all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    },
    /// Hand over the bytes of the log as they stand on disk.
    Log {},
    /// Forget what is in memory and load again from what was stored.
    Restart {},
    /// Project the context to a target's wire.
    Replay(Replay),
    /// A replay with the runtime's own facts, made fresh for this request.
    Request {
        /// The replay.
        replay: Replay,
        /// The facts of this request.
        authority: Facts,
    },
}

/// What a replay is made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The target.
    pub target: Target,
    /// What the model behind it can do.
    #[serde(default)]
    pub profile: Profile,
    /// Whether the turn at the tail is still live.
    #[serde(default)]
    pub mode: Mode,
}

/// Whether the turn at the tail is still live (`replay.running-or-cold`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It is: an open call at the tail is pending.
    Running,
    /// It is not: an open call will never complete.
    #[default]
    Cold,
}

/// The runtime's own facts for one request (`authority.fresh`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Whether the agent acts under an account of its own.
    pub mode: AuthorityMode,
    /// The user that the process really runs as.
    pub user: Text,
    /// The account that the agent is meant to have.
    pub expected_account: Text,
    /// Whether that account was admitted.
    pub admitted: bool,
    /// The machine.
    pub node: Text,
    /// How the actual state departs from the expected, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Text>,
}

/// Whether the agent acts under an account of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AuthorityMode {
    /// It does.
    Dedicated,
    /// It borrows a person's.
    Borrowed,
}

/// Bytes: a string where they are valid UTF-8, `{"base64": "…"}` otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

/// What came back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// Of `load`, `open` and `restart`: a record is held.
    Loaded {
        /// The seq that the next row will have.
        next: u64,
        /// What was damaged in the log, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        damage: Vec<Damage>,
    },
    /// Of `append`: the rows are stored.
    Appended {
        /// The seq that the next row will have.
        next: u64,
    },
    /// Of `read`.
    Rows {
        /// The rows, as they were stored.
        rows: Vec<Json>,
    },
    /// Of `log`.
    Log {
        /// The bytes.
        bytes: Bytes,
    },
    /// Of `replay` and `request`.
    Replayed(Replayed),
    /// It was refused, and nothing was changed.
    Refused(Refusal),
    /// The implementation does not do this.
    Unsupported {
        /// Why.
        reason: String,
    },
}

/// Damage in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Damage {
    /// The offset of the first damaged byte, or of the line that holds it.
    pub offset: u64,
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// What a replay yields.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replayed {
    /// The part of the request's body that the history fills: `messages`, and
    /// `system` where the target has it apart.
    pub payload: Json,
    /// Every repair, by name.
    #[serde(default)]
    pub anomalies: Vec<Anomaly>,
    /// What the rest of the request must respect.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
}

/// One repair, with the row that needed it (`replay.anomalies-named`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Anomaly {
    /// What was done.
    pub name: AnomalyName,
    /// The seq of the row that it was done for; absent for what belongs to no
    /// row, like a message added at an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// The names of repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AnomalyName {
    /// A call without a result was answered as did-not-complete; the row is the
    /// call's.
    Answered,
    /// A call that still runs was answered as pending; the row is the call's.
    Pending,
    /// A result without a call, or a second one for a call, became prose.
    Degraded,
    /// A result moved to its call from after another row, or from before it.
    Moved,
    /// An id that the target refuses was mapped; the row is the call's.
    Mapped,
    /// Arguments or text that the target refuses cross in a valid form.
    Mended,
    /// Something has no valid form and does not cross: reasoning, an empty
    /// block, a stale authority block.
    Omitted,
    /// An image does not cross, and a marker says so.
    Unseen,
    /// The target demands a form that the record does not fill, and a
    /// documented stand-in does.
    StoodIn,
    /// A message was added before the first one.
    Opened,
    /// A message was added after the last one.
    Closed,
}

/// What a request must respect (`replay.constraints-said`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Constraint {
    /// Thinking must be off: the history's open tool loop does not begin with a
    /// valid thinking block (ANT-15).
    ThinkingOff,
    /// These tools must be declared, inertly at least: the history calls them
    /// (ANT-22).
    DeclareTools(Vec<String>),
    /// A stand-in was used for the row with this seq.
    StandIn(u64),
}

/// Why an op was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The reason.
    pub code: RefusalCode,
    /// The seq of the row that was refused, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The reason in words: what, where, and what would do.
    pub detail: String,
}

/// The reasons for which an op is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCode {
    /// No record is held: nothing was loaded.
    NoRecord,
    /// The log has no readable header.
    NoHeader,
    /// The format is newer (`record.version`).
    NewerVersion,
    /// A row's seq is a gap, a repeat or a step back (`record.seq-gap-free`).
    WrongSeq,
    /// Another writer was there first (`record.expected-seq`).
    Conflict,
    /// Two rows have one id (`record.expected-shape`).
    DuplicateId,
    /// A row hangs from a row that is not there (`record.expected-shape`).
    UnknownParent,
    /// The event's type is unknown (`record.unknown-row`).
    UnknownType,
    /// A row is not of its shape (`record.expected-shape`).
    Malformed,
    /// A replacement names a range that is not in the context.
    NotInContext,
    /// A row carries an authority block (`authority.never-stored`).
    AuthorityStored,
}

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
    /// Arguments were not valid JSON.
    pub invalid_arguments: Vec<String>,
    /// The agent borrows a person's account.
    pub borrowed: Vec<String>,
    /// The expected account was not admitted.
    pub not_admitted: Vec<String>,
}

/// Everything that can be under test. A fresh `load` or `open` makes it forget
/// all that came before, so one value serves any number of fixtures.
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

impl Op {
    /// The names of all ops, as they are written.
    pub const NAMES: [&'static str; 8] =
        ["load", "open", "append", "read", "log", "restart", "replay", "request"];

    /// The op's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Load { .. } => Self::NAMES[0],
            Self::Open { .. } => Self::NAMES[1],
            Self::Append { .. } => Self::NAMES[2],
            Self::Read { .. } => Self::NAMES[3],
            Self::Log {} => Self::NAMES[4],
            Self::Restart {} => Self::NAMES[5],
            Self::Replay(_) => Self::NAMES[6],
            Self::Request { .. } => Self::NAMES[7],
        }
    }

    /// The replay that the op asks for, if it asks for one.
    #[must_use]
    pub fn replay(&self) -> Option<&Replay> {
        match self {
            Self::Replay(replay) | Self::Request { replay, .. } => Some(replay),
            Self::Load { .. }
            | Self::Open { .. }
            | Self::Append { .. }
            | Self::Read { .. }
            | Self::Log {}
            | Self::Restart {} => None,
        }
    }
}

impl Replay {
    /// A cold replay to a target whose model has the default abilities.
    #[must_use]
    pub fn to(target: Target) -> Self {
        Self { target, profile: Profile::default(), mode: Mode::Cold }
    }

    /// Whose reasoning the model accepts.
    #[must_use]
    pub fn model(&self) -> Option<&Provenance> {
        self.profile.model.as_ref()
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match core::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut object = serializer.serialize_map(Some(1))?;
                object.serialize_entry("base64", &STANDARD.encode(&self.0))?;
                object.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;
        impl<'de> Visitor<'de> for BytesVisitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or an object with one field `base64`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bytes, A::Error> {
                match map.next_entry::<String, String>()? {
                    Some((name, text)) if name == "base64" => STANDARD
                        .decode(text)
                        .map(Bytes)
                        .map_err(|error| de::Error::custom(alloc::format!("base64: {error}"))),
                    Some(_) | None => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
                }
            }
        }
        deserializer.deserialize_any(BytesVisitor)
    }
}
