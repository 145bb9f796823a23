//! What a replay costs as the log grows, beside what it costs to write the
//! resulting payload as JSON, measured in the same run.
//!
//! Every request must at least be written, so that is the measure: a replay of
//! 10,001 messages may take three times as long, and ten times as many messages
//! ten times as long. The table at the end says how it stands.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use onrecord_benches::record;
use onrecord_reference::{Record, replay};
use onrecord_spec::op::Replay;
use onrecord_spec::target::Target;

/// The sizes of the first group.
const SIZES: [usize; 3] = [1_001, 10_001, 100_001];
/// The size of the second, which is slow.
const HUGE: usize = 1_000_001;

/// The best time of one run, in seconds, of a replay and of writing its payload.
#[derive(Clone, Copy)]
struct Best {
    replay: f64,
    write: f64,
}

type Table = BTreeMap<(&'static str, usize), Best>;

fn main() -> Result<(), String> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut table = Table::new();
    // `--test` asks whether it runs, `--list` what there is: both need no size.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--list");
    let sizes = if quick { &SIZES[..1] } else { &SIZES[..] };
    for size in sizes {
        measure(&mut criterion, "replay", *size, &record(*size)?, 20, &mut table)?;
    }
    if !quick {
        measure(&mut criterion, "replay-huge", HUGE, &record(HUGE)?, 10, &mut table)?;
    }
    criterion.final_summary();
    if !quick {
        print(&table);
    }
    Ok(())
}

fn measure(
    criterion: &mut Criterion,
    name: &str,
    size: usize,
    record: &Record,
    samples: usize,
    table: &mut Table,
) -> Result<(), String> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(samples).warm_up_time(Duration::from_secs(1));
    group.measurement_time(Duration::from_secs(5));
    for target in Target::ALL {
        let asked = Replay::to(target);
        let payload = replay::replay(record, &asked).payload;
        let written = serde_json::to_vec(&payload).map_err(|error| error.to_string())?;
        let (elements, bytes) = (size as u64, written.len() as u64);
        group.throughput(Throughput::ElementsAndBytes { elements, bytes });
        let mut best = Best { replay: f64::INFINITY, write: f64::INFINITY };
        group.bench_function(BenchmarkId::new(target.name(), size), |bencher| {
            bencher.iter_custom(|runs| {
                timed(runs, &mut best.replay, || replay::replay(record, &asked))
            });
        });
        let id = BenchmarkId::new(format!("{}-written", target.name()), size);
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|runs| {
                timed(runs, &mut best.write, || serde_json::to_vec(black_box(&payload)))
            });
        });
        table.insert((target.name(), size), best);
    }
    group.finish();
    Ok(())
}

/// Runs it so many times, what it made thrown away in time, and keeps the best
/// time of one run.
fn timed<T>(runs: u64, best: &mut f64, run: impl Fn() -> T) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..runs {
        let start = Instant::now();
        drop(black_box(run()));
        let took = start.elapsed();
        *best = best.min(took.as_secs_f64());
        total += took;
    }
    total
}

/// The ratio of replaying to writing, and the growth from size to size. Whoever
/// asked for some benchmarks only gets what these say.
fn print(table: &Table) {
    println!(
        "\n{:<12} {:>9} {:>11} {:>11} {:>7}  growth",
        "target", "messages", "replay ms", "write ms", "ratio"
    );
    let mut before: Option<(&str, usize, f64)> = None;
    for ((target, size), best) in table {
        if !best.replay.is_finite() {
            continue;
        }
        let grown = before.filter(|(other, _, _)| other == target).map(|(_, smaller, time)| {
            format!("{:.1}x for {:.1}x", best.replay / time, *size as f64 / smaller as f64)
        });
        println!(
            "{target:<12} {size:>9} {:>11.3} {:>11.3} {:>7.2}  {}",
            best.replay * 1e3,
            best.write * 1e3,
            best.replay / best.write,
            grown.unwrap_or_default()
        );
        before = Some((target, *size, best.replay));
    }
}
