//! `onrecord mutants`: the kill matrix.

use std::fmt::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use onrecord_spec::rule::Rule;

use super::{FINDINGS, OK, Stop, print, print_json, suite};
use crate::mutant::matrix::{Kills, Matrix};
use crate::mutant::{self, Mutant};
use crate::words::count;

/// Show which fixtures catch which implementation that is broken on purpose.
///
/// Each MUST rule has a mutant: the reference with one fault. It is caught if that
/// rule's own judge finds the fault in a fixture that names the rule. A crash is no
/// kill. Give your own fixtures with `--fixtures` to see what they catch.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = super::EXIT_CODES)]
pub(super) struct Mutants {
    /// Only mutants whose name holds this text. May be given again: one must match.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only mutants of this rule. May be given again.
    #[arg(long, value_name = "ID", value_parser = super::run::rule)]
    rule: Vec<Rule>,
    /// How the matrix is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  onrecord mutants                              all of them
  onrecord mutants --rule replay.call-answered  those that break one rule
  onrecord mutants --format markdown            the matrix as it stands in the text

Exit codes:
  0  every MUST rule has a mutant and each is caught by its own rule's judge
  1  one is not caught, or a MUST rule has none
  2  wrong usage, a file that cannot be used, or nothing matched
  3  the runner broke";

/// How the matrix is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For a page.
    Markdown,
}

impl Mutants {
    pub(super) fn perform(self, fixtures: Option<&Path>) -> Result<u8, Stop> {
        let mut suite = suite(fixtures)?;
        suite.selection.rules.clone_from(&self.rule);
        let wanted: Vec<&Mutant> = mutant::all().filter(|mutant| self.wants(mutant)).collect();
        if wanted.is_empty() {
            return Err(Stop::usage(
                "no mutant matches, so nothing would be proved; `onrecord mutants` without a filter \
                 shows all names",
            ));
        }
        let bar = bar(wanted.len());
        let mut matrix = Matrix::of(&suite, wanted, &|| bar.inc(1));
        bar.finish_and_clear();
        if !self.filter.is_empty() {
            // Who asks for some mutants does not ask which are missing.
            matrix.without_mutant.clear();
        }
        match self.format {
            Format::Text => print(&text(&matrix))?,
            Format::Json => print_json(&matrix)?,
            Format::Markdown => print(&crate::report::matrix::markdown(&matrix))?,
        }
        Ok(if matrix.is_whole() { OK } else { FINDINGS })
    }

    fn wants(&self, mutant: &Mutant) -> bool {
        (self.filter.is_empty() || self.filter.iter().any(|piece| mutant.name.contains(piece)))
            && (self.rule.is_empty() || self.rule.contains(&mutant.rule))
    }
}

/// A bar on a terminal, and nothing elsewhere.
fn bar(mutants: usize) -> ProgressBar {
    let bar = ProgressBar::new(mutants as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} mutants") {
        bar.set_style(style);
    }
    bar
}

fn text(matrix: &Matrix) -> String {
    let mut text = String::new();
    for kills in &matrix.mutants {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {} ({})", verdict(kills), kills.mutant, kills.rule);
        let _ = writeln!(text, "    {}", kills.fault);
        let found = kills.caught.len();
        let _ = write!(text, "    found in {found} of {}", count(kills.tried, "case"));
        match kills.caught.first() {
            Some(first) => text.push_str(&format!(", the first is {first}\n")),
            None => text.push('\n'),
        }
        for (case, what) in kills.crashed.iter().take(3) {
            let _ = writeln!(text, "    crashed in {case}: {}", crate::words::visible(what));
        }
    }
    for rule in &matrix.without_mutant {
        let _ = writeln!(text, "MISSING {rule} has no mutant");
    }
    let caught = matrix.mutants.iter().filter(|kills| kills.is_caught()).count();
    let _ = writeln!(
        text,
        "{}, {caught} caught by the judge of their own rule. {}",
        count(matrix.mutants.len(), "mutant"),
        if matrix.is_whole() { "All are caught." } else { "The suite does not see every fault." }
    );
    text
}

fn verdict(kills: &Kills) -> &'static str {
    if kills.is_caught() {
        "caught "
    } else if kills.crashed.is_empty() {
        "MISSED "
    } else {
        "CRASHED"
    }
}
