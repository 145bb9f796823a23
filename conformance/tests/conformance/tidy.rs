//! The repository: quoted rule ids exist, the terms name what the code names, files
//! are not too long, each source file opens with what is in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use onrecord::spec::chapter::Chapter;
use onrecord::spec::op::Op;
use onrecord::spec::rule::Rule;

use crate::world::root;

/// A file longer than this is two files. Fixtures and logs are data and may be.
const LONGEST: usize = 600;

/// The files of the project with one of these endings.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                let skipped = ["target", "node_modules", "__pycache__"].contains(&name.as_str());
                if !skipped && (name == ".ci" || !name.starts_with('.')) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "the project's files are not there");
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is quoted as a rule: a chapter's name, a point, a name in kebab-case, and
/// then nothing that makes it a file name, a path or a field.
fn quoted(text: &str) -> BTreeSet<&str> {
    let mut ids = BTreeSet::new();
    for chapter in Chapter::ALL {
        let prefix = format!("{}.", chapter.name());
        for (at, _) in text.match_indices(&prefix) {
            let before = text[..at].chars().next_back();
            // Only a whole word in quotes, brackets or parentheses is a citation.
            if !matches!(before, Some('`' | '[' | '(' | '"')) {
                continue;
            }
            let rest = &text[at + prefix.len()..];
            let length = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
            let length = length.unwrap_or(rest.len());
            let after = rest[length..].chars().next();
            if length > 0 && matches!(after, Some('`' | ']' | ')' | '"' | ',')) {
                ids.insert(&text[at..at + prefix.len() + length]);
            }
        }
    }
    ids
}

#[test]
fn citations_are_found() {
    let text = "(`replay.total`) [record.verbatim] \"replay.x\" `record.rs` `record.json` x.replay.total \
                replay.total, (replay.late-result)";
    let found: Vec<&str> = quoted(text).into_iter().collect();
    let expected = [
        "record.json",
        "record.rs",
        "record.verbatim",
        "replay.late-result",
        "replay.total",
        "replay.x",
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_quoted_rule_exists() {
    // Names of files, variables' fields, and what the tests of this make up.
    let no_citations =
        ["rs", "md", "json", "jsonl", "header", "x", "nothing", "did-complete", "late-results"];
    let mut wrong = Vec::new();
    for path in files(&[".rs", ".md", ".json", ".py", ".mjs"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for id in quoted(&text) {
            let name = id.split_once('.').map_or("", |(_, name)| name);
            // A tool of a fixture, and what a test of reports makes up.
            let invented = no_citations.contains(&name)
                || ["record.late-result", "archive.query"].contains(&id);
            if Rule::from_id(id).is_none() && !invented {
                wrong.push(format!("{}: there is no rule {id}", shown(&path)));
            }
        }
    }
    assert_none(&wrong);
}

/// The names that a definition of a schema allows: of values, and of the one field
/// of an object.
fn names(definition: &serde_json::Value) -> Vec<String> {
    let kinds = definition["oneOf"].as_array().unwrap();
    let names: Vec<String> = kinds
        .iter()
        .flat_map(|kind| {
            let value = kind["const"].as_str().map(String::from);
            let fields = kind["properties"].as_object().into_iter().flat_map(|all| all.keys());
            value.into_iter().chain(fields.cloned())
        })
        .collect();
    assert_eq!(names.len(), kinds.len(), "{definition}");
    names
}

#[test]
fn the_terms_name_every_op_code_anomaly_and_constraint() {
    let terms = std::fs::read_to_string(root().join("spec/text/terms.md")).unwrap();
    let schema = onrecord::schema::fixture();
    let definitions = schema.get("$defs").unwrap();
    let mut wrong = Vec::new();
    for kind in ["RefusalCode", "AnomalyName"] {
        for name in names(&definitions[kind]) {
            if !terms.contains(&format!("\n| `{name}` | ")) {
                wrong.push(format!("terms.md has no row for the {kind} `{name}`"));
            }
        }
    }
    for name in names(&definitions["Constraint"]) {
        if !terms.contains(&format!("\"{name}\"")) {
            wrong.push(format!("terms.md does not name the constraint {name}"));
        }
    }
    for name in Op::NAMES {
        if !terms.contains(&format!("\n| `{name}` | ")) {
            wrong.push(format!("terms.md has no row for the op `{name}`"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_op_is_used_by_a_fixture() {
    let cases = onrecord::suite().cases();
    let steps = cases.iter().flat_map(|case| &case.steps);
    let used: BTreeSet<&str> = steps.map(|step| step.op.name()).collect();
    let unused: Vec<String> = Op::NAMES
        .iter()
        .filter(|name| !used.contains(*name))
        .map(|name| format!("no case has a step `{name}`"))
        .collect();
    assert_none(&unused);
}

#[test]
fn no_file_is_too_long() {
    let wrong: Vec<String> = files(&[".rs", ".py", ".mjs"])
        .iter()
        .filter_map(|path| {
            let lines = std::fs::read_to_string(path).unwrap().lines().count();
            (lines > LONGEST).then(|| format!("{} has {lines} lines", shown(path)))
        })
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_source_file_says_what_is_in_it() {
    let wrong: Vec<String> = files(&[".rs"])
        .iter()
        .filter(|path| !std::fs::read_to_string(path).unwrap().starts_with("//! "))
        .map(|path| format!("{} does not begin with `//! `", shown(path)))
        .collect();
    assert_none(&wrong);
}

/// The bugs that a fixture names. What else is in the file is passed over, since some
/// fixtures hold text that is no Unicode on purpose.
#[derive(serde::Deserialize)]
struct NamesBugs {
    #[serde(default)]
    bugs: BTreeSet<String>,
}

/// `fixtures/bugs.json`.
#[derive(serde::Deserialize)]
struct NotCovered {
    not_covered: Vec<Reasoned>,
}

#[derive(serde::Deserialize)]
struct Reasoned {
    bugs: BTreeSet<String>,
    reason: String,
}

/// A bug is named by a case, or listed with the reason why none can show it; not
/// both.
#[test]
fn bugs_that_are_listed_as_not_covered_are_named_by_no_case() {
    let list = root().join("fixtures/bugs.json");
    let listed: NotCovered = read_json(&list);
    let mut without: BTreeSet<String> = BTreeSet::new();
    for entry in listed.not_covered {
        assert!(!entry.reason.is_empty(), "{:?}", entry.bugs);
        without.extend(entry.bugs);
    }
    let mut wrong = Vec::new();
    for path in files(&[".json"]).iter().filter(|path| path.starts_with(root().join("fixtures"))) {
        for id in read_json::<NamesBugs>(path).bugs.intersection(&without) {
            wrong.push(format!("{} names {id}, which is listed as not covered", shown(path)));
        }
    }
    assert_none(&wrong);
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", shown(path)))
}
