//! Baselines: known failures do not fail a run, and stale entries do.

use onrecord::baseline::Baseline;
use onrecord::check::{Report, Status};
use onrecord::suite::Suite;
use onrecord::trivial::{Kind, Trivial};

use crate::world::{onrecord_on, small_folder, small_suite, stderr, stdout};

/// An implementation that fails both checks of the small suite.
fn failing(suite: &Suite) -> Report {
    suite.run(&mut Trivial::new(Kind::DropAll))
}

fn passing(suite: &Suite) -> Report {
    suite.run(&mut onrecord::Reference::default())
}

fn baseline() -> Baseline {
    Baseline::of(&failing(&small_suite()), &Baseline::default())
}

#[test]
fn a_known_failure_does_not_fail_a_run() {
    let mut report = failing(&small_suite());
    assert_eq!(report.exit_code(), 1);
    let mut baseline = baseline();
    for entry in &mut baseline.expected {
        entry.reason = "it keeps no record".to_string();
    }
    baseline.apply(&mut report, &small_suite());
    assert_eq!(report.exit_code(), 0, "{:?}", report.stale);
    assert!(report.checks.iter().all(|check| check.status == Status::ExpectedFail));
    assert!(report.in_words().ends_with(" All is as the baseline says."), "{}", report.in_words());
    assert_eq!(report.without_reason, 0);
}

#[test]
fn one_that_passes_now_is_stale() {
    let mut report = passing(&small_suite());
    baseline().apply(&mut report, &small_suite());
    assert_eq!(report.exit_code(), 1);
    assert!(
        report.stale.contains(
            &"replay/open-call@openai-chat:replay.call-answered passes now: take it out of the \
              baseline"
                .to_string()
        ),
        "{:?}",
        report.stale
    );
}

#[test]
fn one_that_fails_in_another_way_is_stale() {
    let mut report = failing(&small_suite());
    let mut baseline = baseline();
    let digest =
        std::mem::replace(&mut baseline.expected[0].digest, "0000000000000000".to_string());
    let check = baseline.expected[0].check.clone();
    baseline.apply(&mut report, &small_suite());
    assert_eq!(report.exit_code(), 1);
    assert_eq!(
        report.stale,
        [format!("{check} fails in another way: {digest}, and not 0000000000000000")]
    );
    assert_eq!(report.checks[0].status, Status::Stale);
}

#[test]
fn one_that_is_not_run_is_stale_unless_it_was_not_asked_for() {
    let mut baseline = baseline();
    let gone = "replay/gone@openai-chat:replay.total";
    baseline.expected[0].check = gone.to_string();
    baseline.expected.truncate(1);
    let mut report = passing(&small_suite());
    baseline.apply(&mut report, &small_suite());
    assert_eq!(
        report.stale,
        [format!(
            "{gone} is not found any more: the check is gone, or what was found besides is not"
        )]
    );
    let narrowed = small_suite().filter("open-call");
    let mut report = passing(&narrowed);
    baseline.apply(&mut report, &narrowed);
    assert_eq!(report.stale, [""; 0]);
    report.assert_ok();
}

#[test]
fn one_that_is_unsupported_now_is_stale() {
    let mut report = passing(&small_suite());
    for check in &mut report.checks {
        check.status = Status::Unsupported;
    }
    let mut baseline = baseline();
    baseline.expected.truncate(1);
    baseline.apply(&mut report, &small_suite());
    let check = &baseline.expected[0].check;
    assert_eq!(report.stale, [format!("{check} was not decided: it is unsupported")]);
}

/// What a finding says may quote an id that is new each time; a baseline must not
/// go stale by that.
#[test]
fn words_are_no_part_of_how_it_fails() {
    let report = failing(&small_suite());
    let mut other = report.checks[0].clone();
    for finding in &mut other.findings {
        finding.message.push_str(" (id 83 this time)");
    }
    assert_eq!(onrecord::baseline::digest(&report.checks[0]), onrecord::baseline::digest(&other));
    if let Some(finding) = other.findings.first_mut() {
        finding.step += 1;
        assert_ne!(
            onrecord::baseline::digest(&report.checks[0]),
            onrecord::baseline::digest(&other)
        );
    }
}

#[test]
fn the_command_writes_a_baseline_and_keeps_its_reasons() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    let file = folder.path().join("known.json");
    let path = file.to_str().unwrap();
    let write = ["run", "--fixtures", fixtures, "--write-baseline", path];

    let output = onrecord_on("never-forgets", &write);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let first = Baseline::decode("known", &std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(!first.expected.is_empty());
    let unreasoned = format!(
        "{} of the baseline without a reason: write it there",
        onrecord::words::count(first.expected.len(), "expected failure")
    );
    assert!(stdout(&output).contains(&unreasoned), "{}", stdout(&output));

    let mut reasoned = first.clone();
    reasoned.expected[0].reason = "known since May".to_string();
    reasoned.expected[0].link = "https://example.org/1".to_string();
    std::fs::write(&file, reasoned.to_text()).unwrap();
    let output = onrecord_on("never-forgets", &write);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), reasoned.to_text());

    let run = ["run", "--fixtures", fixtures, "--baseline", path];
    assert_eq!(onrecord_on("never-forgets", &run).status.code(), Some(0));
    let output = onrecord_on("well", &run);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("passes now: take it out of the baseline"));
}
