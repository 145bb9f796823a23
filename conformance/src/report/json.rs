//! The report for programs.

use onrecord_spec::chapter::Chapter;
use onrecord_spec::finding::Finding;
use onrecord_spec::op::Hello;
use onrecord_spec::rule::{Level, Rule};
use serde::Serialize;

use super::{harm, repeat, rows, sentence};
use crate::check::{Check, Report, Status, Tally};

#[derive(Serialize)]
struct Whole<'a> {
    onrecord: &'static str,
    implementation: &'a Hello,
    said: String,
    exit_code: u8,
    all: Tally,
    chapters: Vec<OneChapter>,
    checks: Vec<One<'a>>,
    stale: &'a [String],
    broken_fixtures: &'a [String],
}

#[derive(Serialize)]
struct OneChapter {
    chapter: Chapter,
    #[serde(flatten)]
    tally: Tally,
}

/// One check; with everything that a reader needs, if it did not pass.
#[derive(Serialize)]
struct One<'a> {
    check: String,
    case: &'a str,
    rule: Rule,
    level: Level,
    status: Status,
    declared: bool,
    witnesses: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<OneFinding<'a>>,
    #[serde(flatten)]
    told: Option<Told<'a>>,
}

#[derive(Serialize)]
struct OneFinding<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    rows: Vec<&'a str>,
}

#[derive(Serialize)]
struct Told<'a> {
    sentence: String,
    harm: String,
    title: &'a str,
    hunts: &'a str,
    log: &'a [String],
    steps: &'a [String],
    repeat: String,
}

/// The report as JSON, over several lines.
#[must_use]
pub fn render(report: &Report) -> String {
    let chapters = Chapter::ALL.into_iter().map(|chapter| {
        let checks = report.checks.iter().filter(|check| check.rule.chapter() == chapter);
        OneChapter { chapter, tally: Tally::of(checks) }
    });
    let whole = Whole {
        onrecord: env!("CARGO_PKG_VERSION"),
        implementation: &report.implementation,
        said: report.in_words(),
        exit_code: report.exit_code(),
        all: report.tally(),
        chapters: chapters.collect(),
        checks: report.checks.iter().map(|check| one(report, check)).collect(),
        stale: &report.stale,
        broken_fixtures: &report.broken,
    };
    // Only a map with keys that are no strings cannot be written.
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    text
}

fn one<'a>(report: &'a Report, check: &'a Check) -> One<'a> {
    let situation = report.situations.get(&check.case);
    let told = situation.filter(|_| check.status.needs_telling()).map(|situation| Told {
        sentence: sentence(check.rule),
        harm: harm(check.rule),
        title: &situation.title,
        hunts: &situation.hunts,
        log: &check.log,
        steps: &situation.steps,
        repeat: repeat(report, check),
    });
    One {
        check: check.key(),
        case: &check.case,
        rule: check.rule,
        level: check.rule.level(),
        status: check.status,
        declared: check.declared,
        witnesses: check.witnesses,
        reason: &check.reason,
        findings: check
            .findings
            .iter()
            .map(|finding| OneFinding { finding, rows: rows(finding, &check.log) })
            .collect(),
        told,
    }
}
