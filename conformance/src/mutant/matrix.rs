//! The kill matrix: which fixtures catch which mutant.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use onrecord_spec::finding::Ruling;
use onrecord_spec::judge::{Trace, judge};
use onrecord_spec::op::Implementation;
use onrecord_spec::rule::{Level, Rule, Status};
use serde::Serialize;

use super::Mutant;
use crate::fixture::Case;
use crate::run::{self, Broken};
use crate::suite::Suite;

/// Which fixtures catch which mutant.
#[derive(Debug, Clone, Serialize)]
pub struct Matrix {
    /// A row a mutant, in the order of the chapters.
    pub mutants: Vec<Kills>,
    /// The MUST rules that are judged and have no mutant here.
    pub without_mutant: Vec<Rule>,
}

/// What became of one mutant.
#[derive(Debug, Clone, Serialize)]
pub struct Kills {
    /// Its name.
    pub mutant: &'static str,
    /// The rule that it breaks.
    pub rule: Rule,
    /// What it does.
    pub fault: &'static str,
    /// True if the field has really done so.
    pub famous: bool,
    /// How many cases that name its rule it was given.
    pub tried: usize,
    /// The cases in which its own rule's judge found it.
    pub caught: Vec<String>,
    /// The cases that it did not come through, with what happened. No kill.
    pub crashed: BTreeMap<String, String>,
    /// The other rules that were found broken in the cases that it was given, with
    /// in how many of them. A fault often breaks more than the rule it is meant for.
    pub besides: BTreeMap<Rule, usize>,
}

impl Kills {
    /// True if its own judge found it in a fixture, and it crashed in none.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        !self.caught.is_empty() && self.crashed.is_empty()
    }
}

impl Matrix {
    /// Gives each of these mutants the wanted cases that name its rule, on all cores.
    /// `progress` is called when one is done.
    pub fn of<'a>(
        suite: &Suite,
        mutants: impl IntoIterator<Item = &'a Mutant>,
        progress: &(dyn Fn() + Sync),
    ) -> Self {
        let cases = suite.cases();
        let mutants: Vec<&Mutant> = mutants.into_iter().collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((at, mutant)) = taken(&next, &mutants) {
                        let kills = kills(&cases, mutant);
                        if let Ok(mut done) = done.lock() {
                            done.insert(at, kills);
                        }
                        progress();
                    }
                });
            }
        });
        let rows: Vec<Kills> = done.into_inner().unwrap_or_default().into_values().collect();
        let has = |rule: Rule| rows.iter().any(|kills| kills.rule == rule);
        let without_mutant =
            musts().filter(|rule| suite.selection.wants_rule(*rule) && !has(*rule));
        Self { without_mutant: without_mutant.collect(), mutants: rows }
    }

    /// True if every MUST rule has a mutant, and each mutant is caught.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.without_mutant.is_empty() && self.mutants.iter().all(Kills::is_caught)
    }
}

/// The MUST rules that have a judge.
fn musts() -> impl Iterator<Item = Rule> {
    Rule::ALL
        .iter()
        .copied()
        .filter(|rule| rule.level() == Level::Must && rule.status() == Status::Judged)
}

/// The next mutant that nobody has taken, with its place.
fn taken<'a>(next: &AtomicUsize, mutants: &[&'a Mutant]) -> Option<(usize, &'a Mutant)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    mutants.get(at).map(|mutant| (at, *mutant))
}

fn kills(cases: &[Case], mutant: &Mutant) -> Kills {
    let mut kills = Kills {
        mutant: mutant.name,
        rule: mutant.rule,
        fault: mutant.fault,
        famous: mutant.famous,
        tried: 0,
        caught: Vec::new(),
        crashed: BTreeMap::new(),
        besides: BTreeMap::new(),
    };
    for case in cases.iter().filter(|case| case.rules.contains(&mutant.rule)) {
        kills.tried += 1;
        match attempt(case, &mut mutant.implementation()) {
            Err(what) => {
                kills.crashed.insert(case.id.clone(), what);
            }
            Ok(rulings) => {
                for rule in broken(&rulings) {
                    if rule == mutant.rule {
                        kills.caught.push(case.id.clone());
                    } else {
                        *kills.besides.entry(rule).or_default() += 1;
                    }
                }
            }
        }
    }
    kills
}

/// Runs a case and has it judged. An error says what broke.
fn attempt(
    case: &Case,
    implementation: &mut dyn Implementation,
) -> Result<BTreeMap<Rule, Ruling>, String> {
    let trace: Trace = run::trace(case, implementation).map_err(|broken| match broken {
        Broken::Unsupported(reason) => reason,
        Broken::Fault(step, fault) => format!("step {step}: {}", fault.message),
    })?;
    catch_unwind(AssertUnwindSafe(|| judge(&trace))).map_err(|_| "a judge panicked".to_string())
}

fn broken(rulings: &BTreeMap<Rule, Ruling>) -> impl Iterator<Item = Rule> {
    rulings.iter().filter(|(_, ruling)| !ruling.findings.is_empty()).map(|(rule, _)| *rule)
}
