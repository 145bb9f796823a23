//! Every equation on what has broken one, on the seeds, and on what `proptest` and
//! `quickcheck` make: without an engine.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use onrecord::generate::{Conversation, State, conversations, raw_rows};
use onrecord_fuzz::seeds::seeds;
use onrecord_fuzz::{EQUATIONS, Takes};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestError, TestRunner};
use quickcheck::Arbitrary;

/// How many conversations an equation is tried on here. The engine tries millions.
const CASES: u32 = 150;

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of)
}

/// The files of a folder, none if it is not there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn nothing_that_broke_an_equation_breaks_one_now() {
    let known: BTreeSet<&str> = EQUATIONS.iter().map(|equation| equation.name).collect();
    for of_target in files(&folder("regressions")) {
        let name = of_target.file_name().unwrap().to_string_lossy().into_owned();
        assert!(known.contains(name.as_str()), "regressions of `{name}`, which is no equation");
        // What broke one may break another.
        for file in files(&of_target) {
            let bytes = std::fs::read(&file).unwrap();
            for equation in EQUATIONS {
                (equation.check)(&bytes);
            }
        }
    }
}

#[test]
fn every_equation_holds_on_the_fixtures() {
    for equation in EQUATIONS.iter().filter(|equation| equation.takes != Takes::Choices) {
        let seeds = seeds(equation.takes);
        assert!(seeds.len() > 20, "{}: {} seeds", equation.name, seeds.len());
        seeds.iter().for_each(|seed| (equation.check)(seed));
    }
}

#[test]
fn every_equation_holds_on_conversations() {
    let bytes = proptest::collection::vec(proptest::num::u8::ANY, 0..800);
    let mut broken = Vec::new();
    for equation in EQUATIONS.iter().filter(|equation| equation.takes == Takes::Choices) {
        let config =
            ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
        let mut runner = TestRunner::new_with_rng(config, seeded());
        let held = runner.run(&bytes, |bytes| {
            (equation.check)(&bytes);
            Ok(())
        });
        if let Err(TestError::Fail(why, bytes)) = held {
            let (name, holds) = (equation.name, equation.holds);
            broken.push(format!("{name} ({holds}): {why}\nby the bytes {bytes:?}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

/// The same cases in every run.
fn seeded() -> proptest::test_runner::TestRng {
    proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha)
}

/// A generator that no longer reaches a state loses its power in silence.
#[test]
fn each_of_the_three_libraries_reaches_every_state() {
    let all: BTreeSet<State> = State::ALL.iter().copied().collect();
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), seeded());
    let strategy = conversations();
    let mut of_proptest = BTreeSet::new();
    for _ in 0..4_000 {
        of_proptest.extend(strategy.new_tree(&mut runner).unwrap().current().record.states);
    }
    assert_eq!(all.difference(&of_proptest).collect::<Vec<_>>(), Vec::<&State>::new());

    let mut source = quickcheck::Gen::new(100);
    let mut of_quickcheck = BTreeSet::new();
    for _ in 0..4_000 {
        of_quickcheck.extend(<Conversation as Arbitrary>::arbitrary(&mut source).record.states);
    }
    assert_eq!(all.difference(&of_quickcheck).collect::<Vec<_>>(), Vec::<&State>::new());
}

#[test]
fn shrinking_leads_to_a_plain_record() {
    let mut source = quickcheck::Gen::new(100);
    let mut smallest = <Conversation as Arbitrary>::arbitrary(&mut source);
    while let Some(smaller) = smallest.shrink().next() {
        assert!(smaller.bytes.len() <= smallest.bytes.len());
        smallest = smaller;
    }
    assert_eq!(smallest.bytes, Vec::<u8>::new());
    assert_eq!(smallest.record.rows.len(), 1);
    assert_eq!(smallest.record.states, BTreeSet::new());
}

#[test]
fn rows_without_care_are_mostly_refused_and_sometimes_taken() {
    use onrecord::spec::op::{Implementation, Op, Outcome};
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), seeded());
    let strategy = raw_rows();
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let rows = strategy.new_tree(&mut runner).unwrap().current();
        let load = Op::Load { header: None, rows, beside: false };
        match onrecord::Reference::new().perform(&load).unwrap() {
            Outcome::Loaded { .. } => taken += 1,
            Outcome::Refused(_) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(taken > 50 && refused > 500, "{taken} taken, {refused} refused");
}

#[test]
fn every_equation_has_its_target() {
    let targets: BTreeSet<String> = files(&folder("fuzz_targets"))
        .iter()
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let equations: BTreeSet<String> =
        EQUATIONS.iter().map(|equation| equation.name.to_string()).collect();
    assert_eq!(targets, equations);
    let readme = std::fs::read_to_string(folder("README.md")).unwrap();
    for equation in EQUATIONS {
        let line = format!("| `{}` | {} |", equation.name, equation.holds);
        assert!(readme.contains(&line), "README.md lacks the line\n{line}");
    }
}
