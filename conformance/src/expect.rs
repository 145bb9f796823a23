//! Compares what a step brought with what its case expects.

use onrecord_spec::finding::Finding;
use onrecord_spec::json::Tree;
use onrecord_spec::op::{
    Anomaly, Changed, Constraint, Hello, Input, Migrated, Outcome, Replayed, Report,
};
use onrecord_spec::rule::Rule;

use crate::fixture::{CaseStep, Expect, OutcomeKind, Place};

/// A breach of an expectation. The rule is None where it is one of all rules of
/// the case.
pub(crate) struct Breach {
    pub(crate) rule: Option<Rule>,
    pub(crate) message: String,
}

impl Breach {
    pub(crate) fn finding(&self, rule: Rule, step: usize) -> Finding {
        let message = format!("the case expects otherwise: {}", self.message);
        Finding { rule, step, seq: None, path: None, target_rule: None, message }
    }
}

/// The kind of an outcome.
#[must_use]
pub fn kind(outcome: &Outcome) -> OutcomeKind {
    match outcome {
        Outcome::Loaded { .. } => OutcomeKind::Loaded,
        Outcome::Appended { .. } => OutcomeKind::Appended,
        Outcome::Rows { .. } => OutcomeKind::Rows,
        Outcome::Log { .. } => OutcomeKind::Log,
        Outcome::Replayed(_) => OutcomeKind::Replayed,
        Outcome::Changed(_) => OutcomeKind::Changed,
        Outcome::Context(_) => OutcomeKind::Context,
        Outcome::Input(_) => OutcomeKind::Input,
        Outcome::Transcript { .. } => OutcomeKind::Transcript,
        Outcome::Followed { .. } => OutcomeKind::Followed,
        Outcome::Page(_) => OutcomeKind::Page,
        Outcome::Window(_) => OutcomeKind::Window,
        Outcome::Known { .. } => OutcomeKind::Known,
        Outcome::Found { .. } => OutcomeKind::Found,
        Outcome::Status { .. } => OutcomeKind::Status,
        Outcome::Deleted { .. } => OutcomeKind::Deleted,
        Outcome::Stamp(_) => OutcomeKind::Stamp,
        Outcome::Synced(_) => OutcomeKind::Synced,
        Outcome::Recalled { .. } => OutcomeKind::Recalled,
        Outcome::Archived(_) => OutcomeKind::Archived,
        Outcome::Parts(_) => OutcomeKind::Parts,
        Outcome::Migrated(_) => OutcomeKind::Migrated,
        Outcome::Crashed {} => OutcomeKind::Crashed,
        Outcome::Refused(_) => OutcomeKind::Refused,
        Outcome::Unsupported { .. } => OutcomeKind::Unsupported,
    }
}

/// A name as it is written in JSON, for a message.
pub(crate) fn name<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_string()
}

/// What of a step's expectation is not met. `exact`: the implementation is the
/// reference, which is held to the letter.
pub(crate) fn breaches(
    step: &CaseStep,
    outcome: &Outcome,
    hello: &Hello,
    exact: bool,
) -> Vec<Breach> {
    let expect = &step.expect;
    let messages = [
        outcome_breach(expect, outcome),
        seq_breach(expect, outcome),
        next_breach(expect, outcome),
        damage_breach(expect, outcome),
        taken_breach(expect, outcome),
        if exact { payload_breach(expect, outcome) } else { None },
        if exact { whole_breach(expect, outcome) } else { None },
    ];
    let mut breaches: Vec<Breach> =
        messages.into_iter().flatten().map(|message| Breach { rule: None, message }).collect();
    breaches.extend(report_breaches(expect, outcome, hello));
    breaches
}

fn outcome_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let found = kind(outcome);
    let said = match outcome {
        Outcome::Refused(refusal) => {
            format!("`refused` with `{}`: {}", name(&refusal.code), refusal.detail)
        }
        Outcome::Loaded { .. }
        | Outcome::Appended { .. }
        | Outcome::Rows { .. }
        | Outcome::Log { .. }
        | Outcome::Replayed(_)
        | Outcome::Changed(_)
        | Outcome::Context(_)
        | Outcome::Input(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Known { .. }
        | Outcome::Found { .. }
        | Outcome::Status { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Migrated(_)
        | Outcome::Crashed {}
        | Outcome::Unsupported { .. } => format!("`{}`", name(&found)),
    };
    if let (Some(code), Outcome::Refused(refusal)) = (expect.code, outcome) {
        let right = refusal.code == code;
        return (!right).then(|| format!("refused with `{}`; it was {said}", name(&code)));
    }
    if let Some(code) = expect.code {
        return Some(format!("refused with `{}`; it was {said}", name(&code)));
    }
    match expect.outcome {
        Some(wanted) if wanted != found => Some(format!("`{}`; it was {said}", name(&wanted))),
        None if found == OutcomeKind::Refused => Some(format!("no refusal; it was {said}")),
        Some(_) | None => None,
    }
}

fn seq_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let wanted = expect.seq?;
    let Outcome::Refused(refusal) = outcome else { return None };
    let found = refusal.seq;
    (found != Some(wanted)).then(|| match found {
        Some(found) => format!("the refusal names seq {wanted}; it named {found}"),
        None => format!("the refusal names seq {wanted}; it named none"),
    })
}

