//! Files of the older shape: made here as that version made them, and brought up.

use std::path::Path;

use onrecord_spec::op::{Older, Outcome};
use onrecord_sqlite::{SqliteStore, Watch, write_older};
use rusqlite::Connection;

use crate::{assert_caches, child, log, message, open, perform, said, setting, written};

/// Eight rows of which a compaction took four, as the older version kept them.
fn older() -> Older {
    let summary = r#"{"seq":6,"id":"s","audience":"model","replaces":{"first":"r0","last":"r3","rows":["r0","r1","r2","r3"],"source":"compaction"},"event":{"type":"message","role":"user","blocks":[{"type":"text","text":"A summary of the harvest."}]}}"#;
    let kept = [
        message(4, "user", "And the mill?", r#""request":"k4","#),
        message(5, "assistant", "It turns.", ""),
        summary.to_string(),
        message(7, "user", "Good.", ""),
    ];
    let side = [
        message(2, "user", "Is it dry?", r#""request":"k2","#),
        message(0, "user", "Is the barley in?", r#""request":"k0","#),
        message(3, "assistant", "Mostly.", ""),
        message(1, "assistant", "It is.", ""),
    ];
    let rows = |rows: &[String]| {
        rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect::<Vec<_>>()
    };
    Older {
        header: Some(serde_json::from_str(r#"{"onrecord":1,"conversation":"granary"}"#).unwrap()),
        rows: rows(&kept),
        side: rows(&side),
    }
}

/// Every row is in its place, flagged, and found by its key.
fn assert_brought_up(path: &Path) -> Vec<u8> {
    let mut store = open(path);
    assert_eq!(
        written(&perform(&mut store, r#"{"enter":{"conversation":"granary"}}"#)),
        r#"{"loaded":{"next":8}}"#
    );
    let Outcome::Context(context) = perform(&mut store, r#"{"context":{}}"#) else {
        panic!("no context")
    };
    let left: Vec<String> = context.left.iter().map(|left| left.id.to_string()).collect();
    assert_eq!(left, ["r0", "r1", "r2", "r3"]);
    let Outcome::Found { found: Some(found) } =
        perform(&mut store, r#"{"lookup":{"by":{"request":"k0"}}}"#)
    else {
        panic!("the key is lost")
    };
    assert_eq!(found.left.unwrap().by, *"s");
    assert_caches(&mut store, "granary");
    let db = Connection::open(path).unwrap();
    let old: i64 = db
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('messages', 'archived_messages', 'headers') AND type = 'table'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(old, 0, "the old tables are gone");
    log(&mut store)
}

#[test]
fn rows_of_a_side_table_return_once_however_often_it_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.sqlite");
    write_older(&path, &older()).unwrap();
    let once = assert_brought_up(&path);
    assert_eq!(assert_brought_up(&path), once, "twice is once");
}

#[test]
fn a_row_in_both_tables_returns_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.sqlite");
    let mut older = older();
    older.rows.insert(0, older.side[1].clone());
    write_older(&path, &older).unwrap();
    assert_brought_up(&path);
}

#[test]
fn rows_that_do_not_fit_are_refused_and_stay_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.sqlite");
    let mut older = older();
    older.side.pop();
    write_older(&path, &older).unwrap();
    let error = SqliteStore::open(&path).err().unwrap().to_string();
    assert_eq!(error, "refused: row 2 stands where row 1 must (record.seq-gap-free)");
    let db = Connection::open(&path).unwrap();
    let count = |table: &str| -> i64 {
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("messages"), count("archived_messages")), (4, 3));
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.sqlite");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    let error = SqliteStore::open(&path).err().unwrap().to_string();
    assert!(
        error.ends_with("is a database and no store of conversations; name another file"),
        "{error}"
    );
}

#[test]
fn child_that_migrates() {
    let (Some(path), Some(at)) = (setting("ONRECORD_OLDER_FILE"), setting("ONRECORD_OLDER_AT"))
    else {
        return;
    };
    let at: u64 = at.parse().unwrap();
    let mut writes = 0;
    let watch: Watch = Box::new(move || {
        writes += 1;
        if writes == at {
            std::process::abort();
        }
        println!("write {writes}");
    });
    SqliteStore::open_watched(Path::new(&path), Some(watch)).unwrap();
}

#[test]
fn killed_at_every_write_of_a_migration_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let due = {
        let path = folder.path().join("whole.sqlite");
        write_older(&path, &older()).unwrap();
        assert_brought_up(&path)
    };
    let mut tried = 0;
    for at in 1.. {
        let path = folder.path().join(format!("{at}.sqlite"));
        write_older(&path, &older()).unwrap();
        let (file, number) = (path.display().to_string(), at.to_string());
        let settings = [("ONRECORD_OLDER_FILE", &*file), ("ONRECORD_OLDER_AT", &*number)];
        let output = child("migration::child_that_migrates", &settings).output().unwrap();
        if output.status.success() {
            break;
        }
        assert_eq!(said(&output.stdout, "write").len() + 1, at);
        tried += 1;
        assert_eq!(assert_brought_up(&path), due, "killed at write {at}");
    }
    println!("a migration was killed at {tried} writes: 0 lost or doubled");
    assert!(tried > 20, "the migration has only {tried} writes");
}
