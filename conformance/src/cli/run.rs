//! `onrecord run`: the suite on an adapter, or on the reference.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use onrecord_reference::Reference;
use onrecord_spec::chapter::Chapter;
use onrecord_spec::op::Implementation;
use onrecord_spec::rule::Rule;
use onrecord_spec::target::Target;
use onrecord_sqlite::SqliteStore;

use super::{Stop, note, print, suite};
use crate::adapter::{Adapter, Limits};
use crate::baseline::Baseline;
use crate::check::{Repeat, Report};
use crate::report;
use crate::run::Options;
use crate::suite::Suite;
use crate::words::{shell, visible};

/// Run the suite on an adapter, on the reference, or on an embedded store.
///
/// Each rule of each fixture is one check. A breach of a MUST fails, a breach of a
/// SHOULD warns. What an adapter does not do is unsupported and no failure. What
/// rests on a replay in which speech or calls are lost is untestable, and red.
#[derive(Debug, Default, Args)]
#[command(after_long_help = EXAMPLES, after_help = super::EXIT_CODES)]
pub(super) struct Run {
    /// Only fixtures whose name holds this text. May be given again: one must match.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only checks of this rule. May be given again.
    #[arg(long, value_name = "ID", value_parser = rule)]
    rule: Vec<Rule>,
    /// Only checks of this chapter's rules.
    #[arg(long, value_name = "CHAPTER", value_parser = chapter)]
    chapter: Option<Chapter>,
    /// Only fixtures that replay to this target.
    #[arg(long, value_name = "TARGET", value_parser = target)]
    target: Option<Target>,
    /// The known failures: they do not fail the run, and stale ones do.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the failures of this run as a baseline, keeping the reasons that are there.
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// How long an adapter may take for one answer.
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// How the report is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write the report to this file, and only its last line to standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run an embedded store instead of the reference: `sqlite`, in a file that goes
    /// when it is done, or `sqlite:PATH`, in a new file that stays.
    #[arg(long, value_name = "STORE", value_parser = store, conflicts_with = "command")]
    store: Option<Store>,
    /// The adapter: a program and its arguments. Without one the reference is run.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  onrecord run                                         the reference
  onrecord run --store sqlite                          the store on SQLite
  onrecord run -- python3 my_adapter.py                your own
  onrecord run --filter late-result --target anthropic -- python3 my_adapter.py
  onrecord run --rule replay.call-answered -- python3 my_adapter.py
  onrecord run --write-baseline known.json -- python3 my_adapter.py
  onrecord run --baseline known.json --format junit --output report.xml -- python3 my_adapter.py

Exit codes:
  0  all as expected
  1  findings, or a stale baseline
  2  wrong usage, a file that cannot be used, or nothing matched
  3  the adapter or the runner broke";

/// How a report is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For CI systems.
    Junit,
}

/// An embedded store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Store {
    /// On SQLite, in this file; in one of its own if none is named.
    Sqlite(Option<PathBuf>),
}

fn store(text: &str) -> Result<Store, String> {
    match text.split_once(':') {
        None if text == "sqlite" => Ok(Store::Sqlite(None)),
        Some(("sqlite", path)) if !path.is_empty() => Ok(Store::Sqlite(Some(path.into()))),
        None | Some(_) => {
            Err("there is one store, `sqlite`; write `sqlite` or `sqlite:PATH`".to_string())
        }
    }
}

impl Run {
    pub(super) fn perform(self, fixtures: Option<&Path>) -> Result<u8, Stop> {
        let suite = self.select(suite(fixtures)?)?;
        let baseline = self.read_baseline()?;
        let mut report = self.run(&suite)?;
        if let Some(file) = &self.write_baseline {
            let written = Baseline::of(&report, &baseline);
            write(file, &written.to_text())?;
            note(&format!("wrote {} known failures", written.expected.len()));
            written.apply(&mut report, &suite);
        } else {
            baseline.apply(&mut report, &suite);
        }
        self.tell(&report)?;
        Ok(report.exit_code())
    }

    fn select(&self, mut suite: Suite) -> Result<Suite, Stop> {
        suite.selection.filters.clone_from(&self.filter);
        suite.selection.rules.clone_from(&self.rule);
        suite.selection.chapter = self.chapter;
        suite.selection.target = self.target;
        if suite.cases().is_empty() {
            return Err(Stop::usage(
                "no check matches, so nothing would be proved; `onrecord list fixtures` shows what \
                 `--filter` can match, `onrecord list rules` all rules",
            ));
        }
        Ok(suite)
    }

