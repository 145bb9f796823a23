//! One case of a fuzzed run: a record, and what is asked of it.

use onrecord_spec::json::{Json, keep};
use onrecord_spec::op::{Fault, Hello, Implementation, Op, Outcome};
use onrecord_spec::target::Target;
use onrecord_spec::text::Text;
use serde_json::Value;

use super::Fuzz;
use crate::fixture::{Case, CaseStep, Expect, Late};
use crate::generate::{Choices, Hostile, any_replay, drive, hostile};
use crate::run;

/// How many questions stand behind a record that is asked anything.
const QUESTIONS: usize = 10;

/// The case of this number. Half of them load a record and have it sent to models;
/// the others ask anything and go on by what comes back, for which the implementation
/// is asked here already.
pub(super) fn case(
    fuzz: &Fuzz,
    number: u64,
    implementation: &mut dyn Implementation,
) -> Result<Case, Fault> {
    let mut choices = Choices::of_seed(fuzz.seed.wrapping_add(number));
    let record = hostile(&mut choices);
    let hello = run::guarded(|| implementation.hello())?;
    let steps = if number.is_multiple_of(2) {
        sent(fuzz, &mut choices, &record, &hello)
    } else {
        let mut recorder = Recorder { implementation, asked: Vec::new() };
        let driven = drive(&mut choices, &record, QUESTIONS, &mut recorder);
        let steps = repeatable(recorder.asked);
        // What broke it is the last step of the case.
        match driven {
            Err(fault) if steps.is_empty() => return Err(fault),
            Err(_) | Ok(_) => steps,
        }
    };
    Ok(Case {
        id: format!("fuzzed/{number}"),
        title: String::new(),
        hunts: String::new(),
        rules: Vec::new(),
        target: None,
        allow_trivial: std::collections::BTreeMap::new(),
        steps,
    })
}

/// Takes down what is asked, and what broke the implementation too.
struct Recorder<'a> {
    implementation: &'a mut dyn Implementation,
    asked: Vec<(Op, Option<Outcome>)>,
}

impl Implementation for Recorder<'_> {
    fn hello(&mut self) -> Result<Hello, Fault> {
        run::guarded(|| self.implementation.hello())
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        let answered = run::guarded(|| self.implementation.perform(op));
        self.asked.push((op.clone(), answered.as_ref().ok().cloned()));
        answered
    }
}

/// The record, and replays of it to what the implementation has.
fn sent(fuzz: &Fuzz, choices: &mut Choices, record: &Hostile, hello: &Hello) -> Vec<CaseStep> {
    let rows = record.rows.clone();
    let mut ops = vec![Op::Load { header: Some(record.header.clone()), rows, beside: false }];
    let wanted = |target: &Target| fuzz.targets.is_empty() || fuzz.targets.contains(target);
    let targets: Vec<Target> = hello.targets.iter().copied().filter(wanted).collect();
    for target in targets {
        ops.push(Op::Replay(onrecord_spec::op::Replay { target, ..any_replay(choices) }));
    }
    let shown = [Op::Transcript {}, Op::Context {}, Op::Page { limit: 3, before: None }];
    let does = |op: &Op| hello.ops.iter().any(|name| name == op.name());
    ops.extend(shown.into_iter().filter(does));
    ops.into_iter().map(|op| step(op, Late::default())).collect()
}

pub(super) fn step(op: Op, late: Late) -> CaseStep {
    CaseStep { op, expect: Expect::default(), late }
}

/// The steps so that they can be asked again, and fewer of them: an append finds its
/// place, and a page goes on before the page whose cursor it was given.
fn repeatable(asked: Vec<(Op, Option<Outcome>)>) -> Vec<CaseStep> {
    let mut steps: Vec<CaseStep> = Vec::new();
    let mut cursors: Vec<(usize, Text)> = Vec::new();
    for (op, outcome) in asked {
        let at = steps.len();
        let stored = matches!(outcome, Some(Outcome::Appended { .. } | Outcome::Known { .. }));
        let (op, late) = repeatable_op(op, stored, &cursors);
        if let Some(Outcome::Page(page)) = &outcome {
            cursors.extend(page.before.clone().map(|cursor| (at, cursor)));
        }
        if !matches!(outcome, Some(Outcome::Unsupported { .. })) {
            steps.push(step(op, late));
        }
    }
    steps
}

/// The op without what only holds where it was asked.
fn repeatable_op(op: Op, stored: bool, cursors: &[(usize, Text)]) -> (Op, Late) {
    if let (Op::Append { expect, rows }, true) = (&op, stored) {
        let (expect, rows) = (*expect, rows.iter().map(without_seq).collect());
        return (Op::Append { expect, rows }, Late { place: true, ..Late::default() });
    }
    if let Op::Page { limit, before: Some(cursor) } = &op {
        let given = cursors.iter().rev().find(|(_, known)| known == cursor);
        if let Some((step, _)) = given {
            let late = Late { before_step: Some(*step), ..Late::default() };
            return (Op::Page { limit: *limit, before: None }, late);
        }
    }
    (op, Late::default())
}

/// A row without its place. One that no JSON library can hold keeps it.
fn without_seq(row: &Json) -> Json {
    let Ok(mut value) = serde_json::from_str::<Value>(row.get()) else { return row.clone() };
    if let Some(fields) = value.as_object_mut() {
        fields.remove("seq");
    }
    keep(&value.to_string()).unwrap_or_else(|_| row.clone())
}
