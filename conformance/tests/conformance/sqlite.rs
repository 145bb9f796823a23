//! The store on SQLite is one more implementation: the whole suite runs on it, and
//! it answers random questions as the reference does.

use onrecord::Reference;
use onrecord::check::Status;
use onrecord::generate::{Choices, drive, hostile};
use onrecord::spec::json::to_line;
use onrecord::spec::op::{Implementation, Op, Outcome};
use onrecord::spec::text::Text;
use onrecord_sqlite::SqliteStore;

#[test]
fn the_suite_holds_on_sqlite_as_on_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&folder.path().join("store.sqlite")).unwrap();
    let ours = onrecord::suite().run(&mut store);
    let due = onrecord::suite().run(&mut Reference::new());
    let told = |report: &onrecord::check::Report| -> Vec<(String, &'static str, Status)> {
        let checks = report.checks.iter();
        checks.map(|check| (check.case.clone(), check.rule.id(), check.status)).collect()
    };
    let wrong: Vec<_> = ours.checks.iter().filter(|check| check.status != Status::Pass).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(told(&ours), told(&due));
    println!("{} checks, all executed and passed on SQLite", ours.checks.len());
}

/// How many random records are driven.
const RECORDS: u64 = 150;

/// How many questions and changes each.
const STEPS: usize = 40;

#[test]
fn random_questions_are_answered_as_by_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&folder.path().join("store.sqlite")).unwrap();
    let mut asked = 0;
    for seed in 0..RECORDS {
        let mut choices = Choices::of_seed(seed);
        let record = hostile(&mut choices);
        let mut reference = Reference::new();
        let trace = drive(&mut choices, &record, STEPS, &mut reference).unwrap();
        let mut cursor = None;
        for (at, step) in trace.steps.iter().enumerate() {
            // Each has cursors of its own.
            let op = match &step.op {
                Op::Page { limit, before: Some(_) } => {
                    Op::Page { limit: *limit, before: cursor.clone() }
                }
                op => op.clone(),
            };
            let outcome = store.perform(&op).unwrap();
            if let Outcome::Page(page) = &outcome {
                cursor.clone_from(&page.before);
            }
            let (ours, due) = (comparable(outcome), comparable(step.outcome.clone()));
            assert_eq!(ours, due, "seed {seed}, step {at}: {}", to_line(&step.op).unwrap());
            asked += 1;
        }
    }
    println!("{asked} ops on {RECORDS} random records, each answered as by the reference");
}

/// An outcome without what is an implementation's own: cursors, stamps, words, and the
/// order of hits.
fn comparable(mut outcome: Outcome) -> String {
    match &mut outcome {
        Outcome::Page(page) => page.before = page.before.take().map(|_| Text::from("cursor")),
        Outcome::Stamp(stamp) => (stamp.epoch, stamp.version) = (Text::default(), 0),
        Outcome::Synced(synced) => {
            if let Some(stamp) = &mut synced.cached {
                (stamp.epoch, stamp.version) = (Text::default(), 0);
            }
        }
        Outcome::Recalled { hits } => {
            hits.sort_by_key(|hit| to_line(hit).unwrap());
        }
        // A start that died had brought back some rows, or none.
        Outcome::Migrated(migrated) => migrated.returned = 0,
        Outcome::Refused(refusal) => refusal.detail.clear(),
        _ => {}
    }
    to_line(&outcome).unwrap()
}
