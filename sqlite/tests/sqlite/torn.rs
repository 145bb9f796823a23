//! Logs that were cut: what is opened at any byte, and the write-ahead log of the
//! database itself.

use std::fs;

use onrecord_reference::Reference;
use onrecord_spec::json::to_line;
use onrecord_spec::op::{Bytes, Implementation, Op, Outcome};
use onrecord_sqlite::SqliteStore;

use crate::{assert_caches, log, message, open, perform, written};

#[test]
fn a_log_that_is_cut_at_any_byte_loses_the_row_in_flight_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("store.sqlite"));
    let rows = [
        message(0, "user", "Ist die M\u{fc}hle zu? \u{1f33e}", r#""request":"k0","#),
        message(1, "assistant", "Yes.", ""),
        message(2, "user", "Since?", ""),
    ];
    let whole = format!("{{\"onrecord\":1,\"conversation\":\"m\"}}\n{}\n", rows.join("\n"));
    for cut in 0..=whole.len() {
        let mut reference = Reference::new();
        let ops = |next: u64| {
            let row = message(next, "assistant", "It is not known.", "")
                .replace(r#""id":"r"#, r#""id":"late"#);
            [
                r#"{"read":{}}"#.to_string(),
                format!(r#"{{"append":{{"expect":{next},"rows":[{row}]}}}}"#),
                r#"{"restart":{}}"#.to_string(),
                r#"{"read":{}}"#.to_string(),
                r#"{"log":{}}"#.to_string(),
                r#"{"lookup":{"by":{"request":"k0"}}}"#.to_string(),
            ]
        };
        let opened = Op::Open { log: Bytes(whole.as_bytes()[..cut].to_vec()) };
        let (ours, due) = (store.perform(&opened).unwrap(), reference.perform(&opened).unwrap());
        assert_eq!(written(&ours), written(&due), "cut at {cut}");
        let Outcome::Loaded { next, .. } = ours else { continue };
        for op in ops(next) {
            let (ours, due) = (perform(&mut store, &op), perform(&mut reference, &op));
            assert_eq!(written(&ours), written(&due), "cut at {cut}: {op}");
        }
    }
    println!("a log was cut at each of {} bytes", whole.len());
}

/// A machine that stops in the middle of a commit leaves a write-ahead log that is
/// cut anywhere. What was committed before that is there, and nothing of the rest.
#[test]
fn a_write_ahead_log_that_is_cut_anywhere_holds_whole_appends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut store = open(&path);
    perform(&mut store, r#"{"load":{"header":{"onrecord":1,"conversation":"granary"},"rows":[]}}"#);
    drop(store);
    let mut store = open(&path);
    perform(&mut store, r#"{"enter":{"conversation":"granary"}}"#);
    for turn in 0..6 {
        let seq = turn * 2;
        let rows = [
            message(seq, "user", "barley?", &format!(r#""request":"k{seq}","#)),
            message(seq + 1, "assistant", "harvest.", ""),
        ];
        let op = format!(r#"{{"append":{{"expect":{seq},"rows":[{}]}}}}"#, rows.join(","));
        assert_eq!(
            written(&perform(&mut store, &op)),
            format!(r#"{{"appended":{{"next":{}}}}}"#, seq + 2)
        );
    }
    let due = log(&mut store);
    let database = fs::read(&path).unwrap();
    let ahead = fs::read(folder.path().join("store.sqlite-wal")).unwrap();
    drop(store);
    // A frame is a header of 24 bytes and a page of 4,096; the file begins with 32.
    let frames = (32..=ahead.len()).step_by(24 + 4096);
    let cuts: Vec<usize> = frames
        .flat_map(|frame| [frame, frame + 1, frame + 24, frame + 2000])
        .chain([0, 1, 31, ahead.len()])
        .filter(|cut| *cut <= ahead.len())
        .collect();
    let mut seen = Vec::new();
    for (number, cut) in cuts.iter().enumerate() {
        let copy = folder.path().join(format!("cut-{number}.sqlite"));
        fs::write(&copy, &database).unwrap();
        fs::write(folder.path().join(format!("cut-{number}.sqlite-wal")), &ahead[..*cut]).unwrap();
        let mut store = open(&copy);
        perform(&mut store, r#"{"enter":{"conversation":"granary"}}"#);
        let found = log(&mut store);
        assert!(due.starts_with(&found), "cut at {cut}: {}", String::from_utf8_lossy(&found));
        let rows = found.iter().filter(|byte| **byte == b'\n').count() - 1;
        assert_eq!(rows % 2, 0, "cut at {cut}: half an append");
        seen.push(rows);
        assert_caches(&mut store, "granary");
        append_one(&mut store, rows as u64);
    }
    seen.sort_unstable();
    seen.dedup();
    println!("a write-ahead log was cut at {} places and held {seen:?} rows", cuts.len());
    assert_eq!(seen, [0, 2, 4, 6, 8, 10, 12]);
}

/// A row whose id and key are new can be appended behind whatever is left.
fn append_one(store: &mut SqliteStore, next: u64) {
    let row = message(next, "user", "Still there?", r#""request":"new","#);
    let op: Op =
        serde_json::from_str(&format!(r#"{{"append":{{"expect":{next},"rows":[{row}]}}}}"#))
            .unwrap();
    let outcome = store.perform(&op).unwrap();
    assert_eq!(to_line(&outcome).unwrap(), format!(r#"{{"appended":{{"next":{}}}}}"#, next + 1));
}
