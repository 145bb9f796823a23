//! The store: conversations by name, and what is kept beside their records.
//!
//! Records and archives are what a disk would hold; stamps are memory, and begin
//! anew with each start. A client's state is the client's, wherever that runs.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use onrecord_spec::archive::{Archived, Parts};
use onrecord_spec::found::{Found, Hit};
use onrecord_spec::op::{ArchiveCrash, Damage, Lookup, Migrate, Migrated, Refusal, RefusalCode};
use onrecord_spec::sync::{NEWEST, Span, Stamp, Synced};
use onrecord_spec::text::Text;

use crate::archive::Archive;
use crate::lookup;
use crate::migrate::Migration;
use crate::page;
use crate::recall;
use crate::record::{Record, named, refusal};
use crate::sync::{Ask, Client};

/// Conversations, one of which is the current one.
#[derive(Debug, Clone, Default)]
pub struct Store {
    records: BTreeMap<Text, Kept>,
    current: Option<Text>,
    /// An archive outlives its conversation.
    archives: BTreeMap<Text, Archive>,
    clients: BTreeMap<Text, Client>,
    /// What was left of an older store when the process died.
    older: Option<Migration>,
    clock: Clock,
}

/// A record, and when it last changed.
#[derive(Debug, Clone)]
struct Kept {
    record: Record,
    version: u64,
}

/// What stamps are made of: not of time, which can go backwards and be equal
/// (bug B275), and not of a bare counter, which begins again with each start.
#[derive(Debug, Clone, Default)]
struct Clock {
    /// Chosen by whoever makes the store, so that two processes differ.
    seed: u64,
    /// How many starts there were.
    starts: u64,
    /// How many changes there were, of any conversation.
    changes: u64,
}

