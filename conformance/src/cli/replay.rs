//! `onrecord replay`: what a model would be sent for a log, by the reference.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use onrecord_reference::Reference;
use onrecord_spec::op::{
    Bytes, Implementation, Mode, Op, Outcome, Refusal, Replay as Asked, Replayed,
};
use onrecord_spec::record::Provenance;
use onrecord_spec::target::{Profile, Target};

use super::{BROKE, OK, Stop, USAGE, note, print_json};
use crate::words::visible;

/// Show what a model would be sent for a log, by the reference.
///
/// The payload goes to standard output, the repairs and what the request must
/// respect to standard error.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Replay {
    /// The log: JSON lines, a header and then one row a line.
    file: PathBuf,
    /// The provider API.
    #[arg(long, value_name = "TARGET", value_parser = super::run::target)]
    target: Target,
    /// The model does not see images.
    #[arg(long)]
    no_vision: bool,
    /// The turn at the tail is still live: an open call is still running.
    #[arg(long)]
    running: bool,
    /// The request switches extended thinking on.
    #[arg(long)]
    thinking: bool,
    /// The model takes an assistant message last.
    #[arg(long)]
    prefill: bool,
    /// The platform of the model, like anthropic. Without the three, no reasoning crosses.
    #[arg(long, value_name = "P", requires = "api", requires = "model")]
    provider: Option<String>,
    /// The wire of the model, like messages.
    #[arg(long, value_name = "A", requires = "provider")]
    api: Option<String>,
    /// The model.
    #[arg(long, value_name = "M", requires = "provider")]
    model: Option<String>,
    /// What goes to standard output: the payload alone, or all that came back.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  onrecord replay log.jsonl --target anthropic
  onrecord replay log.jsonl --target openai-chat --no-vision | jq '.messages[-1]'
  onrecord replay log.jsonl --target anthropic --thinking \\
      --provider anthropic --api messages --model m-1
  onrecord replay log.jsonl --target anthropic --format json | jq .anomalies

Exit codes:
  0  replayed; damage that the log has is told on standard error
  2  the file cannot be read, or is no log";

/// What goes to standard output.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// The payload; the rest in words, on standard error.
    #[default]
    Text,
    /// Payload, anomalies and constraints in one object.
    Json,
}

impl Replay {
    pub(super) fn perform(self) -> Result<u8, Stop> {
        let log = crate::input::read_log(&self.file).map_err(Stop::usage)?;
        let mut reference = Reference::default();
        self.open(&mut reference, log)?;
        let replayed = self.replay(&mut reference)?;
        match self.format {
            Format::Json => print_json(&replayed)?,
            Format::Text => {
                print_json(&replayed.payload)?;
                tell(&replayed);
            }
        }
        Ok(OK)
    }

    fn open(&self, reference: &mut Reference, log: Vec<u8>) -> Result<(), Stop> {
        let outcome = perform(reference, &Op::Open { log: Bytes(log) })?;
        match outcome {
            Outcome::Loaded { damage, .. } => {
                for damage in damage {
                    let (line, offset) = (damage.line, damage.offset);
                    let what = visible(&damage.what);
                    note(&format!("damage: line {line}, byte {offset}: {what}"));
                }
                Ok(())
            }
            other @ (Outcome::Appended { .. }
            | Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Replayed(_)
            | Outcome::Changed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Followed { .. }
            | Outcome::Page(_)
            | Outcome::Window(_)
            | Outcome::Refused(_)
            | Outcome::Unsupported { .. }) => Err(self.refused(&other)),
        }
    }

    fn replay(&self, reference: &mut Reference) -> Result<Replayed, Stop> {
        let model = match (&self.provider, &self.api, &self.model) {
            (Some(provider), Some(api), Some(model)) => Some(Provenance {
                provider: provider.as_str().into(),
                api: api.as_str().into(),
                model: model.as_str().into(),
            }),
            (_, _, _) => None,
        };
        let asked = Asked {
            target: self.target,
            profile: Profile {
                vision: !self.no_vision,
                thinking: self.thinking,
                prefill: self.prefill,
                model,
                ..Profile::default()
            },
            mode: if self.running { Mode::Running } else { Mode::Cold },
        };
        match perform(reference, &Op::Replay(asked))? {
            Outcome::Replayed(replayed) => Ok(replayed),
            other @ (Outcome::Loaded { .. }
            | Outcome::Appended { .. }
            | Outcome::Rows { .. }
            | Outcome::Log { .. }
            | Outcome::Changed(_)
            | Outcome::Context(_)
            | Outcome::Input(_)
            | Outcome::Transcript { .. }
            | Outcome::Followed { .. }
            | Outcome::Page(_)
            | Outcome::Window(_)
            | Outcome::Refused(_)
            | Outcome::Unsupported { .. }) => Err(self.refused(&other)),
        }
    }

    /// A file that is no log is wrong usage; anything but a refusal is a bug.
    fn refused(&self, outcome: &Outcome) -> Stop {
        let file = visible(&self.file.display().to_string());
        if let Outcome::Refused(Refusal { code, seq, detail }) = outcome {
            let code = crate::expect::name(code);
            let place = seq.map(|seq| format!(", row {seq}")).unwrap_or_default();
            let message = format!(
                "`{file}` is no log that can be replayed ({code}{place}): {}; `onrecord schema \
                 record` shows the shape of its lines",
                visible(detail)
            );
            return Stop { code: USAGE, message };
        }
        let kind = crate::expect::name(&crate::expect::kind(outcome));
        Stop { code: BROKE, message: format!("the reference answered with `{kind}`") }
    }
}

fn perform(reference: &mut Reference, op: &Op) -> Result<Outcome, Stop> {
    reference.perform(op).map_err(|fault| Stop::broke(fault.message))
}

fn tell(replayed: &Replayed) {
    if !replayed.anomalies.is_empty() {
        note(&format!("repairs: {}", crate::expect::anomalies(&replayed.anomalies)));
    }
    if !replayed.constraints.is_empty() {
        note(&format!("constraints: {}", crate::expect::constraints(&replayed.constraints)));
    }
}
