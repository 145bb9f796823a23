//! Display windows.

use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::page::{Window, WindowAt};

use crate::record::{Record, refusal};

/// A window.
pub fn window(_record: &Record, _limit: Option<i64>, _at: &WindowAt) -> Result<Window, Refusal> {
    Err(refusal(RefusalCode::Malformed, None, alloc::string::String::new()))
}
