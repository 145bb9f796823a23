//! The command line: what may be asked, and how it ends.
//!
//! Every command ends with one of four exit codes: 0 all as expected, 1 findings,
//! 2 usage (a wrong command line, a file that cannot be used, nothing matched),
//! 3 the adapter or the runner broke.

mod diff;
mod explain;
mod fuzz;
mod list;
mod log;
mod mutants;
mod page;
mod replay;
mod run;
mod schema;
mod smoke;
mod transcript;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// All as expected.
pub const OK: u8 = 0;
/// Findings.
pub const FINDINGS: u8 = 1;
/// A wrong command line, a file that cannot be used, or nothing matched.
pub const USAGE: u8 = 2;
/// The adapter or the runner broke.
pub const BROKE: u8 = 3;

const EXIT_CODES: &str = "\
Exit codes:
  0  all as expected
  1  findings
  2  wrong usage, a file that cannot be used, or nothing matched
  3  the adapter or the runner broke";

/// Judges how a program keeps a conversation, rule by rule.
///
/// Without a command it runs the whole suite on the reference that is built in.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES, after_long_help = MAIN_EXAMPLES)]
struct Arguments {
    /// Take the fixtures from this folder instead of those that are built in.
    #[arg(long, global = true, value_name = "DIR")]
    fixtures: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

const MAIN_EXAMPLES: &str = "\
Examples:
  onrecord                                     the whole suite on the reference
  onrecord smoke -- python3 my_adapter.py      is my adapter right?
  onrecord run -- python3 my_adapter.py        does what it stands for keep the rules?
  onrecord fuzz --time 1m -- python3 my_adapter.py  what else breaks it?
  onrecord explain replay.call-answered        what a rule says, why, and what harm follows
  onrecord replay log.jsonl --target anthropic what a model would be sent
  onrecord transcript log.jsonl                what people would see
  onrecord page log.jsonl --limit 20           the newest rows, a page at a time

Exit codes:
  0  all as expected
  1  findings
  2  wrong usage, a file that cannot be used, or nothing matched
  3  the adapter or the runner broke";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the suite on an adapter, or on the reference.
    Run(Box<run::Run>),
    /// Check an adapter itself, before what it stands for is judged.
    Smoke(smoke::Smoke),
    /// Throw random records at a program, and keep the smallest that break a rule.
    Fuzz(fuzz::Fuzzing),
    /// Show where two programs differ, and which of them breaks a rule there.
    Diff(diff::Diff),
    /// Show which fixtures catch which implementation that is broken on purpose.
    Mutants(mutants::Mutants),
    /// List rules, fixtures or targets.
    List(list::List),
    /// Say what a rule or a target's rule demands, why, and what shows it.
    Explain(explain::Explain),
    /// Show what a model would be sent for a log, by the reference.
    Replay(replay::Replay),
    /// Show what people would see of a log, by the reference.
    Transcript(transcript::Transcript),
    /// Show a page of a log's rows, by the reference.
    Page(page::Page),
    /// Print the JSON Schema of a log's lines or of fixtures.
    Schema(schema::Schema),
}

/// What ends a command early: its exit code, and what to say.
#[derive(Debug, PartialEq, Eq)]
pub struct Stop {
    /// The exit code.
    pub code: u8,
    /// What to say, on standard error. Empty if there is no one to say it to.
    pub message: String,
}

impl Stop {
    fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, message: message.into() }
    }

    fn broke(message: impl Into<String>) -> Self {
        Self { code: BROKE, message: message.into() }
    }
}

/// Does what the command line asks. Gives the exit code.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output; nobody may be reading it.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(USAGE);
        }
    };
    match dispatch(arguments) {
        Ok(code) => code,
        Err(Stop { code, message }) => {
            if !message.is_empty() {
                // If standard error is gone too, the exit code has to do.
                let _ = writeln!(anstream::stderr(), "error: {message}");
            }
            code
        }
    }
}

fn dispatch(arguments: Arguments) -> Result<u8, Stop> {
    let fixtures = arguments.fixtures.as_deref();
    match arguments.command {
        None => run::Run::default().perform(fixtures),
        Some(Command::Run(run)) => run.perform(fixtures),
        Some(Command::Smoke(smoke)) => smoke.perform(),
        Some(Command::Fuzz(fuzz)) => fuzz.perform(),
        Some(Command::Diff(diff)) => diff.perform(fixtures),
        Some(Command::Mutants(mutants)) => mutants.perform(fixtures),
        Some(Command::List(list)) => list.perform(fixtures),
        Some(Command::Explain(explain)) => explain.perform(fixtures),
        Some(Command::Replay(replay)) => replay.perform(),
        Some(Command::Transcript(transcript)) => transcript.perform(),
        Some(Command::Page(page)) => page.perform(),
        Some(Command::Schema(schema)) => schema.perform(),
    }
}

/// The fixtures that a command works on.
fn suite(fixtures: Option<&std::path::Path>) -> Result<crate::suite::Suite, Stop> {
    let suite = match fixtures {
        Some(folder) => crate::suite::Suite::from_dir(folder).map_err(Stop::usage)?,
        None => crate::suite::Suite::embedded(),
    };
    if suite.broken().is_empty() {
        return Ok(suite);
    }
    let lines: Vec<String> = suite.broken().iter().map(ToString::to_string).collect();
    Err(Stop::usage(lines.join("\nerror: ")))
}

/// Prints to standard output: with colour on a terminal, without elsewhere. When
/// the reader is gone (`onrecord … | head`), that is no error.
fn print(text: &str) -> Result<(), Stop> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Stop::broke(format!("cannot write to standard output: {error}"))),
    }
}

/// Prints a value as JSON.
fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Stop> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Stop::broke(format!("cannot write JSON: {error}")))?;
    print(&format!("{text}\n"))
}

/// Says something beside the output.
fn note(text: &str) {
    // Nobody may be reading; then nobody misses it.
    let _ = writeln!(anstream::stderr(), "{text}");
}
