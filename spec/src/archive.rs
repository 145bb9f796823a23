//! The archive of a conversation: append-only parts, and a manifest of what they
//! hold. It is there so that deleting a conversation can be survived.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::op::Bytes;
use crate::sync::Span;
use crate::text::Text;

/// What one archive write did.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archived {
    /// The name of the part that it wrote; absent if there was nothing new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Text>,
    /// How many bytes it wrote, the manifest's included (`archive.linear`).
    pub bytes: u64,
    /// The rows that it read.
    pub read: Span,
}

/// The archive of one conversation, as it stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// The parts that the manifest names, in the order in which they were written.
    pub parts: Vec<Part>,
    /// What the manifest says.
    pub manifest: Manifest,
}

/// One part. Its form is the implementation's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name.
    pub name: Text,
    /// Its bytes.
    pub bytes: Bytes,
}

/// What a manifest keeps (`archive.manifest`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The message versions that the parts hold. A message and the one that was
    /// made anew in its place are two versions, and two rows.
    #[serde(default)]
    pub held: Vec<HeldVersion>,
    /// The rows before this seq are sealed: they were read, and are not read again.
    pub sealed: u64,
}

/// A message version that a part holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldVersion {
    /// The id of its row.
    pub row: Text,
    /// The name of the part.
    pub part: Text,
}
