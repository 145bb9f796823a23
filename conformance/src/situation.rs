//! What a reader must know of a case: the log that it stands on, and its steps in
//! words.

use std::collections::BTreeMap;

use onrecord_spec::json::{Json, RawValue};
use onrecord_spec::judge::Step;
use onrecord_spec::op::{Budget, Compact, Cut, Ending, Mode, Op, Outcome, Replay};
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

/// The log that steps have made by this one (by their end, if there is none), as
/// JSON lines: it can be saved and replayed.
pub(crate) fn log(steps: &[Step], until: Option<usize>) -> Vec<String> {
    let mut log = Vec::new();
    let text = |row: &Json| row.get().to_string();
    for step in steps.iter().take(until.map_or(steps.len(), |until| until + 1)) {
        match (&step.op, &step.outcome) {
            (Op::Load { header, rows }, _) => {
                let header = header.as_ref().map(text);
                log = vec![header.unwrap_or_else(|| NAMELESS_HEADER.to_string())];
                log.extend(rows.iter().map(text));
            }
            (Op::Open { log: bytes }, _) => {
                log = String::from_utf8_lossy(&bytes.0).lines().map(str::to_string).collect();
            }
            (Op::Append { rows, .. }, _) => log.extend(rows.iter().map(text)),
            (_, Outcome::Changed(changed)) => log.extend(changed.rows.iter().map(text)),
            (_, _) => {}
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
