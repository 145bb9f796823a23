//! The library as a Rust author uses it in their own `cargo test`.

use onrecord::check::Status;
use onrecord::spec::op::{Fault, Hello, Implementation, Op, Outcome};
use onrecord::spec::rule::Rule;

use crate::world::small_suite;

/// An implementation that panics where the call is open.
#[derive(Default)]
struct Panics(onrecord::Reference);

impl Implementation for Panics {
    fn hello(&mut self) -> Result<Hello, Fault> {
        self.0.hello()
    }

    #[expect(clippy::panic, reason = "it is what this implementation is for")]
    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        match op.replay() {
            Some(_) => panic!("index out of bounds: the len is 0 but the index is 0"),
            None => self.0.perform(op),
        }
    }
}

#[test]
fn a_panic_is_an_error_and_no_verdict() {
    let report = small_suite().run(&mut Panics::default());
    for check in &report.checks {
        assert_eq!(check.status, Status::Error);
        assert_eq!(
            check.reason,
            "step 1 (`replay`): it panicked: index out of bounds: the len is 0 but the index is 0"
        );
    }
    assert_eq!(report.exit_code(), 3);
}

#[test]
fn the_reference_passes_and_assert_ok_says_nothing() {
    let report = small_suite().run(&mut onrecord::Reference::default());
    report.assert_ok();
    let tally = report.tally();
    assert_eq!((tally.declared, tally.executed, tally.passed), (2, 2, 2));
}

#[test]
fn a_failure_panics_with_the_whole_report() {
    let mut drops = onrecord::trivial::Trivial::new(onrecord::trivial::Kind::DropAll);
    let report = small_suite().run(&mut drops);
    let panic = std::panic::catch_unwind(|| report.assert_ok()).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("replay.call-answered  replay/open-call@openai-chat"), "{text}");
    assert!(
        text.contains(
            "repeat  onrecord::suite().filter(\"replay/open-call@openai-chat\")\
             .rule(Rule::ReplayCallAnswered).run(&mut implementation).assert_ok()"
        ),
        "{text}"
    );
}

#[test]
fn a_selection_narrows_a_run() {
    let run = |suite: onrecord::suite::Suite| suite.run(&mut onrecord::Reference::default());
    let report = run(small_suite().rule(Rule::ReplayDidNotComplete));
    let keys: Vec<String> = report.checks.iter().map(|check| check.key()).collect();
    assert_eq!(keys, ["replay/open-call@openai-chat:replay.did-not-complete"]);
    let report = run(small_suite().filter("no-such-fixture"));
    assert_eq!(report.exit_code(), 2);
    assert!(!report.is_ok(), "nothing executed is no pass");
}
