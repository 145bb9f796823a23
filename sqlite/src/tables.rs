//! The statements: one a function, each short enough to be read. The schema that
//! they are about is `schema.sql`.

use std::cell::RefCell;

use onrecord_reference::recall::texts;
use onrecord_spec::found::Hit;
use onrecord_spec::json::{Json, RawValue, keep};
use onrecord_spec::op::Left;
use onrecord_spec::record::{CompactionStage, Event, ReplacementSource, Row, TurnEdge};
use onrecord_spec::text::Text;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Params};

use crate::error::Error;

/// Something that is told of each write before it is made: a test that lets the
/// process die there.
pub type Watch = Box<dyn FnMut()>;

/// The tables of a store, within one transaction.
pub(crate) struct Tables<'a> {
    pub db: &'a Connection,
    pub watch: &'a RefCell<Option<Watch>>,
}

/// A conversation, as its row says.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    pub key: i64,
    pub next: u64,
    pub version: u64,
    pub tail: Vec<u8>,
}

/// An id, a key or a name as the tables hold it.
pub(crate) fn as_json(text: &Text) -> Result<String, Error> {
    Ok(serde_json::to_string(text)?)
}

/// A seq as SQLite holds it: it knows no number above 2^63.
pub(crate) fn as_integer(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn text(json: &str) -> Result<Text, Error> {
    Ok(serde_json::from_str(json)?)
}

impl Tables<'_> {
    /// Tells whoever watches that something is about to be written.
    pub fn step(&self) {
        if let Some(watch) = self.watch.borrow_mut().as_mut() {
            watch();
        }
    }

    fn write(&self, sql: &str, params: impl Params) -> Result<usize, Error> {
        self.step();
        Ok(self.db.prepare_cached(sql)?.execute(params)?)
    }

    fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Option<T>, Error> {
        let mut statement = self.db.prepare_cached(sql)?;
        Ok(statement.query_row(params, |row| row.get(0)).optional()?)
    }

    fn values<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Vec<T>, Error> {
        let mut statement = self.db.prepare_cached(sql)?;
        let values = statement.query_map(params, |row| row.get(0))?;
        Ok(values.collect::<Result<_, _>>()?)
    }
}

/// Conversations.
impl Tables<'_> {
    pub fn conversation(&self, name: &Text) -> Result<Option<Conversation>, Error> {
        const SQL: &str = "SELECT key, next, version, tail FROM conversations WHERE name = ?1";
        let mut statement = self.db.prepare_cached(SQL)?;
        let found = statement.query_row([as_json(name)?], |row| {
            Ok(Conversation {
                key: row.get(0)?,
                next: row.get(1)?,
                version: row.get(2)?,
                tail: row.get(3)?,
            })
        });
        Ok(found.optional()?)
    }

    /// The keys of all conversations, and how many rows each holds.
    pub fn lengths(&self) -> Result<Vec<(i64, u64)>, Error> {
        let mut statement = self.db.prepare_cached("SELECT key, next FROM conversations")?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Begins a conversation of which, so far, no row is held.
    pub fn begin(&self, name: &Text, tail: &[u8]) -> Result<Conversation, Error> {
        let version = self.tick()?;
        self.write(
            "INSERT INTO conversations (name, next, version, tail) VALUES (?1, 0, ?2, ?3)",
            (as_json(name)?, as_integer(version), tail),
        )?;
        let key = self.db.last_insert_rowid();
        Ok(Conversation { key, next: 0, version, tail: tail.to_owned() })
    }

    /// The conversation has grown.
    pub fn grown(&self, conversation: &Conversation) -> Result<(), Error> {
        self.write(
            "UPDATE conversations SET next = ?2, version = ?3, tail = ?4 WHERE key = ?1",
            (
                conversation.key,
                as_integer(conversation.next),
                as_integer(self.tick()?),
                &conversation.tail,
            ),
        )?;
        Ok(())
    }

    /// Something changes: no two changes have one number.
    fn tick(&self) -> Result<u64, Error> {
        self.step();
        const SQL: &str = "UPDATE clock SET changes = changes + 1 RETURNING changes";
        Ok(self.value(SQL, [])?.unwrap_or(0))
    }

    /// Takes a conversation away with all that is known of it: the rows that left
    /// the context are rows like any other (`record.delete-conversation`).
    pub fn delete(&self, conversation: i64) -> Result<(), Error> {
        for sql in [
            "DELETE FROM words WHERE rowid IN (SELECT key FROM rows WHERE conversation = ?1)",
            "DELETE FROM flags WHERE conversation = ?1",
            "DELETE FROM units WHERE conversation = ?1",
            "DELETE FROM keys WHERE conversation = ?1",
            "DELETE FROM rows WHERE conversation = ?1",
            "DELETE FROM conversations WHERE key = ?1",
        ] {
            self.write(sql, [conversation])?;
        }
        // Until its index is merged, a deleted row's words are still in the file.
        self.write("INSERT INTO words (words) VALUES ('optimize')", [])?;
        Ok(())
    }

    /// The bytes of the conversation's log.
    pub fn log(&self, conversation: &Conversation) -> Result<Vec<u8>, Error> {
        const SQL: &str = "SELECT gap, body FROM rows WHERE conversation = ?1 ORDER BY seq";
        let mut statement = self.db.prepare_cached(SQL)?;
        let mut rows = statement.query([conversation.key])?;
        let mut log = Vec::new();
        while let Some(row) = rows.next()? {
            log.extend_from_slice(row.get_ref(0)?.as_blob().unwrap_or_default());
            log.extend_from_slice(row.get_ref(1)?.as_str().unwrap_or_default().as_bytes());
        }
        log.extend_from_slice(&conversation.tail);
        Ok(log)
    }
}

