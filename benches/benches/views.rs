//! What people's views of a record cost as the log grows: the whole transcript and
//! the whole state of the context, one followed row, one page.
//!
//! The first two may grow as the log does. A followed row and a page may not grow:
//! the table at the end says how many times as long they take on the longest log
//! as on the shortest.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use onrecord_benches::record;
use onrecord_reference::follow::Follow;
use onrecord_reference::{Record, page, state, transcript};
use onrecord_spec::record::Row;

/// The sizes, in rows.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// How many messages a page holds.
const PAGE: i64 = 20;

/// The best time of one run, in seconds, by projection and size.
type Table = BTreeMap<(&'static str, usize), f64>;

fn main() -> Result<(), String> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut table = Table::new();
    // `--test` asks whether it runs, `--list` what there is: both need no size.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--list");
    let sizes = if quick { &SIZES[..1] } else { &SIZES[..] };
    for size in sizes {
        measure(&mut criterion, *size, &record(*size)?, &mut table)?;
    }
    criterion.final_summary();
    if !quick {
        print(&table);
    }
    Ok(())
}

fn measure(
    criterion: &mut Criterion,
    size: usize,
    record: &Record,
    table: &mut Table,
) -> Result<(), String> {
    let mut group = criterion.benchmark_group("views");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(3));
    let mut run = |name: &'static str, elements: usize, once: &mut dyn FnMut()| {
        let mut best = f64::INFINITY;
        group.throughput(Throughput::Elements(elements as u64));
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter_custom(|runs| timed(runs, &mut best, once));
        });
        table.insert((name, size), best);
    };
    run("transcript", size, &mut || drop(black_box(transcript::transcript(record))));
    run("context", size, &mut || drop(black_box(state::context(record))));
    let follow = Follow::join(record.rows()).map_err(|error| error.to_string())?;
    let rows = next_rows(record);
    let mut followed = follow.clone();
    let mut next = rows.iter().cycle();
    run("followed row", 1, &mut || {
        // The same four rows again and again, many at a time: one is too quick to
        // be timed by itself.
        for row in next.by_ref().take(BATCH) {
            drop(black_box(followed.push(row)));
        }
    });
    run("page", usize::try_from(PAGE).unwrap_or_default(), &mut || {
        for _ in 0..BATCH {
            drop(black_box(page::page(record, PAGE, None)));
        }
    });
    group.finish();
    Ok(())
}

/// How often what is quick is done in one timed run.
const BATCH: usize = 64;

/// The last rows of the record, as if they came anew.
fn next_rows(record: &Record) -> Vec<Row> {
    record.rows().iter().rev().take(4).rev().cloned().collect()
}

/// Runs it so many times, and keeps the best time of one run.
fn timed(runs: u64, best: &mut f64, once: &mut dyn FnMut()) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..runs {
        let start = Instant::now();
        once();
        let took = start.elapsed();
        *best = best.min(took.as_secs_f64());
        total += took;
    }
    total
}

/// The times, the growth from size to size, and the ratio of the longest log to
/// the shortest.
fn print(table: &Table) {
    println!("\n{:<14} {:>9} {:>12}  growth", "projection", "rows", "microseconds");
    let mut first: Option<(&str, f64)> = None;
    let mut before: Option<(&str, f64)> = None;
    for ((name, size), best) in table {
        if !best.is_finite() {
            continue;
        }
        let one = if ["page", "followed row"].contains(name) { BATCH as f64 } else { 1.0 };
        let grown = before.filter(|(other, _)| other == name).map(|(_, time)| best / time);
        let in_all = first.filter(|(other, _)| other == name).map(|(_, time)| best / time);
        let told = match (grown, in_all) {
            (Some(grown), Some(in_all)) => format!("{grown:.2}x, {in_all:.2}x in all"),
            (_, _) => {
                first = Some((name, *best));
                String::new()
            }
        };
        println!("{name:<14} {size:>9} {:>12.3}  {told}", best / one * 1e6);
        before = Some((name, *best));
    }
}
