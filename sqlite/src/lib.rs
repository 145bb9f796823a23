//! A store of conversations on SQLite: how the rules are kept on a real database.
//!
//! Read `schema.sql` first, then `tables` (the statements), `append` (the one way in
//! which rows come), `find` (what is asked by key, by words and by page), `archive`
//! (files) and `migrate` (an older shape). The schema and the statements use little
//! that another SQL database has not got.
//!
//! - Rows are appended and never changed; a trigger says so
//!   (`record.append-only`). Flags are a cache beside them, written in the
//!   transaction that stores the row which takes others (`compaction.flags-rows`).
//! - Each append is one transaction, which takes the write lock before it looks at
//!   what comes next (`record.expected-seq`): two processes may share one file.
//! - What comes out in another shape than rows (a replay, a transcript, a window) is
//!   projected by the reference from the log that the rows make up. A compaction is
//!   planned by the reference too, and stored here.
//!
//! [`SqliteStore`] is one more implementation of the trait that the suite runs on.

mod append;
mod archive;
mod error;
mod find;
mod migrate;
mod tables;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use onrecord_reference::sync::Client;
use onrecord_reference::{Record, Reference, replay, state};
use onrecord_spec::json::to_json;
use onrecord_spec::op::{
    Bytes, Damage, Fault, FaultKind, Hello, Implementation, Input, Op, Outcome, Refusal,
    RefusalCode, Replayed,
};
use onrecord_spec::text::Text;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use error::Error;
pub use migrate::write_older;
pub use tables::Watch;
use tables::{Conversation, Tables};

/// How long a writer waits before it looks again whether another one has finished:
/// an append takes about as long. SQLite's own waits grow to a hundred times that, and
/// let the one who writes starve the one who waits.
const WAIT: Duration = Duration::from_millis(1);

/// How often it looks.
const PATIENCE: i32 = 30_000;

/// A store of conversations in one file, with the archive in a folder beside it.
pub struct SqliteStore {
    path: PathBuf,
    db: Connection,
    watch: RefCell<Option<Watch>>,
    /// The name of the current conversation.
    current: Option<Text>,
    /// New at each start (`sync.stamp`).
    epoch: Text,
    /// How many rows each conversation had when this start found it: a compaction
    /// that an earlier one left open is open no more (`compaction.one-at-a-time`).
    lifetimes: BTreeMap<i64, u64>,
    /// The record that was projected last, to be used again while it is the same.
    projected: Option<(i64, Record)>,
    /// What the clients hold that `sync` is asked for. They are no part of the store.
    clients: BTreeMap<Text, Client>,
}

