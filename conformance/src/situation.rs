//! What a reader must know of a case: the log that it stands on, and its steps in
//! words.

use std::collections::BTreeMap;

use onrecord_spec::json::{Fields, Json, RawValue};
use onrecord_spec::judge::Step;
use onrecord_spec::op::{
    ArchiveCrash, Budget, Compact, Cut, Ending, Key, Lookup, Migrate, Mode, Older, Op, Outcome,
    Replay,
};
use onrecord_spec::page::WindowAt;
use onrecord_spec::target::Profile;
use onrecord_spec::text::Text;

use crate::check::Situation;
use crate::fixture::Case;
use crate::words::{count, excerpt};

/// The header of a log whose conversation has no name.
const NAMELESS_HEADER: &str = r#"{"onrecord":1,"conversation":""}"#;

/// What a case is about, and what was asked of it; if nothing was, what would be.
pub(crate) fn of(case: &Case, asked: &[Step]) -> Situation {
    let asked: Vec<&Op> = match asked {
        [] => case.steps.iter().map(|step| &step.op).collect(),
        steps => steps.iter().map(|step| &step.op).collect(),
    };
    Situation {
        title: case.title.clone(),
        hunts: case.hunts.clone(),
        steps: asked.into_iter().map(in_words).collect(),
    }
}

/// The log of the current conversation that steps have made by this one (by their
/// end, if there is none), as JSON lines: it can be saved and replayed.
pub(crate) fn log(steps: &[Step], until: Option<usize>) -> Vec<String> {
    let mut logs: BTreeMap<Text, Vec<String>> = BTreeMap::new();
    let mut current = Text::default();
    let text = |row: &Json| row.get().to_string();
    for step in steps.iter().take(until.map_or(steps.len(), |until| until + 1)) {
        let begun = match (&step.op, &step.outcome) {
            (Op::Load { header, rows, .. }, _) => begin(header.as_ref(), rows.iter()),
            (Op::Open { log: bytes }, _) => {
                String::from_utf8_lossy(&bytes.0).lines().map(str::to_string).collect()
            }
            (Op::Migrate(Migrate { older: Some(older), .. }), _) => {
                let mut rows: Vec<&Json> = older.rows.iter().chain(&older.side).collect();
                rows.sort_by_key(|row| field::<u64>(row, "seq"));
                begin(older.header.as_ref(), rows.into_iter())
            }
            (Op::Enter { conversation }, Outcome::Loaded { .. }) => {
                current = conversation.clone();
                continue;
            }
            (Op::Append { .. }, Outcome::Known { .. }) => continue,
            (Op::Append { rows, .. }, _) => {
                logs.entry(current.clone()).or_default().extend(rows.iter().map(text));
                continue;
            }
            (_, Outcome::Changed(changed)) => {
                logs.entry(current.clone()).or_default().extend(changed.rows.iter().map(text));
                continue;
            }
            (_, _) => continue,
        };
        if !matches!(step.op, Op::Load { beside: true, .. }) {
            logs.clear();
        }
        let header = begun.first().and_then(|line| onrecord_spec::json::keep(line).ok());
        current = header.and_then(|raw| field(&raw, "conversation")).unwrap_or_default();
        logs.insert(current.clone(), begun);
    }
    logs.remove(&current).unwrap_or_default()
}

/// The log of a record that begins with these rows.
fn begin<'a>(header: Option<&Json>, rows: impl Iterator<Item = &'a Json>) -> Vec<String> {
    let header = header.map_or(NAMELESS_HEADER, |header| header.get());
    std::iter::once(header.to_string()).chain(rows.map(|row| row.get().to_string())).collect()
}

/// A field of a header or a row, if it is there and of its kind.
fn field<T: serde::de::DeserializeOwned>(raw: &RawValue, name: &str) -> Option<T> {
    Fields::open(raw).ok()?.take(name, "another value").ok()?
}

