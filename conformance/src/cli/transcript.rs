//! `onrecord transcript`: what people would see of a log, by the reference.

use std::fmt::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use onrecord_spec::item::{Item, Place, Shows};
use onrecord_spec::json::{Fields, RawValue, elements};
use onrecord_spec::op::{Op, Outcome};
use onrecord_spec::record::{DeltaPart, Status};
use onrecord_spec::text::Text;

use super::{OK, Stop, log, print, print_json};
use crate::words::{count, visible, visible_lines};

/// So much of an item is shown, unless all is asked for.
const MOST_LINES: usize = 12;
const MOST_CHARACTERS: usize = 2_000;

/// Show what people would see of a log, by the reference.
///
/// Every row of append origin shows, whatever the model's context still holds;
/// where a compaction landed, one line says so.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Transcript {
    /// The log: JSON lines, a header and then one row a line.
    file: PathBuf,
    /// Leave reasoning out. Nothing else changes.
    #[arg(long)]
    no_reasoning: bool,
    /// Show every text whole, however long.
    #[arg(long)]
    full: bool,
    /// Text for a person, or the items as JSON.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  onrecord transcript log.jsonl
  onrecord transcript log.jsonl --full --no-reasoning | less
  onrecord transcript log.jsonl --format json | jq '.[].shows'

Exit codes:
  0  shown; damage that the log has is told on standard error
  2  the file cannot be read, or is no log";

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// For a person.
    #[default]
    Text,
    /// The list of items.
    Json,
}

impl Transcript {
    pub(super) fn perform(self) -> Result<u8, Stop> {
        let mut reference = log::open(&self.file)?;
        let outcome = log::perform(&mut reference, &Op::Transcript {})?;
        let Outcome::Transcript { mut items } = outcome else {
            return Err(log::unexpected(&outcome));
        };
        if self.no_reasoning {
            items.retain(|item| !is_reasoning(&item.shows));
        }
        match self.format {
            Format::Json => print_json(&items)?,
            Format::Text => {
                let mut text = String::new();
                for item in &items {
                    // Writing to a `String` cannot fail.
                    let _ = self.write(&mut text, item);
                }
                print(&text)?;
            }
        }
        Ok(OK)
    }

    fn write(&self, out: &mut String, item: &Item) -> std::fmt::Result {
        let row = visible(&item.row.to_unicode());
        let status = match item.status {
            Some(Status::Interrupted) => ", interrupted",
            Some(Status::Failed) => ", a failed attempt",
            Some(Status::Complete) | None => "",
        };
        match &item.shows {
            Shows::UserMessage { content, .. } => {
                head(out, AnsiColor::Green, "user", &row, status)?;
                self.body(out, &told(content))
            }
            Shows::AssistantMessage { content, .. } => {
                head(out, AnsiColor::Cyan, "assistant", &row, status)?;
                self.body(out, &told(content))
            }
            Shows::ReasoningMessage { content, .. } => {
                head(out, AnsiColor::BrightBlack, "reasoning", &row, status)?;
                self.body(out, &told(content))
            }
            Shows::ToolCall { content, returned, .. } => {
                let returned =
                    returned.as_ref().map(|place| format!(", returned by {}", at(place)));
                let more = format!("{}{status}", returned.unwrap_or_else(|| ", open".to_string()));
                let what = format!("call {}", field(content, "name"));
                head(out, AnsiColor::Yellow, &what, &row, &more)?;
                self.body(out, &field(content, "arguments"))
            }
            Shows::ToolReturn { content, call, .. } => {
                let error = has_error(content);
                let what = if error { "return, an error" } else { "return" };
                let call = call.as_ref().map(|place| format!(", of the call in {}", at(place)));
                let more = call.unwrap_or_else(|| ", of no call that shows".to_string());
                head(out, AnsiColor::Yellow, what, &row, &more)?;
                self.body(out, &told(content))
            }
            Shows::Pieces { part, text, open } => {
                let what = match part {
                    DeltaPart::Text => "assistant",
                    DeltaPart::Reasoning => "reasoning",
                };
                let more = if *open { ", still streamed" } else { ", streamed, not in the whole" };
                head(out, AnsiColor::Cyan, what, &row, more)?;
                self.body(out, &text.to_unicode())
            }
            Shows::Marker { rows } => {
                let style = Style::new().dimmed();
                let rows = count(usize::try_from(*rows).unwrap_or(usize::MAX), "earlier row");
                writeln!(
                    out,
                    "{style}---- {rows} compacted for the model, by {row} ----{style:#}\n"
                )
            }
        }
    }

    fn body(&self, out: &mut String, text: &str) -> std::fmt::Result {
        let shown = visible_lines(text);
        let lines: Vec<&str> = shown.lines().collect();
        let mut left = if self.full { usize::MAX } else { MOST_CHARACTERS };
        let most = if self.full { usize::MAX } else { MOST_LINES };
        for (index, line) in lines.iter().enumerate() {
            let length = line.chars().count();
            if index == most || length > left {
                let cut: String = line.chars().take(if index == most { 0 } else { left }).collect();
                if !cut.is_empty() {
                    writeln!(out, "  {cut}")?;
                }
                writeln!(out, "  (cut here, of {}; --full shows all)", count(text.len(), "byte"))?;
                break;
            }
            left -= length;
            writeln!(out, "  {line}")?;
        }
        writeln!(out)
    }
}

fn head(out: &mut String, color: AnsiColor, what: &str, row: &str, more: &str) -> std::fmt::Result {
    let style = Style::new().fg_color(Some(color.into())).bold();
    let dim = Style::new().dimmed();
    writeln!(out, "{style}{}{style:#} {dim}({row}{more}){dim:#}", visible(what))
}

fn at(place: &Place) -> String {
    visible(&place.row.to_unicode())
}

fn is_reasoning(shows: &Shows) -> bool {
    match shows {
        Shows::ReasoningMessage { .. } | Shows::Pieces { part: DeltaPart::Reasoning, .. } => true,
        Shows::UserMessage { .. }
        | Shows::AssistantMessage { .. }
        | Shows::ToolCall { .. }
        | Shows::ToolReturn { .. }
        | Shows::Pieces { part: DeltaPart::Text, .. }
        | Shows::Marker { .. } => false,
    }
}

/// A text field of a block; empty if it has none.
fn field(content: &RawValue, name: &str) -> String {
    let text = Fields::open(content)
        .ok()
        .and_then(|mut fields| fields.take::<Text>(name, "a string").ok().flatten());
    text.map(|text| text.to_unicode().into_owned()).unwrap_or_default()
}

fn has_error(content: &RawValue) -> bool {
    let flag = Fields::open(content)
        .ok()
        .and_then(|mut fields| fields.take::<bool>("is_error", "true or false").ok().flatten());
    flag == Some(true)
}

/// What a block says to a person: its text, or what it is.
fn told(content: &RawValue) -> String {
    let Ok(mut fields) = Fields::open(content) else { return String::new() };
    if let Some(parts) = fields.take_raw("content") {
        let parts = elements(parts, "a list of parts").unwrap_or_default();
        return parts.iter().map(|part| told(part)).collect::<Vec<_>>().join("\n");
    }
    match field(content, "type").as_str() {
        "image" => format!("[image, {}]", field(content, "media_type")),
        _ => field(content, "text"),
    }
}
