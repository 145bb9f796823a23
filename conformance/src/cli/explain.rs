//! `onrecord explain`: what a rule says, why, what harm follows, what shows it.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use onrecord_spec::rule::{Rule, Status};
use onrecord_spec::target::{Target, TargetRule};

use super::list::level;
use super::{OK, Stop, print, suite};
use crate::suite::Suite;
use crate::words::visible;

/// Say what a rule or a target's rule demands, why, and what shows it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Explain {
    /// The rule's id, like replay.call-answered, or a target's, like ANT-3.
    id: String,
}

const EXAMPLES: &str = "\
Examples:
  onrecord explain replay.call-answered
  onrecord explain ANT-3
  onrecord explain replay.late-result | less";

impl Explain {
    pub(super) fn perform(self, fixtures: Option<&Path>) -> Result<u8, Stop> {
        if let Some(rule) = Rule::from_id(&self.id) {
            print(&explain_rule(rule, &suite(fixtures)?))?;
        } else if let Some((target, rule)) = target_rule(&self.id) {
            print(&explain_target_rule(target, rule))?;
        } else {
            return Err(Stop::usage(format!(
                "there is no rule `{}`; `onrecord list rules` shows all ids, `onrecord list targets` \
                 those of the targets{}",
                visible(&self.id),
                nearest(&self.id)
            )));
        }
        Ok(OK)
    }
}

fn target_rule(id: &str) -> Option<(Target, &'static TargetRule)> {
    Target::ALL.into_iter().find_map(|target| {
        let rule = target.rules().iter().find(|rule| rule.id.eq_ignore_ascii_case(id))?;
        Some((target, rule))
    })
}

/// Rules whose name ends as the asked one does: the usual slip is the chapter.
fn nearest(id: &str) -> String {
    let name = id.rsplit('.').next().unwrap_or(id);
    let near: Vec<&str> = Rule::ALL
        .iter()
        .map(|rule| rule.id())
        .filter(|known| !name.is_empty() && known.contains(name))
        .collect();
    if near.is_empty() { String::new() } else { format!("; near it are `{}`", near.join("`, `")) }
}

fn explain_rule(rule: Rule, suite: &Suite) -> String {
    let mut text = String::new();
    let status = match rule.status() {
        Status::Judged => "",
        Status::NotYetJudged => ", not yet judged",
    };
    line(&mut text, &format!("{rule}  {}{status}", level(rule.level())));
    if let Some(section) = rule.section() {
        paragraph(&mut text, "", &section.sentence());
        paragraph(&mut text, "Why. ", &section.why());
        paragraph(&mut text, "Harm. ", &section.harm());
        paragraph(&mut text, "Details. ", &section.details());
        for example in section.examples() {
            paragraph(&mut text, "Example:\n", example.trim_end());
        }
    }
    names(&mut text, "Kept by", &suite.keeping(rule));
    names(&mut text, "Broken by", &suite.breaking(rule));
    line(&mut text, &format!("\nRun it: onrecord run --rule {rule} -- <your adapter>"));
    text
}

fn explain_target_rule(target: Target, rule: &TargetRule) -> String {
    let mut text = String::new();
    line(&mut text, &format!("{}  of the target {}", rule.id, target.name()));
    paragraph(&mut text, "", rule.sentence);
    paragraph(&mut text, "The provider's error: ", rule.error);
    let known = crate::expect::name(&rule.confidence);
    paragraph(&mut text, "Known from: ", &format!("{} (confidence {known})", rule.source));
    paragraph(&mut text, "Checked as far as: ", rule.limit);
    text
}

fn line(text: &mut String, words: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{words}");
}

fn paragraph(text: &mut String, label: &str, words: &str) {
    if !words.is_empty() {
        line(text, &format!("\n{label}{words}"));
    }
}

fn names(text: &mut String, label: &str, names: &[&str]) {
    if !names.is_empty() {
        line(text, &format!("\n{label}:"));
        names.iter().for_each(|name| line(text, &format!("  {name}")));
    }
}
