//! Clearing: the bulk of older results is replaced by a notice.

use onrecord_spec::op::{Changed, Clear, Refusal, RefusalCode};

use crate::record::{Record, refusal};

impl Record {
    /// Clears.
    pub fn clear(&mut self, _asked: &Clear) -> Result<Changed, Refusal> {
        Err(refusal(RefusalCode::Malformed, None, alloc::string::String::new()))
    }
}
