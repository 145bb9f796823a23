//! Files that someone names on the command line: read with bounds, and refused
//! in one message that says what, where and what to do.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// The longest line that is read, in bytes, its line break left out.
pub const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// What is said of a path that cannot be read.
#[must_use]
pub fn cannot_read(path: &Path, error: &std::io::Error, what_to_do: &str) -> String {
    let shown = crate::words::visible(&path.display().to_string());
    let known = [
        (ErrorKind::NotFound, "there is no such file"),
        (ErrorKind::PermissionDenied, "its permissions do not allow it"),
        (ErrorKind::IsADirectory, "it is a folder"),
        (ErrorKind::NotADirectory, "it is no folder"),
    ];
    let why = known.iter().find(|(kind, _)| *kind == error.kind());
    let why = why.map_or_else(|| error.to_string(), |(_, why)| (*why).to_string());
    format!("cannot read `{shown}`: {why}; {what_to_do}")
}

/// Reads a log file whole. Refuses what is no file, what is empty, and a line
/// that is too long, of which no more than the limit is read.
pub fn read_log(path: &Path) -> Result<Vec<u8>, String> {
    const TO_DO: &str = "give the path of a log, a file of JSON lines";
    let shown = crate::words::visible(&path.display().to_string());
    let file = File::open(path).map_err(|error| cannot_read(path, &error, TO_DO))?;
    let about = file.metadata().map_err(|error| cannot_read(path, &error, TO_DO))?;
    if about.is_dir() {
        return Err(format!("cannot read `{shown}`: it is a folder; {TO_DO}"));
    }
    let bytes = read_lines(BufReader::new(file), LONGEST_LINE).map_err(|error| match error {
        LineError::TooLong { line, offset } => format!(
            "`{shown}` has a line longer than {LONGEST_LINE} bytes: line {line}, from byte {offset}; \
             it was not read further. A log is JSON lines, one row each: is the file another thing?"
        ),
        LineError::Io(error) => cannot_read(path, &error, TO_DO),
    })?;
    if bytes.is_empty() {
        return Err(format!(
            "`{shown}` is empty; a log begins with a header line like \
             {{\"onrecord\":1,\"conversation\":\"c1\"}}"
        ));
    }
    Ok(bytes)
}

/// Reads a text that someone wrote by hand, like a fixture or a baseline.
pub fn read_text(path: &Path, what_to_do: &str) -> Result<String, String> {
    let shown = crate::words::visible(&path.display().to_string());
    let cannot = |error| cannot_read(path, &error, what_to_do);
    let file = File::open(path).map_err(cannot)?;
    if file.metadata().map_err(cannot)?.is_dir() {
        return Err(format!("cannot read `{shown}`: it is a folder; {what_to_do}"));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_LINE as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > LONGEST_LINE {
        return Err(format!(
            "cannot read `{shown}`: it is longer than {LONGEST_LINE} bytes; {what_to_do}"
        ));
    }
    if bytes.is_empty() {
        return Err(format!("cannot read `{shown}`: it is empty; {what_to_do}"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("cannot read `{shown}`: it is not UTF-8 at byte {at}; {what_to_do}")
    })
}

/// Why lines could not be read.
#[derive(Debug)]
pub enum LineError {
    /// A line is too long.
    TooLong {
        /// The line, from 1.
        line: u64,
        /// The offset of its first byte.
        offset: u64,
    },
    /// Reading failed.
    Io(std::io::Error),
}

/// Reads everything, unless a line is longer than `longest`.
pub fn read_lines(mut reader: impl BufRead, longest: usize) -> Result<Vec<u8>, LineError> {
    let mut bytes = Vec::new();
    for line in 1.. {
        let offset = bytes.len();
        // One more than a line may have, so that its line break fits.
        let mut bounded = (&mut reader).take(longest as u64 + 1);
        let read = bounded.read_until(b'\n', &mut bytes).map_err(LineError::Io)?;
        if read == 0 {
            break;
        }
        if read > longest && bytes.last() != Some(&b'\n') {
            return Err(LineError::TooLong { line, offset: offset as u64 });
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_at_the_limit_is_read_and_one_above_is_not() {
        let read = |text: &[u8]| read_lines(text, 4);
        assert_eq!(read(b"abcd\nabcd\n\nx").unwrap(), b"abcd\nabcd\n\nx");
        assert_eq!(read(b"").unwrap(), b"");
        match read(b"abcd\nabcde\n") {
            Err(LineError::TooLong { line, offset }) => assert_eq!((line, offset), (2, 5)),
            other => panic!("{other:?}"),
        }
    }

    /// A gigabyte of one line, none of it on disk. It counts what is asked of it.
    #[test]
    fn a_huge_line_is_not_read_to_its_end() {
        struct Endless {
            given: u64,
        }
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let left = (1 << 30) - self.given;
                let now = buffer.len().min(usize::try_from(left).unwrap());
                buffer[..now].fill(b'x');
                self.given += now as u64;
                Ok(now)
            }
        }
        let mut endless = Endless { given: 0 };
        let outcome = read_lines(BufReader::new(&mut endless), 1 << 20);
        assert!(matches!(outcome, Err(LineError::TooLong { line: 1, offset: 0 })));
        assert!(endless.given <= (1 << 20) + (1 << 16), "{}", endless.given);
    }
}
