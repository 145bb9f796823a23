//! The worked example: six rows, four of them compacted, and a phone that asks for
//! what it sent. A store that deletes what it compacts is caught by it.

use onrecord::Reference;
use onrecord::check::Status;
use onrecord::mutant;
use onrecord::spec::rule::Rule;

#[test]
fn a_store_that_deletes_what_it_compacts_is_caught() {
    let deletes = mutant::all().find(|mutant| mutant.name == "deletes-what-it-compacts").unwrap();
    for name in ["worked-example-six-rows-four-compacted", "worked-example-by-the-op"] {
        let suite = onrecord::suite().filter(format!("lookup/{name}"));
        let whole = suite.run(&mut Reference::new());
        assert!(!whole.checks.is_empty(), "there is no case `{name}`");
        assert!(whole.checks.iter().all(|check| check.status == Status::Pass), "{name}");
        let report = suite.run(&mut deletes.implementation());
        for rule in [Rule::RecordLookupShadowed, Rule::RecordKeyedAppend] {
            let check = report.checks.iter().find(|check| check.rule == rule).unwrap();
            assert_eq!(check.status, Status::Fail, "{name}: {rule}");
        }
    }
}
