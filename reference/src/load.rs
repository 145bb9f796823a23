//! Loading: what the bytes of a log say, damage included.
//!
//! Damage is what a crash leaves behind: half a row, a run of NULs, two rows
//! fused on one line. It costs what it hit and nothing else
//! (`record.torn-tail`), and is named. A line that is whole and says something
//! wrong is no damage: it is refused, and nothing is loaded
//! (`record.expected-shape`). Loading writes nothing (`record.load-read-only`).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use onrecord_spec::json::{Json, RawValue};
use onrecord_spec::op::{Damage, Refusal, RefusalCode};
use onrecord_spec::record::{Header, Row, RowError};

use crate::record::{Record, decode, refusal};

/// How many bytes a line may have: 64 MiB. A longer one is damage; reading it
/// would cost many times its length.
pub const LONGEST_LINE: usize = 64 << 20;

/// How many damaged places are named. Behind them, one says that there is more:
/// a file of noise is not to fill the memory with complaints.
const MOST_DAMAGE: usize = 1000;

/// How often a row is looked for behind one torn fragment, so that a hostile line
/// costs no more than so many times its length.
const MOST_ATTEMPTS: usize = 16;

/// How a row begins that [`Record::append`] wrote.
const ROW_BEGINS: &[u8] = br#"{"seq":"#;

impl Record {
    /// Makes the record of these rows. They need not come from a conforming
    /// append: a stale authority block is kept.
    pub fn load(header: Option<&RawValue>, rows: &[Json]) -> Result<Self, Refusal> {
        let header = match header {
            Some(raw) => Header::decode(raw).map_err(|error| bad_header(&error))?,
            None => Header::new(""),
        };
        let line = header.to_line().map_err(|error| no_header(&error.to_string()))?;
        let mut record = Self::empty(header);
        record.log = line.into_bytes();
        record.log.push(b'\n');
        for raw in rows {
            record.store(decode(raw)?)?;
        }
        record.begin_lifetime(record.rows().len());
        Ok(record)
    }

    /// Reads a log: every whole row of it, and what is damaged.
    ///
    /// Refused without a readable header, with a newer version
    /// (`record.version`), and at the first row that is whole and wrong. A row
    /// that damage took leaves a gap in `seq`, which is refused like any other;
    /// at the end of the log it leaves none.
    pub fn open(log: &[u8]) -> Result<(Self, Vec<Damage>), Refusal> {
        let (mut record, damage) = Self::open_within(log, usize::MAX)?;
        record.begin_lifetime(record.rows().len());
        Ok((record, damage))
    }

    /// As [`Record::open`], for a store that lives on: `lifetime` rows were there
    /// when it started, and a compaction that began behind them is still open
    /// (`compaction.one-at-a-time`).
    pub fn open_within(log: &[u8], lifetime: usize) -> Result<(Self, Vec<Damage>), Refusal> {
        let mut lines = lines(log).filter(|line| !is_blank(line.bytes));
        let first = lines.next().ok_or_else(|| no_header("the log is empty"))?;
        let (header, length) = read_header(first.bytes)?;
        let mut loading = Loading { record: Self::empty(header), damage: Vec::new() };
        loading.record.begin_lifetime(lifetime);
        loading.read_pieces(&first, length)?;
        for line in lines {
            loading.read_line(&line)?;
        }
        loading.record.log = log.to_vec();
        Ok((loading.record, loading.damage))
    }
}

/// One line of a log, without its line break.
struct Line<'a> {
    /// Where it begins in the log.
    offset: usize,
    /// Counted from 1.
    number: u64,
    bytes: &'a [u8],
}

fn lines(log: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    (1..).zip(log.split(|byte| *byte == b'\n')).map(move |(number, bytes)| {
        let line = Line { offset, number, bytes };
        offset += bytes.len() + 1;
        line
    })
}

/// A record that is being read, and the damage so far.
struct Loading {
    record: Record,
    damage: Vec<Damage>,
}

impl Loading {
    fn read_line(&mut self, line: &Line<'_>) -> Result<(), Refusal> {
        if line.bytes.len() > LONGEST_LINE {
            self.damaged(line, 0, format!("a line longer than {LONGEST_LINE} bytes"));
            return Ok(());
        }
        match serde_json::from_slice::<&RawValue>(line.bytes) {
            Ok(raw) => self.admit(decode(raw)?, line, start_of(line.bytes, 0), raw),
            Err(_) => self.read_pieces(line, 0),
        }
    }

