//! How rows come in: as a record that is held from now on, by an append, and by a
//! change that the reference plans. Each is one transaction.

use std::collections::BTreeSet;

use onrecord_reference::{Appended, Record};
use onrecord_spec::json::{Json, RawValue};
use onrecord_spec::op::{Changed, Outcome, Refusal, RefusalCode};
use onrecord_spec::record::{Event, Row, RowError, check_id};
use onrecord_spec::text::Text;

use crate::error::Error;
use crate::tables::{Conversation, Tables, line};
use crate::{SqliteStore, commit, no_conversation, refused, tables, writing};

impl SqliteStore {
    /// Holds a record, alone or beside the others.
    pub(crate) fn hold(&mut self, record: &Record, beside: bool) -> Result<(), Error> {
        let name = record.header().conversation.clone();
        if !beside {
            self.forget()?;
            self.begin_lifetime()?;
        }
        let transaction = writing(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        if tables.conversation(&name)?.is_some() {
            let name = name.to_unicode();
            let detail = format!("a conversation of the name `{name}` is held already");
            return Err(refused(RefusalCode::Exists, None, detail));
        }
        let held = put(&tables, record)?;
        commit(transaction, &self.watch)?;
        self.lifetimes.insert(held.key, held.next);
        self.current = Some(name);
        Ok(())
    }

    /// Makes a conversation the current one.
    pub(crate) fn enter(&mut self, name: &Text) -> Result<Outcome, Error> {
        let found = tables(&self.db, &self.watch).conversation(name)?;
        let next = found.ok_or_else(|| no_conversation(name))?.next;
        self.current = Some(name.clone());
        Ok(Outcome::Loaded { next, damage: Vec::new() })
    }

    /// Adds rows at the end: all of them, or none.
    ///
    /// Rows that replace others or are steps of a compaction are checked by the
    /// reference, which has to know the whole context for that. All others are
    /// checked here, at a cost that does not grow with the record.
    pub(crate) fn append(&mut self, expect: u64, rows: &[Json]) -> Result<Outcome, Error> {
        let transaction = writing(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let mut held = self.held(&tables)?;
        let known = known(&tables, &held, rows)?;
        if !known.is_empty() {
            return Ok(Outcome::Known { next: held.next, rows: known });
        }
        if expect != held.next {
            let detail = format!(
                "the append expects row {expect} to come next; row {} does \
                 (record.expected-seq)",
                held.next
            );
            return Err(refused(RefusalCode::Conflict, Some(held.next), detail));
        }
        if rows.iter().any(|raw| needs_the_context(raw)) {
            let (mut record, _) = self.read_record(&tables, &held)?;
            match record.append(expect, rows)? {
                Appended::Stored => put_new(&tables, &mut held, &record)?,
                Appended::Known(_) => {}
            }
        } else {
            for raw in rows {
                let row = check(&tables, &held, raw)?;
                let body = line(&row)?;
                put_row(&tables, &mut held, &row, &body)?;
            }
        }
        tables.grown(&held)?;
        commit(transaction, &self.watch)?;
        Ok(Outcome::Appended { next: held.next })
    }

    /// Lets the reference change the record, and stores the rows that it made.
    pub(crate) fn change(
        &mut self,
        change: impl FnOnce(&mut Record) -> Result<Changed, Refusal>,
    ) -> Result<Outcome, Error> {
        let transaction = writing(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let mut held = self.held(&tables)?;
        let (mut record, _) = self.read_record(&tables, &held)?;
        let changed = change(&mut record)?;
        if !changed.rows.is_empty() {
            put_new(&tables, &mut held, &record)?;
            tables.grown(&held)?;
            commit(transaction, &self.watch)?;
        }
        Ok(Outcome::Changed(changed))
    }
}

/// Stores a whole record, with every byte of its log.
pub(crate) fn put(tables: &Tables<'_>, record: &Record) -> Result<Conversation, Error> {
    let mut held = tables.begin(&record.header().conversation, &[])?;
    let mut end = 0;
    for (place, row) in record.rows().iter().enumerate() {
        let range = record.range_in_log(place).unwrap_or_default();
        let body: Json = serde_json::from_slice(&record.log()[range.clone()])?;
        tables.insert(held.key, row, &record.log()[end..range.start], &body)?;
        end = range.end;
    }
    held.tail = record.log()[end..].to_vec();
    held.next = record.next();
    tables.grown(&held)?;
    Ok(held)
}

/// Stores the rows of a record that are not stored yet.
fn put_new(tables: &Tables<'_>, held: &mut Conversation, record: &Record) -> Result<(), Error> {
    let stored = usize::try_from(held.next).unwrap_or(usize::MAX);
    for (row, body) in record.rows().iter().skip(stored).zip(record.read(held.next, None)) {
        put_row(tables, held, row, body)?;
    }
    Ok(())
}

/// Stores a row on a line of its own: behind a log that was cut, too
/// (`record.torn-tail`).
fn put_row(
    tables: &Tables<'_>,
    held: &mut Conversation,
    row: &Row,
    body: &RawValue,
) -> Result<(), Error> {
    let mut gap = std::mem::replace(&mut held.tail, b"\n".to_vec());
    if !gap.ends_with(b"\n") {
        gap.push(b'\n');
    }
    tables.insert(held.key, row, &gap, body)?;
    held.next += 1;
    Ok(())
}

/// What was first stored under the keys of these rows, in their order, each once
/// (`record.keyed-append`).
fn known(tables: &Tables<'_>, held: &Conversation, rows: &[Json]) -> Result<Vec<Json>, Error> {
    let mut seen = BTreeSet::new();
    let mut known = Vec::new();
    for row in rows.iter().filter_map(|raw| Row::decode(raw).ok()) {
        for seq in of(tables, held, &row)? {
            if seen.insert(seq) {
                known.extend(tables.rows(held.key, seq, seq + 1)?);
            }
        }
    }
    Ok(known)
}

/// The seqs of the rows that have a key of this one.
fn of(tables: &Tables<'_>, held: &Conversation, row: &Row) -> Result<Vec<u64>, Error> {
    let mut found = Vec::new();
    if let Some(request) = &row.request {
        found.extend(tables.key(held.key, "request", request)?);
    }
    if let Some(report) = &row.report {
        found.extend(tables.key(held.key, "report", report)?);
    }
    Ok(found)
}

/// True for a row whose place can only be judged by whoever knows the context.
fn needs_the_context(raw: &RawValue) -> bool {
    Row::decode(raw).is_ok_and(|row| !row.is_append() || matches!(row.event, Event::Compaction(_)))
}

/// The row, if it may come next.
fn check(tables: &Tables<'_>, held: &Conversation, raw: &RawValue) -> Result<Row, Error> {
    let row = Row::decode(raw).map_err(|error| malformed(&error))?;
    let (seq, next) = (row.seq, held.next);
    let wrong = |code, detail| Err(refused(code, Some(seq), detail));
    if row.holds_authority() {
        let detail = format!(
            "row {seq} carries an authority block, which is made fresh for each request and \
             never stored (authority.never-stored)"
        );
        return wrong(RefusalCode::AuthorityStored, detail);
    }
    if let Some(other) = of(tables, held, &row)?.first() {
        let detail = format!(
            "row {seq} carries a key of row {other} of the same append (record.keyed-append)"
        );
        return wrong(RefusalCode::DuplicateKey, detail);
    }
    if seq != next {
        let detail = format!("row {seq} stands where row {next} must (record.seq-gap-free)");
        return wrong(RefusalCode::WrongSeq, detail);
    }
    if let Err(error) = check_id(&row.id) {
        let detail = format!("row {seq}: {error} (record.expected-shape)");
        return wrong(RefusalCode::Malformed, detail);
    }
    if let Some(other) = tables.seq(held.key, &row.id)? {
        let id = row.id.to_unicode();
        let detail = format!("row {seq} has the id `{id}` of row {other} (record.expected-shape)");
        return wrong(RefusalCode::DuplicateId, detail);
    }
    if let Some(parent) = &row.parent
        && tables.seq(held.key, parent)?.is_none()
    {
        let parent = parent.to_unicode();
        let detail = format!(
            "row {seq} hangs from `{parent}`, which is no earlier row (record.expected-shape)"
        );
        return wrong(RefusalCode::UnknownParent, detail);
    }
    Ok(row)
}

pub(crate) fn malformed(error: &RowError) -> Error {
    let (code, seq, rule) = match error {
        RowError::Newer { .. } => (RefusalCode::NewerVersion, None, "record.version"),
        RowError::UnknownType { seq, .. } => {
            (RefusalCode::UnknownType, Some(*seq), "record.unknown-row")
        }
        RowError::Malformed { seq, .. } => (RefusalCode::Malformed, *seq, "record.expected-shape"),
    };
    refused(code, seq, format!("{error} ({rule})"))
}
