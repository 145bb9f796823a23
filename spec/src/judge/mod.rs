//! The judges: one a rule, one file a chapter.
//!
//! A judge looks at a [`Trace`], the steps that were asked for and what came
//! back. It knows nothing of any implementation. It compares no whole texts:
//! wording is free and meaning is not, so it follows canaries.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::finding::Ruling;
use crate::op::{Hello, Op, Outcome};
use crate::rule::Rule;

/// What was asked of an implementation, and what came back.
#[derive(Debug, Clone)]
pub struct Trace {
    /// What the implementation said of itself.
    pub hello: Hello,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a trace.
#[derive(Debug, Clone)]
pub struct Step {
    /// What was asked.
    pub op: Op,
    /// What came back.
    pub outcome: Outcome,
}

/// Judges a trace by every judged rule.
#[must_use]
pub fn judge(trace: &Trace) -> BTreeMap<Rule, Ruling> {
    let _ = trace;
    BTreeMap::new()
}