fn in_words(op: &Op) -> String {
    match op {
        Op::Load { rows, beside, .. } => {
            let beside = if *beside { ", beside what is held" } else { "" };
            format!("load {}{beside}", count(rows.len(), "row"))
        }
        Op::Open { log } => format!("open a log of {}", count(log.0.len(), "byte")),
        Op::Append { expect, rows } => format!("append {} at {expect}", count(rows.len(), "row")),
        Op::Read { from, limit } => {
            let limit = limit.map(|limit| format!(", {limit} at the most")).unwrap_or_default();
            format!("read from {}{limit}", from.unwrap_or(0))
        }
        Op::Log {} => "log".to_string(),
        Op::Restart {} => "restart".to_string(),
        Op::Replay(replay) => format!("replay to {}", asked(replay)),
        Op::Request { replay, authority } => {
            let json = serde_json::to_string(authority).unwrap_or_default();
            format!("request to {}, facts {json}", asked(replay))
        }
        Op::Input { first, last, replay } => {
            format!("input of {} to {}, replayed to {}", name(first), name(last), asked(replay))
        }
        Op::Context {} => "context".to_string(),
        Op::Compact(compact) => compaction(compact),
        Op::Clear(clear) => format!("clear all but the newest {}", count_of(clear.keep, "result")),
        Op::Upgrade(upgrade) => format!("upgrade the summary {}", name(&upgrade.summary)),
        Op::Transcript {} => "transcript".to_string(),
        Op::Follow { join } => format!("follow from row {join} on"),
        Op::Page { limit, before } => match before {
            Some(_) => format!("page of {limit} before a cursor"),
            None => format!("page of {limit}"),
        },
        Op::Window { limit, at } => {
            let limit = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
            match at {
                WindowAt::Newest => format!("window{limit}, the newest"),
                WindowAt::Before(row) => format!("window{limit} before {}", name(row)),
                WindowAt::From(row) => format!("window{limit} from {}", name(row)),
            }
        }
        Op::Enter { conversation } => format!("enter {}", name(conversation)),
        Op::Lookup(Lookup { by, conversation }) => {
            let (what, key) = match by {
                Key::Row(id) => ("row", id),
                Key::Request(key) => ("request", key),
                Key::Report(key) => ("report", key),
            };
            format!("look up the {what} {}{}", name(key), whose(conversation.as_ref()))
        }
        Op::Status { request } => format!("status of the request {}", name(request)),
        Op::Delete { conversation } => {
            format!("delete the conversation{}", whose(conversation.as_ref()))
        }
        Op::Stamp {} => "stamp".to_string(),
        Op::Sync { limit } => match limit {
            Some(limit) => format!("sync, of the newest {limit}"),
            None => "sync".to_string(),
        },
        Op::Recall { query } => match query {
            Some(query) => format!("recall {}", name(query)),
            None => "recall everything".to_string(),
        },
        Op::Archive { crash } => match crash {
            None => "write to the archive".to_string(),
            Some(ArchiveCrash::HalfPart) => {
                "write to the archive, and die in the middle of the part".to_string()
            }
            Some(ArchiveCrash::AfterPart) => {
                "write to the archive, and die between part and manifest".to_string()
            }
        },
        Op::Parts { conversation } => format!("the archive{}", whose(conversation.as_ref())),
        Op::Migrate(Migrate { older, crash }) => {
            let from = match older {
                Some(Older { rows, side, .. }) => {
                    format!(" of {} and {} of the side table", count(rows.len(), "row"), side.len())
                }
                None => String::new(),
            };
            let dies = if *crash { ", and die on the way" } else { "" };
            format!("start on an older store{from}{dies}")
        }
    }
}

fn compaction(compact: &Compact) -> String {
    let taken = match &compact.cut {
        None => String::new(),
        Some(Cut::Range { first, last }) => format!(" of {} to {}", name(first), name(last)),
        Some(Cut::Nearest { first, last }) => {
            format!(" of what is nearest to {} to {}", name(first), name(last))
        }
        Some(Cut::Budget(Budget::Messages(most))) => {
            format!(" down to {}", count_of(*most, "message"))
        }
        Some(Cut::Budget(Budget::Tokens(most))) => format!(" down to {}", count_of(*most, "token")),
    };
    let end = match &compact.end {
        None => ", left open",
        Some(Ending::Summary(summary)) if summary.error => ", ended with an error for a summary",
        Some(Ending::Summary(_)) => ", ended with a summary",
        Some(Ending::Failed { .. }) => ", failed",
        Some(Ending::Cancelled {}) => ", cancelled",
    };
    let turn = match (&compact.cut, compact.turn) {
        (Some(_), Mode::Cold) => ", the turn is cold",
        (Some(_), Mode::Running) | (None, _) => "",
    };
    format!("compaction {}{taken}{end}{turn}", name(&compact.id))
}

/// Which conversation, if it is not the current one.
fn whose(conversation: Option<&Text>) -> String {
    conversation.map(|conversation| format!(" of {}", name(conversation))).unwrap_or_default()
}

fn name(id: &Text) -> String {
    format!("`{}`", excerpt(&id.to_unicode(), 40))
}

fn count_of(number: u64, thing: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), thing)
}

/// What a replay is made for, without what is so by default.
fn asked(replay: &Replay) -> String {
    let fields = |profile: &Profile| -> BTreeMap<String, Box<RawValue>> {
        let json = serde_json::to_string(profile).unwrap_or_default();
        serde_json::from_str(&json).unwrap_or_default()
    };
    let plain = fields(&Profile::default());
    let differs =
        |name: &str, raw: &RawValue| plain.get(name).map(|raw| raw.get()) != Some(raw.get());
    let mut words = replay.target.name().to_string();
    for (name, raw) in fields(&replay.profile) {
        if differs(&name, &raw) {
            words.push_str(&format!(", {name} {}", raw.get()));
        }
    }
    match replay.mode {
        Mode::Running => words.push_str(", running"),
        Mode::Cold => {}
    }
    words
}
