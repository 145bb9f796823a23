//! The runner against adapters that misbehave, each in its own way: the whole
//! message, the status and the exit code.

use std::time::Duration;

use onrecord::adapter::{Adapter, Limits};
use onrecord::check::{Report, Status};
use onrecord::run::Options;
use onrecord::spec::op::{FaultKind, Implementation};
use onrecord::suite::Suite;

use crate::world::{fake, open_call_with, small_suite};

/// Long enough for an adapter that answers, on a busy machine; the tests of
/// those that hang wait for all of it.
const TIMEOUT: Duration = Duration::from_secs(2);

fn run(suite: &Suite, mode: &str) -> Report {
    let limits = Limits { timeout: TIMEOUT, longest_line: 1 << 20 };
    let mut adapter = Adapter::new(fake(mode), limits);
    suite.run_with(&mut adapter, &Options::default(), &mut |_, _| {})
}

/// Runs the small suite: its two checks have one status and one reason.
#[track_caller]
fn assert_run(mode: &str, status: Status, reason: &str, exit_code: u8) {
    let report = run(&small_suite(), mode);
    assert_eq!(report.checks.len(), 2, "{mode}");
    for check in &report.checks {
        assert_eq!((check.status, check.reason.as_str()), (status, reason), "{mode}");
        assert_eq!(check.findings, [], "{mode}");
    }
    assert_eq!(report.exit_code(), exit_code, "{mode}");
}

#[test]
fn one_that_behaves_is_judged_like_the_reference() {
    let report = run(&small_suite(), "well");
    let in_process = small_suite().run(&mut onrecord::Reference::default());
    assert_eq!(
        report.checks.iter().map(|check| (check.key(), check.status)).collect::<Vec<_>>(),
        in_process.checks.iter().map(|check| (check.key(), check.status)).collect::<Vec<_>>(),
    );
    report.assert_ok();
}

#[test]
fn one_that_dies_at_once() {
    assert_run(
        "dies-at-once",
        Status::Error,
        "not run: the adapter broke before. it ended before it answered (exit code 7)",
        3,
    );
    let mut adapter = Adapter::new(fake("dies-at-once"), Limits::default());
    let fault = adapter.hello().unwrap_err();
    assert_eq!(fault.kind, FaultKind::Died);
    assert_eq!(fault.stderr, "no library of that name\\u{1b}[31m", "escapes are made visible");
}

#[test]
fn one_that_dies_in_the_middle() {
    assert_run(
        "dies-mid-run",
        Status::Error,
        "step 1 (`replay`): it ended before it answered (exit code 1)\n\
         the last of its standard error:\nTraceback: the library fell over",
        3,
    );
}

#[test]
fn one_that_hangs() {
    assert_run("hangs", Status::Timeout, "step 1 (`replay`): it did not answer within 2 s", 3);
}

#[test]
fn one_that_forgets_the_line_break() {
    assert_run(
        "half-line-then-hangs",
        Status::Timeout,
        "step 1 (`replay`): it did not answer within 2 s; it has written 17 bytes without a line \
         break: end each answer with one, and flush",
        3,
    );
}

#[test]
fn one_that_writes_half_a_line_and_ends() {
    assert_run(
        "half-a-line",
        Status::Error,
        "step 1 (`replay`): it ended in the middle of a line: `{\"jsonrpc\":\"2.0\",` (exit code 0)",
        3,
    );
}

#[test]
fn one_that_floods() {
    assert_run(
        "floods",
        Status::Error,
        "step 1 (`replay`): it wrote a line that is not JSON: `flood flood flood`; standard output \
         is for answers alone; write all else to standard error",
        3,
    );
}

#[test]
fn one_that_floods_its_own_log() {
    let report = run(&small_suite(), "floods-stderr");
    let reason = &report.checks[0].reason;
    assert!(reason.len() < 5000, "the tail is bounded: {} bytes", reason.len());
    assert!(reason.ends_with("line 19999 of my log"), "{reason}");
    assert_eq!(report.exit_code(), 3);
}

#[test]
fn one_that_writes_a_huge_line() {
    assert_run(
        "huge-line",
        Status::Error,
        "step 1 (`replay`): it wrote a line that is longer than the limit of 1048576 bytes",
        3,
    );
}

#[test]
fn one_whose_output_is_not_json() {
    assert_run(
        "not-json",
        Status::Error,
        "step 1 (`replay`): it wrote a line that is not JSON: \
         `Warning: \\u{1b}[33mdeprecated\\u{1b}[0m`; standard output is for answers alone; write all \
         else to standard error",
        3,
    );
    assert_run(
        "not-utf8",
        Status::Error,
        "step 1 (`replay`): it wrote a line that is not UTF-8: `{\"\u{fffd}\"}`",
        3,
    );
}

#[test]
fn one_that_speaks_before_it_is_asked() {
    assert_run(
        "talks-first",
        Status::Error,
        "not run: the adapter broke before. it wrote a line that is not JSON: \
         `loading the library ...`; standard output is for answers alone; write all else to \
         standard error",
        3,
    );
}

