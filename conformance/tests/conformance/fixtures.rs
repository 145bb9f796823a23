//! The fixtures: each is read, the judges agree with the verdicts, the reference
//! passes the cases, and so do the examples in the text.

use onrecord::fixture::Fixture;
use onrecord::run::Options;
use onrecord::spec::judge::judge;
use onrecord::spec::rule::Rule;
use onrecord::suite::Suite;

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_fixture_can_be_read() {
    let broken: Vec<String> = onrecord::suite().broken().iter().map(ToString::to_string).collect();
    assert_none(&broken);
    assert!(onrecord::suite().fixtures().len() >= 150, "the suite holds 150 fixtures at least");
}

#[test]
fn every_verdict_is_what_the_judges_say() {
    let suite = onrecord::suite();
    let wrong: Vec<String> = suite
        .verdicts()
        .filter_map(|verdict| verdict.check(&judge(&verdict.trace)).err())
        .collect();
    assert_none(&wrong);
}

#[test]
fn the_reference_passes_every_case() {
    let options = Options { exact: true, ..Options::default() };
    let report =
        onrecord::suite().run_with(&mut onrecord::Reference::default(), &options, &mut |_, _| {});
    report.assert_ok();
    let tally = report.tally();
    assert_eq!(tally.declared, tally.executed);
    assert_eq!(tally.declared, tally.passed);
}

#[test]
fn the_examples_of_the_text_run_and_the_reference_passes_them() {
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        let Some(section) = rule.section() else { continue };
        for example in section.examples() {
            match Fixture::decode_example(*rule, example) {
                Ok(template) => {
                    let suite = Suite::of(vec![Fixture::Case(template)]);
                    let options = Options { exact: true, ..Options::default() };
                    let mut reference = onrecord::Reference::default();
                    let report = suite.run_with(&mut reference, &options, &mut |_, _| {});
                    if !report.is_ok() {
                        wrong.push(onrecord::report::text::plain(&report));
                    }
                }
                Err(error) => wrong.push(error.to_string()),
            }
        }
    }
    assert_none(&wrong);
}

/// Names in the folder of their chapter; a verdict keeps its own rule's folder.
#[test]
fn fixtures_lie_in_the_folder_of_a_chapter() {
    let suite = onrecord::suite();
    let wrong: Vec<String> = suite
        .fixtures()
        .iter()
        .filter(|fixture| {
            let folder = fixture.id().split('/').next().unwrap_or_default();
            let rules = match fixture {
                Fixture::Case(template) => template.rules.clone(),
                Fixture::Verdict(verdict) => vec![verdict.rule],
            };
            !rules.iter().any(|rule| rule.chapter().name() == folder)
        })
        .map(|fixture| format!("{}: no rule of it is of that chapter", fixture.id()))
        .collect();
    assert_none(&wrong);
}
