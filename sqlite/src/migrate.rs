//! Starting on a file: an empty one gets its tables, one of the older shape
//! (`older.sql`) gets its rows back.
//!
//! The older shape moved rows to a side table. They go back to their place by their
//! seq, and the flags follow from what the summaries among the rows say; then the
//! old tables are gone. It is one transaction, so that whoever dies in it has done
//! nothing, and the next start does it whole (`migration.side-table`).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use onrecord_reference::migrate::Migration;
use onrecord_spec::json::{Json, RawValue};
use onrecord_spec::op::{Migrate, Migrated, Older, Outcome};
use onrecord_spec::record::{Header, Row};
use onrecord_spec::text::Text;
use rusqlite::Connection;

use crate::append::put;
use crate::error::Error;
use crate::tables::{Tables, as_integer, as_json};
use crate::{SqliteStore, no_record, tables, writing};

/// The tables of this shape.
const SCHEMA: &str = include_str!("schema.sql");

/// Those of the older one.
const OLDER: &str = include_str!("older.sql");

/// What SQLite's `user_version` says of a file of this shape.
const VERSION: i64 = 2;

/// Gives a file this shape. Says of how many rows the place was given back.
pub(crate) fn bring_up(tables: &Tables<'_>, path: &Path) -> Result<u64, Error> {
    if is_brought_up(tables.db)? {
        return Ok(0);
    }
    let version = version(tables.db)?;
    let is_older = has_table(tables.db, "archived_messages")?;
    let anything: i64 =
        tables.db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version != 0 || (anything > 0 && !is_older) {
        return Err(Error::NotAStore(path.to_owned()));
    }
    tables.step();
    tables.db.execute_batch(SCHEMA)?;
    let returned = if is_older { bring_back(tables)? } else { 0 };
    tables.step();
    tables.db.pragma_update(None, "user_version", VERSION)?;
    Ok(returned)
}

/// Whether a file has this shape.
pub(crate) fn is_brought_up(db: &Connection) -> Result<bool, Error> {
    Ok(version(db)? == VERSION)
}

fn version(db: &Connection) -> Result<i64, Error> {
    Ok(db.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

fn has_table(db: &Connection, name: &str) -> Result<bool, Error> {
    const SQL: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let count: i64 = db.query_row(SQL, [name], |row| row.get(0))?;
    Ok(count > 0)
}

/// Puts the rows of the side table back to their place, and takes the old tables
/// away.
fn bring_back(tables: &Tables<'_>) -> Result<u64, Error> {
    let names: Vec<(String, String)> = {
        let mut statement = tables.db.prepare("SELECT conversation, header FROM headers")?;
        let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        names.collect::<Result<_, _>>()?
    };
    let mut returned = 0;
    for (name, header) in names {
        let older = Older {
            header: Some(RawValue::from_string(header)?),
            rows: bodies(tables.db, "messages", &name)?,
            side: bodies(tables.db, "archived_messages", &name)?,
        };
        // What goes where is decided as the reference does: a row that stands in both
        // tables, since the older version died on the way, is one row.
        let mut migration = Migration::begin(&older)?;
        returned += migration.side() as u64;
        put(tables, &migration.finish()?)?;
    }
    for table in ["messages", "archived_messages", "headers"] {
        tables.step();
        tables.db.execute_batch(&format!("DROP TABLE {table}"))?;
    }
    Ok(returned)
}

/// The rows of a table of the older shape.
fn bodies(db: &Connection, table: &str, conversation: &str) -> Result<Vec<Json>, Error> {
    let sql = format!("SELECT body FROM {table} WHERE conversation = ?1 ORDER BY seq");
    let mut statement = db.prepare(&sql)?;
    let bodies = statement.query_map([conversation], |row| row.get::<_, String>(0))?;
    bodies.map(|body| Ok(RawValue::from_string(body?)?)).collect()
}

/// Makes a file of the older shape that holds one conversation.
///
/// # Errors
///
/// If a row is none, or the file cannot be written.
pub fn write_older(path: &Path, older: &Older) -> Result<Text, Error> {
    let db = Connection::open(path)?;
    db.execute_batch(OLDER)?;
    let header = match &older.header {
        Some(raw) => Header::decode(raw).map_err(|error| crate::append::malformed(&error))?,
        None => Header::new(""),
    };
    let name = as_json(&header.conversation)?;
    let line = header.to_line()?;
    db.execute("INSERT INTO headers VALUES (?1, ?2)", (&name, line))?;
    for (table, rows) in [("messages", &older.rows), ("archived_messages", &older.side)] {
        let mut insert = db.prepare(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3)"))?;
        for raw in rows {
            let row = Row::decode(raw).map_err(|error| crate::append::malformed(&error))?;
            insert.execute((&name, as_integer(row.seq), raw.get()))?;
        }
    }
    Ok(header.conversation)
}

impl SqliteStore {
    /// Starts on a file of the older shape, or again on the one that is there.
    pub(crate) fn migrate(&mut self, asked: &Migrate) -> Result<Outcome, Error> {
        if let Some(older) = &asked.older {
            // Refused before anything is forgotten, if it cannot be brought back.
            Migration::begin(older)?.finish()?;
            self.make_older(older)?;
        }
        if asked.crash {
            // It dies when all is written and nothing is committed.
            let transaction = writing(&self.db)?;
            bring_up(&tables(&transaction, &self.watch), &self.path)?;
            transaction.rollback()?;
            return Ok(Outcome::Crashed {});
        }
        let returned = self.restart()?;
        let next = self.held(&tables(&self.db, &self.watch)).map_err(|_| no_record())?.next;
        Ok(Outcome::Migrated(Migrated { next, returned, side: side_of(&self.db)? }))
    }

    /// Forgets everything, and has a file of the older shape.
    fn make_older(&mut self, older: &Older) -> Result<(), Error> {
        self.forget()?;
        remove(&mut self.db, &self.path)?;
        self.current = Some(write_older(&self.path, older)?);
        self.db = Connection::open(&self.path)?;
        Ok(())
    }
}

/// Takes the file of a connection away, and leaves the connection without one.
pub(crate) fn remove(db: &mut Connection, path: &Path) -> Result<(), Error> {
    *db = Connection::open_in_memory()?;
    for more in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(more);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::file(Path::new(&file))(error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// How many rows the side table of a file holds, if it has one.
fn side_of(db: &Connection) -> Result<u64, Error> {
    if !has_table(db, "archived_messages")? {
        return Ok(0);
    }
    Ok(db.query_row("SELECT count(*) FROM archived_messages", [], |row| row.get(0))?)
}
