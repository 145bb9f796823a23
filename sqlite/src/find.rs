//! What is asked of the rows without projecting them: by seq, by key, by words, by
//! page, and whether anything moved. Each costs what it hands over.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use onrecord_reference::sync::Ask;
use onrecord_spec::found::{Found, Turn, TurnState};
use onrecord_spec::json::Json;
use onrecord_spec::op::{Key, Lookup, Outcome, RefusalCode};
use onrecord_spec::page::Page;
use onrecord_spec::record::Row;
use onrecord_spec::sync::{NEWEST, Span, Stamp};
use onrecord_spec::text::Text;

use crate::error::Error;
use crate::tables::{Conversation, Tables};
use crate::{SqliteStore, commit, no_conversation, no_record, reading, refused, tables, writing};

impl SqliteStore {
    /// Stored rows, as they are.
    pub(crate) fn read(&self, from: u64, limit: Option<u64>) -> Result<Outcome, Error> {
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = self.held(&tables)?;
        let upto = limit.map_or(held.next, |limit| from.saturating_add(limit));
        Ok(Outcome::Rows { rows: tables.rows(held.key, from, upto)? })
    }

    /// The row with this key, whether it is in the context or not
    /// (`record.lookup-shadowed`).
    pub(crate) fn lookup(&self, asked: &Lookup) -> Result<Outcome, Error> {
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = match &asked.conversation {
            Some(name) => tables.conversation(name)?.ok_or_else(|| no_conversation(name))?,
            None => self.held(&tables)?,
        };
        let seq = match &asked.by {
            Key::Row(id) => tables.seq(held.key, id)?,
            Key::Request(key) => tables.key(held.key, "request", key)?,
            Key::Report(key) => tables.key(held.key, "report", key)?,
        };
        let Some(seq) = seq else { return Ok(Outcome::Found { found: None }) };
        let row = tables.rows(held.key, seq, seq + 1)?.into_iter().next();
        let left = tables.left(held.key, Some(seq))?.into_iter().next();
        Ok(Outcome::Found { found: row.map(|row| Found { row, left }) })
    }

    /// How far the turn of a request is.
    pub(crate) fn status(&self, request: &Text) -> Result<Outcome, Error> {
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = self.held(&tables)?;
        let Some(seq) = tables.key(held.key, "request", request)? else {
            return Ok(Outcome::Status { turn: None });
        };
        let (before, behind) = tables.edges(held.key, seq)?;
        let is_open = before.as_deref() == Some("started");
        let mut behind = behind.iter().map(String::as_str).peekable();
        if !is_open {
            behind.next_if_eq(&"started");
        }
        let state = match behind.next() {
            None => TurnState::Open,
            Some("ended") => TurnState::Ended,
            Some(_) => TurnState::Interrupted,
        };
        let rows = tables.rows(held.key, seq, seq + 1)?;
        let row = rows.first().and_then(|row| Row::decode(row).ok());
        Ok(Outcome::Status { turn: row.map(|row| Turn { row: row.id, state }) })
    }

    /// Takes a conversation away; of the current one, if none is named.
    pub(crate) fn delete(&mut self, name: Option<&Text>) -> Result<Outcome, Error> {
        let name = name.or(self.current.as_ref()).cloned().ok_or_else(no_record)?;
        let transaction = writing(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = tables.conversation(&name)?.ok_or_else(|| no_conversation(&name))?;
        tables.delete(held.key)?;
        commit(transaction, &self.watch)?;
        // The write-ahead log holds pages as they were before.
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        self.lifetimes.remove(&held.key);
        if self.current.as_ref() == Some(&name) {
            self.current = None;
        }
        Ok(Outcome::Deleted { rows: held.next })
    }

    /// What a poll compares. The version is in the file, so that it also rises when
    /// another process writes; the epoch is this start's own.
    pub(crate) fn stamp(&self) -> Result<Stamp, Error> {
        let held = self.held(&tables(&self.db, &self.watch))?;
        Ok(Stamp { epoch: self.epoch.clone(), version: held.version })
    }

    /// Lets the client of the current conversation look whether something moved.
    pub(crate) fn sync(&mut self, limit: Option<i64>) -> Result<Outcome, Error> {
        let limit = check_limit(limit.unwrap_or(NEWEST))?;
        let stamp = self.stamp()?;
        let name = self.current.clone().ok_or_else(no_record)?;
        let mut client = self.clients.get(&name).cloned().unwrap_or_default();
        let mut reads = Vec::new();
        let mut ask = client.begin(stamp);
        while let Some(asked) = ask {
            let transaction = reading(&self.db)?;
            let tables = tables(&transaction, &self.watch);
            let held = self.held(&tables)?;
            let from = match asked {
                Ask::Newest => tables.page_start(held.key, held.next, limit)?,
                Ask::From(seq) => seq.min(held.next),
            };
            reads.push(Span { from, upto: held.next });
            ask = client.take(tables.rows(held.key, from, held.next)?);
        }
        let synced = client.synced(reads);
        self.clients.insert(name, client);
        Ok(Outcome::Synced(synced))
    }

    /// Finds what is not in the prompt.
    pub(crate) fn recall(&self, query: Option<&Text>) -> Result<Outcome, Error> {
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = self.held(&tables)?;
        let words =
            query.map(|query| phrase(&query.to_unicode())).filter(|words| !words.is_empty());
        Ok(Outcome::Recalled { hits: tables.recall(held.key, words.as_deref())? })
    }

    /// One contiguous range of rows, from a cursor back or from the end.
    pub(crate) fn page(&self, limit: i64, before: Option<&Text>) -> Result<Outcome, Error> {
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = self.held(&tables)?;
        let limit = check_limit(limit)?;
        let end = match before {
            Some(cursor) => self.place(&tables, &held, cursor)?,
            None => held.next,
        };
        let start = tables.page_start(held.key, end, limit)?;
        let rows = tables.rows(held.key, start, end)?;
        let older = start > 0;
        let before = if older { rows.first().and_then(|row| self.cursor(row)) } else { None };
        Ok(Outcome::Page(Page { rows, older, before, upto: held.next }))
    }

    /// The cursor that stands before a row: the conversation, the seq and the id, so
    /// that one of another record is known (`page.cursor-strict`).
    fn cursor(&self, row: &Json) -> Option<Text> {
        let row = Row::decode(row).ok()?;
        let names = serde_json::to_vec(&(self.current.as_ref()?, row.seq, &row.id)).ok()?;
        Some(Text::from(URL_SAFE_NO_PAD.encode(names).as_str()))
    }

    /// Where a cursor stands that this store gave out.
    fn place(&self, tables: &Tables<'_>, held: &Conversation, cursor: &Text) -> Result<u64, Error> {
        let bytes = cursor.as_str().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        let names: Option<(Text, u64, Text)> =
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some((name, seq, id)) = names
            && self.current.as_ref() == Some(&name)
            && tables.seq(held.key, &id)? == Some(seq)
        {
            return Ok(seq);
        }
        let detail = "this is no cursor that the record gave out; ask for the newest page without \
                      one (page.cursor-strict)";
        Err(refused(RefusalCode::BadCursor, None, detail.to_string()))
    }
}

fn check_limit(limit: i64) -> Result<i64, Error> {
    if limit < 1 {
        let detail = format!("the limit is {limit}; the least is 1 (page.cursor-strict)");
        return Err(refused(RefusalCode::BadLimit, None, detail));
    }
    Ok(limit)
}

/// The words of a query, quoted so that the full-text index reads none of them as an
/// operator.
fn phrase(query: &str) -> String {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ")
}
