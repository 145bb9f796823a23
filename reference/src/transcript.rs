//! The transcript.

use alloc::vec::Vec;

use onrecord_spec::item::Item;

use crate::record::Record;

/// The transcript.
pub fn transcript(_record: &Record) -> Result<Vec<Item>, serde_json::Error> {
    Ok(Vec::new())
}
