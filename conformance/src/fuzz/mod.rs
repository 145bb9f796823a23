//! Fuzzing an implementation: records that do everything wrong and questions about
//! them are made from a seed, judged, and what breaks a rule is made as small as it
//! can be against that very implementation.
//!
//! ```
//! use onrecord::fuzz::Fuzz;
//!
//! // Put your own implementation here.
//! let mut mine = onrecord::Reference::new();
//! let found = Fuzz { seed: 7, cases: 20, ..Fuzz::default() }.run(&mut mine, &mut |_| true);
//! assert!(found.findings.is_empty(), "{:#?}", found.findings);
//! ```

pub mod file;
mod make;
mod shape;
mod shrink;

use std::collections::{BTreeMap, BTreeSet};

use onrecord_spec::finding::Ruling;
use onrecord_spec::judge::{Trace, judge};
use onrecord_spec::op::{Fault, FaultKind, Implementation, Outcome, RefusalCode};
use onrecord_spec::rule::Rule;
use onrecord_spec::target::Target;
use serde::Serialize;

use crate::fixture::Case;
use crate::run::{self, Broken};

pub use shrink::shrink;

/// How many different shapes of one rule are kept; more would tell nothing new.
const SHAPES_OF_A_RULE: usize = 3;
/// How many findings of one rule are made small in the hope of a shape that is new.
const TRIES_OF_A_RULE: usize = 6;
/// After this many cases in a row that broke the implementation, nothing more is asked.
const GIVE_UP_AFTER: usize = 5;

/// What is asked of an implementation.
#[derive(Debug, Clone)]
pub struct Fuzz {
    /// The seed: the same one makes the same cases.
    pub seed: u64,
    /// How many cases are made at most.
    pub cases: u64,
    /// Only breaches of these rules; all if it is empty.
    pub rules: Vec<Rule>,
    /// Only replays to these targets; all that the implementation has if it is empty.
    pub targets: Vec<Target>,
}

impl Default for Fuzz {
    fn default() -> Self {
        Self { seed: 0, cases: 1_000, rules: Vec::new(), targets: Vec::new() }
    }
}

/// What was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A rule, by its judge.
    Rule(Rule),
    /// The implementation itself: it died, hung, or gave no answer.
    Fault,
}

/// A case that breaks something, as small as it became.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it breaks.
    pub what: What,
    /// What was found, in words.
    pub message: String,
    /// The case.
    pub case: Case,
    /// What it is made of, without its words: findings of one shape are one.
    pub shape: String,
    /// How many rows it stores.
    pub rows: usize,
    /// Which of the generated cases it comes from, counted from 0.
    pub from: u64,
}

/// What a run found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The seed.
    pub seed: u64,
    /// How many cases were tried.
    pub tried: u64,
    /// How often a record was refused when it was loaded, by reason.
    pub refused: BTreeMap<String, u64>,
    /// How often something was not supported, by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// The findings, in the order in which they came.
    pub findings: Vec<Finding>,
    /// What ended the run early, if something did.
    pub ended: Option<Fault>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// How many cases are done.
    pub tried: u64,
    /// How many findings there are.
    pub findings: usize,
    /// How many different rules are broken.
    pub rules: usize,
}

impl Fuzz {
    /// The case of this number, from 0. The implementation is asked for some of them,
    /// since they go on by what comes back. An error is a fault of it.
    pub fn case(
        &self,
        number: u64,
        implementation: &mut dyn Implementation,
    ) -> Result<Case, Fault> {
        make::case(self, number, implementation)
    }

    /// Makes and judges cases until there are as many as were asked for, `go_on` says
    /// no, or the implementation breaks again and again. `go_on` is asked between any
    /// two cases, also of those that are tried while one is made small.
    pub fn run(
        &self,
        implementation: &mut dyn Implementation,
        go_on: &mut dyn FnMut(Progress) -> bool,
    ) -> Found {
        let mut run = Run {
            fuzz: self,
            implementation,
            found: Found {
                seed: self.seed,
                tried: 0,
                refused: BTreeMap::new(),
                unsupported: BTreeMap::new(),
                findings: Vec::new(),
                ended: None,
            },
            tries: BTreeMap::new(),
            broken: 0,
        };
        // Who does not even say what it is has nothing that could be judged.
        run.found.ended = run::guarded(|| run.implementation.hello()).err();
        for number in 0..self.cases {
            if !go_on(run.progress()) || run.found.ended.is_some() {
                break;
            }
            run.case(number, go_on);
        }
        run.found
    }
}

