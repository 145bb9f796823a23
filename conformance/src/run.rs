//! Runs cases on an implementation and has the judges decide.
//!
//! A case is run once and judged once; each rule that it names is one check.
//! What a judge finds of a rule that the case does not name is a check besides.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use onrecord_spec::chapter::Chapter;
use onrecord_spec::finding::{Finding, Ruling};
use onrecord_spec::judge::{Step, Trace, judge};
use onrecord_spec::op::{
    Fault, FaultKind, Hello, Implementation, Migrate, Op, Outcome, Report as Reports,
};
use onrecord_spec::rule::{self, Level, Rule};

use crate::check::{Check, Repeat, Report, Status};
use crate::expect::{Breach, breaches, kind, name};
use crate::fixture::{Case, OutcomeKind};
use crate::situation;
use crate::suite::Suite;
use crate::walk::Walk;

/// After this many cases in a row that broke the implementation, the rest is not
/// run: each would cost a start, or a whole timeout.
const GIVE_UP_AFTER: usize = 5;

/// How a suite is run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Hold the implementation to what cases expect of the reference.
    pub exact: bool,
    /// What a report says of how a failure is repeated.
    pub repeat: Repeat,
}

impl Suite {
    /// Runs the wanted checks on an implementation.
    ///
    /// A fault of `hello` is told as the fault of every check: without it nothing
    /// can be asked.
    pub fn run(&self, implementation: &mut dyn Implementation) -> Report {
        self.run_with(implementation, &Options::default(), &mut |_, _| {})
    }

    /// As [`Suite::run`], and tells how many cases of how many are done.
    pub fn run_with(
        &self,
        implementation: &mut dyn Implementation,
        options: &Options,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Report {
        let cases = self.cases();
        let mut run = Run::begin(self, implementation, options);
        for (done, case) in cases.iter().enumerate() {
            progress(done, cases.len());
            run.case(case);
        }
        progress(cases.len(), cases.len());
        run.report
    }
}

/// A run under way.
struct Run<'a> {
    suite: &'a Suite,
    implementation: &'a mut dyn Implementation,
    exact: bool,
    report: Report,
    /// How many cases in a row broke the implementation, and how the last did.
    broken: usize,
    fault: Option<Fault>,
}

impl<'a> Run<'a> {
    fn begin(
        suite: &'a Suite,
        implementation: &'a mut dyn Implementation,
        options: &Options,
    ) -> Self {
        let (hello, fault) = match guarded(|| implementation.hello()) {
            Ok(hello) => (hello, None),
            Err(fault) => (nameless(), Some(fault)),
        };
        let report = Report {
            implementation: hello,
            repeat: options.repeat.clone(),
            checks: Vec::new(),
            situations: BTreeMap::new(),
            stale: Vec::new(),
            broken: suite.broken().iter().map(ToString::to_string).collect(),
            without_reason: 0,
        };
        let broken = if fault.is_some() { GIVE_UP_AFTER } else { 0 };
        Self { suite, implementation, exact: options.exact, report, broken, fault }
    }

    fn case(&mut self, case: &Case) {
        let mut steps = Vec::new();
        let mut checks = if let (true, Some(fault)) = (self.broken >= GIVE_UP_AFTER, &self.fault) {
            let why = format!("not run: the adapter broke before. {}", fault.message);
            same_for_all(case, status_of(fault), &why)
        } else if let Some(reason) = unsupported(case, &self.report.implementation) {
            same_for_all(case, Status::Unsupported, &reason)
        } else {
            self.perform(case, &mut steps)
        };
        for check in checks.iter_mut().filter(|check| check.status.needs_telling()) {
            let first = check.findings.iter().map(|finding| finding.step).min();
            check.log = situation::log(&steps, first);
            self.report
                .situations
                .entry(case.id.clone())
                .or_insert_with(|| situation::of(case, &steps));
        }
        self.report.checks.extend(checks);
    }

