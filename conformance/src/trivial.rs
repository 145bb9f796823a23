//! Implementations that do nothing of use. Each gives well-formed outcomes to
//! every op; none keeps or replays a record. A check that passes for one of them
//! checks nothing, unless its fixture says why it may.

use onrecord_spec::archive::{Archived, Manifest, Part, Parts};
use onrecord_spec::found::{Found, Hit};
use onrecord_spec::json::{Fields, Json, Malformed, keep};
use onrecord_spec::op::{
    Bytes, Changed, Context, ContextRow, Fault, FaultKind, Hello, Implementation, Input, Migrate,
    Migrated, Op, Outcome, Refusal, RefusalCode, Replayed, Report, Wordings,
};
use onrecord_spec::page::{Page, Window};
use onrecord_spec::sync::{Span, Stamp, Synced};
use onrecord_spec::target::Target;
use onrecord_spec::text::Text;

/// A trivial implementation.
#[derive(Debug, Clone)]
pub struct Trivial {
    kind: Kind,
    rows: Vec<Json>,
}

/// The kinds of trivial implementations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers every op with as little as its outcome can hold.
    Null,
    /// Keeps the rows as they come, and replays them as one text.
    Echo,
    /// Replays the same short conversation, whatever was stored.
    Constant,
    /// Refuses every op.
    AlwaysRefuse,
    /// Counts the rows, drops them, and replays a valid wire without them.
    DropAll,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Null, Self::Echo, Self::Constant, Self::AlwaysRefuse, Self::DropAll];

    /// The name by which fixtures know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Echo => "echo",
            Self::Constant => "constant",
            Self::AlwaysRefuse => "always-refuse",
            Self::DropAll => "drop-all",
        }
    }
}

