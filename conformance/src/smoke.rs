//! Checks of an adapter itself, with records that any implementation can take.
//! What an adapter says of its library is not judged here.

use onrecord_spec::json::{Malformed, keep};
use onrecord_spec::op::{
    AuthorityMode, Bytes, Facts, Fault, Hello, Implementation, Key, Lookup, Migrate, Older, Op,
    Outcome, Replay,
};
use onrecord_spec::page::WindowAt;
use onrecord_spec::target::Target;

use crate::adapter::{Adapter, Answer, Limits, METHOD_NOT_FOUND};

/// The names of the checks, in their order.
pub const NAMES: [&str; 8] =
    ["starts", "hello", "ops", "answers", "one-answer", "unknown-method", "load-forgets", "ends"];

/// What a check of an adapter says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is right.
    Right,
    /// It was not asked, and why.
    NotAsked(String),
    /// It is wrong.
    Wrong {
        /// What is so and should not be.
        what: String,
        /// What to do.
        to_do: &'static str,
    },
}

impl Verdict {
    /// True if the adapter is wrong.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Wrong { .. } => true,
            Self::Right | Self::NotAsked(_) => false,
        }
    }
}

/// A check: on an adapter, and what it said of itself.
type Check = fn(&mut Adapter, &Hello) -> Verdict;

const CHECKS: [(&str, Check); 6] = [
    (NAMES[2], ops),
    (NAMES[3], answers),
    (NAMES[4], one_answer),
    (NAMES[5], unknown_method),
    (NAMES[6], load_forgets),
    (NAMES[7], ends),
];

/// Checks an adapter; `only` names one check. Each check has a fresh process.
/// None is listed if there is no check of that name.
#[must_use]
pub fn smoke(
    command: &[String],
    limits: Limits,
    only: Option<&str>,
) -> Vec<(&'static str, Verdict)> {
    let mut verdicts = Vec::new();
    let (starts, greets, hello) = first(&mut Adapter::new(command.to_vec(), limits));
    verdicts.push((NAMES[0], starts));
    verdicts.push((NAMES[1], greets));
    for (name, check) in CHECKS {
        let verdict = match &hello {
            Some(_) if only.is_some_and(|only| only != name) => continue,
            Some(hello) => check(&mut Adapter::new(command.to_vec(), limits), hello),
            None => Verdict::NotAsked("it needs a right `hello`".to_string()),
        };
        verdicts.push((name, verdict));
    }
    verdicts.retain(|(name, _)| only.is_none_or(|only| only == *name));
    verdicts
}

fn wrong(what: impl Into<String>, to_do: &'static str) -> Verdict {
    Verdict::Wrong { what: what.into(), to_do }
}

fn broken(fault: Fault, to_do: &'static str) -> Verdict {
    if fault.stderr.is_empty() {
        wrong(fault.message, to_do)
    } else {
        wrong(
            format!("{}\nthe last of its standard error:\n{}", fault.message, fault.stderr),
            to_do,
        )
    }
}

/// Whether it starts, and whether it says hello as it should.
fn first(adapter: &mut Adapter) -> (Verdict, Verdict, Option<Hello>) {
    use onrecord_spec::op::FaultKind;
    match adapter.hello() {
        Ok(hello) => (Verdict::Right, greeting(&hello), Some(hello)),
        Err(fault) if fault.kind == FaultKind::NotStarted => {
            let starts = broken(fault, "give the command as you would type it, after `--`");
            (starts, Verdict::NotAsked("it does not start".to_string()), None)
        }
        Err(fault) => {
            let to_do = "answer the first request, `hello`, with one line of JSON as PROTOCOL.md shows, \
                         and keep standard output free of all else";
            (Verdict::Right, broken(fault, to_do), None)
        }
    }
}

fn greeting(hello: &Hello) -> Verdict {
    if hello.name.trim().is_empty() {
        return wrong("`hello` gives no name", "give `name`: what is under test");
    }
    let unknown = hello.ops.iter().find(|op| !Op::NAMES.contains(&op.as_str()));
    if let Some(op) = unknown {
        return wrong(
            format!("`hello` lists the op `{op}`, and there is none of that name"),
            "list only methods that PROTOCOL.md names",
        );
    }
    let has = |name: &str| hello.ops.iter().any(|op| op == name);
    if !has("load") && !has("open") {
        return wrong(
            "`hello` lists neither `load` nor `open`: nothing can be asked of it",
            "perform `load`, and list it in `ops`",
        );
    }
    if (has("replay") || has("request")) && hello.targets.is_empty() {
        return wrong(
            "`hello` lists `replay` or `request`, and no target",
            "list the targets that it replays to in `targets`",
        );
    }
    Verdict::Right
}

