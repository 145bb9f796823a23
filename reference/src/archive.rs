//! The archive: append-only parts, so that deleting a conversation can be
//! survived.
//!
//! A write reads the rows that no earlier one has read, and puts the messages among
//! them into one new part. A log only grows, so what was read is sealed and need
//! never be read again (`archive.manifest`); but a message that is still being
//! streamed is not sealed, and is read once more with its end.
//!
//! Parts outlive the record that they are of, and another record may begin under its
//! name. That one has other rows at the places that the old entries speak of, so that
//! what they say is sealed and held is not said of it.
//!
//! The part is written first, whole or not at all, and then the manifest gains one
//! entry that names it. Whoever dies between the two leaves a part that no entry
//! names: the next write takes it up by what the part says of itself, so that
//! nothing is lost and nothing is written twice (`archive.crash-safe`).

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;

use onrecord_spec::archive::{Archived, HeldVersion, Manifest, Part, Parts};
use onrecord_spec::json::{Json, to_line};
use onrecord_spec::op::{ArchiveCrash, Bytes};
use onrecord_spec::record::{Event, ReplacementSource, Row, TurnEdge};
use onrecord_spec::sync::Span;
use onrecord_spec::text::Text;
use serde::{Deserialize, Serialize};

use crate::cursor::Fnv1a;
use crate::input::authority_left_out;
use crate::record::Record;

/// The archive of one conversation, as its files hold it.
///
/// A part is a line that says what is in it, then each row as the record stores it,
/// one a line. The manifest repeats the first lines of the parts, one a line.
#[derive(Debug, Clone, Default)]
pub struct Archive {
    parts: Vec<String>,
    manifest: String,
}

/// What a part says of itself, and the manifest of the part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the part, from 0.
    pub part: usize,
    /// The conversation.
    pub conversation: Text,
    /// How many rows stand in the part.
    pub rows: usize,
    /// The rows of the record before this seq are sealed.
    pub sealed: u64,
    /// The ids of the rows in it.
    pub ids: Vec<Text>,
    /// The seq of the last of them.
    pub last: u64,
    /// A check value over that row and the record's first: by it the record is known
    /// again that the part is of.
    pub check: Text,
}

/// What an archive is written of: a record, wherever it is kept.
pub trait Source {
    /// Why rows cannot be handed over.
    type Error;

    /// The conversation's name.
    fn conversation(&self) -> &Text;

    /// How many rows there are.
    fn next(&self) -> u64;

    /// Whether a row has this id.
    ///
    /// # Errors
    ///
    /// If that cannot be read.
    fn holds(&self, id: &Text) -> Result<bool, Self::Error>;

    /// The stored rows from seq `from` to `upto`, this one not included.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    fn rows(&self, from: u64, upto: u64) -> Result<Vec<Json>, Self::Error>;
}

impl Source for Record {
    type Error = Infallible;

    fn conversation(&self) -> &Text {
        &self.header().conversation
    }

    fn next(&self) -> u64 {
        Self::next(self)
    }

    fn holds(&self, id: &Text) -> Result<bool, Infallible> {
        Ok(Self::holds(self, id))
    }

    fn rows(&self, from: u64, upto: u64) -> Result<Vec<Json>, Infallible> {
        Ok(self.read(from, Some(upto.saturating_sub(from))).map(ToOwned::to_owned).collect())
    }
}

/// What a write is to put down: a part's text, and the rows that were read for it.
#[derive(Debug, Clone)]
pub struct Write {
    /// What the manifest will say of the part.
    pub entry: Entry,
    /// The part's text; none if there is nothing new.
    pub part: Option<String>,
    /// The rows that were read.
    pub read: Span,
}

impl Archive {
    /// Writes what is new of a record. None: it died on the way, as it was told to.
    pub fn write(&mut self, record: &Record, crash: Option<ArchiveCrash>) -> Option<Archived> {
        let mut bytes = self.take_up();
        let Ok(write) = next_write(record, &self.entries());
        let Some(part) = &write.part else {
            return Some(Archived { part: None, bytes, read: write.read });
        };
        match crash {
            // A file that was not written to its end is never named: it is as if it
            // were not there.
            Some(ArchiveCrash::HalfPart) => return None,
            Some(ArchiveCrash::AfterPart) => {
                self.parts.push(part.clone());
                return None;
            }
            None => self.parts.push(part.clone()),
        }
        bytes += part.len() as u64 + self.take_up();
        Some(Archived { part: Some(name(write.entry.part)), bytes, read: write.read })
    }

    /// Gives the manifest its entries for the parts that it does not name, and says
    /// how many bytes that were.
    fn take_up(&mut self) -> u64 {
        let named = self.entries().len();
        let before = self.manifest.len();
        for part in self.parts.iter().skip(named) {
            let first = part.lines().next().unwrap_or_default();
            self.manifest.push_str(first);
            self.manifest.push('\n');
        }
        (self.manifest.len() - before) as u64
    }

    fn entries(&self) -> Vec<Entry> {
        self.manifest.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The archive as it stands: the parts that the manifest names.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let entries = self.entries();
        let parts = entries.iter().zip(&self.parts).map(|(entry, text)| Part {
            name: name(entry.part),
            bytes: Bytes(text.clone().into_bytes()),
        });
        Parts { parts: parts.collect(), manifest: manifest(&entries) }
    }
}

