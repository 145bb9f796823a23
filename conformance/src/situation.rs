//! What a reader must know of a case: the log that it stands on, and its steps in
//! words.

use std::collections::BTreeMap;

use onrecord_spec::json::RawValue;
use onrecord_spec::op::{Mode, Op, Replay};
use onrecord_spec::target::Profile;

use crate::check::Situation;
use crate::fixture::Case;
use crate::words::count;

/// The header of a log whose conversation has no name.
const NAMELESS_HEADER: &str = r#"{"onrecord":1,"conversation":""}"#;

/// What a case is about.
pub(crate) fn of(case: &Case) -> Situation {
    Situation {
        title: case.title.clone(),
        hunts: case.hunts.clone(),
        steps: case.steps.iter().map(|step| in_words(&step.op)).collect(),
    }
}

/// The log that a case has made by this step (by its end, if there is none), as
/// JSON lines: it can be saved and replayed.
pub(crate) fn log(case: &Case, until: Option<usize>) -> Vec<String> {
    let mut log = Vec::new();
    for step in case.steps.iter().take(until.map_or(case.steps.len(), |until| until + 1)) {
        match &step.op {
            Op::Load { header, rows } => {
                let header = header.as_ref().map(|raw| raw.get().to_string());
                log = vec![header.unwrap_or_else(|| NAMELESS_HEADER.to_string())];
                log.extend(rows.iter().map(|row| row.get().to_string()));
            }
            Op::Open { log: bytes } => {
                log = String::from_utf8_lossy(&bytes.0).lines().map(str::to_string).collect();
            }
            Op::Append { rows, .. } => log.extend(rows.iter().map(|row| row.get().to_string())),
            Op::Read { .. } | Op::Log {} | Op::Restart {} | Op::Replay(_) | Op::Request { .. } => {}
        }
    }
    log
}

fn in_words(op: &Op) -> String {
    match op {
        Op::Load { rows, .. } => format!("load {}", count(rows.len(), "row")),
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
    }
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