/// A short record that any implementation can take.
fn record(words: &str) -> Result<Op, Malformed> {
    let row = |seq: u64, role: &str, text: &str| {
        keep(&format!(
            r#"{{"seq":{seq},"id":"r{seq}","event":{{"type":"message","role":"{role}","blocks":[{{"type":"text","text":"{text}"}}]}}}}"#
        ))
    };
    Ok(Op::Load {
        header: None,
        rows: vec![
            row(0, "user", words)?,
            row(1, "assistant", "I hear you.")?,
            row(2, "user", "Go on.")?,
        ],
        beside: false,
    })
}

/// A store of the older shape, with nothing in its side table.
fn older() -> Result<Older, Malformed> {
    let Op::Load { header, rows, .. } = record("four")? else {
        return Err(Malformed::new("a record is loaded"));
    };
    Ok(Older { header, rows, side: Vec::new() })
}

/// One op of almost each name, to be performed on the record.
fn one_of_each(targets: &[Target]) -> Result<Vec<Op>, Malformed> {
    let Op::Load { rows, .. } = record("three")? else { return Ok(Vec::new()) };
    let log = rows.iter().map(|row| row.get()).collect::<Vec<_>>().join("\n");
    let log = format!("{{\"onrecord\":1,\"conversation\":\"smoke\"}}\n{log}\n");
    let next = keep(
        r#"{"seq":3,"id":"r3","event":{"type":"message","role":"assistant","blocks":[{"type":"text","text":"Gladly."}]}}"#,
    )?;
    let mut ops = vec![
        record("one")?,
        Op::Open { log: Bytes(log.into_bytes()) },
        Op::Append { expect: 3, rows: vec![next] },
        Op::Read { from: None, limit: None },
        Op::Log {},
        Op::Restart {},
    ];
    for target in targets {
        ops.push(Op::Replay(Replay::to(*target)));
        ops.push(Op::Request {
            replay: Replay::to(*target),
            authority: Facts {
                mode: AuthorityMode::Dedicated,
                user: "agent".into(),
                expected_account: "agent".into(),
                admitted: true,
                node: "node-1".into(),
                drift: None,
            },
        });
    }
    ops.extend([
        Op::Context {},
        Op::Transcript {},
        Op::Follow { join: 0 },
        Op::Page { limit: 2, before: None },
        Op::Window { limit: None, at: WindowAt::Newest },
        Op::Enter { conversation: "smoke".into() },
        Op::Lookup(Lookup { by: Key::Row("r0".into()), conversation: None }),
        Op::Status { request: "none".into() },
        Op::Stamp {},
        Op::Sync { limit: None },
        Op::Recall { query: None },
        Op::Archive { crash: None },
        Op::Parts { conversation: None },
        Op::Delete { conversation: None },
        Op::Migrate(Migrate { older: Some(older()?), crash: false }),
    ]);
    Ok(ops)
}

/// Each op that it lists answers with an outcome of its own kind.
fn ops(adapter: &mut Adapter, hello: &Hello) -> Verdict {
    let to_do = "perform the op as PROTOCOL.md shows, or take it out of `ops`";
    let ops = match one_of_each(&hello.targets) {
        Ok(ops) => ops,
        Err(error) => return wrong(error.to_string(), "this is a bug of onrecord: report it"),
    };
    for op in ops.into_iter().filter(|op| hello.ops.iter().any(|name| name == op.name())) {
        match adapter.perform(&op) {
            Ok(Outcome::Unsupported { reason }) => {
                let what = format!("it lists `{}` and does not do it: {reason}", op.name());
                return wrong(what, to_do);
            }
            Ok(Outcome::Refused(refusal)) => {
                let code = crate::expect::name(&refusal.code);
                let what = format!(
                    "`{}` of a plain record was refused ({code}): {}",
                    op.name(),
                    refusal.detail
                );
                return wrong(what, to_do);
            }
            Ok(
                Outcome::Loaded { .. }
                | Outcome::Appended { .. }
                | Outcome::Rows { .. }
                | Outcome::Log { .. }
                | Outcome::Replayed(_)
                | Outcome::Changed(_)
                | Outcome::Context(_)
                | Outcome::Input(_)
                | Outcome::Transcript { .. }
                | Outcome::Followed { .. }
                | Outcome::Page(_)
                | Outcome::Window(_)
                | Outcome::Known { .. }
                | Outcome::Found { .. }
                | Outcome::Status { .. }
                | Outcome::Deleted { .. }
                | Outcome::Stamp(_)
                | Outcome::Synced(_)
                | Outcome::Recalled { .. }
                | Outcome::Archived(_)
                | Outcome::Parts(_)
                | Outcome::Migrated(_)
                | Outcome::Crashed {},
            ) => {}
            Err(fault) => {
                let message = format!("`{}`: {}", op.name(), fault.message);
                return broken(Fault { message, ..fault }, to_do);
            }
        }
    }
    Verdict::Right
}

