//! Logs that another harness wrote, where they are at hand: translated row by row,
//! read by the reference, shown, followed, paged and replayed. What is counted is
//! counted a second time over the raw lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use onrecord::Reference;
use onrecord::spec::json::{Json, keep};
use onrecord::spec::op::{Implementation, Op, Outcome, Replay, Replayed};
use onrecord::spec::target::Target;
use serde_json::{Value, json};

use crate::live::apply;
use crate::world::root;

/// The logs, by name; none where they are not at hand.
fn logs() -> BTreeMap<String, Vec<Value>> {
    let folder: PathBuf = root().join("../shared/corpus/deepseek_harness");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("SKIPPED: there are no logs of another harness beside the workspace");
        return BTreeMap::new();
    };
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (path.file_name().unwrap().to_string_lossy().into_owned(), lines)
    };
    let logs: BTreeMap<_, _> = files.map(|file| read(file.unwrap().path())).collect();
    assert!(logs.len() > 5, "the folder is there, and its logs are not");
    logs
}

#[test]
fn logs_of_another_harness_keep_what_they_hold() {
    let mut landed = 0;
    for (name, lines) in logs() {
        println!("{name}: {} lines", lines.len());
        let rows = Translation::of(&lines);
        let counted = Counted::of(&lines);
        let mut reference = loaded(&rows);
        assert_eq!(Counted::shown(&rows, &mut reference), counted, "{name}: counts");
        follows(&name, &rows, &mut reference);
        pages(&name, &mut reference);
        windows(&name, &mut reference);
        replays(&name, &mut reference);
        landed += counted.landed;
    }
    assert!(logs().is_empty() || landed > 0, "no log holds a compaction that landed");
}

/// What a log holds, counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    messages: usize,
    calls: usize,
    results: usize,
    landed: usize,
}

impl Counted {
    /// Over the raw lines.
    fn of(lines: &[Value]) -> Self {
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        let calls = lines.iter().filter(|line| line["type"] == "assistant/message");
        let calls = calls.flat_map(content).filter(|block| block["type"] == "tool-call").count();
        let replaced = lines.iter().filter(|line| line["surfaceOp"]["op"] == "replace");
        let landed = replaced.filter(|line| line["data"]["source"]["plugin"] == "compact").count();
        assert_eq!(landed, of("compaction/summary"), "each summary lands in these logs");
        let messages = of("user/message") + of("assistant/message");
        Self { messages, calls, results: of("tool/result"), landed }
    }

    /// Of what is stored and shown.
    fn shown(rows: &[Value], reference: &mut Reference) -> Self {
        let told = ask(reference, &Op::Read { from: None, limit: None });
        let stored = told["rows"]["rows"].as_array().unwrap().clone();
        assert_eq!(stored, rows, "every row comes back as it was stored");
        let items = items(reference);
        let of = |kind: &str| items.iter().filter(|item| item["shows"][kind].is_object()).count();
        Self {
            messages: stored.iter().filter(|row| row["event"]["type"] == "message").count(),
            calls: of("tool-call"),
            results: of("tool-return"),
            landed: of("marker"),
        }
    }
}

/// The blocks of a line's message: older logs hold them beside the message.
fn content(line: &Value) -> Vec<Value> {
    let data = &line["data"];
    let inside = [&data["message"]["content"], &data["content"]];
    inside.iter().find_map(|content| content.as_array().cloned()).unwrap_or_default()
}

/// A translation under way. A line's id is that of its first event: a packed line
/// is several.
#[derive(Default)]
struct Translation {
    rows: Vec<Value>,
    /// The ids of the context, in order.
    context: Vec<String>,
    /// The summary that a compaction has told of and not yet landed.
    summary: Value,
    /// The ids of the messages that end a turn's steps.
    wholes: BTreeMap<(u64, u64), String>,
}

impl Translation {
    fn of(lines: &[Value]) -> Vec<Value> {
        let mut seq = 0;
        let mut events = vec![];
        for line in lines.iter().filter(|line| line["type"] != "session") {
            events.push((format!("e{seq}"), line));
            let packed = line["data"]["texts"].as_array().or(line["data"]["args"].as_array());
            seq += packed.map_or(1, Vec::len);
        }
        let mut translation = Self::default();
        for (id, line) in events.iter().filter(|(_, line)| line["type"] == "assistant/message") {
            translation.wholes.insert(step(line), id.clone());
        }
        for (id, line) in events {
            translation.line(id, line);
        }
        translation.rows
    }

