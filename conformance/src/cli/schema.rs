//! `onrecord schema`: the JSON Schema of a log's lines, or of fixtures.

use clap::{Args, ValueEnum};

use super::{OK, Stop, print_json};

/// Print the JSON Schema of a log's lines or of fixtures.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Schema {
    /// Of what.
    #[arg(value_enum)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  onrecord schema record > spec/schema/record.json
  onrecord schema fixture > fixtures/schema.json";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// One line of a log: its header, or a row.
    Record,
    /// One file under `fixtures/`.
    Fixture,
}

impl Schema {
    pub(super) fn perform(self) -> Result<u8, Stop> {
        match self.what {
            What::Record => print_json(&crate::schema::record())?,
            What::Fixture => print_json(&crate::schema::fixture())?,
        }
        Ok(OK)
    }
}