/// What a manifest says, of its entries.
#[must_use]
pub fn manifest(entries: &[Entry]) -> Manifest {
    let held = entries.iter().flat_map(|entry| {
        let part = name(entry.part);
        entry.ids.iter().map(move |row| HeldVersion { row: row.clone(), part: part.clone() })
    });
    Manifest { held: held.collect(), sealed: entries.last().map_or(0, |entry| entry.sealed) }
}

/// The name of a part.
#[must_use]
pub fn name(part: usize) -> Text {
    Text::from(format!("part-{part:06}").as_str())
}

/// What the next write is to put down, behind these entries. Of the rows it asks for
/// the unread ones, and for two by which the record is known again.
///
/// # Errors
///
/// Those of the source.
pub fn next_write<S: Source>(source: &S, entries: &[Entry]) -> Result<Write, S::Error> {
    let mut own: Vec<&Entry> = Vec::new();
    for entry in entries {
        if check(source, entry.last)?.as_ref() == Some(&entry.check) {
            own.push(entry);
        }
    }
    let next = source.next();
    let from = own.last().map_or(0, |entry| entry.sealed).min(next);
    let unread = source.rows(from, next)?;
    let unread: Vec<(Row, Json)> =
        unread.into_iter().filter_map(|raw| Some((Row::decode(&raw).ok()?, raw))).collect();
    let streams = Streams::of(source, &unread)?;
    let sealed = streams.open.values().min().copied().unwrap_or(next);
    // Behind what is sealed, where a stream holds it open, stand rows that an
    // earlier write read and wrote; they are not written again.
    let held: BTreeSet<&Text> = own.iter().flat_map(|entry| &entry.ids).collect();
    let new = unread.iter().filter(|(row, _)| streams.archives(row) && !held.contains(&row.id));
    let rows: Vec<&(Row, Json)> = new.collect();
    let last = rows.last().map_or(0, |(row, _)| row.seq);
    let entry = Entry {
        part: entries.len(),
        conversation: source.conversation().clone(),
        rows: rows.len(),
        sealed,
        ids: rows.iter().map(|(row, _)| row.id.clone()).collect(),
        last,
        check: check(source, last)?.unwrap_or_default(),
    };
    Ok(Write { part: text(&entry, &rows), entry, read: Span { from, upto: next } })
}

/// The check value of a record by its row of this seq. Two records of one name may
/// give their rows the same ids; it is the rows themselves that tell them apart.
fn check<S: Source>(source: &S, last: u64) -> Result<Option<Text>, S::Error> {
    let mut hash = Fnv1a::default();
    for seq in [0, last] {
        let rows = source.rows(seq, seq + 1)?;
        let Some(row) = rows.first() else { return Ok(None) };
        hash.add(row.get().as_bytes());
    }
    Ok(Some(Text::from(format!("{:016x}", hash.0))))
}

/// A part's text. None if there is nothing in it.
fn text(entry: &Entry, rows: &[&(Row, Json)]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let mut text = serde_json::to_string(entry).ok()?;
    text.push('\n');
    for (row, raw) in rows {
        match authority_left_out(row) {
            Some(row) => text.push_str(&to_line(&row).ok()?),
            None => text.push_str(raw.get()),
        }
        text.push('\n');
    }
    Some(text)
}

/// The messages of which only pieces came.
struct Streams {
    /// Those that may still come, each with the seq of its first piece. None may when
    /// its turn is over.
    open: BTreeMap<Text, u64>,
    /// Those that will not.
    over: BTreeSet<Text>,
}

impl Streams {
    fn of<S: Source>(source: &S, rows: &[(Row, Json)]) -> Result<Self, S::Error> {
        let mut streams = Self { open: BTreeMap::new(), over: BTreeSet::new() };
        for (row, _) in rows {
            match &row.event {
                Event::Delta(delta) if !source.holds(&delta.message)? => {
                    streams.open.entry(delta.message.clone()).or_insert(row.seq);
                }
                Event::Turn(turn) => match turn.edge {
                    TurnEdge::Ended | TurnEdge::Interrupted => {
                        streams.over.extend(core::mem::take(&mut streams.open).into_keys());
                    }
                    TurnEdge::Started => {}
                },
                Event::Message(_)
                | Event::CallStarted(_)
                | Event::Result(_)
                | Event::Compaction(_)
                | Event::Delta(_)
                | Event::Unknown(_) => {}
            }
        }
        Ok(streams)
    }

    /// Whether the archive holds a row: the messages and results that people see,
    /// those that were made anew, and the pieces of messages that never came.
    /// Summaries are left out (`archive.complete`).
    fn archives(&self, row: &Row) -> bool {
        let origin = row.replaces.as_ref().map(|replaces| replaces.source);
        let is_version = matches!(origin, None | Some(ReplacementSource::Regeneration));
        row.is_for_people()
            && is_version
            && match &row.event {
                Event::Message(_) | Event::Result(_) => true,
                // A piece may come behind the end of its turn, and hold the rest open.
                Event::Delta(delta) => {
                    let open = self.open.get(&delta.message);
                    self.over.contains(&delta.message) && open.is_none_or(|first| row.seq < *first)
                }
                Event::CallStarted(_)
                | Event::Compaction(_)
                | Event::Turn(_)
                | Event::Unknown(_) => false,
            }
    }
}
