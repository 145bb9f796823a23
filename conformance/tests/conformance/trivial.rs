//! Implementations that do nothing of use: a check that passes for one of them
//! checks nothing, unless its fixture says why it may.

use std::collections::{BTreeMap, BTreeSet};

use onrecord::check::Status;
use onrecord::trivial::{Kind, Trivial};

#[test]
fn no_check_passes_for_a_trivial_implementation_without_a_reason() {
    let suite = onrecord::suite();
    let allowed: BTreeMap<String, BTreeMap<String, String>> =
        suite.cases().into_iter().map(|case| (case.id, case.allow_trivial)).collect();
    let mut wrong = Vec::new();
    let mut used: BTreeSet<(String, String)> = BTreeSet::new();
    for kind in Kind::ALL {
        let report = suite.run(&mut Trivial::new(kind));
        assert_eq!(report.tally().errors, 0, "{}", kind.name());
        for check in report.checks.iter().filter(|check| check.status == Status::Pass) {
            if allowed[&check.case].contains_key(kind.name()) {
                used.insert((fixture_of(&check.case), kind.name().to_string()));
            } else {
                wrong.push(format!("{} passes for `{}`", check.key(), kind.name()));
            }
        }
    }
    for template in suite.templates() {
        for (name, reason) in &template.allow_trivial {
            if !used.contains(&(template.id.clone(), name.clone())) {
                wrong.push(format!("{} allows `{name}`, which does not pass", template.id));
            }
            if reason.trim().is_empty() {
                wrong.push(format!("{} allows `{name}` without a reason", template.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} checks:\n{}", wrong.len(), wrong.join("\n"));
}

/// The fixture that a case was made from.
fn fixture_of(case: &str) -> String {
    case.split('@').next().unwrap_or(case).to_string()
}

#[test]
fn a_trivial_implementation_answers_every_op_in_its_shape() {
    use crate::world::small_suite;
    for kind in Kind::ALL {
        let report = small_suite().run(&mut Trivial::new(kind));
        assert_eq!(report.implementation.name, kind.name());
        assert_eq!(report.exit_code(), 1, "{}: found wanting, not broken", kind.name());
    }
}

/// A payload that flattens everything into one valid text is no wire that keeps
/// `replay.total`: what rests on a replay of the record cannot be tested there.
#[test]
fn what_passes_where_nothing_crosses_as_what_it_is_is_untestable() {
    use onrecord::spec::rule::Rule;
    let mut suite = onrecord::suite::Suite::default();
    suite.add(
        "replay/open-call.json",
        &crate::world::OPEN_CALL.replace("replay.call-answered", "replay.total"),
    );
    let report = suite.rule(Rule::ReplayTotal).run(&mut Trivial::new(Kind::Echo));
    let [check] = &report.checks[..] else { panic!("{:?}", report.checks) };
    assert_eq!(check.status, Status::Untestable);
    assert_eq!(
        check.reason,
        "it rests on a replay that holds what was stored, and `replay.one-declaration` is broken here"
    );
    assert_eq!(report.exit_code(), 1, "untestable is red");
}
