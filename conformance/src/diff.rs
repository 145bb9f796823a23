//! Two implementations, asked the same: where they differ, and which of them breaks a
//! rule there.
//!
//! Wording is free, and so are names that an implementation chooses. Two answers differ
//! if they are of another kind, if one is refused for another reason, or if a judge
//! finds something in one and not in the other. What differs otherwise is counted, and
//! not told as a difference: both keep every rule that is judged.

use std::collections::{BTreeMap, BTreeSet};

use onrecord_spec::finding::Ruling;
use onrecord_spec::json::to_line;
use onrecord_spec::judge::Trace;
use onrecord_spec::op::{Implementation, Outcome};
use onrecord_spec::rule::Rule;
use serde::Serialize;

use crate::expect::{kind, name};
use crate::fixture::Case;
use crate::fuzz::{Attempt, attempt};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The case.
    pub case: String,
    /// The step of it, from 0.
    pub step: usize,
    /// The op of the step.
    pub op: String,
    /// What differs.
    pub what: Kind,
    /// What the first answered, as JSON or in words.
    pub first: String,
    /// What the second answered.
    pub second: String,
    /// The rules that the first breaks in this step and the second keeps.
    pub first_breaks: Vec<Rule>,
    /// The rules that the second breaks in this step and the first keeps.
    pub second_breaks: Vec<Rule>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One answers, or refuses for another reason.
    Outcome,
    /// One breaks a rule that the other keeps.
    Rule,
    /// One broke, and gave no answer.
    Fault,
}

/// What became of the comparison of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// Both answered alike, but for as many answers as only words tell apart.
    Alike(usize),
    /// They differ.
    Different(Vec<Difference>),
    /// One of them does not do a step.
    Unsupported(String),
}

/// Asks both the same case.
pub fn compare(
    case: &Case,
    first: &mut dyn Implementation,
    second: &mut dyn Implementation,
) -> Compared {
    match (attempt(case, first), attempt(case, second)) {
        (Attempt::Unsupported(reason), _) | (_, Attempt::Unsupported(reason)) => {
            Compared::Unsupported(reason)
        }
        (Attempt::Answered(one, of_one), Attempt::Answered(two, of_two)) => {
            traces(case, (&one, &of_one), (&two, &of_two))
        }
        (Attempt::Fault(step, fault), Attempt::Answered(..)) => {
            faulted(case, step, fault.message, "an answer".to_string())
        }
        (Attempt::Answered(..), Attempt::Fault(step, fault)) => {
            faulted(case, step, "an answer".to_string(), fault.message)
        }
        (Attempt::Fault(at, one), Attempt::Fault(step, two)) if at == step => {
            if one.kind == two.kind {
                Compared::Alike(0)
            } else {
                faulted(case, step, one.message, two.message)
            }
        }
        (Attempt::Fault(at, one), Attempt::Fault(step, two)) => {
            faulted(case, at.min(step), one.message, two.message)
        }
    }
}

fn faulted(case: &Case, step: usize, first: String, second: String) -> Compared {
    Compared::Different(vec![Difference {
        case: case.id.clone(),
        step,
        op: case.steps.get(step).map_or("?", |step| step.op.name()).to_string(),
        what: Kind::Fault,
        first,
        second,
        first_breaks: Vec::new(),
        second_breaks: Vec::new(),
    }])
}

type Judged<'a> = (&'a Trace, &'a BTreeMap<Rule, Ruling>);

fn traces(case: &Case, (one, of_one): Judged<'_>, (two, of_two): Judged<'_>) -> Compared {
    let mut differences = Vec::new();
    let mut words = 0;
    for (step, (a, b)) in one.steps.iter().zip(&two.steps).enumerate() {
        let (first, second) = (broken_in(of_one, step), broken_in(of_two, step));
        let first_breaks: Vec<Rule> = first.difference(&second).copied().collect();
        let second_breaks: Vec<Rule> = second.difference(&first).copied().collect();
        let what = if answered(&a.outcome) != answered(&b.outcome) {
            Kind::Outcome
        } else if !first_breaks.is_empty() || !second_breaks.is_empty() {
            Kind::Rule
        } else {
            words += usize::from(line(&a.outcome) != line(&b.outcome));
            continue;
        };
        differences.push(Difference {
            case: case.id.clone(),
            step,
            op: a.op.name().to_string(),
            what,
            first: line(&a.outcome),
            second: line(&b.outcome),
            first_breaks,
            second_breaks,
        });
    }
    if differences.is_empty() { Compared::Alike(words) } else { Compared::Different(differences) }
}

fn broken_in(rulings: &BTreeMap<Rule, Ruling>, step: usize) -> BTreeSet<Rule> {
    let of_step = |ruling: &Ruling| ruling.findings.iter().any(|finding| finding.step == step);
    rulings.iter().filter(|(_, ruling)| of_step(ruling)).map(|(rule, _)| *rule).collect()
}

/// The kind of an answer, and the reason of a refusal.
fn answered(outcome: &Outcome) -> String {
    if let Outcome::Refused(refusal) = outcome {
        format!("refused as {}", to_line(&refusal.code).unwrap_or_default())
    } else {
        name(&kind(outcome)).to_string()
    }
}

fn line(outcome: &Outcome) -> String {
    to_line(outcome).unwrap_or_default()
}