/// Rows, and what they are found by.
impl Tables<'_> {
    /// Stores a row behind the last one. `gap` holds the log's bytes between the two.
    pub fn insert(
        &self,
        conversation: i64,
        row: &Row,
        gap: &[u8],
        body: &RawValue,
    ) -> Result<(), Error> {
        let seq = as_integer(row.seq);
        self.write(
            "INSERT INTO rows (conversation, seq, id, gap, body, counts, edge)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (conversation, seq, as_json(&row.id)?, gap, body.get(), counts(row), edge(row)),
        )?;
        let words = texts(row).join("\n");
        if !words.is_empty() {
            let key = self.db.last_insert_rowid();
            self.write("INSERT INTO words (rowid, text) VALUES (?1, ?2)", (key, words))?;
        }
        if let Some(request) = &row.request {
            self.keep(conversation, "request", request, seq)?;
        }
        if let Some(report) = &row.report {
            self.keep(conversation, "report", report, seq)?;
        }
        self.flag(conversation, row)?;
        self.join(conversation, row)
    }

    /// What was first stored under a key keeps it.
    fn keep(&self, conversation: i64, kind: &str, key: &Text, seq: i64) -> Result<(), Error> {
        self.write(
            "INSERT OR IGNORE INTO keys (conversation, kind, key, seq) VALUES (?1, ?2, ?3, ?4)",
            (conversation, kind, as_json(key)?, seq),
        )?;
        Ok(())
    }

    /// The seq of the first row that was stored under a key.
    pub fn key(&self, conversation: i64, kind: &str, key: &Text) -> Result<Option<u64>, Error> {
        const SQL: &str = "SELECT seq FROM keys WHERE conversation = ?1 AND kind = ?2 AND key = ?3";
        self.value(SQL, (conversation, kind, as_json(key)?))
    }

    /// The seq of the row with this id.
    pub fn seq(&self, conversation: i64, id: &Text) -> Result<Option<u64>, Error> {
        const SQL: &str = "SELECT seq FROM rows WHERE conversation = ?1 AND id = ?2";
        self.value(SQL, (conversation, as_json(id)?))
    }

    /// The stored rows of a stretch.
    pub fn rows(&self, conversation: i64, from: u64, upto: u64) -> Result<Vec<Json>, Error> {
        const SQL: &str = "SELECT body FROM rows
             WHERE conversation = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq";
        let bodies: Vec<String> =
            self.values(SQL, (conversation, as_integer(from), as_integer(upto)))?;
        let bodies = bodies.into_iter();
        Ok(bodies.map(serde_json::value::RawValue::from_string).collect::<Result<_, _>>()?)
    }

    /// The edges of turns behind a row, two at the most, and the one before it.
    pub fn edges(
        &self,
        conversation: i64,
        seq: u64,
    ) -> Result<(Option<String>, Vec<String>), Error> {
        const BEFORE: &str = "SELECT edge FROM rows
             WHERE conversation = ?1 AND edge IS NOT NULL AND seq < ?2
             ORDER BY seq DESC LIMIT 1";
        const BEHIND: &str = "SELECT edge FROM rows
             WHERE conversation = ?1 AND edge IS NOT NULL AND seq >= ?2
             ORDER BY seq LIMIT 2";
        let at = (conversation, as_integer(seq));
        Ok((self.value(BEFORE, at)?, self.values(BEHIND, at)?))
    }
}