impl SqliteStore {
    /// Opens the store in this file, and makes one if there is none. What an older
    /// version left is brought into this shape first (`migration.side-table`).
    ///
    /// # Errors
    ///
    /// If the file cannot be used, or is a database of something else.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_watched(path, None)
    }

    /// As [`SqliteStore::open`], and tells the watch before each write: of a
    /// statement, of a commit, of a file.
    ///
    /// # Errors
    ///
    /// As those of [`SqliteStore::open`].
    pub fn open_watched(path: &Path, watch: Option<Watch>) -> Result<Self, Error> {
        let watch = RefCell::new(watch);
        let (db, _) = start(path, &watch)?;
        let mut store = Self {
            path: path.to_owned(),
            db,
            watch,
            current: None,
            epoch: Text::default(),
            lifetimes: BTreeMap::new(),
            projected: None,
            clients: BTreeMap::new(),
        };
        store.begin_lifetime()?;
        Ok(store)
    }

    /// Forgets what is in memory and starts again from the file. Says how many rows of
    /// an older shape that brought back to their place.
    fn restart(&mut self) -> Result<u64, Error> {
        let (db, returned) = start(&self.path, &self.watch)?;
        self.db = db;
        self.begin_lifetime()?;
        Ok(returned)
    }

    fn begin_lifetime(&mut self) -> Result<(), Error> {
        self.epoch = Text::from(format!("{:016x}", fastrand::u64(..)).as_str());
        self.lifetimes = tables(&self.db, &self.watch).lengths()?.into_iter().collect();
        self.projected = None;
        Ok(())
    }

    /// Forgets everything, the archive and the clients included.
    fn forget(&mut self) -> Result<(), Error> {
        if !migrate::is_brought_up(&self.db)? {
            // Of an older shape, and given up before it was brought into this one.
            migrate::remove(&mut self.db, &self.path)?;
            self.restart()?;
        }
        let transaction = writing(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        for (key, _) in tables.lengths()? {
            tables.delete(key)?;
        }
        transaction.commit()?;
        archive::forget(&self.path)?;
        (self.current, self.projected) = (None, None);
        self.clients.clear();
        Ok(())
    }

    /// The current conversation, as the file has it now.
    fn held(&self, tables: &Tables<'_>) -> Result<Conversation, Error> {
        let held = self.current.as_ref().map(|name| tables.conversation(name)).transpose()?;
        held.flatten().ok_or_else(no_record)
    }

    /// The record of the current conversation, for a projection of it.
    fn record(&mut self) -> Result<&Record, Error> {
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let held = self.held(&tables)?;
        let same = self
            .projected
            .take()
            .filter(|(key, record)| *key == held.key && record.next() == held.next);
        let record = match same {
            Some((_, record)) => record,
            None => self.read_record(&tables, &held)?.0,
        };
        drop(transaction);
        Ok(&self.projected.insert((held.key, record)).1)
    }

    /// Reads the whole record of a conversation.
    fn read_record(
        &self,
        tables: &Tables<'_>,
        held: &Conversation,
    ) -> Result<(Record, Vec<Damage>), Error> {
        let lifetime = self.lifetimes.get(&held.key).copied().unwrap_or(0);
        let lifetime = usize::try_from(lifetime).unwrap_or(usize::MAX);
        Ok(Record::open_within(&tables.log(held)?, lifetime)?)
    }

    fn outcome(&mut self, op: &Op) -> Result<Outcome, Error> {
        match op {
            Op::Load { header, rows, beside } => {
                let record = Record::load(header.as_deref(), rows)?;
                self.hold(&record, *beside)?;
                Ok(Outcome::Loaded { next: record.next(), damage: Vec::new() })
            }
            Op::Open { log } => {
                let (record, damage) = Record::open(&log.0)?;
                self.hold(&record, false)?;
                Ok(Outcome::Loaded { next: record.next(), damage })
            }
            Op::Enter { conversation } => self.enter(conversation),
            Op::Append { expect, rows } => self.append(*expect, rows),
            Op::Read { from, limit } => self.read(from.unwrap_or(0), *limit),
            Op::Log {} => {
                let transaction = reading(&self.db)?;
                let tables = tables(&transaction, &self.watch);
                let log = tables.log(&self.held(&tables)?)?;
                Ok(Outcome::Log { bytes: Bytes(log) })
            }
            Op::Restart {} => {
                self.restart()?;
                let transaction = reading(&self.db)?;
                let tables = tables(&transaction, &self.watch);
                let (record, damage) = self.read_record(&tables, &self.held(&tables)?)?;
                Ok(Outcome::Loaded { next: record.next(), damage })
            }
            Op::Replay(asked) => replayed(replay::replay(self.record()?, asked)),
            Op::Request { replay: asked, authority } => {
                replayed(replay::request(self.record()?, asked, authority))
            }
            Op::Context {} => {
                // The flags are those of the cache, so that whoever judges the answer
                // judges the cache.
                let mut context = state::context(self.record()?);
                let transaction = reading(&self.db)?;
                let tables = tables(&transaction, &self.watch);
                context.left = tables.left(self.held(&tables)?.key, None)?;
                Ok(Outcome::Context(context))
            }
            Op::Input { first, last, replay: asked } => {
                let input = onrecord_reference::input::input(self.record()?, first, last, asked)?;
                let replayed = written(input.replayed)?;
                Ok(Outcome::Input(Input { rows: input.rows, replayed }))
            }
            Op::Compact(asked) => self.change(|record| record.compact(asked)),
            Op::Clear(asked) => self.change(|record| record.clear(asked)),
            Op::Upgrade(asked) => self.change(|record| record.upgrade(asked)),
            Op::Transcript {} => {
                let items = onrecord_reference::transcript::transcript(self.record()?)?;
                Ok(Outcome::Transcript { items })
            }
            Op::Follow { join } => {
                let events = onrecord_reference::follow::follow(self.record()?, *join)?;
                Ok(Outcome::Followed { events })
            }
            Op::Page { limit, before } => self.page(*limit, before.as_ref()),
            Op::Window { limit, at } => {
                let window = onrecord_reference::window::window(self.record()?, *limit, at)?;
                Ok(Outcome::Window(window))
            }
            Op::Lookup(asked) => self.lookup(asked),
            Op::Status { request } => self.status(request),
            Op::Delete { conversation } => self.delete(conversation.as_ref()),
            Op::Stamp {} => Ok(Outcome::Stamp(self.stamp()?)),
            Op::Sync { limit } => self.sync(*limit),
            Op::Recall { query } => self.recall(query.as_ref()),
            Op::Archive { crash } => self.archive(*crash),
            Op::Parts { conversation } => self.parts(conversation.as_ref()),
            Op::Migrate(asked) => self.migrate(asked),
        }
    }
}

