//! Fuzzing and comparing: what an implementation breaks is found, made small, written,
//! and repeated; what is sound is left alone.

use std::collections::BTreeSet;

use onrecord::diff::{Compared, Kind, compare};
use onrecord::fuzz::{Finding, Found, Fuzz, What, file};
use onrecord::mutant::{self, Mutant};
use onrecord::spec::op::{AnomalyName, Fault, Hello, Implementation, Op, Outcome};
use onrecord::spec::rule::Rule;
use onrecord::suite::Suite;
use onrecord::{Reference, check::Status};
use serde_json::Value;

use crate::world::onrecord;

fn mutant(name: &str) -> &'static Mutant {
    mutant::all().find(|mutant| mutant.name == name).unwrap()
}

fn fuzzed(implementation: &mut dyn Implementation, rules: Vec<Rule>, cases: u64) -> Found {
    Fuzz { seed: 11, cases, rules, ..Fuzz::default() }.run(implementation, &mut |_| true)
}

/// The findings in what can be compared.
fn told(found: &Found) -> Vec<(What, String, String)> {
    let told = |it: &Finding| (it.what, it.shape.clone(), file::text(it));
    found.findings.iter().map(told).collect()
}

#[test]
fn the_reference_is_left_alone() {
    let found = fuzzed(&mut Reference::new(), Vec::new(), 60);
    assert_eq!((found.tried, told(&found)), (60, Vec::new()));
    assert!(found.ended.is_none() && found.unsupported.is_empty());
}

#[test]
fn what_a_mutant_breaks_is_found_made_small_and_repeated() {
    for (name, rule, most_rows) in [
        ("drops-orphans", Rule::ReplayOrphanToProse, 2),
        ("leaves-calls-open", Rule::ReplayCallAnswered, 2),
        ("thoughts-as-text", Rule::ReplayReasoningNative, 3),
        ("no-markers", Rule::TranscriptMarkerPerLanding, 6),
    ] {
        let wrong = mutant(name);
        let found = fuzzed(&mut wrong.implementation(), vec![rule], 120);
        assert!(!found.findings.is_empty(), "{name}: nothing was found");
        let shapes: BTreeSet<&String> = found.findings.iter().map(|it| &it.shape).collect();
        assert_eq!(shapes.len(), found.findings.len(), "{name}: a shape was found twice");
        let smallest = found.findings.iter().map(|finding| finding.rows).min().unwrap();
        assert!(
            smallest <= most_rows,
            "{name}: {smallest} rows\n{}",
            file::text(&found.findings[0])
        );
        for finding in &found.findings {
            assert!(finding.rows <= 6, "{name}: {} rows\n{}", finding.rows, file::text(finding));
            let folder = tempfile::tempdir().unwrap();
            file::write(folder.path(), finding).unwrap();
            let suite = Suite::from_dir(folder.path()).unwrap();
            assert_eq!(suite.broken(), [], "{name}");
            let report = suite.run(&mut wrong.implementation());
            let status = report.checks.iter().find(|check| check.rule == rule).unwrap().status;
            assert_eq!(status, Status::Fail, "{name}: does not repeat\n{}", file::text(finding));
            let report = suite.run(&mut Reference::new());
            let status = report.checks.iter().find(|check| check.rule == rule).unwrap().status;
            assert_ne!(status, Status::Error, "{name}");
        }
    }
}

#[test]
fn one_seed_finds_the_same_each_time() {
    let wrong = mutant("drops-orphans");
    let once = fuzzed(&mut wrong.implementation(), vec![Rule::ReplayOrphanToProse], 40);
    let again = fuzzed(&mut wrong.implementation(), vec![Rule::ReplayOrphanToProse], 40);
    assert_eq!(told(&once), told(&again));
}

#[test]
fn it_ends_when_it_is_told_to_and_keeps_what_it_has() {
    let wrong = mutant("empty-replay");
    let fuzz = Fuzz { seed: 1, cases: 1_000, ..Fuzz::default() };
    let found = fuzz.run(&mut wrong.implementation(), &mut |progress| progress.findings == 0);
    assert_eq!(found.findings.len(), 1);
    assert!(found.tried < 1_000);
}

/// One that breaks where a call has no result.
struct Breaks(Reference);

impl Implementation for Breaks {
    fn hello(&mut self) -> Result<Hello, Fault> {
        self.0.hello()
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        let outcome = self.0.perform(op)?;
        if let Outcome::Replayed(replayed) = &outcome {
            let open = replayed.anomalies.iter().any(|it| it.name == AnomalyName::Answered);
            assert!(!open, "a call without a result");
        }
        Ok(outcome)
    }
}

#[test]
fn one_that_panics_is_found_and_made_small() {
    let found = fuzzed(&mut Breaks(Reference::new()), vec![Rule::RecordVersion], 60);
    assert!(!found.findings.is_empty(), "nothing was found");
    for finding in &found.findings {
        assert_eq!(finding.what, What::Fault);
        assert!(finding.rows <= 6, "{}", file::text(finding));
    }
}

#[test]
fn two_that_differ_are_told_apart_by_rule() {
    let suite = onrecord::suite().filter("replay/result-without-its-call");
    let cases = if suite.cases().is_empty() {
        onrecord::suite().filter("orphan").cases()
    } else {
        suite.cases()
    };
    let mut wrong = mutant("drops-orphans").implementation();
    let mut rules = BTreeSet::new();
    for case in &cases {
        assert_eq!(
            compare(case, &mut Reference::new(), &mut Reference::new()),
            Compared::Alike(0),
            "{}",
            case.id
        );
        if let Compared::Different(differences) = compare(case, &mut wrong, &mut Reference::new()) {
            for difference in differences {
                assert_eq!(difference.what, Kind::Rule, "{difference:?}");
                assert_eq!(difference.second_breaks, []);
                rules.extend(difference.first_breaks);
            }
        }
    }
    assert!(rules.contains(&Rule::ReplayOrphanToProse), "{rules:?}");
}

#[test]
fn the_command_says_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("found").display().to_string();
    let run =
        onrecord(&["fuzz", "--seed", "5", "--cases", "6", "--output", &output, "--format", "json"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let told: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&told["seed"], &told["cases"]), (&Value::from(5), &Value::from(6)));
    assert!(!folder.path().join("found").exists(), "a folder without a finding");
    for (arguments, code, said) in [
        (vec!["fuzz", "--cases", "0"], 2, "0 is not in 1.."),
        (vec!["fuzz", "--time", "soon"], 2, "must be a time above 0 and up to a week"),
        (vec!["fuzz", "--cases", "2", "--", "no-such-adapter"], 3, "no-such-adapter"),
        (vec!["fuzz", "--", "true"], 3, "the adapter broke at its start"),
        (vec!["diff", "--", "--"], 2, "one command or two are compared"),
        (vec!["diff", "--filter", "no-such-case", "--", "no-such-adapter"], 3, "no-such-adapter"),
    ] {
        let run = onrecord(&arguments);
        let all = [run.stdout.as_slice(), run.stderr.as_slice()].concat();
        let text = String::from_utf8_lossy(&all);
        assert_eq!(run.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
}
