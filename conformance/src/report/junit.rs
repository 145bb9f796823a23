//! The report for CI systems: one test suite a chapter, one test case a check.

use onrecord_spec::chapter::Chapter;
use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use crate::check::{Check, Report, Status};

/// The report as JUnit XML. An error says that it could not be written as XML.
pub fn render(report: &Report) -> Result<String, String> {
    let mut junit = Junit::new(format!("onrecord: {}", report.implementation.name));
    for chapter in Chapter::ALL {
        let mut suite = TestSuite::new(chapter.name());
        let checks = report.checks.iter().filter(|check| check.rule.chapter() == chapter);
        suite.add_test_cases(checks.map(|check| test_case(report, check)));
        if !suite.test_cases.is_empty() {
            junit.add_test_suite(suite);
        }
    }
    let mut others = TestSuite::new("run");
    for (kind, lines) in [("baseline", &report.stale), ("fixture", &report.broken)] {
        for line in lines {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(line.as_str());
            others.add_test_case(TestCase::new(kind, status));
        }
    }
    if !others.test_cases.is_empty() {
        junit.add_test_suite(others);
    }
    junit.to_string().map_err(|error| format!("the JUnit report cannot be written: {error}"))
}

fn test_case(report: &Report, check: &Check) -> TestCase {
    let mut status = match check.status {
        Status::Pass | Status::Warn => TestCaseStatus::success(),
        Status::Unsupported | Status::ExpectedFail => TestCaseStatus::skipped(),
        Status::Fail | Status::Stale | Status::Untestable => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        Status::Error | Status::Timeout => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let told = super::text::plain_check(report, check);
    if check.status != Status::Pass && check.status != Status::Warn {
        let first = check.findings.first().map(|finding| finding.message.as_str());
        status.set_type(check.status.name());
        status.set_message(first.unwrap_or(&check.reason));
        if check.status.needs_telling() {
            status.set_description(told.as_str());
        }
    }
    let mut case = TestCase::new(check.key(), status);
    case.set_classname(check.rule.id());
    if check.status == Status::Warn {
        case.set_system_out(told.as_str());
    }
    case
}
