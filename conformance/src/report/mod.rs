//! Reports: the same contents for people (text), for programs (JSON) and for CI
//! systems (JUnit).

pub mod json;
pub mod junit;
pub mod matrix;
pub mod text;

use onrecord_spec::finding::Finding;
use onrecord_spec::rule::Rule;

use crate::check::{Check, Repeat, Report};
use crate::words::shell;

/// The rule's sentence; its id where the text has none.
fn sentence(rule: Rule) -> String {
    rule.section().map_or_else(|| rule.id().to_string(), |section| section.sentence())
}

/// What happens to people where the rule is broken.
fn harm(rule: Rule) -> String {
    rule.section().map(|section| section.harm()).unwrap_or_default()
}

/// The command, or the call, that repeats one check.
fn repeat(report: &Report, check: &Check) -> String {
    let mut words = ["onrecord", "run", "--filter"].map(String::from).to_vec();
    words.push(check.case.clone());
    words.push("--rule".to_string());
    words.push(check.rule.id().to_string());
    match &report.repeat {
        Repeat::Reference => shell(&words),
        Repeat::Store(store) => {
            format!("{} --store {}", shell(&words), shell(std::slice::from_ref(store)))
        }
        Repeat::Command(command) => format!("{} -- {}", shell(&words), shell(command)),
        Repeat::InProcess => format!(
            "onrecord::suite().filter(\"{}\").rule(Rule::{:?}).run(&mut implementation).assert_ok()",
            check.case, check.rule
        ),
    }
}

/// The rows that a finding is about, as they stand in the log.
fn rows<'a>(finding: &Finding, log: &'a [String]) -> Vec<&'a str> {
    let Some(seq) = finding.seq else { return Vec::new() };
    log.iter().map(String::as_str).filter(|row| seq_of(row) == Some(seq)).collect()
}

fn seq_of(row: &str) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Seq {
        seq: u64,
    }
    serde_json::from_str::<Seq>(row).ok().map(|row| row.seq)
}
