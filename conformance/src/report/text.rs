//! The report for people: each finding told whole, then a table by chapter, then
//! one line that says it in words.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Color, Style};
use comfy_table::{CellAlignment, Table};
use onrecord_spec::chapter::Chapter;
use onrecord_spec::finding::Finding;

use super::{harm, repeat, rows, sentence};
use crate::check::{Check, Report, Status, Tally};
use crate::words::{count, visible, visible_lines};

const BOLD: Style = Style::new().bold();
const RED: Style = Style::new().bold().fg_color(Some(Color::Ansi(AnsiColor::Red)));
const YELLOW: Style = Style::new().bold().fg_color(Some(Color::Ansi(AnsiColor::Yellow)));
const GREEN: Style = Style::new().bold().fg_color(Some(Color::Ansi(AnsiColor::Green)));

/// The report without colour.
#[must_use]
pub fn plain(report: &Report) -> String {
    anstream::adapter::strip_str(&render(report)).to_string()
}

/// The report, with colour as terminals take it.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for broken in &report.broken {
        heading(&mut text, RED, "broken", &visible_lines(broken));
    }
    for check in report.checks.iter().filter(|check| check.status.needs_telling()) {
        tell(&mut text, report, check);
    }
    unsupported(&mut text, report);
    for stale in &report.stale {
        heading(&mut text, RED, "stale", stale);
    }
    text.push_str(&table(report));
    text.push('\n');
    for limit in &report.implementation.limits {
        line(&mut text, &format!("limit: {}", visible(limit)));
    }
    if report.without_reason > 0 {
        let entries = count(report.without_reason, "expected failure");
        line(&mut text, &format!("{entries} of the baseline without a reason: write it there"));
    }
    let style = if report.is_ok() { GREEN } else { RED };
    line(&mut text, &format!("{style}{}{style:#}", report.in_words()));
    text
}

/// One check, told whole, without colour.
#[must_use]
pub fn plain_check(report: &Report, check: &Check) -> String {
    let mut text = String::new();
    tell(&mut text, report, check);
    anstream::adapter::strip_str(&text).to_string()
}

fn line(text: &mut String, words: &str) {
    text.push_str(words);
    text.push('\n');
}

fn heading(text: &mut String, style: Style, word: &str, rest: &str) {
    line(text, &format!("{style}{word}{style:#} {rest}"));
}

fn style_of(status: Status) -> Style {
    match status {
        Status::Pass | Status::ExpectedFail => GREEN,
        Status::Warn | Status::Unsupported => YELLOW,
        Status::Fail | Status::Untestable | Status::Error | Status::Timeout | Status::Stale => RED,
    }
}

/// One check that did not pass, told whole.
fn tell(text: &mut String, report: &Report, check: &Check) {
    let besides = if check.declared { "" } else { " (found besides what the case checks)" };
    let title = format!("{BOLD}{}{BOLD:#}  {}{besides}", check.rule, check.case);
    heading(text, style_of(check.status), check.status.name(), &title);
    part(text, "rule", &sentence(check.rule));
    part(text, "harm", &harm(check.rule));
    let situation = report.situations.get(&check.case);
    if let Some(situation) = situation {
        part(text, "case", &situation.title);
        part(text, "hunts", &situation.hunts);
    }
    part(text, "why", &visible_lines(&check.reason));
    for finding in &check.findings {
        part(text, "found", &found(finding));
        for row in rows(finding, &check.log) {
            part(text, "row", &visible(row));
        }
    }
    part(text, "log", &log(&check.log));
    if let Some(situation) = situation {
        part(text, "steps", &visible_lines(&situation.steps.join("\n")));
    }
    part(text, "repeat", &repeat(report, check));
    text.push('\n');
}

/// A labelled part, its further lines under its first one. Nothing for an empty
/// one.
fn part(text: &mut String, label: &str, words: &str) {
    if words.trim().is_empty() {
        return;
    }
    for (index, words) in words.lines().enumerate() {
        let label = if index == 0 { label } else { "" };
        let _ = writeln!(text, "  {label:<7} {words}");
    }
}

fn found(finding: &Finding) -> String {
    let mut place = format!("step {}", finding.step);
    if let Some(seq) = finding.seq {
        let _ = write!(place, ", row {seq}");
    }
    if let Some(path) = &finding.path {
        let _ = write!(place, ", {}", visible(path));
    }
    if let Some(rule) = finding.target_rule {
        let _ = write!(place, ", {rule}");
    }
    format!("{} ({place})", visible(&finding.message))
}

/// The log, each row cut where it would drown the rest.
fn log(rows: &[String]) -> String {
    const LONGEST: usize = 1000;
    let lines = rows.iter().map(|row| crate::words::excerpt(row, LONGEST));
    lines.collect::<Vec<_>>().join("\n")
}

/// What is not supported, each reason once.
fn unsupported(text: &mut String, report: &Report) {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for check in report.checks.iter().filter(|check| check.status == Status::Unsupported) {
        match reasons.iter_mut().find(|(reason, _)| *reason == check.reason) {
            Some((_, number)) => *number += 1,
            None => reasons.push((&check.reason, 1)),
        }
    }
    for (reason, number) in reasons {
        let words = format!("{}: {}", count(number, "check"), visible(reason));
        heading(text, YELLOW, "unsupported", &words);
    }
}

fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "chapter",
        "rules",
        "declared",
        "executed",
        "passed",
        "failed",
        "warned",
        "expected",
        "unsupported",
        "errors",
    ]);
    for chapter in Chapter::ALL {
        let checks = report.checks.iter().filter(|check| check.rule.chapter() == chapter);
        table.add_row(numbers(chapter.name(), &Tally::of(checks)));
    }
    table.add_row(numbers("all", &report.tally()));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn numbers(name: &str, tally: &Tally) -> Vec<String> {
    let numbers = [
        tally.rules,
        tally.declared,
        tally.executed,
        tally.passed,
        tally.failed + tally.untestable,
        tally.warned,
        tally.expected,
        tally.unsupported,
        tally.errors,
    ];
    let mut row = vec![name.to_string()];
    row.extend(numbers.iter().map(usize::to_string));
    row
}
