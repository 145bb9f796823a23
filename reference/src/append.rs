//! Appending: the one way in which a record grows.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

use onrecord_spec::json::Json;
use onrecord_spec::op::{Changed, Refusal, RefusalCode};
use onrecord_spec::record::{CompactionStage, Event, Row};
use onrecord_spec::text::Text;

use crate::record::{Record, decode, named, refusal};

/// What came of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// The rows are stored.
    Stored,
    /// Nothing was stored: these places hold what was first stored under the keys
    /// of the rows.
    Known(Vec<usize>),
}

impl Record {
    /// Adds rows at the end, all of them or none.
    ///
    /// If one of them carries a key that is stored already, nothing is added and
    /// what was first stored under it comes back: the writer sends it again because
    /// the answer was lost (`record.keyed-append`). That is asked first, since such a
    /// writer does not know what came after.
    ///
    /// `expect` is the seq that the writer believes to be next; a writer that
    /// was overtaken is refused (`record.expected-seq`). The bytes before are
    /// never touched (`record.append-only`).
    pub fn append(&mut self, expect: u64, rows: &[Json]) -> Result<Appended, Refusal> {
        let known = self.known(rows);
        if !known.is_empty() {
            return Ok(Appended::Known(known));
        }
        let next = self.next();
        if expect != next {
            let detail = format!(
                "the append expects row {expect} to come next; row {next} does \
                 (record.expected-seq)"
            );
            return Err(refusal(RefusalCode::Conflict, Some(next), detail));
        }
        let (kept, bytes) = (self.rows().len(), self.log.len());
        for raw in rows {
            let stored = decode(raw)
                .and_then(without_authority)
                .and_then(|row| self.one_at_a_time(row))
                .and_then(|row| self.one_key_once(row))
                .and_then(|row| self.store(row));
            if let Err(refusal) = stored {
                self.take_back(kept, bytes);
                return Err(refusal);
            }
        }
        Ok(Appended::Stored)
    }

    /// The places of the rows that were stored under a key of one of these, in the
    /// order of these, each once.
    fn known(&self, rows: &[Json]) -> Vec<usize> {
        let mut known: Vec<usize> = Vec::new();
        for row in rows.iter().filter_map(|raw| Row::decode(raw).ok()) {
            for place in self.keys().of(&row) {
                if !known.contains(&place) {
                    known.push(place);
                }
            }
        }
        known
    }

    /// Adds rows that the reference made itself, all of them or none, and gives
    /// what they changed.
    pub(crate) fn append_own(
        &mut self,
        rows: Vec<Row>,
        taken: Vec<Text>,
    ) -> Result<Changed, Refusal> {
        let (kept, bytes) = (self.rows().len(), self.log.len());
        for row in rows {
            if let Err(refusal) = self.store(row) {
                self.take_back(kept, bytes);
                return Err(refusal);
            }
        }
        let rows = self.read(kept as u64, None).map(ToOwned::to_owned).collect();
        Ok(Changed { next: self.next(), rows, taken })
    }

    /// A compaction that begins while another is open in this lifetime is refused
    /// (`compaction.one-at-a-time`).
    fn one_at_a_time(&self, row: Row) -> Result<Row, Refusal> {
        match (&row.event, self.brackets().open()) {
            (Event::Compaction(step), Some(open)) if step.step == CompactionStage::Started => {
                Err(busy(Some(row.seq), open))
            }
            (_, _) => Ok(row),
        }
    }

    /// Two rows of one append under one key would be two firsts
    /// (`record.keyed-append`).
    fn one_key_once(&self, row: Row) -> Result<Row, Refusal> {
        let Some(other) = self.keys().of(&row).next() else { return Ok(row) };
        let seq = row.seq;
        let detail = format!(
            "row {seq} carries a key of row {other} of the same append (record.keyed-append)"
        );
        Err(refusal(RefusalCode::DuplicateKey, Some(seq), detail))
    }

    /// Writes a row as the log's next line and takes it in.
    ///
    /// A log that does not end with a line break was cut, or was written by
    /// somebody who leaves the last one out: the row starts on a line of its own,
    /// so that it does not fuse with what is there (`record.torn-tail`). `seq` is
    /// written first, so that the row is found again even if another writer
    /// fuses it with something.
    pub(crate) fn store(&mut self, row: Row) -> Result<(), Refusal> {
        let seq = row.seq;
        let line = row.to_line().map_err(|error| {
            let detail = format!("row {seq} cannot be written: {error}");
            refusal(RefusalCode::Malformed, Some(seq), detail)
        })?;
        let torn = self.log.last().is_some_and(|last| *last != b'\n');
        let start = self.log.len() + usize::from(torn);
        self.admit(row, start..start + line.len())?;
        if torn {
            self.log.push(b'\n');
        }
        self.log.extend_from_slice(line.as_bytes());
        self.log.push(b'\n');
        Ok(())
    }
}

/// Another compaction is open.
pub(crate) fn busy(seq: Option<u64>, open: &Text) -> Refusal {
    let detail = format!(
        "the compaction {} is open; it must end before another begins \
         (compaction.one-at-a-time)",
        named(open)
    );
    refusal(RefusalCode::Busy, seq, detail)
}

/// The runtime's own facts are made fresh for each request and stand in no row
/// (`authority.never-stored`).
fn without_authority(row: Row) -> Result<Row, Refusal> {
    if row.holds_authority() {
        let seq = row.seq;
        let detail = format!(
            "row {seq} carries an authority block, which is made fresh for each request and \
             never stored (authority.never-stored)"
        );
        return Err(refusal(RefusalCode::AuthorityStored, Some(seq), detail));
    }
    Ok(row)
}
