//! What a run says: one [`Check`] for each rule of each case, and the [`Report`]
//! that holds them.

use std::collections::BTreeMap;
use std::fmt;

use onrecord_spec::finding::Finding;
use onrecord_spec::op::Hello;
use onrecord_spec::rule::Rule;
use serde::Serialize;

use crate::words::count;

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The rule was exercised and kept.
    Pass,
    /// The rule (a MUST) was broken, or the case did not exercise it.
    Fail,
    /// The rule (a SHOULD) was broken.
    Warn,
    /// The implementation says that it does not do what the case needs.
    Unsupported,
    /// What the check rests on is missing. Red: it is no pass.
    Untestable,
    /// The adapter broke.
    Error,
    /// The adapter did not answer in time.
    Timeout,
    /// It fails as the baseline says.
    ExpectedFail,
    /// The baseline says that it fails in another way than it does now.
    Stale,
}

/// One rule on one case.
#[derive(Debug, Clone)]
pub struct Check {
    /// The case's id, with its target.
    pub case: String,
    /// The rule.
    pub rule: Rule,
    /// What became of it.
    pub status: Status,
    /// True if the case names the rule; false for what was found besides.
    pub declared: bool,
    /// In how many places the rule had something to decide.
    pub witnesses: usize,
    /// Where it is broken, by the judge and by the case's own expectations.
    pub findings: Vec<Finding>,
    /// Why it is so, where no finding says it.
    pub reason: String,
    /// The log as it stood at the first finding, as JSON lines without their line
    /// breaks. Empty for what passed.
    pub log: Vec<String>,
}

/// The case that a check was made on, as far as a reader needs it.
#[derive(Debug, Clone)]
pub struct Situation {
    /// The situation in one sentence.
    pub title: String,
    /// The class of bug that it hunts.
    pub hunts: String,
    /// The steps in words, in order.
    pub steps: Vec<String>,
}

/// How one failure is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Repeat {
    /// The embedded reference was run.
    Reference,
    /// An embedded store was run.
    Store(String),
    /// A command was run.
    Command(Vec<String>),
    /// A value in process was run, by the library.
    #[default]
    InProcess,
}

/// What a run says.
#[derive(Debug, Clone)]
pub struct Report {
    /// What the implementation says of itself.
    pub implementation: Hello,
    /// How a failure is repeated.
    pub repeat: Repeat,
    /// The checks, in the order of the cases.
    pub checks: Vec<Check>,
    /// The cases of the checks that did not pass, by id.
    pub situations: BTreeMap<String, Situation>,
    /// Entries of the baseline that hold no longer, in words.
    pub stale: Vec<String>,
    /// Fixtures that could not be read, in words.
    pub broken: Vec<String>,
    /// Entries of the baseline that give no reason.
    pub without_reason: usize,
}

/// Numbers of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// The rules that they are of.
    pub rules: usize,
    /// Named by cases.
    pub declared: usize,
    /// Named by cases, and decided: passed, failed or warned.
    pub executed: usize,
    /// Passed.
    pub passed: usize,
    /// Failed, as the baseline does not say; those found besides included.
    pub failed: usize,
    /// Warned; those found besides included.
    pub warned: usize,
    /// Unsupported.
    pub unsupported: usize,
    /// Untestable.
    pub untestable: usize,
    /// Errors and timeouts.
    pub errors: usize,
    /// Failed as the baseline says.
    pub expected: usize,
    /// Failures and warnings of rules that the case does not name.
    pub besides: usize,
}

impl Check {
    /// The name that a baseline knows it by: `replay/x@anthropic:replay.total`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}:{}", self.case, self.rule)
    }
}

