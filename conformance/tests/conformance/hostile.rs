//! The reference on records that do everything wrong, at random: it never
//! panics, and no judge and no target finds anything.

use std::collections::BTreeSet;

use onrecord::Reference;
use onrecord::generate::{Choices, State, drive, home, hostile};
use onrecord::spec::json::{Json, to_line};
use onrecord::spec::judge::{Step, Trace, judge};
use onrecord::spec::op::{Implementation, Mode, Op, Outcome, Replay};
use onrecord::spec::target::{PlainReasoning, Profile, Target};

/// How many records are made. Each is replayed to both targets, with and without
/// vision, at two lengths.
const RECORDS: u64 = 20_000;

/// How many records are compacted, cleared, followed and paged at random.
const DRIVEN: u64 = 3_000;
/// How many steps each of these takes.
const STEPS: usize = 14;

#[test]
fn the_reference_keeps_every_rule_on_hostile_records() {
    let reached: BTreeSet<State> = for_each_seed(RECORDS, try_record);
    let missed: Vec<State> =
        State::ALL.iter().copied().filter(|state| !reached.contains(state)).collect();
    assert!(missed.is_empty(), "the generator no longer reaches {missed:?}");
}

#[test]
fn the_reference_keeps_every_rule_whatever_is_asked_of_it() {
    let reached: BTreeSet<(&str, String)> = for_each_seed(DRIVEN, try_steps);
    let mut missed: Vec<String> = Vec::new();
    for op in Op::NAMES {
        // A log file and facts are asked for elsewhere.
        if !["open", "log", "request"].contains(&op)
            && !reached.iter().any(|(name, outcome)| *name == op && outcome != "refused")
        {
            missed.push(op.to_string());
        }
    }
    for code in [
        "busy",
        "not-open",
        "unbalanced",
        "live-round",
        "changed",
        "empty-summary",
        "not-in-context",
        "bad-limit",
    ] {
        if !reached.iter().any(|(_, outcome)| outcome == code) {
            missed.push(format!("a refusal as {code}"));
        }
    }
    assert!(missed.is_empty(), "the generator no longer reaches {missed:?}");
}

/// Tries every seed, on all cores, and joins what was reached.
fn for_each_seed<T: Ord + Send>(seeds: u64, attempt: fn(u64) -> BTreeSet<T>) -> BTreeSet<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let reached: Vec<BTreeSet<T>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mine = (0..seeds).filter(|seed| seed % threads == worker);
                    mine.flat_map(attempt).collect::<BTreeSet<T>>()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    reached.into_iter().flatten().collect()
}

/// Makes the record of a seed, asks everything of it at random, and has it
/// judged. Gives the ops, each with `refused` or what came of it.
fn try_steps(seed: u64) -> BTreeSet<(&'static str, String)> {
    let mut choices = Choices::of_seed(seed);
    let record = hostile(&mut choices);
    let mut reference = Reference::default();
    let trace = drive(&mut choices, &record, STEPS, &mut reference).unwrap();
    let mut reached = BTreeSet::new();
    for step in &trace.steps {
        if let Outcome::Refused(refusal) = &step.outcome {
            reached.insert((step.op.name(), "refused".to_string()));
            let code = serde_json::to_string(&refusal.code).unwrap();
            reached.insert((step.op.name(), code.trim_matches('"').to_string()));
        } else {
            reached.insert((step.op.name(), String::new()));
        }
    }
    no_findings(seed, &trace);
    reached
}

fn no_findings(seed: u64, trace: &Trace) {
    for (rule, ruling) in judge(trace) {
        assert!(
            ruling.findings.is_empty(),
            "seed {seed}, {rule}: {}",
            told(trace, &ruling.findings[0])
        );
    }
}

/// Makes the record of a seed, replays it, and has it judged.
fn try_record(seed: u64) -> BTreeSet<State> {
    let mut choices = Choices::of_seed(seed);
    let record = hostile(&mut choices);
    let replays = replays(&mut choices);
    // An append refuses a stale authority block, and a load keeps it.
    let imported = record.rows.iter().rposition(|row| row.get().contains("\"authority\""));
    let cut = choices.between(imported.map_or(0, |at| at + 1)..=record.rows.len());
    let rest: Vec<Json> = record.rows[cut..].to_vec();
    let mut ops = vec![Op::Load {
        header: Some(record.header),
        rows: record.rows[..cut].to_vec(),
        beside: false,
    }];
    ops.extend(replays.iter().cloned().map(Op::Replay));
    ops.push(Op::Append { expect: cut as u64, rows: rest });
    ops.extend(replays.into_iter().map(Op::Replay));
    ops.push(Op::Read { from: None, limit: None });

    let mut reference = Reference::default();
    let hello = reference.hello().unwrap();
    let steps: Vec<Step> = ops
        .into_iter()
        .map(|op| {
            let outcome = reference.perform(&op).unwrap();
            assert!(
                !matches!(outcome, Outcome::Refused(_) | Outcome::Unsupported { .. }),
                "seed {seed}: {outcome:?}"
            );
            Step { op, outcome }
        })
        .collect();
    let trace = Trace { hello, steps };
    no_findings(seed, &trace);
    record.states
}

/// Both targets, with and without vision, of a model with random abilities.
fn replays(choices: &mut Choices) -> Vec<Replay> {
    let profile = Profile {
        tools: choices.bool(),
        prefill: choices.one_in(4),
        thinking: choices.bool(),
        plain_reasoning: [
            PlainReasoning::Refused,
            PlainReasoning::Accepted,
            PlainReasoning::Required,
        ][choices.below(3)],
        prefix_bound: choices.one_in(4),
        model: choices.bool().then(home),
        ..Profile::default()
    };
    let mode = if choices.one_in(3) { Mode::Running } else { Mode::Cold };
    let both = Target::ALL.into_iter().flat_map(|target| [(target, true), (target, false)]);
    both.map(|(target, vision)| Replay {
        target,
        profile: Profile { vision, ..profile.clone() },
        mode,
    })
    .collect()
}

/// A finding with the record and the wire that show it.
fn told(trace: &Trace, finding: &onrecord::spec::finding::Finding) -> String {
    let mut text = format!("{finding:#?}\n");
    for step in &trace.steps[..finding.step] {
        if let Op::Load { rows, .. } | Op::Append { rows, .. } = &step.op {
            rows.iter().for_each(|row| text.push_str(&format!("{row}\n")));
        } else if step.op.is_change() {
            let (op, outcome) = (to_line(&step.op).unwrap(), to_line(&step.outcome).unwrap());
            text.push_str(&format!("{op}\n{outcome}\n"));
        }
    }
    let step = &trace.steps[finding.step];
    text.push_str(&format!("{}\n{}", to_line(&step.op).unwrap(), to_line(&step.outcome).unwrap()));
    text
}
