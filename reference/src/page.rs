//! History pages.

use onrecord_spec::op::{Refusal, RefusalCode};
use onrecord_spec::page::Page;
use onrecord_spec::text::Text;

use crate::record::{Record, refusal};

/// A page.
pub fn page(_record: &Record, _limit: i64, _before: Option<&Text>) -> Result<Page, Refusal> {
    Err(refusal(RefusalCode::Malformed, None, alloc::string::String::new()))
}
