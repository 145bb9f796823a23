//! What an engine begins with: the project's fixtures, cut into what each equation
//! takes. They reach far, since each shows a case that went wrong somewhere.

use std::collections::BTreeSet;

use onrecord::fixture::Fixture;
use onrecord::generate::Choices;
use onrecord::spec::json::{Json, to_line};
use onrecord::spec::op::{Op, Outcome};
use onrecord::suite::Suite;

use crate::Takes;

/// How many conversations of choices are made.
const CONVERSATIONS: u64 = 60;

/// The header of a log whose conversation has no name.
const NAMELESS: &str = r#"{"onrecord":1,"conversation":""}"#;

/// The seeds of what an equation takes, each once, in order.
#[must_use]
pub fn seeds(takes: Takes) -> Vec<Vec<u8>> {
    let seeds: BTreeSet<Vec<u8>> = match takes {
        Takes::Fixture => texts().into_iter().map(|text| text.into_bytes()).collect(),
        Takes::Choices => (0..CONVERSATIONS).map(conversation).collect(),
        Takes::Log | Takes::Row | Takes::Payload | Takes::Answer => {
            let mut seeds = BTreeSet::new();
            for (op, outcome) in steps() {
                of_op(takes, &op, &mut seeds);
                if let Some(outcome) = outcome {
                    of_outcome(takes, &outcome, &mut seeds);
                }
            }
            seeds
        }
    };
    seeds.into_iter().collect()
}

/// The texts of the fixtures that are part of the suite.
fn texts() -> Vec<String> {
    Suite::embedded_texts().map(|(_, text)| text.to_string()).collect()
}

/// Every op of every fixture, with what came back where the fixture says it.
fn steps() -> Vec<(Op, Option<Outcome>)> {
    let mut steps = Vec::new();
    for fixture in Suite::embedded().fixtures() {
        match fixture {
            Fixture::Case(template) => {
                let cases = template.expand().into_iter().take(1);
                steps.extend(cases.flat_map(|case| case.steps).map(|step| (step.op, None)));
            }
            Fixture::Verdict(verdict) => {
                let traced = verdict.trace.steps.iter();
                steps.extend(traced.map(|step| (step.op.clone(), Some(step.outcome.clone()))));
            }
        }
    }
    steps
}

fn of_op(takes: Takes, op: &Op, seeds: &mut BTreeSet<Vec<u8>>) {
    if let Op::Open { log } = op
        && takes == Takes::Log
    {
        seeds.insert(log.0.clone());
    }
    let (Op::Load { rows, .. } | Op::Append { rows, .. }) = op else { return };
    match takes {
        Takes::Log => {
            let header = if let Op::Load { header: Some(header), .. } = op {
                header.get()
            } else {
                NAMELESS
            };
            let lines: Vec<&str> = rows.iter().map(|row| row.get()).collect();
            seeds.insert(format!("{header}\n{}\n", lines.join("\n")).into_bytes());
        }
        Takes::Row => seeds.extend(rows.iter().map(|row: &Json| row.get().as_bytes().to_vec())),
        Takes::Payload | Takes::Answer | Takes::Fixture | Takes::Choices => {}
    }
}

fn of_outcome(takes: Takes, outcome: &Outcome, seeds: &mut BTreeSet<Vec<u8>>) {
    if takes == Takes::Answer
        && let Ok(result) = to_line(outcome)
    {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        seeds.insert(line.into_bytes());
    }
    if let Outcome::Replayed(replayed) = outcome
        && takes == Takes::Payload
    {
        seeds.insert(replayed.payload.get().as_bytes().to_vec());
    }
}

/// Bytes of some length, of a seed.
fn conversation(seed: u64) -> Vec<u8> {
    let mut choices = Choices::of_seed(seed);
    let length = choices.between(0..=600);
    (0..length).map(|_| u8::try_from(choices.below(256)).unwrap_or_default()).collect()
}
