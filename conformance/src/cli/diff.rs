//! `onrecord diff`: two programs, asked the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use onrecord_reference::Reference;
use onrecord_spec::op::Implementation;
use onrecord_spec::rule::Rule;
use serde::Serialize;

use super::{FINDINGS, OK, Stop, print, print_json, suite};
use crate::adapter::{Adapter, Limits};
use crate::diff::{Compared, Difference, Kind, compare};
use crate::fixture::Case;
use crate::fuzz::Fuzz;
use crate::words::{count, excerpt, visible};

/// Show where two programs differ, and which of them breaks a rule there.
///
/// Both are asked the suite's cases, and as many random ones as you want. Answers
/// differ if one is refused and the other is not, if they are refused for different
/// reasons, or if a judge finds a rule broken in one alone. Wording is free: what
/// differs only in words is counted.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = super::EXIT_CODES)]
pub(super) struct Diff {
    /// Only fixtures whose name holds this text. May be given again: one must match.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only differences that have to do with this rule. May be given again.
    #[arg(long, value_name = "ID", value_parser = super::run::rule)]
    rule: Vec<Rule>,
    /// Ask so many random cases too.
    #[arg(long, value_name = "N", default_value_t = 0)]
    cases: u64,
    /// Where the random cases come from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many differences are told.
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,
    /// How long an adapter may take for one answer, in seconds.
    #[arg(long, value_name = "SECS", value_parser = super::run::seconds)]
    timeout: Option<Duration>,
    /// How the differences are told.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// One adapter, or two with `--` between them. One is compared with the reference.
    #[arg(last = true, required = true, value_name = "CMD")]
    commands: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  onrecord diff -- python3 old.py -- python3 new.py     what changed?
  onrecord diff -- ./adapter                            against the reference
  onrecord diff --cases 200 --seed 7 -- ./a -- ./b      on random records too
  onrecord diff --filter replay/ --most 100 -- ./a -- ./b

Exit codes:
  0  no difference
  1  they differ
  2  wrong usage, a file that cannot be used, or nothing was compared
  3  an adapter did not start";

/// How the differences are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// One that is compared.
type Side = Box<dyn Implementation>;

/// How much of an answer is told.
const QUOTED: usize = 400;

/// What is told of a comparison.
#[derive(Debug, Default, Serialize)]
struct Told {
    first: String,
    second: String,
    cases: usize,
    /// How many cases one of them does not do, by reason.
    unsupported: BTreeMap<String, usize>,
    /// How many answers only words tell apart.
    wording: usize,
    /// How many differences there are.
    different: usize,
    /// The first of them.
    differences: Vec<Difference>,
}

impl Diff {
    pub(super) fn perform(self, fixtures: Option<&Path>) -> Result<u8, Stop> {
        let (mut first, mut second) = self.sides()?;
        let mut suite = suite(fixtures)?;
        suite.selection.filters.clone_from(&self.filter);
        let mut told = Told {
            first: started(&mut *first)?,
            second: started(&mut *second)?,
            ..Told::default()
        };
        let mut cases: Vec<Case> = suite.cases();
        let fuzz = Fuzz { seed: self.seed, cases: self.cases, ..Fuzz::default() };
        // Random cases go on by what comes back; here by what the reference answers.
        cases.extend(
            (0..self.cases).filter_map(|number| fuzz.case(number, &mut Reference::new()).ok()),
        );
        if cases.is_empty() {
            return Err(Stop::usage(
                "no case matches, so nothing would be compared; `onrecord list fixtures` shows what \
                 `--filter` can match",
            ));
        }
        let bar = bar(cases.len());
        for case in &cases {
            self.compare(case, &mut *first, &mut *second, &mut told);
            bar.inc(1);
        }
        bar.finish_and_clear();
        match self.format {
            Format::Text => print(&told.text())?,
            Format::Json => print_json(&told)?,
        }
        if told.cases == 0 {
            return Err(Stop::usage("nothing was compared: no case is one that both do"));
        }
        Ok(if told.different == 0 { OK } else { FINDINGS })
    }

