//! Compaction.

use onrecord_spec::op::{Changed, Compact, Refusal, RefusalCode, Upgrade};

use crate::record::{Record, refusal};

impl Record {
    /// Compacts.
    pub fn compact(&mut self, _asked: &Compact) -> Result<Changed, Refusal> {
        Err(refusal(RefusalCode::Malformed, None, alloc::string::String::new()))
    }

    /// Upgrades.
    pub fn upgrade(&mut self, _asked: &Upgrade) -> Result<Changed, Refusal> {
        Err(refusal(RefusalCode::Malformed, None, alloc::string::String::new()))
    }
}
