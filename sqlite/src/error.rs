//! Why the store has no outcome to hand over.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use onrecord_spec::op::{Refusal, RefusalCode};

/// Why there is no outcome.
#[derive(Debug)]
pub enum Error {
    /// The op is refused, and nothing was changed.
    Refused(Refusal),
    /// The database did not do what it was asked.
    Database(rusqlite::Error),
    /// A file of the archive, or of the database, could not be used.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something stored could not be read as JSON, or not be written as such.
    Json(serde_json::Error),
    /// The file is a database, and none of this store.
    NotAStore(PathBuf),
}

impl Error {
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }

    pub(crate) fn refused(code: RefusalCode, seq: Option<u64>, detail: String) -> Self {
        Self::Refused(Refusal { code, seq, detail })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "refused: {}", refusal.detail),
            Self::Database(error) => write!(f, "the database: {error}"),
            Self::File { path, error } => write!(f, "`{}`: {error}", path.display()),
            Self::Json(error) => write!(f, "what is stored is not JSON: {error}"),
            Self::NotAStore(path) => write!(
                f,
                "`{}` is a database and no store of conversations; name another file",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}
