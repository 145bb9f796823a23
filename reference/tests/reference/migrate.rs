//! Migration: every way in which the rows of one record can be spread over two
//! tables, and every place at which the process can die.

use onrecord_reference::migrate::Migration;
use onrecord_reference::{Record, Reference};
use onrecord_spec::json::{Json, keep};
use onrecord_spec::op::{Older, RefusalCode};

use super::{ids, perform, row, rows, user, written};

/// Six rows: two layers of summaries, and one row that came after.
fn given() -> Vec<Json> {
    let summary = |first: &str, rows: &str, last: &str| {
        format!(
            r#"{{"replaces":{{"first":"{first}","last":"{last}","rows":[{rows}],"source":"compaction"}},"audience":"model","event":{{"type":"message","role":"user","blocks":[{{"type":"text","text":"summary"}}]}}}}"#
        )
    };
    let given = [
        user("one"),
        user("two"),
        summary("r0", r#""r0""#, "r0"),
        user("three"),
        summary("r2", r#""r2","r1""#, "r1"),
        user("four"),
    ];
    rows(given.iter().map(String::as_str))
}

/// The rows of one table, by the bits of a number, the last first or the first
/// first.
fn table(rows: &[Json], bits: usize, backwards: bool) -> Vec<Json> {
    let inside = rows.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
    let mut table: Vec<Json> = inside.map(|(_, row)| row.clone()).collect();
    if backwards {
        table.reverse();
    }
    table
}

fn older(rows: Vec<Json>, side: Vec<Json>) -> Older {
    Older { header: None, rows, side }
}

#[test]
fn every_way_to_spread_six_rows_over_two_tables() {
    let given = given();
    let all = (1 << given.len()) - 1;
    for stayed in 0..=all {
        for moved in [all & !stayed, all, all & !(stayed >> 1)] {
            let spread = older(table(&given, stayed, false), table(&given, moved, stayed % 2 == 0));
            let context = format!("{stayed:06b} stayed, {moved:06b} moved");
            let Ok(mut migration) = Migration::begin(&spread) else { panic!("{context}") };
            let alone = (moved & !stayed).count_ones() as usize;
            assert_eq!(migration.side(), alone, "{context}");
            // Nothing is missed at the end: there was no such row.
            let union = stayed | moved;
            let rows = union.trailing_ones() as usize;
            if let Some(behind) = (rows..given.len()).find(|place| union >> place & 1 == 1) {
                let refused = migration.finish().unwrap_err();
                assert_eq!(refused.code, RefusalCode::WrongSeq, "{context}");
                assert_eq!(refused.seq, Some(behind as u64), "{context}");
                assert_eq!(migration.side(), alone, "{context}");
                continue;
            }
            let whole = Record::load(None, &given[..rows]).unwrap();
            let record = migration.finish().unwrap();
            assert_eq!(record.log(), whole.log(), "{context}");
            assert_eq!(ids(&record), ids(&whole), "{context}");
            assert_eq!(migration.side(), 0, "{context}");
        }
    }
}

#[test]
fn dying_at_every_place_loses_and_doubles_nothing() {
    let given = given();
    let whole = Record::load(None, &given).unwrap();
    let spread = older(table(&given, 0b110_000, false), table(&given, 0b001_111, true));
    for whole_steps in 0..=4 {
        for half in [false, true] {
            let mut migration = Migration::begin(&spread).unwrap();
            for _ in 0..whole_steps {
                migration.put_back();
                migration.take_out();
            }
            if half {
                migration.put_back();
            }
            let record = migration.finish().unwrap();
            assert_eq!(record.log(), whole.log(), "after {whole_steps}, half: {half}");
            assert_eq!(migration.finish().unwrap().log(), whole.log());
        }
    }
}

#[test]
fn what_is_no_sound_store_is_refused() {
    let given = given();
    let two = |text: &str| row(1, &user(text));
    let odd = |json: &str| keep(json).unwrap();
    let unknown = r#"{"seq":1,"id":"r1","event":{"type":"weather"}}"#;
    for (rows, side, code, seq) in [
        (vec![given[0].clone()], vec![two("two"), two("other")], RefusalCode::WrongSeq, Some(1)),
        (vec![given[0].clone(), two("two")], vec![two("other")], RefusalCode::WrongSeq, Some(1)),
        (vec![two("two"), two("two")], vec![given[0].clone()], RefusalCode::WrongSeq, Some(1)),
        (vec![given[0].clone()], vec![odd(unknown)], RefusalCode::UnknownType, Some(1)),
        (vec![given[0].clone()], vec![odd("7")], RefusalCode::Malformed, None),
        (vec![odd(r#"{"seq":0}"#)], vec![two("two")], RefusalCode::Malformed, Some(0)),
    ] {
        let spread = older(rows, side);
        let refused = Migration::begin(&spread).unwrap_err();
        assert_eq!((refused.code, refused.seq), (code, seq), "{spread:?}");
    }
    // Written anew by the older version, and the same row still.
    let spaced = odd(&two("two").get().replace("\"id\":\"r1\",", " \"id\" : \"r1\" , "));
    let mut same =
        Migration::begin(&older(vec![given[0].clone(), two("two")], vec![spaced])).unwrap();
    assert_eq!((same.side(), same.finish().unwrap().next()), (0, 2));
}

#[test]
fn a_refused_store_leaves_what_was_held() {
    let given = given();
    let json =
        |rows: &[Json]| rows.iter().map(|row| row.get().to_string()).collect::<Vec<_>>().join(",");
    let mut reference = Reference::new();
    let migrate = |rows: &[Json], side: &[Json]| {
        format!(r#"{{"migrate":{{"older":{{"rows":[{}],"side":[{}]}}}}}}"#, json(rows), json(side))
    };
    let refused = r#"{"refused":{"code":"no-record","detail":"no record is held; `load` or `open` one first"}}"#;
    for (op, expected) in [
        (r#"{"migrate":{}}"#.to_string(), Some(refused.to_string())),
        (
            migrate(&given[4..], &given[..4]),
            Some(r#"{"migrated":{"next":6,"returned":4,"side":0}}"#.into()),
        ),
        (migrate(&given[4..], &given[..3]), None),
        (
            r#"{"migrate":{}}"#.to_string(),
            Some(r#"{"migrated":{"next":6,"returned":0,"side":0}}"#.into()),
        ),
        (r#"{"migrate":{"crash":true}}"#.to_string(), Some(r#"{"crashed":{}}"#.into())),
        (r#"{"restart":{}}"#.to_string(), Some(r#"{"loaded":{"next":6}}"#.into())),
        (
            r#"{"read":{}}"#.to_string(),
            Some(format!(r#"{{"rows":{{"rows":[{}]}}}}"#, json(&given))),
        ),
    ] {
        let outcome = written(&perform(&mut reference, &op).unwrap());
        match expected {
            Some(expected) => assert_eq!(outcome, expected, "{op}"),
            None => assert!(
                outcome.starts_with(r#"{"refused":{"code":"wrong-seq","seq":4"#),
                "{outcome}"
            ),
        }
    }
}
