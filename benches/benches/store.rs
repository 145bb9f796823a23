//! What the store on SQLite costs as a conversation grows: an append, a lookup by key,
//! a page, a poll behind which nothing changed. None of them may grow with it: the
//! table at the end says how many times as long each takes on the longest
//! conversation as on the shortest.
//!
//! An append is measured beside a plain INSERT into a table of one text column, in the
//! same file, with the same promise that what was committed is on the disk. And a year
//! of archive writes, one a day, beside the bytes of what they hold.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use onrecord_reference::Reference;
use onrecord_spec::json::{Json, keep};
use onrecord_spec::op::{Implementation, Key, Lookup, Op, Outcome};
use onrecord_sqlite::SqliteStore;
use rusqlite::Connection;

/// The sizes, in rows.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// How many messages a page holds.
const PAGE: i64 = 20;

/// How many days an archive is written.
const DAYS: usize = 365;

/// How many messages come a day.
const A_DAY: usize = 20;

/// The best time of one run, in seconds, by what was done and size.
type Table = BTreeMap<(&'static str, usize), f64>;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut table = Table::new();
    // `--test` asks whether it runs, `--list` what there is: both need no size.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--list");
    let sizes = if quick { &SIZES[..1] } else { &SIZES[..] };
    for size in sizes {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("store.sqlite");
        let mut store = filled(&path, *size)?;
        measure(&mut criterion, *size, &mut store, &path, &mut table)?;
    }
    criterion.final_summary();
    let days = if quick { 3 } else { DAYS };
    let archived = archive(days)?;
    if !quick {
        print(&table);
    }
    println!("{archived}");
    Ok(())
}

/// A store that holds a conversation of so many rows.
fn filled(path: &Path, size: usize) -> Result<SqliteStore, Failure> {
    let mut store = SqliteStore::open(path)?;
    let rows = (0..size).map(message).collect::<Result<_, _>>()?;
    done(&mut store, &Op::Load { header: None, rows, beside: false })?;
    Ok(store)
}

/// One of the messages that come and go between two sides.
fn message(seq: usize) -> Result<Json, Failure> {
    let role = if seq.is_multiple_of(2) { "user" } else { "assistant" };
    Ok(keep(&format!(
        r#"{{"seq":{seq},"id":"r{seq}","request":"key-{seq}","event":{{"type":"message","role":"{role}","blocks":[{{"type":"text","text":"Message {seq}: the barley of field {} is cut, and the carts are on their way to the mill by the lower road, since the bridge at the weir is still closed to anything with four wheels."}}]}}}}"#,
        seq % 97
    ))?)
}

fn done(store: &mut dyn Implementation, op: &Op) -> Result<Outcome, Failure> {
    let outcome = store.perform(op).map_err(|fault| fault.message)?;
    if let Outcome::Refused(refusal) = outcome {
        return Err(refusal.detail.into());
    }
    Ok(outcome)
}

fn measure(
    criterion: &mut Criterion,
    size: usize,
    store: &mut SqliteStore,
    path: &Path,
    table: &mut Table,
) -> Result<(), Failure> {
    let mut group = criterion.benchmark_group("store");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(1));
    let mut run = |name: &'static str, once: &mut dyn FnMut()| {
        let mut times = Vec::new();
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter_custom(|runs| timed(runs, &mut times, once));
        });
        table.insert((name, size), median(&mut times));
    };
    let by = Key::Request(format!("key-{}", size / 2).as_str().into());
    let lookup = Op::Lookup(Lookup { by, conversation: None });
    run("keyed lookup", &mut || drop(black_box(store.perform(&lookup))));
    let page = Op::Page { limit: PAGE, before: None };
    run("page", &mut || drop(black_box(store.perform(&page))));
    done(store, &Op::Sync { limit: None })?;
    run("unchanged poll", &mut || {
        drop(black_box(store.perform(&Op::Sync { limit: None })));
    });
    let mut next = size;
    run("append", &mut || {
        if let Ok(row) = message(next) {
            let append = Op::Append { expect: next as u64, rows: vec![row] };
            drop(black_box(store.perform(&append)));
            next += 1;
        }
    });
    // The same file, the same promises, one table and one column.
    let plain = Connection::open(path)?;
    plain.pragma_update(None, "synchronous", "FULL")?;
    plain.execute_batch("CREATE TABLE plain (body TEXT NOT NULL)")?;
    run("plain INSERT", &mut || {
        if let (Ok(row), Ok(mut insert)) =
            (message(next), plain.prepare_cached("INSERT INTO plain (body) VALUES (?1)"))
        {
            drop(black_box(insert.execute([row.get()])));
            next += 1;
        }
    });
    group.finish();
    Ok(())
}

/// Runs it so many times, and notes how long each took.
fn timed(runs: u64, times: &mut Vec<f64>, once: &mut dyn FnMut()) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..runs {
        let start = Instant::now();
        once();
        let took = start.elapsed();
        times.push(took.as_secs_f64());
        total += took;
    }
    total
}

/// The time in the middle: a disk has moods, and the best one is not what people see.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A year of a conversation with one archive write a day: what was written, beside the
/// bytes of the rows that are held.
fn archive(days: usize) -> Result<String, Failure> {
    let folder = tempfile::tempdir()?;
    let mut store = SqliteStore::open(&folder.path().join("store.sqlite"))?;
    let mut reference = Reference::new();
    let mut told = Vec::new();
    for (name, kept) in
        [("sqlite", &mut store as &mut dyn Implementation), ("reference", &mut reference)]
    {
        done(kept, &Op::Load { header: None, rows: Vec::new(), beside: false })?;
        let (mut content, mut written) = (0, 0);
        for day in 0..days {
            let first = day * A_DAY;
            let rows: Vec<Json> = (first..first + A_DAY).map(message).collect::<Result<_, _>>()?;
            content += rows.iter().map(|row| row.get().len() as u64).sum::<u64>();
            done(kept, &Op::Append { expect: first as u64, rows })?;
            let Outcome::Archived(archived) = done(kept, &Op::Archive { crash: None })? else {
                return Err("the archive died unasked".into());
            };
            written += archived.bytes;
        }
        told.push(format!(
            "archive, {name}: {days} daily writes wrote {written} bytes for {content} bytes of \
             rows, {:.3} times as many",
            written as f64 / content as f64
        ));
    }
    Ok(told.join("\n"))
}

/// The times, and the ratio of the longest conversation to the shortest.
fn print(table: &Table) {
    println!("\n{:<16} {:>9} {:>14}  growth", "what", "rows", "microseconds");
    let mut first: Option<(&str, f64)> = None;
    for ((name, size), median) in table {
        let grown = first.filter(|(other, _)| other == name).map(|(_, time)| median / time);
        if grown.is_none() {
            first = Some((name, *median));
        }
        let grown = grown.map(|grown| format!("{grown:.2}x")).unwrap_or_default();
        println!("{name:<16} {size:>9} {:>14.1}  {grown}", median * 1e6);
    }
    for size in SIZES {
        if let (Some(ours), Some(plain)) =
            (table.get(&("append", size)), table.get(&("plain INSERT", size)))
        {
            println!(
                "{size:>9} rows: {:.0} appends a second, {:.0} plain INSERTs; an append takes {:.2} \
                 times as long",
                1.0 / ours,
                1.0 / plain,
                ours / plain
            );
        }
    }
}
