//! The archive: files beside the database, a folder a conversation.
//!
//! What goes into a part is decided by the reference
//! ([`onrecord_reference::archive`]); this is how it gets onto a disk. A part is
//! written under another name, and has its own when it is whole; the manifest gains a
//! line behind that. So whoever dies on the way leaves a file without a name, which
//! is written anew, or a part without a line, which the next write takes up
//! (`archive.crash-safe`).

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use onrecord_reference::archive::{self, Entry, Source};
use onrecord_spec::archive::{Archived, Part, Parts};
use onrecord_spec::json::Json;
use onrecord_spec::op::{ArchiveCrash, Bytes, Outcome, RefusalCode};
use onrecord_spec::text::Text;

use crate::error::Error;
use crate::tables::{Conversation, Tables, as_json};
use crate::{SqliteStore, no_record, reading, refused, tables};

/// The file that says what the parts hold, one line each.
const MANIFEST: &str = "manifest.jsonl";

/// The longest name that is given to a folder.
const LONGEST_NAME: usize = 200;

/// The archive of one conversation.
struct Folder<'a> {
    path: PathBuf,
    store: &'a SqliteStore,
}

impl SqliteStore {
    /// Writes what is new of the current conversation.
    pub(crate) fn archive(&self, crash: Option<ArchiveCrash>) -> Result<Outcome, Error> {
        let name = self.current.clone().ok_or_else(no_record)?;
        let folder = Folder::of(self, &name)?;
        let taken_up = folder.take_up()?;
        let transaction = reading(&self.db)?;
        let tables = tables(&transaction, &self.watch);
        let kept = Kept { held: self.held(&tables)?, tables, name: &name };
        let write = archive::next_write(&kept, &folder.entries()?)?;
        let mut archived = Archived { part: None, bytes: taken_up, read: write.read };
        let Some(text) = &write.part else { return Ok(Outcome::Archived(archived)) };
        let crashed = folder.put(write.entry.part, text.as_bytes(), crash)?;
        if crashed {
            return Ok(Outcome::Crashed {});
        }
        archived.part = Some(archive::name(write.entry.part));
        archived.bytes += text.len() as u64 + folder.take_up()?;
        Ok(Outcome::Archived(archived))
    }

    /// The archive of a conversation, whether that is held or not.
    pub(crate) fn parts(&self, name: Option<&Text>) -> Result<Outcome, Error> {
        let name = name.or(self.current.as_ref()).ok_or_else(no_record)?;
        let folder = Folder::of(self, name)?;
        let entries = folder.entries()?;
        if entries.is_empty() {
            let name = name.to_unicode();
            let detail = format!("nothing was archived of a conversation `{name}`");
            return Err(refused(RefusalCode::NoArchive, None, detail));
        }
        let mut parts = Vec::new();
        for entry in &entries {
            let path = folder.part(entry.part);
            let bytes = fs::read(&path).map_err(Error::file(&path))?;
            parts.push(Part { name: archive::name(entry.part), bytes: Bytes(bytes) });
        }
        Ok(Outcome::Parts(Parts { parts, manifest: archive::manifest(&entries) }))
    }
}

/// A conversation of the database, to be archived: only what is asked for is read.
struct Kept<'a> {
    tables: Tables<'a>,
    held: Conversation,
    name: &'a Text,
}

impl Source for Kept<'_> {
    type Error = Error;

    fn conversation(&self) -> &Text {
        self.name
    }

    fn next(&self) -> u64 {
        self.held.next
    }

    fn holds(&self, id: &Text) -> Result<bool, Error> {
        Ok(self.tables.seq(self.held.key, id)?.is_some())
    }

    fn rows(&self, from: u64, upto: u64) -> Result<Vec<Json>, Error> {
        self.tables.rows(self.held.key, from, upto)
    }
}

/// Takes all archives away.
pub(crate) fn forget(database: &Path) -> Result<(), Error> {
    let root = root(database);
    match fs::remove_dir_all(&root) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file(&root)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The folder of all archives of a database.
fn root(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".archive");
    PathBuf::from(name)
}

impl<'a> Folder<'a> {
    /// A conversation may have any name, and a file may not: its bytes are written as
    /// digits, in folders inside of each other if they are many.
    fn of(store: &'a SqliteStore, name: &Text) -> Result<Self, Error> {
        let digits: String = as_json(name)?.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut path = root(&store.path);
        for chunk in digits.as_bytes().chunks(LONGEST_NAME) {
            path.push(String::from_utf8_lossy(chunk).as_ref());
        }
        Ok(Self { path, store })
    }

    fn part(&self, number: usize) -> PathBuf {
        self.path.join(format!("{}.jsonl", archive::name(number).to_unicode()))
    }

    /// What the manifest says. A line that was cut is none: its part is taken up
    /// again.
    fn entries(&self) -> Result<Vec<Entry>, Error> {
        let manifest = read(&self.path.join(MANIFEST))?;
        let lines = manifest.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Gives the manifest its lines for the parts that it does not name, and says how
    /// many bytes that were.
    fn take_up(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        loop {
            let part = self.part(self.entries()?.len());
            let text = read(&part)?;
            let Some(line) = text.split_inclusive(|byte| *byte == b'\n').next() else {
                return Ok(bytes);
            };
            let path = self.path.join(MANIFEST);
            let torn = read(&path)?.last().is_some_and(|last| *last != b'\n');
            let line = if torn { [b"\n", line].concat() } else { line.to_vec() };
            self.step();
            let mut manifest = OpenOptions::new()
                .create(true)
                .append(true)
                .open(&path)
                .map_err(Error::file(&path))?;
            manifest.write_all(&line).map_err(Error::file(&path))?;
            manifest.sync_all().map_err(Error::file(&path))?;
            bytes += line.len() as u64;
        }
    }

    /// Puts a part into its place, whole. True if it died on the way, as it was told
    /// to.
    fn put(&self, number: usize, text: &[u8], crash: Option<ArchiveCrash>) -> Result<bool, Error> {
        fs::create_dir_all(&self.path).map_err(Error::file(&self.path))?;
        let unfinished = self.path.join("unfinished");
        self.step();
        let mut file = File::create(&unfinished).map_err(Error::file(&unfinished))?;
        let half = text.len() / 2;
        file.write_all(&text[..half]).map_err(Error::file(&unfinished))?;
        self.step();
        if crash == Some(ArchiveCrash::HalfPart) {
            return Ok(true);
        }
        file.write_all(&text[half..]).map_err(Error::file(&unfinished))?;
        file.sync_all().map_err(Error::file(&unfinished))?;
        self.step();
        let part = self.part(number);
        fs::rename(&unfinished, &part).map_err(Error::file(&part))?;
        sync_folder(&self.path)?;
        self.step();
        Ok(crash == Some(ArchiveCrash::AfterPart))
    }

    fn step(&self) {
        if let Some(watch) = self.store.watch.borrow_mut().as_mut() {
            watch();
        }
    }
}

/// A file's bytes; none if it is not there.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::file(path)(error)),
    }
}

/// Makes a new name in a folder outlive the machine, where a folder can be synced.
fn sync_folder(path: &Path) -> Result<(), Error> {
    if cfg!(unix) {
        let folder = File::open(path).map_err(Error::file(path))?;
        folder.sync_all().map_err(Error::file(path))?;
    }
    Ok(())
}