    /// Performs and judges a case. `told` is left with its steps as they were
    /// asked, for the report.
    fn perform(&mut self, case: &Case, told: &mut Vec<Step>) -> Vec<Check> {
        let mut walk = Walk::of(case, self.report.implementation.clone());
        let ended = steps(self.implementation, case, &mut walk, self.exact);
        told.clone_from(&walk.trace.steps);
        match ended {
            Ok(None) => {
                self.broken = 0;
                self.judge(case, &walk.trace, &walk.breaches)
            }
            Ok(Some(reason)) => {
                self.broken = 0;
                same_for_all(case, Status::Unsupported, &reason)
            }
            Err((step, fault)) => {
                let ended = !matches!(fault.kind, FaultKind::ErrorAnswer | FaultKind::Panicked);
                self.broken = if ended { self.broken + 1 } else { 0 };
                let mut reason = format!(
                    "step {step} (`{}`): {}",
                    case.steps.get(step).map_or("?", |step| step.op.name()),
                    fault.message
                );
                if !fault.stderr.is_empty() {
                    reason.push_str("\nthe last of its standard error:\n");
                    reason.push_str(&fault.stderr);
                }
                let checks = same_for_all(case, status_of(&fault), &reason);
                self.fault = Some(fault);
                checks
            }
        }
    }

    fn judge(&self, case: &Case, trace: &Trace, breaches: &[(usize, Breach)]) -> Vec<Check> {
        let rulings = match catch_unwind(|| judge(trace)) {
            Ok(rulings) => rulings,
            // A panic of a judge is a bug of the judge, never a verdict.
            Err(panic) => {
                let why =
                    format!("a judge panicked, which is a bug of onrecord: {}", said(&*panic));
                return same_for_all(case, Status::Error, &why);
            }
        };
        let hello = &trace.hello;
        let mut checks: Vec<Check> = case
            .rules
            .iter()
            .map(|rule| declared(case, *rule, &rulings, breaches, hello))
            .collect();
        let others = Rule::ALL
            .iter()
            .filter(|rule| !case.rules.contains(rule) && self.suite.selection.wants_rule(**rule));
        checks.extend(others.filter_map(|rule| besides(case, *rule, &rulings, breaches)));
        withdraw(&mut checks, &rulings);
        checks
    }
}

/// Performs a case's steps. Gives the reason where one is not supported. An
/// error is a fault, with the step of the case that had it.
fn steps(
    implementation: &mut dyn Implementation,
    case: &Case,
    walk: &mut Walk,
    exact: bool,
) -> Result<Option<String>, (usize, Fault)> {
    for (index, step) in case.steps.iter().enumerate() {
        let mut next = walk.first(index, step);
        while let Some(op) = next {
            let outcome = guarded(|| implementation.perform(&op))
                .and_then(|outcome| fitting(&op, outcome))
                .map_err(|fault| (index, fault))?;
            if let Outcome::Unsupported { reason } = &outcome {
                return Ok(Some(format!("`{}`: {reason}", op.name())));
            }
            let found = breaches(step, &outcome, &walk.trace.hello, exact);
            let at = walk.trace.steps.len();
            walk.breaches.extend(found.into_iter().map(|breach| (at, breach)));
            next = walk.took(index, step, op, outcome);
        }
    }
    Ok(None)
}

/// Why a case has no trace.
pub(crate) enum Broken {
    /// A step is not supported, for this reason.
    Unsupported(String),
    /// The implementation broke in this step.
    Fault(usize, Fault),
}

/// What came back from a case's steps, for who judges it otherwise than a run.
pub(crate) fn trace(case: &Case, implementation: &mut dyn Implementation) -> Result<Trace, Broken> {
    let hello = guarded(|| implementation.hello()).map_err(|fault| Broken::Fault(0, fault))?;
    if let Some(reason) = unsupported(case, &hello) {
        return Err(Broken::Unsupported(reason));
    }
    let mut walk = Walk::of(case, hello);
    match steps(implementation, case, &mut walk, false) {
        Ok(None) => Ok(walk.trace),
        Ok(Some(reason)) => Err(Broken::Unsupported(reason)),
        Err((step, fault)) => Err(Broken::Fault(step, fault)),
    }
}

