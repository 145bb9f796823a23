//! The record as it is held in memory, and what a row must be to enter it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use onrecord_spec::json::{Extra, RawValue, excerpt, to_line};
use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::record::{
    Block, CompactionStage, Event, Header, Message, ReplacementSource, Replaces, Row, RowError,
    TextBlock, check_id,
};
use onrecord_spec::text::Text;

use crate::bracket::Brackets;
use crate::context::Context;
use crate::flags::Flags;
use crate::keys::Keys;
use crate::views::Views;

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
    keys: Keys,
    context: Context,
    flags: Flags,
    brackets: Brackets,
    /// The summaries whose text was made better, by place, as the model gets them
    /// (`compaction.upgrade`).
    upgrades: BTreeMap<usize, Message>,
    views: Views,
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
            keys: Keys::default(),
            context: Context::default(),
            flags: Flags::default(),
            brackets: Brackets::default(),
            upgrades: BTreeMap::new(),
            views: Views::default(),
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

    /// The place of the row with this id: its index in [`Record::rows`].
    #[must_use]
    pub fn place(&self, id: &Text) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// The rows that stand for the model now, in the order of the context.
    pub fn context(&self) -> impl Iterator<Item = &Row> {
        self.context.places().filter_map(|place| self.rows.get(place))
    }

    /// Their places.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.context.places()
    }

    /// What became of each row.
    #[must_use]
    pub fn flags(&self) -> &Flags {
        &self.flags
    }

    /// What rows are found again by, beside their ids.
    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The brackets of compactions.
    #[must_use]
    pub fn brackets(&self) -> &Brackets {
        &self.brackets
    }

    /// The indexes for pages and windows.
    pub(crate) fn views(&self) -> &Views {
        &self.views
    }

    /// A lifetime of the process begins behind so many rows: compactions that the
    /// rows before it left open are not open any more.
    pub(crate) fn begin_lifetime(&mut self, rows: usize) {
        self.brackets.begin_lifetime(rows);
    }

    /// A message as the model gets it: of an upgraded summary with its newest
    /// text (`compaction.upgrade`).
    #[must_use]
    pub fn for_model<'a>(&'a self, row: &Row, message: &'a Message) -> &'a Message {
        let place = usize::try_from(row.seq).unwrap_or(usize::MAX);
        self.upgrades.get(&place).unwrap_or(message)
    }

    /// Where the JSON of the row at this place stands in the log.
    #[must_use]
    pub fn range_in_log(&self, place: usize) -> Option<Range<usize>> {
        self.lines.get(place).cloned()
    }

    /// The JSON of the row at this place.
    pub(crate) fn line(&self, place: usize) -> Option<&[u8]> {
        self.log.get(self.range_in_log(place)?)
    }

    /// Takes a row in, whose JSON stands at `line` in the log. Refuses it, and
    /// changes nothing, where the record as it stands has no place for it.
    pub(crate) fn admit(&mut self, row: Row, line: Range<usize>) -> Result<(), Refusal> {
        let taken = self.check(&row)?;
        let came = match &row.event {
            Event::Delta(delta) => self.holds(&delta.message),
            Event::Message(_)
            | Event::CallStarted(_)
            | Event::Result(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Unknown(_) => false,
        };
        self.views.admit(&row, self.rows.len(), line.len(), came);
        self.ids.insert(row.id.clone(), self.rows.len());
        self.keys.admit(&row, self.rows.len());
        self.context.place(taken.first().copied().zip(taken.last().copied()));
        self.flags.admit(&taken);
        if let Event::Compaction(step) = &row.event {
            self.brackets.admit(step, self.rows.len());
            if let (CompactionStage::Upgraded, Some(summary), Some(text)) =
                (step.step, &step.summary, &step.text)
            {
                self.upgrade_summary(summary, text);
            }
        }
        self.rows.push(row);
        self.lines.push(line);
        Ok(())
    }

    /// The summary with this id has this text from now on, if it is a landed
    /// compaction of the context.
    fn upgrade_summary(&mut self, summary: &Text, text: &Text) {
        let Some(place) = self.live_summary(summary) else { return };
        if let Event::Message(message) = &self.rows[place].event {
            let blocks = [Block::Text(TextBlock { text: text.clone(), extra: Extra::default() })];
            let upgraded = Message { blocks: blocks.into(), ..message.clone() };
            self.upgrades.insert(place, upgraded);
        }
    }

    /// The place of the row with this id, if it is a landed compaction of the
    /// context, by its declared source (`compaction.declared-checkpoint`).
    pub(crate) fn live_summary(&self, id: &Text) -> Option<usize> {
        let place = self.place(id).filter(|place| self.context.holds(*place))?;
        // A row that names itself has its place already, and is not held yet.
        self.rows.get(place)?.compacts().map(|_| place)
    }

    /// Whether the row may come next, and the places of the rows that it
    /// replaces, in the order of the context.
    fn check(&self, row: &Row) -> Result<Vec<usize>, Refusal> {
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
        let Some(replaces) = &row.replaces else { return Ok(Vec::new()) };
        let taken = match self.range(replaces) {
            Ok(taken) => taken,
            Err((code, why)) => {
                let detail = format!("row {seq} replaces {why} (compaction.replaces-range)");
                return refused(code, detail);
            }
        };
        if replaces.source == ReplacementSource::Clearing && !self.clears(row, &taken) {
            let detail = format!(
                "row {seq} clears, and is not one row of the context that holds a result, with \
                 other content in its results alone (compaction.clearing-one-result)"
            );
            return refused(RefusalCode::NotOneResult, detail);
        }
        Ok(taken)
    }

    /// The places of the rows of a range of the context, if it is one: every row
    /// of it cited, in order, with nothing between.
    pub(crate) fn range(&self, replaces: &Replaces) -> Result<Vec<usize>, (RefusalCode, String)> {
        let absent = |why| Err((RefusalCode::NotInContext, why));
        let (Some(first), Some(last)) = (replaces.rows.first(), replaces.rows.last()) else {
            return absent(String::from("no row at all"));
        };
        if *first != replaces.first || *last != replaces.last {
            return absent(format!(
                "{} to {} and cites {} to {}",
                named(&replaces.first),
                named(&replaces.last),
                named(first),
                named(last)
            ));
        }
        let mut places: Vec<usize> = Vec::with_capacity(replaces.rows.len());
        for id in &replaces.rows {
            match self.place(id).filter(|place| self.context.holds(*place)) {
                Some(place) => places.push(place),
                None => return absent(format!("{}, which is not in the context", named(id))),
            }
        }
        for (pair, id) in places.windows(2).zip(&replaces.rows[1..]) {
            let [before, place] = [pair[0], pair[1]];
            if self.context.after(before) == Some(place) {
                continue;
            }
            if self.context.follows(before, place) {
                let why = format!("rows up to {} and leaves out one before it", named(id));
                return Err((RefusalCode::Uncited, why));
            }
            return absent(format!("{}, which does not come behind the row before", named(id)));
        }
        Ok(places)
    }

    /// Whether a row is the one that it takes with other content in its results,
    /// and nothing else (`compaction.clearing-one-result`).
    fn clears(&self, row: &Row, taken: &[usize]) -> bool {
        let [taken] = taken else { return false };
        match (without_output(&row.event), without_output(&self.rows[*taken].event)) {
            (Some(copy), Some(taken)) => copy == taken,
            (_, None) | (None, _) => false,
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
            self.keys = Keys::default();
            self.context = Context::default();
            self.flags = Flags::default();
            self.brackets = self.brackets.emptied();
            self.upgrades.clear();
            self.views = Views::default();
            for (row, line) in rows.into_iter().zip(lines).take(kept) {
                // Each was admitted once, by the same rows before it.
                let admitted = self.admit(row, line);
                debug_assert!(admitted.is_ok());
            }
        }
        self.log.truncate(bytes);
    }
}

/// An event that holds results, as JSON without their content; none for another.
fn without_output(event: &Event) -> Option<String> {
    let mut event = event.clone();
    let mut results = 0;
    match &mut event {
        Event::Result(result) => {
            result.content.clear();
            results += 1;
        }
        Event::Message(message) => {
            for block in &mut message.blocks {
                if let Block::Result(result) = block {
                    result.content.clear();
                    results += 1;
                }
            }
        }
        Event::CallStarted(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Delta(_)
        | Event::Unknown(_) => {}
    }
    (results > 0).then(|| to_line(&event).ok()).flatten()
}

/// An id as a message quotes it: at most 40 characters of it.
pub(crate) fn named(id: &Text) -> String {
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
