//! `onrecord list`: rules, fixtures, targets.

use std::path::Path;

use clap::{Args, ValueEnum};
use comfy_table::Table;
use onrecord_spec::chapter::Chapter;
use onrecord_spec::rule::{Level, Rule, Status};
use onrecord_spec::target::{Target, TargetRule};
use serde::Serialize;

use super::{OK, Stop, print, print_json, suite};
use crate::fixture::Fixture;
use crate::suite::Suite;

/// List rules, fixtures or targets.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct List {
    /// What to list.
    #[arg(value_enum)]
    what: What,
    /// How.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  onrecord list rules                  every rule, one a line
  onrecord list rules --format json    with the fixtures that keep and break it
  onrecord list fixtures | grep late   what `run --filter` can match
  onrecord list targets                each target with the table of its rules";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// The rules of the spec.
    Rules,
    /// The fixtures.
    Fixtures,
    /// The targets, with their own rules.
    Targets,
}

/// How a list is written.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// A rule, with what a reader of the list needs.
#[derive(Debug, Serialize)]
pub(super) struct OneRule<'a> {
    id: Rule,
    level: Level,
    chapter: Chapter,
    status: Status,
    sentence: String,
    /// Cases that check it, and verdicts whose trace keeps it.
    kept_by: Vec<&'a str>,
    /// Verdicts whose trace breaks it.
    broken_by: Vec<&'a str>,
}

#[derive(Serialize)]
struct OneFixture<'a> {
    name: &'a str,
    kind: &'static str,
    title: &'a str,
    rules: Vec<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunts: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bugs: Option<&'a [String]>,
    /// The ids of the cases that it is run as.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cases: Vec<String>,
}

#[derive(Serialize)]
struct OneTarget {
    target: Target,
    rules: &'static [TargetRule],
}

impl List {
    pub(super) fn perform(self, fixtures: Option<&Path>) -> Result<u8, Stop> {
        match self.what {
            What::Rules => {
                let suite = suite(fixtures)?;
                let rules: Vec<OneRule<'_>> =
                    Rule::ALL.iter().map(|rule| one_rule(*rule, &suite)).collect();
                self.show(&rules, rules_table)?;
            }
            What::Fixtures => {
                let suite = suite(fixtures)?;
                let fixtures: Vec<OneFixture<'_>> =
                    suite.fixtures().iter().map(one_fixture).collect();
                self.show(&fixtures, fixtures_table)?;
            }
            What::Targets => {
                let targets: Vec<OneTarget> = Target::ALL
                    .into_iter()
                    .map(|target| OneTarget { target, rules: target.rules() })
                    .collect();
                self.show(&targets, targets_table)?;
            }
        }
        Ok(OK)
    }

    fn show<T: Serialize>(&self, items: &[T], table: fn(&[T]) -> String) -> Result<(), Stop> {
        match self.format {
            Format::Text => print(&table(items)),
            Format::Json => print_json(&items),
        }
    }
}

pub(super) fn one_rule(rule: Rule, suite: &Suite) -> OneRule<'_> {
    OneRule {
        id: rule,
        level: rule.level(),
        chapter: rule.chapter(),
        status: rule.status(),
        sentence: rule.section().map(|section| section.sentence()).unwrap_or_default(),
        kept_by: suite.keeping(rule),
        broken_by: suite.breaking(rule),
    }
}

fn one_fixture(fixture: &Fixture) -> OneFixture<'_> {
    match fixture {
        Fixture::Case(template) => OneFixture {
            name: &template.id,
            kind: "case",
            title: &template.title,
            rules: template.rules.clone(),
            hunts: Some(&template.hunts),
            bugs: Some(&template.bugs),
            cases: template.expand().into_iter().map(|case| case.id).collect(),
        },
        Fixture::Verdict(verdict) => OneFixture {
            name: &verdict.id,
            kind: "verdict",
            title: &verdict.title,
            rules: vec![verdict.rule],
            hunts: None,
            bugs: None,
            cases: Vec::new(),
        },
    }
}

fn rules_table(rules: &[OneRule<'_>]) -> String {
    let mut table = bare(&["rule", "level", "status", "kept by", "broken by", "sentence"]);
    for rule in rules {
        let status = match rule.status {
            Status::Judged => "judged",
            Status::NotYetJudged => "not yet judged",
        };
        table.add_row([
            rule.id.id().to_string(),
            level(rule.level).to_string(),
            status.to_string(),
            rule.kept_by.len().to_string(),
            rule.broken_by.len().to_string(),
            rule.sentence.clone(),
        ]);
    }
    lines(&table)
}

fn fixtures_table(fixtures: &[OneFixture<'_>]) -> String {
    let mut table = bare(&["fixture", "kind", "title"]);
    for fixture in fixtures {
        table.add_row([fixture.name, fixture.kind, fixture.title]);
    }
    lines(&table)
}

fn targets_table(targets: &[OneTarget]) -> String {
    let mut text = String::new();
    for target in targets {
        let mut table = bare(&[target.target.name(), "known", "demand"]);
        for rule in target.rules {
            let known = crate::expect::name(&rule.confidence);
            table.add_row([rule.id.to_string(), known, rule.sentence.to_string()]);
        }
        text.push_str(&lines(&table));
        text.push('\n');
    }
    text
}

pub(super) fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "MUST",
        Level::Should => "SHOULD",
    }
}

fn bare(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(header.iter().copied());
    table
}

fn lines(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
