//! `onrecord replay`: what a model would be sent for a log, by the reference.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use onrecord_reference::Reference;
use onrecord_spec::op::{Mode, Op, Outcome, Replay as Asked, Replayed};
use onrecord_spec::record::Provenance;
use onrecord_spec::target::{Profile, Target};

use super::{OK, Stop, log, note, print_json};

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
        let mut reference = log::open(&self.file)?;
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
        let outcome = log::perform(reference, &Op::Replay(asked))?;
        let Outcome::Replayed(replayed) = outcome else { return Err(log::unexpected(&outcome)) };
        Ok(replayed)
    }
}

fn tell(replayed: &Replayed) {
    if !replayed.anomalies.is_empty() {
        note(&format!("repairs: {}", crate::expect::anomalies(&replayed.anomalies)));
    }
    if !replayed.constraints.is_empty() {
        note(&format!("constraints: {}", crate::expect::constraints(&replayed.constraints)));
    }
}