impl Store {
    /// An empty store. The epochs of its stamps are made from the seed, which must
    /// be another one for each process.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { clock: Clock { seed, ..Clock::default() }, ..Self::default() }
    }

    /// The record of the current conversation.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.current.as_ref().and_then(|name| self.records.get(name)).map(|kept| &kept.record)
    }

    /// As [`Store::record`], for a question that cannot do without one.
    pub(crate) fn held(&self) -> Result<&Record, Refusal> {
        self.record().ok_or_else(no_record)
    }

    /// Forgets everything and holds this record.
    pub(crate) fn begin(&mut self, record: Record) -> u64 {
        let clock = Clock { starts: self.clock.starts + 1, ..self.clock.clone() };
        *self = Self { clock, ..Self::default() };
        self.put(record)
    }

    /// Holds this record beside the others.
    pub(crate) fn begin_beside(&mut self, record: Record) -> Result<u64, Refusal> {
        let name = &record.header().conversation;
        if self.records.contains_key(name) {
            let detail = format!("a conversation of the name {} is held already", named(name));
            return Err(refusal(RefusalCode::Exists, None, detail));
        }
        Ok(self.put(record))
    }

    fn put(&mut self, record: Record) -> u64 {
        self.clock.changes += 1;
        let (name, next) = (record.header().conversation.clone(), record.next());
        self.records.insert(name.clone(), Kept { record, version: self.clock.changes });
        self.current = Some(name);
        next
    }

    /// Makes a conversation the current one.
    pub(crate) fn enter(&mut self, name: &Text) -> Result<u64, Refusal> {
        let next = self.conversation(Some(name))?.next();
        self.current = Some(name.clone());
        Ok(next)
    }

    /// The record of a conversation; of the current one, if none is named.
    fn conversation(&self, name: Option<&Text>) -> Result<&Record, Refusal> {
        let Some(name) = name else { return self.held() };
        let kept = self.records.get(name);
        kept.map(|kept| &kept.record).ok_or_else(|| no_conversation(name))
    }

    /// Does something to the current record, and notes it as a change if rows came.
    pub(crate) fn change<T>(
        &mut self,
        what: impl FnOnce(&mut Record) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let kept = self.current.as_ref().and_then(|name| self.records.get_mut(name));
        let kept = kept.ok_or_else(no_record)?;
        let before = kept.record.next();
        let done = what(&mut kept.record)?;
        if kept.record.next() != before {
            self.clock.changes += 1;
            kept.version = self.clock.changes;
        }
        Ok(done)
    }

    /// Starts again from what was stored. What an older store left is brought back
    /// first.
    pub(crate) fn restart(&mut self) -> Result<(u64, Vec<Damage>), Refusal> {
        self.clock.starts += 1;
        self.fold()?;
        self.held()?;
        let mut found = (0, Vec::new());
        let mut records = BTreeMap::new();
        for (name, kept) in &self.records {
            let (record, damage) = Record::open(kept.record.log())?;
            if Some(name) == self.current.as_ref() {
                found = (record.next(), damage);
            }
            records.insert(name.clone(), Kept { record, version: kept.version });
        }
        self.records = records;
        Ok(found)
    }

    /// Deletes a conversation with all its rows, whether they are in the context or
    /// not, and no other's (`record.delete-conversation`). Says how many went.
    pub(crate) fn delete(&mut self, name: Option<&Text>) -> Result<u64, Refusal> {
        let record = self.conversation(name)?;
        let (name, rows) = (record.header().conversation.clone(), record.next());
        self.records.remove(&name);
        if self.current.as_ref() == Some(&name) {
            self.current = None;
        }
        Ok(rows)
    }

    /// Finds a row by its key.
    pub(crate) fn lookup(&self, asked: &Lookup) -> Result<Option<Found>, Refusal> {
        Ok(lookup::lookup(self.conversation(asked.conversation.as_ref())?, &asked.by))
    }

    /// Finds what is not in the context of the current conversation.
    pub(crate) fn recall(&self, query: Option<&Text>) -> Result<Vec<Hit>, Refusal> {
        let asks = &self.held()?.header().conversation;
        let records = self.records.iter();
        let hits =
            records.flat_map(|(name, kept)| recall::recall(&kept.record, name == asks, query));
        Ok(hits.collect())
    }

    /// The stamp of the current conversation (`sync.stamp`).
    pub(crate) fn stamp(&self) -> Result<Stamp, Refusal> {
        let kept = self.current.as_ref().and_then(|name| self.records.get(name));
        let kept = kept.ok_or_else(no_record)?;
        let epoch = format!("{:x}-{:x}", self.clock.seed, self.clock.starts);
        Ok(Stamp { epoch: Text::from(epoch.as_str()), version: kept.version })
    }

    /// Lets the client of the current conversation look whether something moved.
    pub(crate) fn sync(&mut self, limit: Option<i64>) -> Result<Synced, Refusal> {
        let limit = limit.unwrap_or(NEWEST);
        page::check_limit(limit)?;
        let stamp = self.stamp()?;
        let record = self.held()?;
        let name = record.header().conversation.clone();
        let mut client = self.clients.get(&name).cloned().unwrap_or_default();
        let mut reads = Vec::new();
        let mut ask = client.begin(stamp);
        while let Some(asked) = ask {
            let rows: Vec<_> = match asked {
                Ask::Newest => page::page(record, limit, None)?.rows,
                Ask::From(seq) => record.read(seq, None).map(ToOwned::to_owned).collect(),
            };
            let upto = record.next();
            reads.push(Span { from: upto.saturating_sub(rows.len() as u64), upto });
            ask = client.take(rows);
        }
        let synced = client.synced(reads);
        self.clients.insert(name, client);
        Ok(synced)
    }

    /// Writes what is new to the archive of the current conversation. None: it died
    /// on the way.
    pub(crate) fn archive(
        &mut self,
        crash: Option<ArchiveCrash>,
    ) -> Result<Option<Archived>, Refusal> {
        let name = self.held()?.header().conversation.clone();
        let mut archive = self.archives.remove(&name).unwrap_or_default();
        let written = archive.write(self.held()?, crash);
        self.archives.insert(name, archive);
        Ok(written)
    }

    /// The archive of a conversation, whether that is held or not.
    pub(crate) fn parts(&self, name: Option<&Text>) -> Result<Parts, Refusal> {
        let name = match name {
            Some(name) => name,
            None => &self.held()?.header().conversation,
        };
        let parts = self.archives.get(name).map(Archive::parts);
        parts.filter(|archive| !archive.parts.is_empty()).ok_or_else(|| {
            let detail = format!("nothing was archived of a conversation {}", named(name));
            refusal(RefusalCode::NoArchive, None, detail)
        })
    }

    /// Starts on a store of the older shape. None: it died on the way.
    pub(crate) fn migrate(&mut self, asked: &Migrate) -> Result<Option<Migrated>, Refusal> {
        if let Some(older) = &asked.older {
            let older = Migration::begin(older)?;
            // Refused before anything is forgotten, if it cannot be brought back.
            older.clone().finish()?;
            let clock = Clock { starts: self.clock.starts + 1, ..self.clock.clone() };
            *self = Self { older: Some(older), clock, ..Self::default() };
        }
        let returned = self.older.as_ref().map_or(0, Migration::side) as u64;
        if let (Some(older), true) = (&mut self.older, asked.crash) {
            for _ in 0..returned / 2 {
                older.put_back();
                older.take_out();
            }
            older.put_back();
            return Ok(None);
        }
        if asked.crash {
            return Ok(None);
        }
        let (next, _) = self.restart()?;
        let side = self.older.as_ref().map_or(0, Migration::side) as u64;
        Ok(Some(Migrated { next, returned, side }))
    }

    /// Brings back what an older store left, if there is one: then there is none.
    fn fold(&mut self) -> Result<(), Refusal> {
        if let Some(older) = &mut self.older {
            let record = older.finish()?;
            self.older = None;
            self.put(record);
        }
        Ok(())
    }
}

/// No record is held.
pub(crate) fn no_record() -> Refusal {
    let detail = "no record is held; `load` or `open` one first".into();
    refusal(RefusalCode::NoRecord, None, detail)
}

fn no_conversation(name: &Text) -> Refusal {
    let detail = format!("no conversation of the name {} is held", named(name));
    refusal(RefusalCode::NoRecord, None, detail)
}
