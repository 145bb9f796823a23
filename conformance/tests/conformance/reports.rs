//! Reports: the same contents for people, programs and CI systems, and nothing in
//! them that could steer a terminal.

use onrecord::check::{Repeat, Report};
use onrecord::report::{json, junit, text};
use onrecord::run::Options;
use onrecord::spec::rule::Rule;
use onrecord::trivial::{Kind, Trivial};

use crate::world::small_suite;

fn failing() -> Report {
    let command = ["python3", "my adapter.py"].map(String::from).to_vec();
    let options = Options { exact: false, repeat: Repeat::Command(command) };
    let suite = small_suite().rule(Rule::ReplayCallAnswered);
    suite.run_with(&mut Trivial::new(Kind::AlwaysRefuse), &options, &mut |_, _| {})
}

const REPEAT: &str = "onrecord run --filter replay/open-call@openai-chat \
                      --rule replay.call-answered -- python3 'my adapter.py'";

#[test]
fn a_failure_is_told_whole() {
    let section = Rule::ReplayCallAnswered.section().unwrap();
    let expected = format!(
        r#"fail replay.call-answered  replay/open-call@openai-chat
  rule    {}
  harm    {}
  case    A call has no result.
  hunts   A call that hangs: the provider refuses the whole conversation.
  found   the case expects otherwise: no refusal; it was `refused` with `malformed`: no (step 0)
  found   the case expects otherwise: no refusal; it was `refused` with `malformed`: no (step 1)
  log     {{"onrecord":1,"conversation":""}}
          {{"seq":0,"id":"r0","event":{{"type":"message","role":"user","blocks":[{{"type":"text","text":"Feed the owl."}}]}}}}
          {{"seq":1,"id":"r1","event":{{"type":"message","role":"assistant","blocks":[{{"type":"call","id":"c1","name":"feed","arguments":"{{}}"}}]}}}}
  steps   load 2 rows
          replay to openai-chat
  repeat  {REPEAT}

 chapter     rules  declared  executed  passed  failed  warned  expected  unsupported  errors
 record          0         0         0       0       0       0         0            0       0
 lookup          0         0         0       0       0       0         0            0       0
 compaction      0         0         0       0       0       0         0            0       0
 replay          1         1         1       0       1       0         0            0       0
 authority       0         0         0       0       0       0         0            0       0
 transcript      0         0         0       0       0       0         0            0       0
 page            0         0         0       0       0       0         0            0       0
 sync            0         0         0       0       0       0         0            0       0
 recall          0         0         0       0       0       0         0            0       0
 archive         0         0         0       0       0       0         0            0       0
 migration       0         0         0       0       0       0         0            0       0
 all             1         1         1       0       1       0         0            0       0

always-refuse: 1 check of 1 rule, 1 executed: 0 passed, 1 failed. Rules are broken: see the findings above.
"#,
        section.sentence(),
        section.harm(),
    );
    assert_eq!(text::plain(&failing()), expected);
}

#[test]
fn programs_are_told_the_same() {
    let report: serde_json::Value = serde_json::from_str(&json::render(&failing())).unwrap();
    let check = &report["checks"][0];
    let section = Rule::ReplayCallAnswered.section().unwrap();
    assert_eq!(check["check"], "replay/open-call@openai-chat:replay.call-answered");
    assert_eq!(check["status"], "fail");
    assert_eq!(check["level"], "MUST");
    assert_eq!(check["sentence"], section.sentence());
    assert_eq!(check["harm"], section.harm());
    assert_eq!(check["repeat"], REPEAT);
    assert_eq!(check["log"].as_array().unwrap().len(), 3);
    assert_eq!(check["steps"].as_array().unwrap().len(), 2);
    assert_eq!(
        check["findings"][0]["message"],
        "the case expects otherwise: no refusal; it was `refused` with `malformed`: no"
    );
    assert_eq!(report["all"]["declared"], 1);
    assert_eq!(report["all"]["executed"], 1);
    assert_eq!(report["exit_code"], 1);
}

#[test]
fn ci_systems_are_told_the_same() {
    let xml = junit::render(&failing()).unwrap();
    for piece in [
        r#"<testsuite name="replay" tests="1" skipped="0" errors="0" failures="1">"#,
        r#"<testcase name="replay/open-call@openai-chat:replay.call-answered" classname="replay.call-answered">"#,
        r#"<failure message="the case expects otherwise: no refusal; it was `refused` with `malformed`: no" type="fail">"#,
        "repeat  onrecord run --filter replay/open-call@openai-chat",
    ] {
        assert!(xml.contains(piece), "{piece} is not in\n{xml}");
    }
}

/// A name and a message may hold anything: escapes, XML, and what no XML may hold.
#[test]
fn nothing_in_a_report_steers_a_terminal_or_breaks_xml() {
    let mut report = failing();
    report.implementation.name = "\u{1b}[31mred & <blue>\u{0}".to_string();
    report.checks[0].findings[0].message = "\u{1b}]0;title\u{7} ]]> & <x>\u{1}".to_string();
    report.checks[0].log[1] = "\u{9b}31m".to_string();
    let people = text::render(&report).replace("\u{1b}[", "");
    let wild = people.chars().filter(|c| c.is_control() && *c != '\n').count();
    assert!(text::plain(&report).contains("\\u{1b}]0;title\\u{7}"));
    assert!(wild == 0, "{people:?}");
    let xml = junit::render(&report).unwrap();
    assert!(!xml.contains(['\u{0}', '\u{1}', '\u{7}', '\u{1b}']), "{xml:?}");
    serde_json::from_str::<serde_json::Value>(&json::render(&report)).unwrap();
}