/// Takes back what passes of replays that do not hold the record: nothing is out of
/// order, unanswered or told in the wrong voice where nothing crosses as what it
/// is. Such a pass would reward a program for dropping or flattening everything.
fn withdraw(checks: &mut [Check], rulings: &BTreeMap<Rule, Ruling>) {
    const PREREQUISITES: [Rule; 2] = [Rule::ReplayTextAsSpeech, Rule::ReplayOneDeclaration];
    let missing = PREREQUISITES
        .into_iter()
        .find(|rule| rulings.get(rule).is_some_and(|ruling| !ruling.findings.is_empty()));
    let Some(missing) = missing else { return };
    for check in checks {
        if check.status == Status::Pass && rests_on_replays(check.rule) {
            check.status = Status::Untestable;
            check.reason = format!(
                "it rests on a replay that holds what was stored, and `{missing}` is broken here"
            );
        }
    }
}

/// Whether a rule is judged by what a replay holds.
fn rests_on_replays(rule: Rule) -> bool {
    match rule.chapter() {
        Chapter::Replay | Chapter::Authority => true,
        Chapter::Lookup
        | Chapter::Compaction
        | Chapter::Transcript
        | Chapter::Page
        | Chapter::Sync
        | Chapter::Recall
        | Chapter::Archive
        | Chapter::Migration => false,
        Chapter::Record => matches!(rule, Rule::RecordInterruptedKept | Rule::RecordCallStarted),
    }
}

/// The check of a rule that the case names.
fn declared(
    case: &Case,
    rule: Rule,
    rulings: &BTreeMap<Rule, Ruling>,
    breaches: &[(usize, Breach)],
    hello: &Hello,
) -> Check {
    let ruling = rulings.get(&rule).cloned().unwrap_or_default();
    let findings = findings_of(rule, &ruling, breaches, true);
    let (status, reason) = if let Some(reason) = unreported(rule, hello) {
        return check(case, rule, Status::Unsupported, reason);
    } else if rule.status() == rule::Status::NotYetJudged {
        (Status::Untestable, "the rule has no judge yet".to_string())
    } else if !findings.is_empty() {
        (broken(rule), String::new())
    } else if ruling.witnesses == 0 {
        let why = "not exercised: what came back gives the rule nothing to decide";
        (broken(rule), why.to_string())
    } else {
        (Status::Pass, String::new())
    };
    let witnesses = ruling.witnesses;
    Check { witnesses, findings, ..check(case, rule, status, reason) }
}

/// The check of a rule that the case does not name, if it is broken.
fn besides(
    case: &Case,
    rule: Rule,
    rulings: &BTreeMap<Rule, Ruling>,
    breaches: &[(usize, Breach)],
) -> Option<Check> {
    let ruling = rulings.get(&rule).cloned().unwrap_or_default();
    let findings = findings_of(rule, &ruling, breaches, false);
    if findings.is_empty() {
        return None;
    }
    let witnesses = ruling.witnesses;
    let check = check(case, rule, broken(rule), String::new());
    Some(Check { declared: false, witnesses, findings, ..check })
}

fn findings_of(
    rule: Rule,
    ruling: &Ruling,
    breaches: &[(usize, Breach)],
    declared: bool,
) -> Vec<Finding> {
    let mine = breaches.iter().filter(|(_, breach)| match breach.rule {
        Some(only) => only == rule,
        None => declared,
    });
    let mut findings = ruling.findings.clone();
    findings.extend(mine.map(|(step, breach)| breach.finding(rule, *step)));
    findings
}

fn broken(rule: Rule) -> Status {
    match rule.level() {
        Level::Must => Status::Fail,
        Level::Should => Status::Warn,
    }
}

fn check(case: &Case, rule: Rule, status: Status, reason: String) -> Check {
    Check {
        case: case.id.clone(),
        rule,
        status,
        declared: true,
        witnesses: 0,
        findings: Vec::new(),
        reason,
        log: Vec::new(),
    }
}

fn same_for_all(case: &Case, status: Status, reason: &str) -> Vec<Check> {
    case.rules.iter().map(|rule| check(case, *rule, status, reason.to_string())).collect()
}

fn status_of(fault: &Fault) -> Status {
    match fault.kind {
        FaultKind::Timeout => Status::Timeout,
        FaultKind::NotStarted
        | FaultKind::Died
        | FaultKind::NotJson
        | FaultKind::NotAnAnswer
        | FaultKind::WrongId
        | FaultKind::TooLong
        | FaultKind::ErrorAnswer
        | FaultKind::Panicked => Status::Error,
    }
}

