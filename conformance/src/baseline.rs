//! Baselines: the failures that are known, each with how it fails, a reason and a
//! link.
//!
//! A known failure does not fail a run. One that passes now, fails in another way
//! or is not run any more makes its entry stale, and a stale entry fails the run:
//! a baseline that nobody tidies would hide what it should show.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use onrecord_spec::rule::Rule;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::check::{Check, Report, Status};
use crate::suite::Suite;

/// The known failures of one implementation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The implementation, for people.
    pub implementation: String,
    /// The failures, by check.
    pub expected: Vec<Entry>,
}

/// One known failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which check: `<fixture>@<target>:<rule>`.
    pub check: String,
    /// How it fails: see [`digest`].
    pub digest: String,
    /// Why it is so.
    #[serde(default)]
    pub reason: String,
    /// Where it is reported, or why it will not be.
    #[serde(default)]
    pub link: String,
}

impl Baseline {
    /// Reads a baseline. `name` is how the file is called in the message.
    pub fn decode(name: &str, text: &str) -> Result<Self, String> {
        let name = crate::words::visible(name);
        let baseline: Self = serde_json::from_str(text).map_err(|error| {
            format!(
                "baseline `{name}`: {error}; write one with `onrecord run --write-baseline FILE`"
            )
        })?;
        let mut seen: Vec<&str> = Vec::new();
        for entry in &baseline.expected {
            if split(&entry.check).is_none() {
                return Err(format!(
                    "baseline `{name}`: `{}` names no check; a check is `<fixture>:<rule>`, and \
                     `onrecord list rules` shows all rules",
                    crate::words::visible(&entry.check)
                ));
            }
            if seen.contains(&entry.check.as_str()) {
                let check = crate::words::visible(&entry.check);
                return Err(format!("baseline `{name}`: `{check}` is there twice; keep one"));
            }
            seen.push(&entry.check);
        }
        Ok(baseline)
    }

    /// The failures of a run, with what `known` says of them.
    #[must_use]
    pub fn of(report: &Report, known: &Self) -> Self {
        let known: BTreeMap<&str, &Entry> =
            known.expected.iter().map(|entry| (entry.check.as_str(), entry)).collect();
        let failed = report.checks.iter().filter(|check| is_failure(check));
        let entry = |check: &Check| {
            let key = check.key();
            let before = known.get(key.as_str());
            Entry {
                digest: digest(check),
                reason: before.map(|entry| entry.reason.clone()).unwrap_or_default(),
                link: before.map(|entry| entry.link.clone()).unwrap_or_default(),
                check: key,
            }
        };
        Self {
            implementation: report.implementation.name.clone(),
            expected: failed.map(entry).collect(),
        }
    }

    /// The file's text.
    #[must_use]
    pub fn to_text(&self) -> String {
        // Only a map with keys that are no strings cannot be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Marks the failures of a run that are known, and names the entries that
    /// hold no longer. Entries of checks that were not wanted are left alone.
    pub fn apply(&self, report: &mut Report, suite: &Suite) {
        let places: BTreeMap<String, usize> =
            report.checks.iter().enumerate().map(|(at, check)| (check.key(), at)).collect();
        for entry in &self.expected {
            report.without_reason += usize::from(entry.reason.trim().is_empty());
            let found = places.get(&entry.check).and_then(|at| report.checks.get_mut(*at));
            let stale = match found {
                Some(check) => entry.meet(check),
                None if wanted(&entry.check, suite) => Some(
                    "is not found any more: the check is gone, or what was found besides is not"
                        .to_string(),
                ),
                None => None,
            };
            if let Some(why) = stale {
                report.stale.push(format!("{} {why}", crate::words::visible(&entry.check)));
            }
        }
    }
}

impl Entry {
    /// Holds the entry against its check; says why it is stale, if it is.
    fn meet(&self, check: &mut Check) -> Option<String> {
        match check.status {
            Status::Fail | Status::Untestable if digest(check) == self.digest => {
                check.status = Status::ExpectedFail;
                check.reason.clone_from(&self.reason);
                None
            }
            Status::Fail | Status::Untestable => {
                let found = digest(check);
                check.status = Status::Stale;
                Some(format!("fails in another way: {found}, and not {}", self.digest))
            }
            Status::Pass => Some("passes now: take it out of the baseline".to_string()),
            Status::Warn
            | Status::Unsupported
            | Status::Error
            | Status::Timeout
            | Status::ExpectedFail
            | Status::Stale => Some(format!("was not decided: it is {}", check.status)),
        }
    }
}

fn is_failure(check: &Check) -> bool {
    match check.status {
        Status::Fail | Status::Untestable | Status::ExpectedFail | Status::Stale => true,
        Status::Pass | Status::Warn | Status::Unsupported | Status::Error | Status::Timeout => {
            false
        }
    }
}

/// How a check fails: a digest of the places of its findings, and of the reason
/// where there is none. What a finding says in words is left out, for it may quote
/// an id that is new in each run.
#[must_use]
pub fn digest(check: &Check) -> String {
    let mut places: Vec<String> = check
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{}|{}|{}|{}",
                finding.step,
                finding.seq.map(|seq| seq.to_string()).unwrap_or_default(),
                finding.path.as_deref().unwrap_or_default(),
                finding.target_rule.unwrap_or_default()
            )
        })
        .collect();
    places.sort_unstable();
    if places.is_empty() {
        places.push(check.reason.clone());
    }
    let hash = Sha256::digest(places.join("\n").as_bytes());
    hash.iter().take(8).fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The case and the rule of a check's name.
fn split(key: &str) -> Option<(&str, Rule)> {
    let (case, rule) = key.rsplit_once(':')?;
    Some((case, Rule::from_id(rule)?))
}

fn wanted(key: &str, suite: &Suite) -> bool {
    let Some((case, rule)) = split(key) else { return false };
    let target = case.rsplit_once('@').and_then(|(_, name)| {
        onrecord_spec::target::Target::ALL.into_iter().find(|target| target.name() == name)
    });
    suite.selection.wants(case, target, rule)
}