    /// Reads what is whole on a line that, from `at` on, is not just one value:
    /// rows that fused, with each other or with fragments.
    fn read_pieces(&mut self, line: &Line<'_>, at: usize) -> Result<(), Refusal> {
        let mut at = start_of(line.bytes, at);
        let mut behind_row = at > 0;
        while at < line.bytes.len() {
            if let Some((raw, row)) = whole_row(&line.bytes[at..]) {
                if behind_row {
                    self.damaged(line, at, "no line break before this row".to_string());
                }
                self.admit(row, line, at, raw)?;
                at = start_of(line.bytes, at + raw.get().len());
                behind_row = true;
            } else {
                let end = self.next_row(line.bytes, at).unwrap_or(line.bytes.len());
                self.damaged(line, at, describe(&line.bytes[at..end]));
                at = end;
                behind_row = false;
            }
        }
        Ok(())
    }

    /// Where behind a fragment a row begins that is whole, is the next one, and
    /// reaches to the end of the line or to another row. A look-alike inside of
    /// the fragment (a row that a torn row quotes) is followed by more of it.
    fn next_row(&self, bytes: &[u8], fragment: usize) -> Option<usize> {
        let begins = [ROW_BEGINS, format!("{},", self.record.next()).as_bytes()].concat();
        let places = bytes.windows(begins.len()).enumerate().skip(fragment + 1);
        let candidates = places.filter(|(_, window)| *window == begins);
        candidates.take(MOST_ATTEMPTS).map(|(at, _)| at).find(|at| {
            whole_row(&bytes[*at..]).is_some_and(|(raw, _)| {
                let rest = &bytes[start_of(bytes, at + raw.get().len())..];
                rest.is_empty() || rest.starts_with(ROW_BEGINS)
            })
        })
    }

    fn admit(
        &mut self,
        row: Row,
        line: &Line<'_>,
        at: usize,
        raw: &RawValue,
    ) -> Result<(), Refusal> {
        let start = line.offset + at;
        self.record.admit(row, start..start + raw.get().len())
    }

    fn damaged(&mut self, line: &Line<'_>, at: usize, what: String) {
        let what = match self.damage.len() {
            0..MOST_DAMAGE => what,
            MOST_DAMAGE => format!("more damage from here on; {MOST_DAMAGE} places are named"),
            _ => return,
        };
        let offset = (line.offset + at) as u64;
        self.damage.push(Damage { offset, line: line.number, what });
    }
}

/// The header, and how many bytes of the line it takes.
fn read_header(bytes: &[u8]) -> Result<(Header, usize), Refusal> {
    if bytes.len() > LONGEST_LINE {
        return Err(no_header(&format!("the first line is longer than {LONGEST_LINE} bytes")));
    }
    let start = start_of(bytes, 0);
    let raw = whole_value(&bytes[start..])
        .ok_or_else(|| no_header("the first line does not begin with a whole JSON value"))?;
    let header = Header::decode(raw).map_err(|error| bad_header(&error))?;
    Ok((header, start + raw.get().len()))
}

fn bad_header(error: &RowError) -> Refusal {
    match error {
        RowError::Newer { .. } => {
            refusal(RefusalCode::NewerVersion, None, format!("{error} (record.version)"))
        }
        RowError::UnknownType { .. } | RowError::Malformed { .. } => {
            no_header(&format!("the first line is no header: {error}"))
        }
    }
}

fn no_header(why: &str) -> Refusal {
    let detail =
        format!("{why}; a log begins with a line like {{\"onrecord\":1,\"conversation\":\"c1\"}}");
    refusal(RefusalCode::NoHeader, None, detail)
}

/// The JSON value that the bytes begin with, if it is whole.
fn whole_value(bytes: &[u8]) -> Option<&RawValue> {
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

/// The row that the bytes begin with, if it is whole and of a row's shape.
fn whole_row(bytes: &[u8]) -> Option<(&RawValue, Row)> {
    let raw = whole_value(bytes)?;
    Row::decode(raw).ok().map(|row| (raw, row))
}

/// The first byte from `at` on that is no white space, as JSON knows it.
fn start_of(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.iter().skip(at);
    at + rest.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

fn is_blank(bytes: &[u8]) -> bool {
    start_of(bytes, 0) == bytes.len()
}

/// What a damaged stretch looks like.
fn describe(bytes: &[u8]) -> String {
    if bytes.iter().all(|byte| *byte == 0) {
        format!("a run of {} NUL bytes", bytes.len())
    } else if core::str::from_utf8(bytes).is_err() {
        format!("{} bytes that are no whole row and no valid UTF-8", bytes.len())
    } else {
        format!("{} bytes that are no whole row", bytes.len())
    }
}
