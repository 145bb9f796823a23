//! Flags, parents, screen anchors.

use alloc::vec::Vec;

use onrecord_spec::op::Context;

use crate::record::Record;

/// What stands for the model now, and what became of the rest.
#[must_use]
pub fn context(_record: &Record) -> Context {
    Context { rows: Vec::new(), left: Vec::new(), summaries: Vec::new(), tokens: None }
}