impl Implementation for SqliteStore {
    fn hello(&mut self) -> Result<Hello, Fault> {
        // It words and reports as the reference does, which projects for it.
        Ok(Hello {
            name: "sqlite".to_string(),
            version: format!("{} on SQLite {}", env!("CARGO_PKG_VERSION"), rusqlite::version()),
            ..Reference::new().hello()?
        })
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        match self.outcome(op) {
            Ok(outcome) => Ok(outcome),
            Err(Error::Refused(refusal)) => Ok(Outcome::Refused(refusal)),
            Err(error) => Err(Fault {
                kind: FaultKind::ErrorAnswer,
                message: format!("`{}`: {error}", op.name()),
                stderr: String::new(),
            }),
        }
    }
}

/// Opens the file and sees to it that it has this shape. Says how many rows of an
/// older one were brought back to their place.
fn start(path: &Path, watch: &RefCell<Option<Watch>>) -> Result<(Connection, u64), Error> {
    let mut db = Connection::open(path)?;
    db.busy_handler(Some(|tries| {
        std::thread::sleep(WAIT);
        tries < PATIENCE
    }))?;
    // A reader never waits for a writer, and what was committed outlives the machine.
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    // What is deleted is not to be read in the file either.
    db.pragma_update(None, "secure_delete", true)?;
    let transaction = writing(&db)?;
    let returned = migrate::bring_up(&tables(&transaction, watch), path)?;
    commit(transaction, watch)?;
    Ok((db, returned))
}

fn tables<'a>(db: &'a Connection, watch: &'a RefCell<Option<Watch>>) -> Tables<'a> {
    Tables { db, watch }
}

/// A transaction that sees one state of the file.
fn reading(db: &Connection) -> Result<Transaction<'_>, Error> {
    Ok(Transaction::new_unchecked(db, TransactionBehavior::Deferred)?)
}

/// A transaction that nobody else writes beside, from its first statement on.
fn writing(db: &Connection) -> Result<Transaction<'_>, Error> {
    Ok(Transaction::new_unchecked(db, TransactionBehavior::Immediate)?)
}

/// Commits, under the eyes of whoever watches: what was done is there from here on.
fn commit(transaction: Transaction<'_>, watch: &RefCell<Option<Watch>>) -> Result<(), Error> {
    tables(&transaction, watch).step();
    transaction.commit()?;
    if let Some(watch) = watch.borrow_mut().as_mut() {
        watch();
    }
    Ok(())
}

fn no_record() -> Error {
    let detail = "no record is held; `load` or `open` one first".to_string();
    Error::refused(RefusalCode::NoRecord, None, detail)
}

fn no_conversation(name: &Text) -> Error {
    let detail = format!("no conversation of the name `{}` is held", name.to_unicode());
    Error::refused(RefusalCode::NoRecord, None, detail)
}

fn replayed(replayed: replay::Replayed<'_>) -> Result<Outcome, Error> {
    Ok(Outcome::Replayed(written(replayed)?))
}

fn written(replayed: replay::Replayed<'_>) -> Result<Replayed, Error> {
    Ok(Replayed {
        payload: to_json(&replayed.payload)?,
        anomalies: replayed.anomalies,
        constraints: replayed.constraints,
    })
}

fn refused(code: RefusalCode, seq: Option<u64>, detail: String) -> Error {
    Error::Refused(Refusal { code, seq, detail })
}