    /// The baseline to run against; where one is written anew, the one that is
    /// there, for its reasons.
    fn read_baseline(&self) -> Result<Baseline, Stop> {
        let to_write = self.write_baseline.as_ref().filter(|file| file.exists());
        let Some(file) = self.baseline.as_ref().or(to_write) else {
            return Ok(Baseline::default());
        };
        let text = crate::input::read_text(
            file,
            "write a baseline with `onrecord run --write-baseline FILE`",
        )
        .map_err(Stop::usage)?;
        Baseline::decode(&file.display().to_string(), &text).map_err(Stop::usage)
    }

    fn run(&self, suite: &Suite) -> Result<Report, Stop> {
        if let Some(Store::Sqlite(path)) = &self.store {
            return run_sqlite(suite, path.as_deref());
        }
        if self.command.is_empty() {
            let options = Options { exact: true, repeat: Repeat::Reference };
            return Ok(with_progress(suite, &mut Reference::default(), &options));
        }
        let mut limits = Limits::default();
        if let Some(timeout) = self.timeout {
            limits.timeout = timeout;
        }
        let mut adapter = Adapter::new(self.command.clone(), limits);
        adapter.hello().map_err(|fault| {
            let tail = if fault.stderr.is_empty() { String::new() } else { format!("\n{}", fault.stderr) };
            let command = shell(&self.command);
            Stop::broke(format!(
                "the adapter broke before anything was run: {}; `onrecord smoke -- {}` tells more{tail}",
                visible(&fault.message),
                visible(&command)
            ))
        })?;
        let repeat = Repeat::Command(self.command.clone());
        let report = with_progress(suite, &mut adapter, &Options { exact: false, repeat });
        adapter.close();
        Ok(report)
    }

    fn tell(&self, report: &Report) -> Result<(), Stop> {
        let text = match self.format {
            Format::Text if self.output.is_some() => report::text::plain(report),
            Format::Text => report::text::render(report),
            Format::Json => report::json::render(report),
            Format::Junit => report::junit::render(report).map_err(Stop::broke)?,
        };
        match &self.output {
            Some(file) => {
                write(file, &text)?;
                print(&format!("{}\n", report.in_words()))
            }
            None => print(&text),
        }
    }
}

/// Runs the suite on a store in a new file: a run forgets what it finds, which must
/// not be anybody's.
fn run_sqlite(suite: &Suite, path: Option<&Path>) -> Result<Report, Stop> {
    let folder = tempfile::tempdir()
        .map_err(|error| Stop::broke(format!("cannot make a folder for the store: {error}")))?;
    let file = path.map_or_else(|| folder.path().join("store.sqlite"), Path::to_path_buf);
    let shown = visible(&file.display().to_string());
    if file.exists() {
        return Err(Stop::usage(format!(
            "`{shown}` is there already, and a run would forget what is in it; name a new file"
        )));
    }
    let mut store = SqliteStore::open(&file).map_err(|error| {
        let why = visible(&error.to_string());
        Stop::usage(format!(
            "cannot make a store in `{shown}`: {why}; name a file in a folder that is there"
        ))
    })?;
    let named = path.map(|path| format!(":{}", path.display())).unwrap_or_default();
    let options = Options { exact: false, repeat: Repeat::Store(format!("sqlite{named}")) };
    Ok(with_progress(suite, &mut store, &options))
}

/// Runs with a progress bar, which shows on a terminal only.
fn with_progress(
    suite: &Suite,
    implementation: &mut dyn Implementation,
    options: &Options,
) -> Report {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} cases") {
        bar.set_style(style);
    }
    let report = suite.run_with(implementation, options, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    report
}

fn write(file: &Path, text: &str) -> Result<(), Stop> {
    fs::write(file, text).map_err(|error| {
        let shown = visible(&file.display().to_string());
        Stop::usage(format!(
            "cannot write `{shown}`: {error}; name a file in a folder that is there"
        ))
    })
}

pub(super) fn rule(id: &str) -> Result<Rule, String> {
    Rule::from_id(id)
        .ok_or_else(|| format!("there is no rule `{id}`; `onrecord list rules` shows all ids"))
}

fn chapter(name: &str) -> Result<Chapter, String> {
    let names = Chapter::ALL.map(Chapter::name);
    Chapter::ALL.into_iter().find(|chapter| chapter.name() == name).ok_or_else(|| {
        format!("there is no chapter `{name}` with rules; there are `{}`", names.join("`, `"))
    })
}

pub(super) fn target(name: &str) -> Result<Target, String> {
    let names = Target::ALL.map(Target::name);
    Target::ALL
        .into_iter()
        .find(|target| target.name() == name)
        .ok_or_else(|| format!("there is no target `{name}`; there are `{}`", names.join("`, `")))
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    const LONGEST: f64 = 86_400.0;
    let seconds: Option<f64> = text.parse().ok();
    let within = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST);
    within.map(Duration::from_secs_f64).ok_or_else(|| {
        "must be a number of seconds, above 0 and up to 86400, like 10 or 0.5".to_string()
    })
}