#[test]
fn one_whose_answers_are_none() {
    for (mode, reason) in [
        (
            "no-version",
            "it wrote what is no answer (it needs `\"jsonrpc\":\"2.0\"`): `{\"id\":3,\"result\":{}}`",
        ),
        (
            "no-id",
            "it wrote what is no answer (it needs the request's `id`): \
             `{\"jsonrpc\":\"2.0\",\"result\":{}}`",
        ),
        (
            "neither",
            "it wrote what is no answer (it has neither `result` nor `error`): \
             `{\"jsonrpc\":\"2.0\",\"id\":3}`",
        ),
        ("empty-outcome", "its result is not an outcome: expected value, in `{}`"),
        ("another-outcome", "it answered `replay` with `loaded`"),
        ("wrong-id", "it answered request 43; request 3 was asked"),
    ] {
        assert_run(mode, Status::Error, &format!("step 1 (`replay`): {reason}"), 3);
    }
}

#[test]
fn one_that_answers_twice() {
    assert_run(
        "answers-twice",
        Status::Error,
        "step 1 (`replay`): it answered request 2 a second time; each has one answer",
        3,
    );
}

#[test]
fn one_that_lies_about_its_ops() {
    assert_run(
        "lies-about-ops",
        Status::Unsupported,
        "`replay`: method not found: no method replay",
        2,
    );
}

#[test]
fn one_that_supports_nothing() {
    assert_run("unsupported-everything", Status::Unsupported, "`load`: not in this version", 2);
    assert_run("few-ops", Status::Unsupported, "it does not do `replay`", 2);
}

#[test]
fn one_that_answers_everything_with_nothing() {
    assert_run(
        "nothing",
        Status::Error,
        "not run: the adapter broke before. its result is not hello: invalid type: null, expected \
         struct Hello, in `null`",
        3,
    );
}

#[test]
fn one_that_answers_with_an_error_goes_on() {
    let mut suite = small_suite();
    suite.add("replay/second.json", &open_call_with("Feed the other owl."));
    let report = run(&suite, "error-answer");
    for check in &report.checks {
        assert_eq!(check.status, Status::Error);
        let (reason, tail) = check.reason.split_once('\n').unwrap_or((&check.reason, ""));
        assert_eq!(
            reason,
            "step 1 (`replay`): it answered with error -32000: the cache is not writable"
        );
        assert!(tail.is_empty() || tail.contains("disk full"), "{tail}");
    }
    assert_eq!(report.exit_code(), 3);
}

#[test]
fn one_that_does_not_say_hello() {
    assert_run(
        "hello-error",
        Status::Error,
        "not run: the adapter broke before. it answered with error -32000: the licence has expired",
        3,
    );
    assert_run(
        "newer-target",
        Status::Error,
        "not run: the adapter broke before. its result is not hello: unknown variant `gemini`, \
         expected `openai-chat` or `anthropic`, in `{\"name\":\"x\",\"version\":\"1\",\
         \"language\":\"x\",\"ops\":[\"load\"],\"targets\":[\"gemini\"]}`",
        3,
    );
}

#[test]
fn a_program_that_is_not_there() {
    let mut adapter = Adapter::new(vec!["no-such-program".to_string()], Limits::default());
    let fault = adapter.hello().unwrap_err();
    assert_eq!(fault.kind, FaultKind::NotStarted);
    assert!(
        fault.message.starts_with("`no-such-program` cannot be started: ")
            && fault
                .message
                .ends_with("; give a program and its arguments after `--`, as you would type them"),
        "{}",
        fault.message
    );
}

#[test]
fn a_crash_takes_its_own_fixture_alone() {
    let mut suite = Suite::default();
    for (name, word) in [("a", "Feed the owl."), ("b", "poison"), ("c", "Feed the owl.")] {
        suite.add(&format!("replay/{name}.json"), &open_call_with(word));
    }
    let report = run(&suite, "dies-on-poison");
    let broken: Vec<&str> = report
        .checks
        .iter()
        .filter(|check| check.status == Status::Error)
        .map(|check| check.case.as_str())
        .collect();
    assert_eq!(broken, ["replay/b@openai-chat", "replay/b@openai-chat"]);
    let passed = report.checks.iter().filter(|check| check.status == Status::Pass).count();
    assert_eq!(passed, 4);
    assert_eq!(report.exit_code(), 3);
}

#[test]
fn the_runner_gives_up_on_one_that_dies_again_and_again() {
    let mut suite = Suite::default();
    for number in 1..=7 {
        suite.add(&format!("replay/case-{number}.json"), &open_call_with("Feed the owl."));
    }
    let report = run(&suite, "dies-mid-run");
    let first_words = |case: usize| {
        let check = &report.checks[case * 2];
        check.reason.split(':').next().unwrap_or_default().to_string()
    };
    let words: Vec<String> = (0..7).map(first_words).collect();
    let died = "step 1 (`replay`)";
    assert_eq!(words, [died, died, died, died, died, "not run", "not run"]);
    assert_eq!(report.exit_code(), 3);
}

#[test]
fn one_that_lingers_is_ended() {
    let mut adapter = Adapter::new(fake("lingers"), Limits::default());
    adapter.hello().unwrap();
    assert!(!adapter.close(), "it did not end by itself");
    assert!(adapter.close(), "it is gone");
}
