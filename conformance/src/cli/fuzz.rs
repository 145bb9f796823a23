//! `onrecord fuzz`: random records thrown at a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use onrecord_reference::Reference;
use onrecord_spec::op::{FaultKind, Implementation};
use onrecord_spec::rule::Rule;
use onrecord_spec::target::Target;
use serde::Serialize;

use super::{BROKE, FINDINGS, OK, Stop, note, print, print_json};
use crate::adapter::{Adapter, Limits};
use crate::fuzz::{Finding, Found, Fuzz, Progress, What, file};
use crate::words::{count, shell, visible};

/// Throw random records at a program, and keep the smallest that break a rule.
///
/// Each case is a record that does everything wrong, with questions about it. What
/// comes back is judged by every rule; what breaks one is made smaller against the
/// program itself, and written as a fixture with the command that repeats it. Findings
/// of one rule and one shape are written once. Without a command the reference is asked.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = super::EXIT_CODES)]
pub(super) struct Fuzzing {
    /// Where the cases come from; the same number makes the same cases. One that is
    /// new each time if it is left out; it is told.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many cases are made at most. 1000, or as many as there is time for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: Option<u64>,
    /// How long it may take: `90`, `90s`, `5m` or `1h`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Only breaches of this rule. May be given again.
    #[arg(long, value_name = "ID", value_parser = super::run::rule)]
    rule: Vec<Rule>,
    /// Only replays to this target. May be given again.
    #[arg(long, value_name = "TARGET", value_parser = super::run::target)]
    target: Vec<Target>,
    /// Where the fixtures are written. What is there is not overwritten.
    #[arg(long, value_name = "DIR", default_value = "onrecord-findings")]
    output: PathBuf,
    /// How long an adapter may take for one answer, in seconds.
    #[arg(long, value_name = "SECS", value_parser = super::run::seconds)]
    timeout: Option<Duration>,
    /// How the findings are told.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The adapter: a program and its arguments. Without one the reference is asked.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  onrecord fuzz --time 1m -- python3 my_adapter.py   for a minute
  onrecord fuzz --seed 7 --cases 200 -- ./adapter    the same 200 cases each time
  onrecord fuzz --rule replay.call-answered -- ./adapter
  onrecord run --fixtures onrecord-findings -- ./adapter   what was found, once more

Ctrl-C ends it; what was found by then is written and told.

Exit codes:
  0  nothing was found
  1  something was found
  2  wrong usage, or the findings cannot be written
  3  the adapter did not start, or broke again and again";

/// How the findings are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// How many cases are made where neither their number nor a time is given.
const CASES: u64 = 1_000;

impl Fuzzing {
    pub(super) fn perform(self) -> Result<u8, Stop> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000_000));
        let unbounded = if self.time.is_some() { u64::MAX } else { CASES };
        let cases = self.cases.unwrap_or(unbounded);
        let fuzz = Fuzz { seed, cases, rules: self.rule.clone(), targets: self.target.clone() };
        let began = Instant::now();
        let found = self.run(&fuzz);
        let seconds = began.elapsed().as_secs_f64();
        let written = self.write(&found)?;
        let told = Told::of(&self, &found, &written, seconds);
        match self.format {
            Format::Text => print(&told.text())?,
            Format::Json => print_json(&told)?,
        }
        Ok(match &found.ended {
            Some(_) => BROKE,
            None if found.findings.is_empty() => OK,
            None => FINDINGS,
        })
    }

    fn run(&self, fuzz: &Fuzz) -> Found {
        let mut implementation: Box<dyn Implementation> = if self.command.is_empty() {
            Box::new(Reference::new())
        } else {
            let timeout = self.timeout.unwrap_or(Limits::default().timeout);
            Box::new(Adapter::new(self.command.clone(), Limits { timeout, ..Limits::default() }))
        };
        let stopped = stopped();
        let until = self.time.map(|time| Instant::now() + time);
        let bar = bar(fuzz.cases);
        let found = fuzz.run(&mut *implementation, &mut |progress: Progress| {
            bar.set_position(progress.tried);
            let findings = count(progress.findings, "finding");
            bar.set_message(format!("{findings} of {}", count(progress.rules, "rule")));
            !stopped.load(Ordering::Relaxed) && until.is_none_or(|until| Instant::now() < until)
        });
        bar.finish_and_clear();
        found
    }

    /// Writes each finding as a fixture. Gives the paths, in their order.
    fn write(&self, found: &Found) -> Result<Vec<PathBuf>, Stop> {
        let mut paths = Vec::new();
        for finding in &found.findings {
            let path = file::write(&self.output, finding).map_err(|error| {
                let shown = visible(&self.output.display().to_string());
                Stop::usage(format!(
                    "cannot write into `{shown}`: {error}; name a folder with `--output` that can be \
                     written"
                ))
            })?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// True once somebody has pressed Ctrl-C. Where that cannot be heard, it ends the
/// command as ever.
fn stopped() -> Arc<AtomicBool> {
    let stopped = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stopped);
    if ctrlc::set_handler(move || heard.store(true, Ordering::Relaxed)).is_err() {
        note("Ctrl-C cannot be heard here: it ends the run without its findings");
    }
    stopped
}

fn bar(cases: u64) -> ProgressBar {
    let bounded = cases < u64::MAX;
    let bar = if bounded { ProgressBar::new(cases) } else { ProgressBar::new_spinner() };
    let template = if bounded {
        "{bar:40} {pos} of {len} cases, {per_sec}, {msg}"
    } else {
        "{spinner} {elapsed}: {pos} cases, {per_sec}, {msg}"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// What is told of a run.
#[derive(Debug, Serialize)]
struct Told {
    seed: u64,
    cases: u64,
    seconds: f64,
    /// How often a record was refused when it was loaded, by reason.
    refused: BTreeMap<String, u64>,
    /// How often something was not supported, by reason.
    unsupported: BTreeMap<String, u64>,
    findings: Vec<ToldFinding>,
    /// What ended the run early.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

#[derive(Debug, Serialize)]
struct ToldFinding {
    /// The rule; none if the adapter itself broke.
    rule: Option<Rule>,
    message: String,
    rows: usize,
    shape: String,
    /// The number of the case that it was made of.
    case: u64,
    fixture: String,
    repeat: String,
}

impl Told {
    fn of(asked: &Fuzzing, found: &Found, written: &[PathBuf], seconds: f64) -> Self {
        let pairs = found.findings.iter().zip(written);
        Self {
            seed: found.seed,
            cases: found.tried,
            seconds,
            refused: found.refused.clone(),
            unsupported: found.unsupported.clone(),
            findings: pairs.map(|(finding, path)| asked.told(finding, path)).collect(),
            ended: found.ended.as_ref().map(|fault| match fault.kind {
                FaultKind::NotStarted => fault.message.clone(),
                FaultKind::Timeout
                | FaultKind::Died
                | FaultKind::NotJson
                | FaultKind::NotAnAnswer
                | FaultKind::WrongId
                | FaultKind::TooLong
                | FaultKind::ErrorAnswer
                | FaultKind::Panicked => {
                    let when = if found.tried == 0 { "at its start" } else { "again and again" };
                    let why = &fault.message;
                    format!("the adapter broke {when}: {why}; `onrecord smoke` shows what it needs")
                }
            }),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let what = finding.rule.map_or("the adapter broke", Rule::id);
            text.push_str(&format!(
                "{what}, in {}\n  {}\n  {}\n  {}\n\n",
                count(finding.rows, "row"),
                visible(&finding.message),
                visible(&finding.fixture),
                finding.repeat
            ));
        }
        for (counts, what) in [(&self.refused, "refused"), (&self.unsupported, "not supported")] {
            for (reason, times) in counts {
                let cases = count(usize::try_from(*times).unwrap_or(usize::MAX), "case");
                text.push_str(&format!("{cases} {what}: {}\n", visible(reason)));
            }
        }
        if let Some(ended) = &self.ended {
            text.push_str(&format!("ended early: {}\n", visible(ended)));
        }
        let mut rules: Vec<Option<Rule>> = self.findings.iter().map(|it| it.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let cases = usize::try_from(self.cases).unwrap_or(usize::MAX);
        text.push_str(&format!(
            "seed {}: {} in {:.1} s, {} of {}\n",
            self.seed,
            count(cases, "case"),
            self.seconds,
            count(self.findings.len(), "finding"),
            count(rules.len(), "rule"),
        ));
        text
    }
}

impl Fuzzing {
    fn told(&self, finding: &Finding, path: &Path) -> ToldFinding {
        let rule = match finding.what {
            What::Rule(rule) => Some(rule),
            What::Fault => None,
        };
        ToldFinding {
            rule,
            message: finding.message.clone(),
            rows: finding.rows,
            shape: finding.shape.clone(),
            case: finding.from,
            fixture: path.display().to_string(),
            repeat: self.repeat(finding, path),
        }
    }

    /// The command that runs a finding once more.
    fn repeat(&self, finding: &Finding, path: &Path) -> String {
        let name = path.strip_prefix(&self.output).unwrap_or(path).with_extension("");
        let mut words: Vec<String> = vec!["onrecord".into(), "run".into(), "--fixtures".into()];
        words.push(self.output.display().to_string());
        words.extend(["--filter".to_string(), name.to_string_lossy().replace('\\', "/")]);
        words.extend(["--rule".to_string(), file::rule(finding.what).id().to_string()]);
        if !self.command.is_empty() {
            words.push("--".to_string());
            words.extend(self.command.iter().cloned());
        }
        shell(&words)
    }
}

/// A time as people write it.
fn duration(text: &str) -> Result<Duration, String> {
    const LONGEST: f64 = 7.0 * 86_400.0;
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60.0),
        Some(number) if text.ends_with('h') => (number, 3_600.0),
        Some(number) => (number, 1.0),
        None => (text, 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    let within = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST);
    within.map(Duration::from_secs_f64).ok_or_else(|| {
        "must be a time above 0 and up to a week, like 90, 90s, 5m or 1h".to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        for (text, seconds) in
            [("90", 90.0), ("90s", 90.0), ("5m", 300.0), ("1h", 3600.0), ("0.5", 0.5)]
        {
            assert_eq!(duration(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "0", "-1", "5d", "m", "soon", "1e300"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
