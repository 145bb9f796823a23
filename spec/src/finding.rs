//! Findings: a breach of a rule, at its place.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::rule::Rule;

/// A breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The step of the trace that shows it, counted from 0.
    pub step: usize,
    /// The row of the record that it is about, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The place in the payload, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id of the target's own rule, where the breach is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_rule: Option<&'static str>,
    /// What is so and should not be.
    pub message: String,
}

/// What a judge says of one trace and one rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ruling {
    /// In how many places the rule had something to decide. Zero means that the
    /// trace proves nothing about it, and is no pass.
    pub witnesses: usize,
    /// Where it is broken.
    pub findings: Vec<Finding>,
}

impl Finding {
    /// A finding at a step; its place is added with the methods below.
    #[must_use]
    pub fn new(rule: Rule, step: usize, message: impl Into<String>) -> Self {
        Self { rule, step, seq: None, path: None, target_rule: None, message: message.into() }
    }

    /// The same finding, about this row.
    #[must_use]
    pub fn row(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }

    /// The same finding, at this place of the payload.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.path = Some(String::from(path));
        self
    }
}

impl Ruling {
    /// Counts a place where the rule had something to decide.
    pub fn witness(&mut self) {
        self.witnesses += 1;
    }

    /// Adds a finding; a place that breaks the rule is a witness of it too.
    pub fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}