/// It goes on answering: twenty times the same, on one process.
fn answers(adapter: &mut Adapter, hello: &Hello) -> Verdict {
    let to_do = "answer every request with one line, flushed, with the request's `id`, until the input ends";
    let mut last = None;
    for _ in 0..20 {
        match load(adapter, hello, "again") {
            Ok(outcome) if last.as_ref().is_some_and(|last| *last != outcome) => {
                return wrong(
                    "the same `load` was answered in two ways",
                    "let `load` forget what was before",
                );
            }
            Ok(outcome) => last = Some(outcome),
            Err(fault) => return broken(fault, to_do),
        }
    }
    Verdict::Right
}

/// One request, one answer, with the request's id.
fn one_answer(adapter: &mut Adapter, hello: &Hello) -> Verdict {
    let to_do = "write one answer a request, with the request's `id`; no notifications";
    let twice = load(adapter, hello, "once").and_then(|_| load(adapter, hello, "twice"));
    match twice {
        Ok(_) => Verdict::Right,
        Err(fault) => broken(fault, to_do),
    }
}

/// Loads by the op that it has; gives the outcome's text.
fn load(adapter: &mut Adapter, hello: &Hello, words: &str) -> Result<String, Fault> {
    let bug = |message: String| Fault {
        kind: onrecord_spec::op::FaultKind::NotAnAnswer,
        message,
        stderr: String::new(),
    };
    let mut op = record(words).map_err(|error| bug(error.to_string()))?;
    if !hello.ops.iter().any(|op| op == "load")
        && let Op::Load { rows, .. } = &op
    {
        let rows: String = rows.iter().map(|row| format!("{}\n", row.get())).collect();
        let log = format!("{{\"onrecord\":1,\"conversation\":\"smoke\"}}\n{rows}");
        op = Op::Open { log: Bytes(log.into_bytes()) };
    }
    let outcome = adapter.perform(&op)?;
    serde_json::to_string(&outcome).map_err(|error| bug(error.to_string()))
}

/// A method that is not there is answered with the code for that.
fn unknown_method(adapter: &mut Adapter, _: &Hello) -> Verdict {
    let to_do = "answer a method that is not there with the JSON-RPC error -32601 and go on";
    match adapter.ask("no-such-method", "{}") {
        Ok(Answer::Error { code: METHOD_NOT_FOUND, .. }) => Verdict::Right,
        Ok(Answer::Error { code, message }) => {
            wrong(format!("an unknown method was answered with error {code}: {message}"), to_do)
        }
        Ok(Answer::Result(result)) => {
            let result = crate::words::excerpt(&result, 80);
            wrong(format!("an unknown method was answered with the result `{result}`"), to_do)
        }
        Err(fault) => broken(fault, to_do),
    }
}

/// A `load` forgets what was held before.
fn load_forgets(adapter: &mut Adapter, hello: &Hello) -> Verdict {
    let to_do = "let `load` and `open` forget everything that was held before";
    let Some(target) = hello.targets.first().filter(|_| hello.ops.iter().any(|op| op == "replay"))
    else {
        return Verdict::NotAsked("it does not replay".to_string());
    };
    let replay = Op::Replay(Replay::to(*target));
    let outcome = load(adapter, hello, "canary-of-the-first-record")
        .and_then(|_| load(adapter, hello, "the second record"))
        .and_then(|_| adapter.perform(&replay));
    match outcome {
        Ok(Outcome::Replayed(replayed))
            if replayed.payload.get().contains("canary-of-the-first-record") =>
        {
            wrong("a replay holds text of the record that was loaded before", to_do)
        }
        Ok(Outcome::Replayed(replayed))
            if !replayed.payload.get().contains("the second record") =>
        {
            let to_do = "replay what was loaded: the payload that would be sent to the provider";
            wrong("a replay does not hold the text of the record that was loaded", to_do)
        }
        Ok(_) => Verdict::Right,
        Err(fault) => broken(fault, to_do),
    }
}

/// It ends when its input ends.
fn ends(adapter: &mut Adapter, _: &Hello) -> Verdict {
    match adapter.hello() {
        Err(fault) => broken(fault, "answer `hello`"),
        Ok(_) if adapter.close() => Verdict::Right,
        Ok(_) => wrong(
            "it went on for a second after its input had ended, and was killed",
            "end when standard input ends; the runner kills what does not",
        ),
    }
}
