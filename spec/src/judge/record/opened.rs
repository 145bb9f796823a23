//! The judges of a log's bytes: damage is survived and named, and loading writes
//! nothing.

use alloc::format;
use alloc::vec::Vec;

use super::super::evidence::Evidence;
use super::super::held::is_for_another_chapter;
use super::super::log::{self, Reading};
use crate::finding::{Finding, Ruling};
use crate::op::{Damage, Op, Outcome};
use crate::rule::Rule;

/// `record.torn-tail`: of a damaged log every whole row is loaded, the damage is
/// named with its place, and what is appended later stands on its own line.
pub fn torn_tail(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    // The log that is open, while it is a damaged one.
    let mut opened: Option<(&[u8], Reading)> = None;
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        match (&taken.op, &taken.outcome) {
            (Op::Open { log }, outcome) => {
                let reading = log::read(&log.0);
                if matches!(outcome, Outcome::Loaded { .. }) {
                    opened = None;
                }
                if reading.header.is_some() && (!reading.damaged.is_empty() || ends_unended(&log.0))
                {
                    ruling.witness();
                    ruling.findings.extend(check_open(step, &reading, outcome));
                    if matches!(outcome, Outcome::Loaded { .. }) {
                        opened = Some((&log.0, reading));
                    }
                }
            }
            (Op::Load { .. }, _) => opened = None,
            (Op::Restart {}, Outcome::Loaded { next, .. }) => {
                let held = evidence.holdings.before[step].map_or(0, |held| held.rows as u64);
                if opened.is_some() && *next != held {
                    ruling.find(Finding::new(
                        Rule::RecordTornTail,
                        step,
                        format!("{held} rows were stored; after a restart there are {next}"),
                    ));
                }
            }
            (Op::Log {}, Outcome::Log { bytes }) => {
                let Some((before, reading)) = &opened else { continue };
                let held = evidence.holdings.before[step].map_or(0, |held| held.rows);
                let now = log::read(&bytes.0);
                let behind = bytes.0.get(before.len()..).unwrap_or_default();
                let apart = behind.is_empty() || !ends_unended(before) || behind[0] == b'\n';
                let kept = bytes.0.starts_with(before) && apart;
                if !kept || now.rows.len() != held || now.damaged.len() > reading.damaged.len() {
                    ruling.find(Finding::new(
                        Rule::RecordTornTail,
                        step,
                        format!(
                            "the log should be its damaged bytes and then whole lines, {held} rows in all; it holds {} and {} damaged lines",
                            now.rows.len(),
                            now.damaged.len()
                        ),
                    ));
                }
            }
            _other => {}
        }
    }
    ruling
}

/// How many damaged places must be named.
const NAMED_DAMAGE: usize = 1_000;

fn ends_unended(log: &[u8]) -> bool {
    log.last().is_some_and(|byte| *byte != b'\n')
}

fn check_open(step: usize, reading: &Reading, outcome: &Outcome) -> Vec<Finding> {
    let rule = Rule::RecordTornTail;
    let mut findings = Vec::new();
    let Outcome::Loaded { next, damage } = outcome else {
        let rows = reading.rows.iter().map(|(raw, _)| &**raw);
        let elsewhere = matches!(outcome, Outcome::Refused(refusal) if is_for_another_chapter(refusal, rows, None));
        let supported = !matches!(outcome, Outcome::Unsupported { .. });
        if supported && !elsewhere && goes_on(reading) {
            findings.push(Finding::new(rule, step, "a damaged log was refused whole"));
        }
        return findings;
    };
    let whole = reading.rows.len() as u64;
    if *next != whole {
        let message = format!("the log holds {whole} whole rows; {next} were loaded");
        findings.push(Finding::new(rule, step, message));
    }
    // A log may hold more damage than anyone can use.
    for (line, offset) in reading.damaged.iter().take(NAMED_DAMAGE) {
        let names = |damage: &&Damage| damage.line == *line && damage.offset >= *offset;
        if !damage.iter().any(|damage| names(&damage)) {
            let message = format!("line {line}, at byte {offset}, is damaged and is not named");
            findings.push(Finding::new(rule, step, message));
        }
    }
    for named in damage {
        if reading.damaged.iter().all(|(line, _)| *line != named.line) {
            let message = format!("line {} is named as damaged and is whole", named.line);
            findings.push(Finding::new(rule, step, message));
        }
    }
    findings
}

/// True if the rows that can be read follow one another.
fn goes_on(reading: &Reading) -> bool {
    let rows = reading.rows.iter().map(|(raw, _)| &**raw);
    super::super::held::fault_of(&[], rows).is_none()
}

/// `record.load-read-only`: opening and reloading a log leaves its bytes as they
/// were.
pub fn load_read_only(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    // The bytes as they must still be.
    let mut bytes: Option<&[u8]> = None;
    let mut loads = 0;
    for (step, taken) in evidence.trace.steps.iter().enumerate() {
        match (&taken.op, &taken.outcome) {
            (Op::Open { log }, Outcome::Loaded { .. }) => {
                bytes = Some(&log.0);
                loads = 1;
            }
            (Op::Restart {}, Outcome::Loaded { .. }) => loads += 1,
            (Op::Log {}, Outcome::Log { bytes: now }) => {
                if let Some(before) = bytes {
                    ruling.witnesses += usize::from(loads > 0);
                    if now.0 != before {
                        let message = format!(
                            "loading changed the log: it had {} bytes and has {}",
                            before.len(),
                            now.0.len()
                        );
                        ruling.find(Finding::new(Rule::RecordLoadReadOnly, step, message));
                    }
                }
                bytes = Some(&now.0);
                loads = 0;
            }
            (Op::Load { .. }, _)
            | (Op::Append { .. }, Outcome::Appended { .. })
            | (_, Outcome::Changed(_)) => bytes = None,
            _other => {}
        }
    }
    ruling
}
