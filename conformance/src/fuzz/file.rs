//! A finding as a fixture file.

use std::io;
use std::path::{Path, PathBuf};

use onrecord_spec::json::{Json, keep, to_line};
use onrecord_spec::op::Op;
use onrecord_spec::rule::Rule;
use serde_json::{Value, json};

use super::{Finding, What};
use crate::fixture::CaseStep;

/// How many names are tried before it is given up.
const MOST_NAMES: usize = 10_000;

/// The rule under which a finding is filed: that a program must answer at all is
/// stated for replays.
#[must_use]
pub fn rule(what: What) -> Rule {
    match what {
        What::Rule(rule) => rule,
        What::Fault => Rule::ReplayTotal,
    }
}

/// The finding as the text of a case that `onrecord run --fixtures` takes.
#[must_use]
pub fn text(finding: &Finding) -> String {
    let steps: Vec<String> = finding.case.steps.iter().map(step).collect();
    let (title, hunts) = words(finding);
    format!(
        "{{\n  \"kind\": \"case\",\n  \"title\": {},\n  \"hunts\": {},\n  \"rules\": [\"{}\"],\n  \
         \"steps\": [\n    {}\n  ]\n}}\n",
        json!(title),
        json!(hunts),
        rule(finding.what),
        steps.join(",\n    "),
    )
}

fn words(finding: &Finding) -> (String, String) {
    let rows = crate::words::count(finding.rows, "row");
    match finding.what {
        What::Rule(rule) => {
            let section = rule.section();
            let harm = section.map(|section| section.harm()).unwrap_or_default();
            let hunts = if harm.is_empty() { rule.id().to_string() } else { harm };
            (format!("Found by fuzzing: a case of {rows} that breaks `{rule}`."), hunts)
        }
        What::Fault => (
            format!("Found by fuzzing: a case of {rows} that breaks the program itself."),
            "A program that dies or hangs on a record never resumes that conversation.".to_string(),
        ),
    }
}

fn step(step: &CaseStep) -> String {
    let before = step.late.before_step.map(|before| format!(", \"before_step\": {before}"));
    format!("{{{}{}}}", op(step), before.unwrap_or_default())
}

/// The op as a member of an object: its name, and what stands inside it.
fn op(step: &CaseStep) -> String {
    if let Op::Load { header, rows, beside } = &step.op {
        let header = header.as_ref().map(|it| format!("\"header\": {it}, ")).unwrap_or_default();
        let beside = if *beside { "\"beside\": true, " } else { "" };
        return format!("\"load\": {{{header}{beside}\"rows\": {}}}", list(rows));
    }
    if let (Op::Append { rows, .. }, true) = (&step.op, step.late.place) {
        return format!("\"append\": {{\"rows\": {}}}", list(rows));
    }
    let line = to_line(&step.op).unwrap_or_default();
    let inside = line.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    inside.unwrap_or_default().to_string()
}

fn list(rows: &[Json]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("\n      {}", plain(row))).collect();
    if rows.is_empty() { "[]".to_string() } else { format!("[{}\n    ]", rows.join(",")) }
}

/// A row with what comes first put first, as fixtures are written.
fn plain(row: &Json) -> Json {
    let Ok(Value::Object(mut fields)) = serde_json::from_str::<Value>(row.get()) else {
        return row.clone();
    };
    let mut members = Vec::new();
    for name in
        ["seq", "id", "at", "parent", "request", "report", "replaces", "audience", "ignorable"]
    {
        members.extend(fields.remove(name).map(|value| format!("\"{name}\": {value}")));
    }
    members.extend(fields.iter().map(|(name, value)| format!("{}: {value}", json!(name))));
    keep(&format!("{{{}}}", members.join(", "))).unwrap_or_else(|_| row.clone())
}

/// Writes a finding into a folder of fixtures, under a name that is not taken:
/// `<chapter>/<rule>-<number>.json`. Gives the path.
pub fn write(folder: &Path, finding: &Finding) -> io::Result<PathBuf> {
    let rule = rule(finding.what);
    let (chapter, name) = rule.id().split_once('.').unwrap_or(("replay", rule.id()));
    let name = if finding.what == What::Fault { "fault" } else { name };
    let folder = folder.join(chapter);
    std::fs::create_dir_all(&folder)?;
    let text = text(finding);
    for number in 1..MOST_NAMES {
        let path = folder.join(format!("{name}-{number}.json"));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match file {
            Ok(mut file) => {
                io::Write::write_all(&mut file, text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many findings of this rule are there"))
}