impl Trivial {
    /// A trivial implementation of this kind.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, rows: Vec::new() }
    }

    /// How many rows it says it holds.
    fn next(&self) -> u64 {
        match self.kind {
            Kind::Null | Kind::AlwaysRefuse => 0,
            Kind::Constant => 1,
            Kind::Echo | Kind::DropAll => self.rows.len() as u64,
        }
    }

    fn payload(&self) -> Result<Json, Malformed> {
        match self.kind {
            Kind::Null | Kind::AlwaysRefuse => keep("{}"),
            Kind::Echo => {
                let rows: Vec<&str> = self.rows.iter().map(|row| row.get()).collect();
                let text = serde_json::to_string(&rows.join("\n"))
                    .map_err(|error| Malformed::new(error.to_string()))?;
                keep(&format!(r#"{{"messages":[{{"role":"user","content":{text}}}]}}"#))
            }
            Kind::Constant => keep(
                r#"{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hello"},{"role":"user","content":"go on"}]}"#,
            ),
            Kind::DropAll => keep(r#"{"messages":[{"role":"user","content":"go on"}]}"#),
        }
    }

    fn replayed(&self) -> Result<Replayed, Fault> {
        let payload = self.payload().map_err(|error| Fault {
            kind: FaultKind::ErrorAnswer,
            message: error.to_string(),
            stderr: String::new(),
        })?;
        Ok(Replayed { payload, anomalies: Vec::new(), constraints: Vec::new() })
    }

    /// The ids of the rows that it keeps.
    fn ids(&self) -> impl Iterator<Item = Text> {
        let rows = self.kept().into_iter();
        rows.filter_map(|row| Fields::open(&row).ok()?.take("id", "a string").ok()?)
    }

    /// The first row that it keeps, whatever was looked up.
    fn found(&self) -> Option<Found> {
        Some(Found { row: self.kept().first()?.clone(), left: None })
    }

    /// All that it keeps, as one part.
    fn part(&self) -> Vec<Part> {
        let rows: Vec<String> = self.kept().iter().map(|row| row.get().to_string()).collect();
        let bytes = Bytes(rows.join("\n").into_bytes());
        if rows.is_empty() { Vec::new() } else { vec![Part { name: "part".into(), bytes }] }
    }

    fn kept(&self) -> Vec<Json> {
        if self.kind == Kind::Echo { self.rows.clone() } else { Vec::new() }
    }
}

impl Implementation for Trivial {
    fn hello(&mut self) -> Result<Hello, Fault> {
        Ok(Hello {
            name: self.kind.name().to_string(),
            version: "1".to_string(),
            language: "rust".to_string(),
            ops: Op::NAMES.map(String::from).to_vec(),
            targets: Target::ALL.to_vec(),
            reports: vec![Report::Anomalies, Report::Constraints],
            wordings: Wordings::default(),
            limits: Vec::new(),
        })
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        if self.kind == Kind::AlwaysRefuse {
            return Ok(Outcome::Refused(Refusal {
                code: RefusalCode::Malformed,
                seq: None,
                detail: "no".to_string(),
            }));
        }
        Ok(match op {
            Op::Load { rows, .. } => {
                self.rows.clone_from(rows);
                Outcome::Loaded { next: self.next(), damage: Vec::new() }
            }
            Op::Open { .. } => {
                self.rows.clear();
                Outcome::Loaded { next: self.next(), damage: Vec::new() }
            }
            Op::Append { rows, .. } => {
                self.rows.extend(rows.iter().cloned());
                Outcome::Appended { next: self.next() }
            }
            Op::Read { .. } => Outcome::Rows { rows: self.kept() },
            Op::Log {} => Outcome::Log { bytes: Bytes(Vec::new()) },
            Op::Restart {} => Outcome::Loaded { next: self.next(), damage: Vec::new() },
            Op::Replay(_) | Op::Request { .. } => Outcome::Replayed(self.replayed()?),
            Op::Context {} => Outcome::Context(Context {
                rows: self.ids().map(|id| ContextRow { id, parent: None }).collect(),
                left: Vec::new(),
                summaries: Vec::new(),
                tokens: Some(0),
            }),
            Op::Input { .. } => {
                Outcome::Input(Input { rows: self.kept(), replayed: self.replayed()? })
            }
            Op::Compact(_) | Op::Clear(_) | Op::Upgrade(_) => {
                Outcome::Changed(Changed { next: self.next(), rows: Vec::new(), taken: Vec::new() })
            }
            Op::Transcript {} => Outcome::Transcript { items: Vec::new() },
            Op::Follow { .. } => Outcome::Followed { events: Vec::new() },
            Op::Page { .. } => Outcome::Page(Page {
                rows: self.kept(),
                older: false,
                before: None,
                upto: self.next(),
            }),
            Op::Window { .. } => Outcome::Window(Window {
                rows: self.kept(),
                hangs: Vec::new(),
                older: false,
                newer: false,
                upto: self.next(),
            }),
            Op::Enter { .. } => Outcome::Loaded { next: self.next(), damage: Vec::new() },
            Op::Lookup(_) => Outcome::Found { found: self.found() },
            Op::Status { .. } => Outcome::Status { turn: None },
            Op::Delete { .. } => Outcome::Deleted { rows: 0 },
            Op::Stamp {} => Outcome::Stamp(Stamp { epoch: "epoch".into(), version: self.next() }),
            Op::Sync { .. } => {
                Outcome::Synced(Synced { rows: self.kept(), reads: Vec::new(), cached: None })
            }
            Op::Recall { .. } => {
                let hit = |row| Hit { conversation: Text::default(), row, left: None };
                Outcome::Recalled { hits: self.ids().map(hit).collect() }
            }
            Op::Archive { crash: Some(_) } | Op::Migrate(Migrate { crash: true, .. }) => {
                Outcome::Crashed {}
            }
            Op::Archive { crash: None } => Outcome::Archived(Archived {
                part: None,
                bytes: 0,
                read: Span { from: 0, upto: self.next() },
            }),
            Op::Parts { .. } => {
                Outcome::Parts(Parts { parts: self.part(), manifest: Manifest::default() })
            }
            Op::Migrate(Migrate { older, crash: false }) => {
                if let Some(older) = older {
                    self.rows.clone_from(&older.rows);
                }
                Outcome::Migrated(Migrated { next: self.next(), returned: 0, side: 0 })
            }
        })
    }
}