    /// The two that are compared.
    fn sides(&self) -> Result<(Side, Side), Stop> {
        let commands: Vec<&[String]> = self.commands.split(|word| word == "--").collect();
        let adapter = |command: &[String]| -> Side {
            let timeout = self.timeout.unwrap_or(Limits::default().timeout);
            Box::new(Adapter::new(command.to_vec(), Limits { timeout, ..Limits::default() }))
        };
        match commands.as_slice() {
            [first] if !first.is_empty() => Ok((adapter(first), Box::new(Reference::new()))),
            [first, second] if !first.is_empty() && !second.is_empty() => {
                Ok((adapter(first), adapter(second)))
            }
            _not_two => Err(Stop::usage(
                "one command or two are compared; write `onrecord diff -- CMD A -- CMD B`",
            )),
        }
    }

    fn compare(
        &self,
        case: &Case,
        first: &mut dyn Implementation,
        second: &mut dyn Implementation,
        told: &mut Told,
    ) {
        match compare(case, first, second) {
            Compared::Unsupported(reason) => *told.unsupported.entry(reason).or_default() += 1,
            Compared::Alike(wording) => {
                told.cases += 1;
                told.wording += wording;
            }
            Compared::Different(differences) => {
                told.cases += 1;
                for difference in differences.into_iter().filter(|it| self.wants(it)) {
                    told.different += 1;
                    if told.differences.len() < self.most {
                        told.differences.push(difference);
                    }
                }
            }
        }
    }

    fn wants(&self, difference: &Difference) -> bool {
        let mut rules = difference.first_breaks.iter().chain(&difference.second_breaks);
        self.rule.is_empty() || rules.any(|rule| self.rule.contains(rule))
    }
}

/// The name of an implementation, which shows that it starts.
fn started(implementation: &mut dyn Implementation) -> Result<String, Stop> {
    let hello = implementation.hello().map_err(|fault| Stop::broke(visible(&fault.message)))?;
    Ok(hello.name)
}

fn bar(cases: usize) -> ProgressBar {
    let bar = ProgressBar::new(cases as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} cases") {
        bar.set_style(style);
    }
    bar
}

impl Told {
    fn text(&self) -> String {
        let (first, second) = (visible(&self.first), visible(&self.second));
        let mut text = String::new();
        for it in &self.differences {
            let what = match it.what {
                Kind::Outcome => "they answer otherwise",
                Kind::Rule => "one breaks a rule",
                Kind::Fault => "one gives no answer",
            };
            text.push_str(&format!("{}, step {} (`{}`): {what}\n", it.case, it.step, it.op));
            for (name, said, breaks) in
                [(&first, &it.first, &it.first_breaks), (&second, &it.second, &it.second_breaks)]
            {
                text.push_str(&format!("  {name}: {}\n", excerpt(said, QUOTED)));
                if !breaks.is_empty() {
                    let rules: Vec<&str> = breaks.iter().map(|rule| rule.id()).collect();
                    text.push_str(&format!("    breaks {}\n", rules.join(", ")));
                }
            }
            if it.first_breaks.is_empty() && it.second_breaks.is_empty() {
                text.push_str("  no judge finds a rule broken by either alone\n");
            }
            text.push('\n');
        }
        if self.different > self.differences.len() {
            let more = self.different - self.differences.len();
            text.push_str(&format!("and {more} more; `--most` shows them\n"));
        }
        for (reason, cases) in &self.unsupported {
            text.push_str(&format!(
                "{} not compared: {}\n",
                count(*cases, "case"),
                visible(reason)
            ));
        }
        text.push_str(&format!(
            "{first} and {second}: {} compared, {}, and {} that only words tell apart\n",
            count(self.cases, "case"),
            count(self.different, "difference"),
            count(self.wording, "answer"),
        ));
        text
    }
}