/// Why an implementation that says this of itself cannot be given the case.
fn unsupported(case: &Case, hello: &Hello) -> Option<String> {
    case.steps.iter().find_map(|step| {
        let name = step.op.name();
        if !hello.ops.iter().any(|op| op == name) {
            return Some(format!("it does not do `{name}`"));
        }
        let beside = matches!(step.op, Op::Load { beside: true, .. });
        if beside && !hello.ops.iter().any(|op| op == "enter") {
            return Some("it holds one conversation at a time: it does not do `enter`".to_string());
        }
        let target = step.op.replay()?.target;
        let missing = !hello.targets.contains(&target);
        missing.then(|| format!("it does not replay to `{}`", target.name()))
    })
}

/// Why a rule about reports cannot be checked.
pub(crate) fn unreported(rule: Rule, hello: &Hello) -> Option<String> {
    let missing = |report| !hello.reports.contains(&report);
    if rule == Rule::ReplayAnomaliesNamed && missing(Reports::Anomalies) {
        Some("it reports no anomalies".to_string())
    } else if rule == Rule::ReplayConstraintsSaid && missing(Reports::Constraints) {
        Some("it reports no constraints".to_string())
    } else {
        None
    }
}

/// An outcome must be of the op that was asked for; another one is no answer.
pub(crate) fn fitting(op: &Op, outcome: Outcome) -> Result<Outcome, Fault> {
    let fits = match kind(&outcome) {
        OutcomeKind::Refused | OutcomeKind::Unsupported => true,
        OutcomeKind::Loaded => {
            matches!(op, Op::Load { .. } | Op::Open { .. } | Op::Enter { .. } | Op::Restart {})
        }
        OutcomeKind::Appended => matches!(op, Op::Append { .. }),
        OutcomeKind::Rows => matches!(op, Op::Read { .. }),
        OutcomeKind::Log => matches!(op, Op::Log {}),
        OutcomeKind::Replayed => matches!(op, Op::Replay(_) | Op::Request { .. }),
        OutcomeKind::Changed => matches!(op, Op::Compact(_) | Op::Clear(_) | Op::Upgrade(_)),
        OutcomeKind::Context => matches!(op, Op::Context {}),
        OutcomeKind::Input => matches!(op, Op::Input { .. }),
        OutcomeKind::Transcript => matches!(op, Op::Transcript {}),
        OutcomeKind::Followed => matches!(op, Op::Follow { .. }),
        OutcomeKind::Page => matches!(op, Op::Page { .. }),
        OutcomeKind::Window => matches!(op, Op::Window { .. }),
        OutcomeKind::Known => matches!(op, Op::Append { .. }),
        OutcomeKind::Found => matches!(op, Op::Lookup(_)),
        OutcomeKind::Status => matches!(op, Op::Status { .. }),
        OutcomeKind::Deleted => matches!(op, Op::Delete { .. }),
        OutcomeKind::Stamp => matches!(op, Op::Stamp {}),
        OutcomeKind::Synced => matches!(op, Op::Sync { .. }),
        OutcomeKind::Recalled => matches!(op, Op::Recall { .. }),
        // Who has nothing to write cannot die of it.
        OutcomeKind::Archived => matches!(op, Op::Archive { .. }),
        OutcomeKind::Parts => matches!(op, Op::Parts { .. }),
        OutcomeKind::Migrated => matches!(op, Op::Migrate(Migrate { crash: false, .. })),
        OutcomeKind::Crashed => {
            matches!(op, Op::Archive { crash: Some(_) } | Op::Migrate(Migrate { crash: true, .. }))
        }
    };
    if fits {
        return Ok(outcome);
    }
    let message = format!("it answered `{}` with `{}`", op.name(), name(&kind(&outcome)));
    Err(Fault { kind: FaultKind::NotAnAnswer, message, stderr: String::new() })
}

/// Runs code of an implementation in process: a panic is a fault of it.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = format!("it panicked: {}", said(&*panic));
        Err(Fault { kind: FaultKind::Panicked, message, stderr: String::new() })
    })
}

fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no words"
    }
}

fn nameless() -> Hello {
    Hello {
        name: "an implementation that did not say what it is".to_string(),
        version: String::new(),
        language: String::new(),
        ops: Vec::new(),
        targets: Vec::new(),
        reports: Vec::new(),
        wordings: onrecord_spec::op::Wordings::default(),
        limits: Vec::new(),
    }
}
