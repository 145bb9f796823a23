//! Two processes append to one conversation at once.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;

use onrecord_spec::op::{Outcome, RefusalCode};
use onrecord_spec::record::Row;

use crate::{assert_caches, child, message, open, perform, said, setting, written};

/// How many rows each process appends.
const ROWS: u64 = 150;

/// How many keys both processes send.
const SHARED: u64 = 50;

#[test]
fn child_that_appends() {
    let (Some(path), Some(name)) = (setting("ONRECORD_WRITER_FILE"), setting("ONRECORD_WRITER"))
    else {
        return;
    };
    let mut store = open(Path::new(&path));
    perform(&mut store, r#"{"enter":{"conversation":"shared"}}"#);
    // Both begin when both are there.
    println!("ready 1");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let (mut expect, mut conflicts, mut known) = (0, 0, 0);
    for number in 0..ROWS + SHARED {
        // The last ones are sent by both, under the same keys.
        let key = if number < ROWS { format!("{name}-{number}") } else { format!("both-{number}") };
        loop {
            let row =
                message(expect, "user", &format!("row {key}"), &format!(r#""request":"{key}","#))
                    .replace(
                        &format!(r#""id":"r{expect}""#),
                        &format!(r#""id":"{name}-{number}""#),
                    );
            let op = format!(r#"{{"append":{{"expect":{expect},"rows":[{row}]}}}}"#);
            match perform(&mut store, &op) {
                Outcome::Appended { next } => {
                    expect = next;
                    break;
                }
                Outcome::Known { next, .. } => {
                    known += 1;
                    expect = next;
                    break;
                }
                Outcome::Refused(refusal) if refusal.code == RefusalCode::Conflict => {
                    conflicts += 1;
                    expect = refusal.seq.unwrap();
                }
                other => panic!("{}", written(&other)),
            }
        }
    }
    println!("conflicts {conflicts}");
    println!("known {known}");
}

#[test]
fn two_processes_lose_no_append_and_store_each_key_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut store = open(&path);
    perform(&mut store, r#"{"load":{"header":{"onrecord":1,"conversation":"shared"},"rows":[]}}"#);
    let file = path.display().to_string();
    let start = |name: &str| {
        let settings = [("ONRECORD_WRITER_FILE", &*file), ("ONRECORD_WRITER", name)];
        let mut command = child("writers::child_that_appends", &settings);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        (child, lines)
    };
    let mut writers = [start("one"), start("two")];
    for (_, lines) in &mut writers {
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "a writer died");
        }
    }
    for (child, _) in &mut writers {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut conflicts = 0;
    let mut known = 0;
    for (mut child, mut lines) in writers {
        let mut output = Vec::new();
        lines.read_to_end(&mut output).unwrap();
        assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&output));
        conflicts += said(&output, "conflicts").iter().sum::<u64>();
        known += said(&output, "known").iter().sum::<u64>();
    }
    let Outcome::Rows { rows } = perform(&mut store, r#"{"read":{}}"#) else { panic!("no rows") };
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (seq, raw) in rows.iter().enumerate() {
        let row = Row::decode(raw).unwrap();
        assert_eq!(row.seq, seq as u64);
        *times.entry(row.request.unwrap().to_string()).or_default() += 1;
    }
    let wrong = times.values().filter(|times| **times != 1).count();
    println!(
        "two processes: {} rows, {wrong} lost or doubled, {conflicts} conflicts refused, {known} \
         keys known",
        rows.len()
    );
    assert_eq!((rows.len() as u64, times.len() as u64), (2 * ROWS + SHARED, 2 * ROWS + SHARED));
    assert_eq!((wrong, known), (0, SHARED));
    // Whoever came second began with the wrong seq.
    assert!(conflicts > 0);
    assert_caches(&mut store, "shared");
}