/// What came of a case.
pub(crate) enum Attempt {
    /// It was answered to its end.
    Answered(Box<Trace>, BTreeMap<Rule, Ruling>),
    /// A step is not supported.
    Unsupported(String),
    /// The implementation broke.
    Fault(usize, Fault),
}

/// Runs a case and has it judged. Only what is broken is kept.
pub(crate) fn attempt(case: &Case, implementation: &mut dyn Implementation) -> Attempt {
    match run::trace(case, implementation) {
        Err(Broken::Unsupported(reason)) => Attempt::Unsupported(reason),
        Err(Broken::Fault(step, fault)) => Attempt::Fault(step, fault),
        Ok(trace) => {
            let mut rulings = judge(&trace);
            rulings.retain(|rule, ruling| {
                !ruling.findings.is_empty() && run::unreported(*rule, &trace.hello).is_none()
            });
            Attempt::Answered(Box::new(trace), rulings)
        }
    }
}

/// A run under way.
struct Run<'a> {
    fuzz: &'a Fuzz,
    implementation: &'a mut dyn Implementation,
    found: Found,
    /// How many findings were made small, by what they break.
    tries: BTreeMap<What, usize>,
    /// How many cases in a row broke the implementation.
    broken: usize,
}

impl Run<'_> {
    fn progress(&self) -> Progress {
        let rules: BTreeSet<What> = self.found.findings.iter().map(|it| it.what).collect();
        Progress {
            tried: self.found.tried,
            findings: self.found.findings.len(),
            rules: rules.len(),
        }
    }

    fn case(&mut self, number: u64, go_on: &mut dyn FnMut(Progress) -> bool) {
        let made = self.fuzz.case(number, self.implementation);
        self.found.tried += 1;
        let case = match made {
            Ok(case) => case,
            Err(fault) => return self.faulted(fault),
        };
        let broken: Vec<What> = match attempt(&case, self.implementation) {
            Attempt::Unsupported(reason) => {
                *self.found.unsupported.entry(reason).or_default() += 1;
                return;
            }
            Attempt::Fault(_, fault) => {
                let never_started = fault.kind == FaultKind::NotStarted;
                self.faulted(fault);
                if never_started { Vec::new() } else { vec![What::Fault] }
            }
            Attempt::Answered(trace, rulings) => {
                self.broken = 0;
                self.note_refusal(&trace);
                let wanted =
                    |rule: &&Rule| self.fuzz.rules.is_empty() || self.fuzz.rules.contains(rule);
                rulings.keys().filter(wanted).map(|rule| What::Rule(*rule)).collect()
            }
        };
        for what in broken {
            if !go_on(self.progress()) {
                return;
            }
            self.make_small(what, &case, number, go_on);
        }
    }

    fn faulted(&mut self, fault: Fault) {
        self.broken += 1;
        if self.broken >= GIVE_UP_AFTER || fault.kind == FaultKind::NotStarted {
            self.found.ended = Some(fault);
        }
    }

    fn note_refusal(&mut self, trace: &Trace) {
        if let Some(Outcome::Refused(refusal)) = trace.steps.first().map(|step| &step.outcome) {
            *self.found.refused.entry(name_of(refusal.code)).or_default() += 1;
        }
    }

    fn make_small(
        &mut self,
        what: What,
        case: &Case,
        from: u64,
        go_on: &mut dyn FnMut(Progress) -> bool,
    ) {
        let tries = self.tries.entry(what).or_default();
        let shapes = self.found.findings.iter().filter(|it| it.what == what).count();
        if *tries >= TRIES_OF_A_RULE || shapes >= SHAPES_OF_A_RULE {
            return;
        }
        *tries += 1;
        let progress = self.progress();
        let small = shrink(case, what, self.implementation, &mut || go_on(progress));
        let Some((case, message)) = small else { return };
        let shape = shape::of(&case);
        if self.found.findings.iter().any(|it| it.what == what && it.shape == shape) {
            return;
        }
        let rows = shape::rows(&case);
        self.found.findings.push(Finding { what, message, case, shape, rows, from });
    }
}

/// A reason for a refusal, as it is written everywhere.
fn name_of(code: RefusalCode) -> String {
    serde_json::to_string(&code).unwrap_or_default().trim_matches('"').to_string()
}