/// Flags.
impl Tables<'_> {
    /// The rows that a replacement takes are flagged, once
    /// (`compaction.flag-once`). They stay where they are.
    fn flag(&self, conversation: i64, row: &Row) -> Result<(), Error> {
        let Some(replaces) = &row.replaces else { return Ok(()) };
        let source = serde_json::to_string(&replaces.source)?;
        for taken in &replaces.rows {
            self.write(
                "INSERT OR IGNORE INTO flags (conversation, seq, by, source)
                 SELECT ?1, seq, ?2, ?3 FROM rows WHERE conversation = ?1 AND id = ?4",
                (conversation, as_integer(row.seq), &source, as_json(taken)?),
            )?;
        }
        Ok(())
    }

    /// The flags of a conversation, in the order of the record; of one row alone, if
    /// one is named.
    pub fn left(&self, conversation: i64, seq: Option<u64>) -> Result<Vec<Left>, Error> {
        const SQL: &str = "SELECT taken.id, taker.id, flags.by, flags.source
             FROM flags
             JOIN rows AS taken ON taken.conversation = ?1 AND taken.seq = flags.seq
             JOIN rows AS taker ON taker.conversation = ?1 AND taker.seq = flags.by
             WHERE flags.conversation = ?1 AND flags.seq BETWEEN ?2 AND ?3
             ORDER BY flags.seq";
        let (from, upto) = (seq.unwrap_or(0), seq.unwrap_or(u64::MAX));
        let mut statement = self.db.prepare_cached(SQL)?;
        let mut rows = statement.query((conversation, as_integer(from), as_integer(upto)))?;
        let mut left = Vec::new();
        while let Some(row) = rows.next()? {
            left.push(read_left(row, 0)?);
        }
        Ok(left)
    }

    /// What recall reaches: every row of another conversation, and of this one the
    /// rows that left the context. Its context is in the prompt already
    /// (`recall.filter`).
    pub fn recall(&self, conversation: i64, words: Option<&str>) -> Result<Vec<Hit>, Error> {
        const REACH: &str =
            "SELECT conversations.name, rows.id, rows.id, taker.id, flags.by, flags.source
             FROM rows
             JOIN conversations ON conversations.key = rows.conversation
             LEFT JOIN flags ON flags.conversation = rows.conversation AND flags.seq = rows.seq
             LEFT JOIN rows AS taker
                    ON taker.conversation = rows.conversation AND taker.seq = flags.by
             WHERE (rows.conversation <> ?1 OR flags.by IS NOT NULL)";
        let sql = match words {
            Some(_) => {
                format!("{REACH} AND rows.key IN (SELECT rowid FROM words WHERE words MATCH ?2)")
            }
            None => format!("{REACH} AND ?2 IS NULL"),
        };
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query((conversation, words))?;
        let mut hits = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let id: String = row.get(1)?;
            let is_left = row.get_ref(4)? != rusqlite::types::ValueRef::Null;
            let left = if is_left { Some(read_left(row, 2)?) } else { None };
            hits.push(Hit { conversation: text(&name)?, row: text(&id)?, left });
        }
        Ok(hits)
    }
}

fn read_left(row: &rusqlite::Row<'_>, at: usize) -> Result<Left, Error> {
    let (id, by, source): (String, String, String) =
        (row.get(at)?, row.get(at + 1)?, row.get(at + 3)?);
    let source: ReplacementSource = serde_json::from_str(&source)?;
    Ok(Left { id: text(&id)?, by: text(&by)?, seq: row.get(at + 2)?, source })
}

