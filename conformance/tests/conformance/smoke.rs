//! `onrecord smoke`: a broken adapter is told apart from a wrong implementation.

use crate::world::{fake, onrecord, onrecord_on, stderr, stdout};

fn shown(mode: &str) -> String {
    fake(mode).join(" ")
}

#[test]
fn one_that_behaves_passes() {
    let output = onrecord_on("well", &["smoke"]);
    assert_eq!(
        stdout(&output),
        format!(
            "ok      starts\nok      hello\nok      ops\nok      answers\nok      one-answer\n\
             ok      unknown-method\nok      load-forgets\nok      ends\n\
             The adapter is right: 8 checks passed. Next: onrecord run -- {}\n",
            shown("well")
        )
    );
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

/// Each wrong adapter fails the check that is made for it, which says what to do
/// and how to repeat it.
#[test]
fn each_wrong_adapter_fails_its_check() {
    for (mode, check, what, to_do) in [
        (
            "dies-at-once",
            "hello",
            "it ended before it answered (exit code 7)",
            "answer the first request, `hello`, with one line of JSON as PROTOCOL.md shows",
        ),
        (
            "talks-first",
            "hello",
            "it wrote a line that is not JSON: `loading the library ...`",
            "keep standard output free of all else",
        ),
        (
            "unknown-op",
            "hello",
            "`hello` lists the op `fly`, and there is none of that name",
            "list only methods that PROTOCOL.md names",
        ),
        (
            "lies-about-ops",
            "ops",
            "it lists `replay` and does not do it: method not found: no method replay",
            "perform the op as PROTOCOL.md shows, or take it out of `ops`",
        ),
        (
            "refuses-plain",
            "ops",
            "`load` of a plain record was refused (malformed): no",
            "perform the op as PROTOCOL.md shows, or take it out of `ops`",
        ),
        (
            "another-outcome",
            "ops",
            "`replay`: it answered `replay` with `loaded`",
            "perform the op as PROTOCOL.md shows, or take it out of `ops`",
        ),
        (
            "answers-twice",
            "one-answer",
            "it answered request 2 a second time; each has one answer",
            "write one answer a request, with the request's `id`; no notifications",
        ),
        (
            "answers-unknown",
            "unknown-method",
            "an unknown method was answered with the result `{}`",
            "answer a method that is not there with the JSON-RPC error -32601 and go on",
        ),
        (
            "never-forgets",
            "load-forgets",
            "a replay holds text of the record that was loaded before",
            "let `load` and `open` forget everything that was held before",
        ),
        (
            "lingers",
            "ends",
            "it went on for a second after its input had ended, and was killed",
            "end when standard input ends; the runner kills what does not",
        ),
    ] {
        let output = onrecord_on(mode, &["smoke"]);
        let text = stdout(&output);
        let told = text.split("broken  ").find(|part| part.starts_with(&format!("{check}\n")));
        let told = told.unwrap_or_else(|| panic!("{mode}: {check} did not fail:\n{text}"));
        assert!(told.contains(&format!("what   {what}")), "{mode}:\n{text}");
        assert!(told.contains(to_do), "{mode}:\n{text}");
        assert!(
            told.contains(&format!("repeat onrecord smoke --check {check} -- {}\n", shown(mode))),
            "{mode}:\n{text}"
        );
        assert!(text.contains("The adapter is broken: "), "{mode}:\n{text}");
        assert_eq!(output.status.code(), Some(3), "{mode}");
    }
}

#[test]
fn one_check_can_be_asked_for() {
    let output = onrecord_on("well", &["smoke", "--check", "ends"]);
    assert!(stdout(&output).starts_with("ok      ends\nThe adapter is right: 1 check passed."));
    let output = onrecord_on("well", &["smoke", "--check", "endz"]);
    assert_eq!(
        stderr(&output),
        "error: there is no such check; there are `starts`, `hello`, `ops`, `answers`, \
         `one-answer`, `unknown-method`, `load-forgets`, `ends`\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_program_that_is_not_there_does_not_start() {
    let output = onrecord(&["smoke", "--", "no-such-program"]);
    let text = stdout(&output);
    assert!(
        text.starts_with("broken  starts\n        what   `no-such-program` cannot be started: "),
        "{text}"
    );
    assert!(text.contains("-       hello: it does not start\n"), "{text}");
    assert_eq!(output.status.code(), Some(3));
}
