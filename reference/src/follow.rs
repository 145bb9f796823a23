//! The transcript, live.

use alloc::vec::Vec;

use onrecord_spec::item::Live;

use crate::record::Record;

/// Follows.
pub fn follow(_record: &Record, _join: u64) -> Result<Vec<Live>, serde_json::Error> {
    Ok(Vec::new())
}
