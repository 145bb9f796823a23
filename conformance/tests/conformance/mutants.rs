//! The suite has teeth: each rule's judge catches the very fault that the rule forbids,
//! and no judge can be taken away unseen.

use std::collections::BTreeSet;

use onrecord::mutant::{self, matrix::Matrix};
use onrecord::report::matrix::markdown;
use onrecord::spec::judge::judge;
use onrecord::spec::rule::{Level, Rule};

use crate::world::root;

#[test]
fn every_mutant_is_caught_by_its_own_judge_and_the_matrix_is_not_stale() {
    let matrix = Matrix::of(&onrecord::suite(), mutant::all(), &|| ());
    let missed: Vec<_> = matrix.mutants.iter().filter(|kills| !kills.is_caught()).collect();
    assert!(missed.is_empty(), "not caught: {missed:#?}");
    assert_eq!(matrix.without_mutant, [], "MUST rules without a mutant");
    let committed = std::fs::read_to_string(root().join("conformance/MUTANTS.md")).unwrap();
    assert!(
        committed == markdown(&matrix),
        "conformance/MUTANTS.md is stale; `onrecord mutants --format markdown` prints it anew"
    );
}

#[test]
fn names_are_unique_and_faults_are_sentences() {
    let mut names = BTreeSet::new();
    for mutant in mutant::all() {
        assert!(names.insert(mutant.name), "two mutants are called {}", mutant.name);
        assert!(mutant.fault.ends_with('.'), "{mutant:?}");
        let plain = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        assert!(mutant.name.chars().all(plain), "{mutant:?}");
    }
    assert!(mutant::all().filter(|mutant| mutant.famous).count() >= 12);
}

/// If the judge of a rule found nothing, the verdicts that break the rule would say
/// something else than they do; and a MUST would lose its mutant besides.
#[test]
fn no_judge_can_be_taken_away_unseen() {
    let suite = onrecord::suite();
    for rule in Rule::ALL {
        let needs_it = suite.verdicts().filter(|verdict| verdict.rule == *rule && !verdict.keeps());
        let missed = needs_it.filter(|verdict| {
            let mut rulings = judge(&verdict.trace);
            let with: BTreeSet<Rule> = rulings
                .iter()
                .filter(|(_, ruling)| !ruling.findings.is_empty())
                .map(|(rule, _)| *rule)
                .collect();
            rulings.remove(rule);
            with.contains(rule) && !rulings.contains_key(rule)
        });
        assert!(missed.count() > 0, "nothing misses the judge of {rule}");
        let mutants = mutant::all().filter(|mutant| mutant.rule == *rule).count();
        assert!(mutants > 0 || rule.level() == Level::Should, "{rule} has no mutant");
    }
}
