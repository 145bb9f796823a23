//! The record as it is held in memory, and what a row must be to enter it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use onrecord_spec::json::{RawValue, excerpt};
use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::record::{Header, Replaces, Row, RowError, check_id};
use onrecord_spec::text::Text;

use crate::context::Context;

/// The record of one conversation: the bytes of its log, and what they say.
///
/// The bytes only ever grow (`record.append-only`). Everything else here is
/// derived from them and can be had again by [`Record::open`].
#[derive(Debug, Clone)]
pub struct Record {
    header: Header,
    /// The log as it stands on disk, damaged stretches included.
    pub(crate) log: Vec<u8>,
    rows: Vec<Row>,
    /// Where each row's JSON stands in `log`.
    lines: Vec<Range<usize>>,
    /// The place of each row by its id.
    ids: BTreeMap<Text, usize>,
    context: Context,
}

impl Record {
    /// A record with no row and, so far, no byte.
    pub(crate) fn empty(header: Header) -> Self {
        Self {
            header,
            log: Vec::new(),
            rows: Vec::new(),
            lines: Vec::new(),
            ids: BTreeMap::new(),
            context: Context::default(),
        }
    }

    /// The log's first line.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All rows, in order; the seq of each is its index.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The seq that the next row will have.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The bytes of the log as they stand on disk.
    #[must_use]
    pub fn log(&self) -> &[u8] {
        &self.log
    }

    /// The stored rows from seq `from` on, `limit` at the most, each as the very
    /// JSON text that the log holds (`record.verbatim`).
    pub fn read(&self, from: u64, limit: Option<u64>) -> impl Iterator<Item = &RawValue> {
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        self.lines
            .iter()
            .skip(place(from))
            .take(limit.map_or(usize::MAX, place))
            .filter_map(|line| serde_json::from_slice(&self.log[line.clone()]).ok())
    }

    /// True if a row has this id, whether it is in the context or not.
    #[must_use]
    pub fn holds(&self, id: &Text) -> bool {
        self.ids.contains_key(id)
    }

    /// The rows that stand for the model now, in the order of the context.
    pub fn context(&self) -> impl Iterator<Item = &Row> {
        self.context.places().filter_map(|place| self.rows.get(place))
    }

    /// Takes a row in, whose JSON stands at `line` in the log. Refuses it, and
    /// changes nothing, where the record as it stands has no place for it.
    pub(crate) fn admit(&mut self, row: Row, line: Range<usize>) -> Result<(), Refusal> {
        let replaced = self.check(&row)?;
        self.ids.insert(row.id.clone(), self.rows.len());
        self.context.place(replaced);
        self.rows.push(row);
        self.lines.push(line);
        Ok(())
    }

    /// Whether the row may come next, and the places of the rows that it
    /// replaces: first and last.
    fn check(&self, row: &Row) -> Result<Option<(usize, usize)>, Refusal> {
        let (seq, next) = (row.seq, self.next());
        let refused = |code, detail| Err(refusal(code, Some(seq), detail));
        if seq != next {
            let detail = format!("row {seq} stands where row {next} must (record.seq-gap-free)");
            return refused(RefusalCode::WrongSeq, detail);
        }
        if let Err(error) = check_id(&row.id) {
            let detail = format!("row {seq}: {error} (record.expected-shape)");
            return refused(RefusalCode::Malformed, detail);
        }
        if let Some(other) = self.ids.get(&row.id) {
            let id = named(&row.id);
            let detail =
                format!("row {seq} has the id {id} of row {other} (record.expected-shape)");
            return refused(RefusalCode::DuplicateId, detail);
        }
        if let Some(parent) = row.parent.as_ref().filter(|parent| !self.holds(parent)) {
            let parent = named(parent);
            let detail = format!(
                "row {seq} hangs from {parent}, which is no earlier row (record.expected-shape)"
            );
            return refused(RefusalCode::UnknownParent, detail);
        }
        match row.replaces.as_ref().map(|replaces| self.range(replaces)).transpose() {
            Ok(replaced) => Ok(replaced),
            Err(why) => {
                let detail = format!("row {seq} replaces {why} (compaction.replaces-range)");
                refused(RefusalCode::NotInContext, detail)
            }
        }
    }

    /// The places of the first and the last row of a range of the context, if it
    /// is one: every row of it cited, in order, with nothing between.
    fn range(&self, replaces: &Replaces) -> Result<(usize, usize), String> {
        let (Some(first), Some(last)) = (replaces.rows.first(), replaces.rows.last()) else {
            return Err(String::from("no row at all"));
        };
        if *first != replaces.first || *last != replaces.last {
            return Err(format!(
                "{} to {} and cites {} to {}",
                named(&replaces.first),
                named(&replaces.last),
                named(first),
                named(last)
            ));
        }
        let mut before = None;
        for id in &replaces.rows {
            let place = self.ids.get(id).copied();
            let place = place.filter(|place| self.context.holds(*place));
            let Some(place) = place else {
                return Err(format!("{}, which is not in the context", named(id)));
            };
            if before.is_some_and(|before| self.context.after(before) != Some(place)) {
                return Err(format!("{} and not the row before it in the context", named(id)));
            }
            before = Some(place);
        }
        match (self.ids.get(first), self.ids.get(last)) {
            (Some(first), Some(last)) => Ok((*first, *last)),
            (_, None) | (None, _) => Err(String::from("no row at all")),
        }
    }

    /// Forgets the rows from `kept` on, and the bytes from `bytes` on: what an
    /// append had added before one of its rows was refused. The context is
    /// folded anew: undoing a replacement would be a second way to make it.
    pub(crate) fn take_back(&mut self, kept: usize, bytes: usize) {
        if kept < self.rows.len() {
            let rows = core::mem::take(&mut self.rows);
            let lines = core::mem::take(&mut self.lines);
            self.ids.clear();
            self.context = Context::default();
            for (row, line) in rows.into_iter().zip(lines).take(kept) {
                // Each was admitted once, by the same rows before it.
                let admitted = self.admit(row, line);
                debug_assert!(admitted.is_ok());
            }
        }
        self.log.truncate(bytes);
    }
}

/// An id as a message quotes it: at most 40 characters of it.
fn named(id: &Text) -> String {
    format!("`{}`", excerpt(&id.to_unicode()))
}

/// A refusal.
pub(crate) fn refusal(code: RefusalCode, seq: Option<u64>, detail: String) -> Refusal {
    Refusal { code, seq, detail }
}

/// Reads a row that was handed over. Says nothing yet about its place.
pub(crate) fn decode(raw: &RawValue) -> Result<Row, Refusal> {
    Row::decode(raw).map_err(|error| {
        let (code, seq, rule) = match &error {
            RowError::Newer { .. } => (RefusalCode::NewerVersion, None, "record.version"),
            RowError::UnknownType { seq, .. } => {
                (RefusalCode::UnknownType, Some(*seq), "record.unknown-row")
            }
            RowError::Malformed { seq, .. } => {
                (RefusalCode::Malformed, *seq, "record.expected-shape")
            }
        };
        refusal(code, seq, format!("{error} ({rule})"))
    })
}
