//! `onrecord page`: a page of a log's rows, by the reference.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use onrecord_spec::json::RawValue;
use onrecord_spec::op::{Op, Outcome, Refusal};
use onrecord_spec::page::Page as Found;
use onrecord_spec::record::Row;

use super::{OK, Stop, log, note, print, print_json};
use crate::words::{count, excerpt, shell, visible};

/// So much of a row is shown.
const MOST_CHARACTERS: usize = 120;

/// Show a page of a log's rows, by the reference: the newest, or the one before a
/// cursor.
///
/// A page is a contiguous range of raw rows. It holds as many messages as asked
/// for, and more rows where a message would be separated from the pieces that it
/// was streamed in, or a compaction from its provenance.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Page {
    /// The log: JSON lines, a header and then one row a line.
    file: PathBuf,
    /// How many messages at the most; replacements and other rows do not count.
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    limit: i64,
    /// The cursor that the newer page gave.
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    before: Option<String>,
    /// Text for a person, or the page as JSON.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  onrecord page log.jsonl --limit 20
  onrecord page log.jsonl --limit 20 --before CURSOR
  onrecord page log.jsonl --format json | jq -r .before

Exit codes:
  0  shown; damage that the log has is told on standard error
  2  the file cannot be read, is no log, or gave no such cursor; a limit below 1";

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// One line a row, for a person.
    #[default]
    Text,
    /// The page: `rows` as they are stored, `older`, `before`, `upto`.
    Json,
}

impl Page {
    pub(super) fn perform(self) -> Result<u8, Stop> {
        let mut reference = log::open(&self.file)?;
        let before = self.before.as_deref().map(Into::into);
        let outcome = log::perform(&mut reference, &Op::Page { limit: self.limit, before })?;
        if let Outcome::Refused(Refusal { detail, .. }) = &outcome {
            return Err(Stop::usage(visible(detail)));
        }
        let Outcome::Page(page) = outcome else { return Err(log::unexpected(&outcome)) };
        match self.format {
            Format::Json => print_json(&page)?,
            Format::Text => {
                let lines: Vec<String> = page.rows.iter().map(|row| line(row)).collect();
                print(&lines.concat())?;
                self.tell(&page);
            }
        }
        Ok(OK)
    }

    /// Says, beside the rows, what they are of and how one goes on.
    fn tell(&self, page: &Found) {
        let shown = count(page.rows.len(), "row");
        match &page.before {
            Some(cursor) => {
                let words = [
                    "onrecord",
                    "page",
                    &self.file.display().to_string(),
                    "--limit",
                    &self.limit.to_string(),
                    "--before",
                    &cursor.to_unicode(),
                ]
                .map(str::to_string);
                note(&format!(
                    "{shown} of {}; there are older ones: {}",
                    page.upto,
                    visible(&shell(&words))
                ));
            }
            None => note(&format!("{shown} of {}; there are no older ones", page.upto)),
        }
    }
}

/// A row as one line: its seq, its id, and the beginning of its event.
fn line(raw: &RawValue) -> String {
    let Ok(row) = Row::decode(raw) else { return format!("{}\n", excerpt(raw.get(), 200)) };
    let event = onrecord_spec::json::to_line(&row.event).unwrap_or_default();
    let origin = if row.is_append() { "" } else { " (for the model)" };
    format!(
        "{:>6}  {:<12}{origin}  {}\n",
        row.seq,
        excerpt(&row.id.to_unicode(), 40),
        excerpt(&event, MOST_CHARACTERS)
    )
}