    fn line(&mut self, id: String, line: &Value) {
        let data = &line["data"];
        let mut row = json!({"seq": self.rows.len(), "id": id});
        row["event"] = match line["type"].as_str().unwrap() {
            "user/message" => {
                if data["source"]["kind"] != "user" {
                    row["audience"] = json!("model");
                }
                json!({"type": "message", "role": "user", "blocks": blocks(line)})
            }
            "assistant/message" if data["interrupted"] == true => {
                json!({"type": "message", "role": "assistant", "status": "interrupted", "blocks": blocks(line)})
            }
            "assistant/message" => {
                json!({"type": "message", "role": "assistant", "blocks": blocks(line)})
            }
            "tool/call" => json!({"type": "call-started", "call": data["callId"]}),
            "tool/result" => result(line),
            "turn/start" => json!({"type": "turn", "edge": "started"}),
            "turn/end" => {
                let aborted = ["aborted", "interrupted"].map(Value::from);
                let stopped = aborted.contains(&data["reason"]["kind"]);
                json!({"type": "turn", "edge": if stopped { "interrupted" } else { "ended" }})
            }
            "compaction/start" | "compaction/summary" | "compaction/end" => self.bracket(line),
            kind => self.piece(line).unwrap_or_else(|| {
                row["ignorable"] = json!(true);
                json!({"type": format!("harness/{kind}"), "data": data})
            }),
        };
        self.place(&mut row, line);
        self.rows.push(row);
    }

    /// Puts a row into the context: at the end, or in the place of what it names.
    fn place(&mut self, row: &mut Value, line: &Value) {
        let id = text(&row["id"]);
        let op = &line["surfaceOp"];
        if op["op"] != "replace" {
            self.context.push(id);
            return;
        }
        let at = |end: &Value| {
            let end = format!("e{end}");
            self.context.iter().position(|held| *held == end).unwrap()
        };
        let range = at(&op["start"])..=at(&op["end"]);
        let taken = self.context[range.clone()].to_vec();
        let source = if self.summary.is_null() { "other" } else { "compaction" };
        row["replaces"] =
            json!({"first": taken[0], "last": taken.last(), "rows": taken, "source": source});
        if source == "compaction" {
            row["replaces"]["compaction"] = self.summary["compactionId"].clone();
            self.summary["row"] = json!(id);
            self.summary["taken"] = json!(taken);
        }
        self.context.splice(range, [id]);
    }

    fn bracket(&mut self, line: &Value) -> Value {
        let data = &line["data"];
        let compaction = &data["compactionId"];
        match line["type"].as_str().unwrap() {
            "compaction/start" => {
                json!({"type": "compaction", "compaction": compaction, "step": "started", "mode": "model"})
            }
            "compaction/summary" => {
                self.summary = data.clone();
                let rows = data["shadowedSeqs"].as_array().unwrap();
                let rows: Vec<String> = rows.iter().map(|seq| format!("e{seq}")).collect();
                json!({"type": "compaction", "compaction": compaction, "step": "provenance", "rows": rows})
            }
            _ => {
                let summary = std::mem::take(&mut self.summary);
                assert_eq!(summary["compactionId"], *compaction, "brackets do not overlap here");
                json!({"type": "compaction", "compaction": compaction, "step": "ended", "outcome": "landed", "mode": "model",
                    "summary": summary["row"], "text": summary["summary"][0]["text"], "rows": summary["taken"]})
            }
        }
    }

    /// The pieces of a message, one or packed; None of what is no text.
    fn piece(&self, line: &Value) -> Option<Value> {
        let data = &line["data"];
        let (part, text) = match (line["type"].as_str()?, data["chunk"]["type"].as_str()) {
            ("text-chunks", _) => ("text", joined(&data["texts"])),
            ("reasoning-chunks", _) => ("reasoning", joined(&data["texts"])),
            (_, Some("text-delta")) => ("text", text(&data["chunk"]["text"])),
            (_, Some("reasoning-delta")) => ("reasoning", text(&data["chunk"]["text"])),
            _ => return None,
        };
        let (turn, step) = step(line);
        let never_whole = || format!("step {turn}.{step}");
        let message = self.wholes.get(&(turn, step)).cloned().unwrap_or_else(never_whole);
        Some(json!({"type": "delta", "message": message, "part": part, "text": text}))
    }
}

fn step(line: &Value) -> (u64, u64) {
    (line["data"]["turn"].as_u64().unwrap(), line["data"]["step"].as_u64().unwrap())
}

fn joined(texts: &Value) -> String {
    texts.as_array().unwrap().iter().map(text).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_string()
}

