//! What a summariser is given.

use alloc::vec::Vec;

use onrecord_spec::json::Json;
use onrecord_spec::op::{Refusal, RefusalCode, Replay};
use onrecord_spec::text::Text;

use crate::record::{Record, refusal};
use crate::replay::Replayed;

/// What a summariser is given.
pub struct Input<'a> {
    /// The rows.
    pub rows: Vec<Json>,
    /// The replay.
    pub replayed: Replayed<'a>,
}

/// Gives it.
pub fn input<'a>(
    _record: &'a Record,
    _first: &Text,
    _last: &Text,
    _asked: &Replay,
) -> Result<Input<'a>, Refusal> {
    Err(refusal(RefusalCode::Malformed, None, alloc::string::String::new()))
}