fn next_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let wanted = expect.next?;
    match outcome {
        Outcome::Loaded { next, .. }
        | Outcome::Appended { next }
        | Outcome::Known { next, .. }
        | Outcome::Migrated(Migrated { next, .. })
        | Outcome::Changed(Changed { next, .. }) => (*next != wanted)
            .then(|| format!("the next row has seq {wanted}; it was said to have {next}")),
        Outcome::Rows { .. }
        | Outcome::Log { .. }
        | Outcome::Replayed(_)
        | Outcome::Context(_)
        | Outcome::Input(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Found { .. }
        | Outcome::Status { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Crashed {}
        | Outcome::Refused(_)
        | Outcome::Unsupported { .. } => None,
    }
}

fn damage_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let wanted = expect.damage.as_ref()?;
    let Outcome::Loaded { damage, .. } = outcome else { return None };
    let found: Vec<Place> =
        damage.iter().map(|damage| Place { offset: damage.offset, line: damage.line }).collect();
    (found != *wanted)
        .then(|| format!("the damage is {}; it was said to be {}", places(wanted), places(&found)))
}

fn places(places: &[Place]) -> String {
    if places.is_empty() {
        return "none".to_string();
    }
    let each = places.iter().map(|place| format!("byte {} of line {}", place.offset, place.line));
    each.collect::<Vec<_>>().join(", ")
}

fn payload_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let wanted = expect.reference.as_ref()?.payload.as_ref()?;
    let replayed = replay_of(outcome)?;
    let found = &replayed.payload;
    (Tree::parse(wanted.get()) != Tree::parse(found.get()))
        .then(|| format!("the reference sends {}; it sent {}", wanted.get(), found.get()))
}

fn whole_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let wanted = expect.reference.as_ref()?.outcome.as_ref()?;
    let found = onrecord_spec::json::to_line(outcome).unwrap_or_default();
    (Tree::parse(wanted.get()) != Tree::parse(&found))
        .then(|| format!("the reference answers {}; it answered {found}", wanted.get()))
}

fn taken_breach(expect: &Expect, outcome: &Outcome) -> Option<String> {
    let wanted = expect.taken.as_ref()?;
    let Outcome::Changed(changed) = outcome else { return None };
    let found: Vec<String> = changed.taken.iter().map(|id| id.to_unicode().into_owned()).collect();
    (found != *wanted)
        .then(|| format!("it takes the rows {}; it took {}", wanted.join(", "), found.join(", ")))
}

/// The replay that an outcome holds, if it holds one.
fn replay_of(outcome: &Outcome) -> Option<&Replayed> {
    match outcome {
        Outcome::Replayed(replayed) | Outcome::Input(Input { replayed, .. }) => Some(replayed),
        Outcome::Loaded { .. }
        | Outcome::Appended { .. }
        | Outcome::Rows { .. }
        | Outcome::Log { .. }
        | Outcome::Changed(_)
        | Outcome::Context(_)
        | Outcome::Transcript { .. }
        | Outcome::Followed { .. }
        | Outcome::Page(_)
        | Outcome::Window(_)
        | Outcome::Known { .. }
        | Outcome::Found { .. }
        | Outcome::Status { .. }
        | Outcome::Deleted { .. }
        | Outcome::Stamp(_)
        | Outcome::Synced(_)
        | Outcome::Recalled { .. }
        | Outcome::Archived(_)
        | Outcome::Parts(_)
        | Outcome::Migrated(_)
        | Outcome::Crashed {}
        | Outcome::Refused(_)
        | Outcome::Unsupported { .. } => None,
    }
}

/// Anomalies and constraints: only of who reports them.
fn report_breaches(expect: &Expect, outcome: &Outcome, hello: &Hello) -> Vec<Breach> {
    let Some(replayed) = replay_of(outcome) else { return Vec::new() };
    let mut breaches = Vec::new();
    if let (Some(wanted), true) = (&expect.anomalies, hello.reports.contains(&Report::Anomalies)) {
        let (wanted, found) = (sorted(wanted), sorted(&replayed.anomalies));
        if wanted != found {
            breaches.push(Breach {
                rule: Some(Rule::ReplayAnomaliesNamed),
                message: format!(
                    "the anomalies are {}; they were said to be {}",
                    anomalies(&wanted),
                    anomalies(&found)
                ),
            });
        }
    }
    if let (Some(wanted), true) =
        (&expect.constraints, hello.reports.contains(&Report::Constraints))
    {
        let (wanted, found) = (sorted(wanted), sorted(&replayed.constraints));
        if wanted != found {
            breaches.push(Breach {
                rule: Some(Rule::ReplayConstraintsSaid),
                message: format!(
                    "the constraints are {}; they were said to be {}",
                    constraints(&wanted),
                    constraints(&found)
                ),
            });
        }
    }
    breaches
}

/// Reports are compared as sets.
fn sorted<T: Ord + Clone>(items: &[T]) -> Vec<T> {
    let mut sorted = items.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// Anomalies in words.
#[must_use]
pub fn anomalies(anomalies: &[Anomaly]) -> String {
    let each = anomalies.iter().map(|anomaly| match anomaly.seq {
        Some(seq) => format!("`{}` (row {seq})", name(&anomaly.name)),
        None => format!("`{}`", name(&anomaly.name)),
    });
    or_none(each.collect())
}

/// Constraints in words.
#[must_use]
pub fn constraints(constraints: &[Constraint]) -> String {
    let each = constraints.iter().map(|constraint| match constraint {
        Constraint::ThinkingOff => "thinking must be off".to_string(),
        Constraint::DeclareTools(names) => {
            format!("the request must declare `{}`", names.join("`, `"))
        }
        Constraint::StandIn(seq) => format!("a stand-in was used for row {seq}"),
    });
    or_none(each.collect())
}

fn or_none(items: Vec<String>) -> String {
    if items.is_empty() { "none".to_string() } else { items.join(", ") }
}