fn blocks(line: &Value) -> Vec<Value> {
    let data = &line["data"];
    let made = [&data["message"]["source"], &data["provenance"]];
    let made = made.into_iter().find(|made| made["model"].is_string());
    let block = |block: &Value| match block["type"].as_str().unwrap() {
        "reasoning" => {
            let made = made.unwrap();
            let from = json!({"provider": made["provider"], "api": "chat", "model": made["model"]});
            json!({"type": "reasoning", "text": block["text"], "from": from})
        }
        "tool-call" => {
            json!({"type": "call", "id": block["id"], "name": block["name"], "arguments": block["arguments"]})
        }
        _ => part(block),
    };
    content(line).iter().map(block).collect()
}

/// A text; an image as a reference into a store that is elsewhere.
fn part(block: &Value) -> Value {
    if block["type"] == "text" {
        return json!({"type": "text", "text": block["text"]});
    }
    let image = &block["attachment"];
    json!({"type": "image", "media_type": image["mediaType"], "url": image["attachmentId"]})
}

fn result(line: &Value) -> Value {
    let inside = content(line);
    let whole = inside.iter().find(|block| block["type"] == "tool-result");
    let (call, error) = match whole {
        Some(block) => (&block["toolCallId"], &block["isError"]),
        None => (&line["data"]["callId"], &line["data"]["isError"]),
    };
    let parts = whole.map_or(&inside, |block| block["content"].as_array().unwrap());
    let parts: Vec<Value> = parts.iter().map(part).collect();
    json!({"type": "result", "call": call, "content": parts, "error": error.as_bool().unwrap_or(false)})
}

fn loaded(rows: &[Value]) -> Reference {
    let rows: Vec<Json> = rows.iter().map(|row| keep(&row.to_string()).unwrap()).collect();
    let (count, mut reference) = (rows.len(), Reference::default());
    let told = ask(&mut reference, &Op::Load { header: None, rows, beside: false });
    assert_eq!(told, json!({"loaded": {"next": count}}));
    reference
}

fn ask(reference: &mut Reference, op: &Op) -> Value {
    serde_json::to_value(reference.perform(op).unwrap()).unwrap()
}

fn items(reference: &mut Reference) -> Vec<Value> {
    let told = ask(reference, &Op::Transcript {});
    told["transcript"]["items"].as_array().unwrap().clone()
}

fn followed(reference: &mut Reference, join: usize) -> Vec<Value> {
    let told = ask(reference, &Op::Follow { join: join as u64 });
    told["followed"]["events"].as_array().unwrap().clone()
}

/// The live path gives the transcript of every prefix, and joined at any row that
/// of the whole.
fn follows(name: &str, rows: &[Value], reference: &mut Reference) {
    let events = followed(reference, 0);
    let whole = items(reference);
    let mut held = vec![];
    for seq in 0..rows.len() {
        for event in events.iter().filter(|event| event["seq"] == seq) {
            apply(&mut held, event);
        }
        assert_eq!(held, items(&mut loaded(&rows[..=seq])), "{name}: followed up to {seq}");
        let mut joined = held.clone();
        for event in followed(reference, seq + 1) {
            apply(&mut joined, &event);
        }
        assert_eq!(joined, whole, "{name}: joined behind {seq}");
    }
}

fn pages(name: &str, reference: &mut Reference) {
    let told = ask(reference, &Op::Read { from: None, limit: None });
    let record = told["rows"]["rows"].as_array().unwrap().clone();
    for limit in [1, 2, 7] {
        let mut walked: Vec<Value> = vec![];
        let mut before = None;
        loop {
            let page = ask(reference, &Op::Page { limit, before })["page"].clone();
            let rows = page["rows"].as_array().unwrap().clone();
            assert!(!rows.is_empty(), "{name}: a page without a row");
            walked.splice(0..0, rows);
            assert_eq!(page["older"], page["before"].is_string());
            match page["before"].as_str() {
                Some(cursor) => before = Some(cursor.into()),
                None => break,
            }
        }
        assert_eq!(walked, record, "{name}: pages of {limit} joined");
    }
}

fn windows(name: &str, reference: &mut Reference) {
    for limit in [Some(1), Some(5), None] {
        let told = ask(reference, &Op::Window { limit, at: Default::default() });
        let rows = told["window"]["rows"].as_array().unwrap();
        assert!(!rows.is_empty(), "{name}: nothing for people");
        for row in rows {
            assert!(row["replaces"].is_null() && row["audience"] != "model", "{name}: {row}");
        }
    }
}

fn replays(name: &str, reference: &mut Reference) {
    for target in Target::ALL {
        let replay = Replay::to(target);
        let Outcome::Replayed(Replayed { payload, constraints, .. }) =
            reference.perform(&Op::Replay(replay.clone())).unwrap()
        else {
            panic!("{name}: no replay to {}", target.name());
        };
        let breaches = target.check(&replay.profile, &payload, &constraints);
        assert!(breaches.is_empty(), "{name}: {}: {breaches:?}", target.name());
    }
}