/// Pages.
impl Tables<'_> {
    /// Where a page of so many messages that ends before row `end` begins.
    pub fn page_start(&self, conversation: i64, end: u64, limit: i64) -> Result<u64, Error> {
        const MESSAGE: &str = "SELECT seq FROM rows
             WHERE conversation = ?1 AND counts = 1 AND seq < ?2
             ORDER BY seq DESC LIMIT 1 OFFSET ?3";
        let start: Option<u64> =
            self.value(MESSAGE, (conversation, as_integer(end), limit.saturating_sub(1)))?;
        let start = start.unwrap_or(0);
        let unit = self.unit(conversation, start)?;
        Ok(unit
            .filter(|(first, last)| *first < start && start <= *last)
            .map_or(start, |unit| unit.0))
    }

    /// The last unit that begins at this row or before it.
    fn unit(&self, conversation: i64, at: u64) -> Result<Option<(u64, u64)>, Error> {
        const SQL: &str = "SELECT first, last FROM units
             WHERE conversation = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1";
        let mut statement = self.db.prepare_cached(SQL)?;
        let found = statement
            .query_row((conversation, as_integer(at)), |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    /// Takes note of what no page may separate from this row: the pieces of its
    /// message (`page.never-mid-message`), and the provenance that it cites
    /// (`page.provenance-together`).
    fn join(&self, conversation: i64, row: &Row) -> Result<(), Error> {
        if let Some(first) = self.key(conversation, "stream", &row.id)? {
            self.unite(conversation, first, row.seq)?;
        }
        match &row.event {
            Event::Delta(delta) if self.seq(conversation, &delta.message)?.is_none() => {
                self.keep(conversation, "stream", &delta.message, as_integer(row.seq))?;
                let first = self.key(conversation, "stream", &delta.message)?;
                self.unite(conversation, first.unwrap_or(row.seq), row.seq)?;
            }
            Event::Compaction(step) if step.step == CompactionStage::Provenance => {
                self.write(
                    "INSERT OR REPLACE INTO keys (conversation, kind, key, seq)
                     VALUES (?1, 'provenance', ?2, ?3)",
                    (conversation, as_json(&step.compaction)?, as_integer(row.seq)),
                )?;
            }
            Event::Message(_)
            | Event::CallStarted(_)
            | Event::Result(_)
            | Event::Compaction(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => {}
        }
        let cited = row.replaces.as_ref().and_then(|replaces| replaces.compaction.as_ref());
        if let Some(compaction) = cited
            && let Some(first) = self.key(conversation, "provenance", compaction)?
        {
            self.unite(conversation, first, row.seq)?;
        }
        Ok(())
    }

    /// These rows belong together, and with every unit that they touch.
    fn unite(&self, conversation: i64, mut first: u64, mut last: u64) -> Result<(), Error> {
        if first == last {
            return Ok(());
        }
        while let Some(unit) = self.unit(conversation, last)?.filter(|unit| unit.1 >= first) {
            self.write(
                "DELETE FROM units WHERE conversation = ?1 AND first = ?2",
                (conversation, as_integer(unit.0)),
            )?;
            (first, last) = (first.min(unit.0), last.max(unit.1));
        }
        self.write(
            "INSERT INTO units (conversation, first, last) VALUES (?1, ?2, ?3)",
            (conversation, as_integer(first), as_integer(last)),
        )?;
        Ok(())
    }
}

/// Only messages of append origin count towards a page's limit
/// (`page.counts-append-origin`).
fn counts(row: &Row) -> bool {
    row.is_append() && matches!(row.event, Event::Message(_))
}

fn edge(row: &Row) -> Option<&'static str> {
    let Event::Turn(turn) = &row.event else { return None };
    Some(match turn.edge {
        TurnEdge::Started => "started",
        TurnEdge::Ended => "ended",
        TurnEdge::Interrupted => "interrupted",
    })
}

/// A row as the log's line holds it.
pub(crate) fn line(row: &Row) -> Result<Json, Error> {
    let line = row.to_line()?;
    keep(&line).map_err(|error| {
        let detail = format!("row {} cannot be written: {error}", row.seq);
        Error::refused(onrecord_spec::op::RefusalCode::Malformed, Some(row.seq), detail)
    })
}