impl Status {
    /// The status in one word, as it is written everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Unsupported => "unsupported",
            Self::Untestable => "untestable",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::ExpectedFail => "expected-fail",
            Self::Stale => "stale",
        }
    }

    /// True if a reader must be told why.
    #[must_use]
    pub fn needs_telling(self) -> bool {
        match self {
            Self::Fail
            | Self::Warn
            | Self::Untestable
            | Self::Error
            | Self::Timeout
            | Self::Stale => true,
            Self::Pass | Self::Unsupported | Self::ExpectedFail => false,
        }
    }

    /// True if the rule was decided.
    #[must_use]
    pub fn is_decided(self) -> bool {
        match self {
            Self::Pass | Self::Fail | Self::Warn | Self::ExpectedFail | Self::Stale => true,
            Self::Unsupported | Self::Untestable | Self::Error | Self::Timeout => false,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Tally {
    /// Counts checks.
    pub fn of<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Self {
        let mut tally = Self::default();
        let mut rules: Vec<Rule> = Vec::new();
        for check in checks {
            rules.push(check.rule);
            tally.declared += usize::from(check.declared);
            tally.executed += usize::from(check.declared && check.status.is_decided());
            tally.besides += usize::from(!check.declared);
            match check.status {
                Status::Pass => tally.passed += 1,
                Status::Fail | Status::Stale => tally.failed += 1,
                Status::Warn => tally.warned += 1,
                Status::Unsupported => tally.unsupported += 1,
                Status::Untestable => tally.untestable += 1,
                Status::Error | Status::Timeout => tally.errors += 1,
                Status::ExpectedFail => tally.expected += 1,
            }
        }
        rules.sort_unstable();
        rules.dedup();
        tally.rules = rules.len();
        tally
    }
}

impl Report {
    /// The numbers of the whole run.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of(&self.checks)
    }

    /// True if all is as expected: something was executed, and nothing failed,
    /// broke or went stale. Warnings and unsupported checks are told and do not
    /// count.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.exit_code() == 0
    }

    /// The exit code of the command: 0 all as expected, 1 findings, 2 nothing
    /// was executed or a fixture is broken, 3 the adapter broke.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let tally = self.tally();
        if !self.broken.is_empty() || self.checks.is_empty() {
            2
        } else if tally.errors > 0 {
            3
        } else if tally.failed > 0 || tally.untestable > 0 || !self.stale.is_empty() {
            1
        } else if tally.executed == 0 {
            2
        } else {
            0
        }
    }

    /// The run in one line of words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let tally = self.tally();
        let mut said = format!(
            "{}: {} of {}, {} executed: {} passed",
            crate::words::visible(&self.implementation.name),
            count(tally.declared, "check"),
            count(tally.rules, "rule"),
            tally.executed,
            tally.passed
        );
        for (number, what) in [
            (tally.failed, "failed"),
            (tally.expected, "failed as the baseline says"),
            (tally.warned, "warned"),
            (tally.unsupported, "unsupported"),
            (tally.untestable, "untestable"),
            (tally.errors, "broken off"),
        ] {
            if number > 0 {
                said.push_str(&format!(", {number} {what}"));
            }
        }
        if tally.besides > 0 {
            said.push_str(&format!(" ({} found besides what is declared)", tally.besides));
        }
        said.push_str(". ");
        said.push_str(&self.verdict(&tally));
        said
    }

    fn verdict(&self, tally: &Tally) -> String {
        if !self.broken.is_empty() {
            format!(
                "{} cannot be read, so this run proves nothing.",
                count(self.broken.len(), "fixture")
            )
        } else if self.checks.is_empty() {
            "Nothing matched, so this run proves nothing.".to_string()
        } else if tally.errors > 0 {
            "The adapter broke: see the errors above.".to_string()
        } else if tally.failed > 0 || tally.untestable > 0 {
            "Rules are broken: see the findings above.".to_string()
        } else if !self.stale.is_empty() {
            "The baseline is stale: see above.".to_string()
        } else if tally.executed == 0 {
            "Nothing was executed, so this run proves nothing.".to_string()
        } else if tally.expected > 0 {
            "All is as the baseline says.".to_string()
        } else if tally.unsupported > 0 {
            "All that was executed holds.".to_string()
        } else {
            "All holds.".to_string()
        }
    }

    /// Panics with the whole report as text unless all is as expected.
    ///
    /// # Panics
    ///
    /// If [`Report::is_ok`] is false. It is made for tests.
    #[track_caller]
    pub fn assert_ok(&self) {
        assert!(self.is_ok(), "{}", crate::report::text::plain(self));
    }
}
