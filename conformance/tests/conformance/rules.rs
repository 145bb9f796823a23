//! Every rule has its text, its fixtures and its place in the list.

use onrecord::spec::chapter::Chapter;
use onrecord::spec::rule::{Level, Rule, Status};

use crate::world::{onrecord, stdout};

fn judged() -> impl Iterator<Item = Rule> {
    Rule::ALL.iter().copied().filter(|rule| rule.status() == Status::Judged)
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_a_section_that_says_why() {
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        let Some(section) = rule.section() else {
            wrong.push(format!("{rule} has no section in spec/text/{}.md", rule.chapter().name()));
            continue;
        };
        let level = match rule.level() {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
        };
        if section.level != level {
            wrong.push(format!("{rule} is a {level}, and the text says {}", section.level));
        }
        for (what, text) in
            [("sentence", section.sentence()), ("Why", section.why()), ("Harm", section.harm())]
        {
            if text.trim().is_empty() {
                wrong.push(format!("{rule} has no {what}"));
            }
        }
        if rule.status() == Status::Judged && section.examples().next().is_none() {
            wrong.push(format!("{rule} has no example"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_section_is_of_a_rule() {
    let wrong: Vec<String> = Chapter::ALL
        .into_iter()
        .flat_map(|chapter| chapter.labels().map(move |label| (chapter, label)))
        .filter(|(chapter, label)| Rule::from_id(label).map(Rule::chapter) != Some(*chapter))
        .map(|(chapter, label)| format!("{label} in {} is no rule of it", chapter.name()))
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_judged_rule_has_a_case_a_keeping_and_a_breaking_verdict() {
    let suite = onrecord::suite();
    let mut wrong = Vec::new();
    for rule in judged() {
        if !suite.templates().any(|template| template.rules.contains(&rule)) {
            wrong.push(format!("{rule} has no case"));
        }
        for (keeps, what) in [(true, "keeping"), (false, "breaking")] {
            if !suite.verdicts().any(|verdict| verdict.rule == rule && verdict.keeps() == keeps) {
                wrong.push(format!("{rule} has no {what} verdict"));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_rule_that_is_not_yet_judged_is_checked_by_no_fixture() {
    let suite = onrecord::suite();
    let early: Vec<String> = Rule::ALL
        .iter()
        .filter(|rule| rule.status() == Status::NotYetJudged)
        .filter(|rule| !suite.keeping(**rule).is_empty() || !suite.breaking(**rule).is_empty())
        .map(|rule| format!("{rule} has fixtures and no judge"))
        .collect();
    assert_none(&early);
}

/// The list gives every rule with what keeps and breaks it.
#[test]
fn the_list_of_rules_is_whole() {
    let output = onrecord(&["list", "rules", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let listed: Vec<serde_json::Value> = serde_json::from_str(&stdout(&output)).unwrap();
    let ids: Vec<&str> = listed.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(ids, Rule::ALL.iter().map(|rule| rule.id()).collect::<Vec<_>>());
    let mut wrong = Vec::new();
    for rule in &listed {
        let id = &rule["id"];
        for field in ["level", "chapter", "status", "sentence"] {
            if rule[field].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("{id} has no {field}"));
            }
        }
        for field in ["kept_by", "broken_by"] {
            if rule["status"] == "judged" && rule[field].as_array().is_none_or(Vec::is_empty) {
                wrong.push(format!("{id} is {field} nothing"));
            }
        }
    }
    assert_none(&wrong);
}
