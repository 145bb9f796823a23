//! The reference on records that do everything wrong, at random: it never
//! panics, and no judge and no target finds anything.

use std::collections::BTreeSet;

use onrecord::Reference;
use onrecord::generate::{State, home, hostile};
use onrecord::spec::json::{Json, to_line};
use onrecord::spec::judge::{Step, Trace, judge};
use onrecord::spec::op::{Implementation, Mode, Op, Outcome, Replay};
use onrecord::spec::target::{PlainReasoning, Profile, Target};

/// How many records are made. Each is replayed to both targets, with and without
/// vision, at two lengths.
const RECORDS: u64 = 20_000;

#[test]
fn the_reference_keeps_every_rule_on_hostile_records() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let reached: Vec<BTreeSet<State>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mine = (0..RECORDS).filter(|seed| seed % threads == worker);
                    mine.flat_map(try_record).collect::<BTreeSet<State>>()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let reached: BTreeSet<State> = reached.into_iter().flatten().collect();
    let missed: Vec<State> =
        State::ALL.into_iter().filter(|state| !reached.contains(state)).collect();
    assert!(missed.is_empty(), "the generator no longer reaches {missed:?}");
}

/// Makes the record of a seed, replays it, and has it judged.
fn try_record(seed: u64) -> BTreeSet<State> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let record = hostile(&mut rng);
    let replays = replays(&mut rng);
    // An append refuses a stale authority block, and a load keeps it.
    let imported = record.rows.iter().rposition(|row| row.get().contains("\"authority\""));
    let cut = rng.usize(imported.map_or(0, |at| at + 1)..=record.rows.len());
    let rest: Vec<Json> = record.rows[cut..].to_vec();
    let mut ops = vec![Op::Load { header: Some(record.header), rows: record.rows[..cut].to_vec() }];
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
    for (rule, ruling) in judge(&trace) {
        assert!(
            ruling.findings.is_empty(),
            "seed {seed}, {rule}: {}",
            told(&trace, &ruling.findings[0])
        );
    }
    record.states
}

/// Both targets, with and without vision, of a model with random abilities.
fn replays(rng: &mut fastrand::Rng) -> Vec<Replay> {
    let profile = Profile {
        tools: rng.bool(),
        prefill: rng.u8(0..4) == 0,
        thinking: rng.bool(),
        plain_reasoning: [
            PlainReasoning::Refused,
            PlainReasoning::Accepted,
            PlainReasoning::Required,
        ][rng.usize(0..3)],
        prefix_bound: rng.u8(0..4) == 0,
        model: rng.bool().then(home),
        ..Profile::default()
    };
    let mode = if rng.u8(0..3) == 0 { Mode::Running } else { Mode::Cold };
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
        }
    }
    let step = &trace.steps[finding.step];
    text.push_str(&format!("{}\n{}", to_line(&step.op).unwrap(), to_line(&step.outcome).unwrap()));
    text
}
