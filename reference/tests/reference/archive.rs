//! What an archive write puts down, reads and seals.

use onrecord_reference::Reference;
use onrecord_spec::archive::{Archived, Parts};
use onrecord_spec::json::Json;
use onrecord_spec::op::{Outcome, RefusalCode};

use super::{perform, row, user};

fn load(reference: &mut Reference, beside: bool, rows: &[Json]) {
    let rows: Vec<&str> = rows.iter().map(|row| row.get()).collect();
    let op = format!(
        r#"{{"load":{{"header":{{"onrecord":1,"conversation":"barn"}},"beside":{beside},"rows":[{}]}}}}"#,
        rows.join(",")
    );
    assert!(matches!(perform(reference, &op).unwrap(), Outcome::Loaded { .. }));
}

fn append(reference: &mut Reference, seq: usize, rest: &str) {
    let op = format!(r#"{{"append":{{"expect":{seq},"rows":[{}]}}}}"#, row(seq, rest).get());
    assert!(matches!(perform(reference, &op).unwrap(), Outcome::Appended { .. }), "{op}");
}

fn write(reference: &mut Reference) -> Archived {
    match perform(reference, r#"{"archive":{}}"#).unwrap() {
        Outcome::Archived(archived) => archived,
        other => panic!("{other:?}"),
    }
}

fn die(reference: &mut Reference, place: &str) {
    let died = perform(reference, &format!(r#"{{"archive":{{"crash":"{place}"}}}}"#)).unwrap();
    assert!(matches!(died, Outcome::Crashed {}), "{died:?}");
}

/// Each held row with its part, and what is sealed.
fn held(reference: &mut Reference) -> (Vec<String>, u64) {
    match perform(reference, r#"{"parts":{"conversation":"barn"}}"#).unwrap() {
        Outcome::Parts(Parts { parts, manifest }) => {
            for part in &parts {
                assert!(manifest.held.iter().any(|held| held.part == part.name), "{}", part.name);
            }
            let held = manifest.held.iter().map(|held| format!("{} {}", held.part, held.row));
            (held.collect(), manifest.sealed)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_write_reads_on_from_what_is_sealed() {
    let mut reference = Reference::new();
    load(&mut reference, false, &[row(0, &user("one")), row(1, &user("two"))]);
    let first = write(&mut reference);
    assert_eq!((first.read.from, first.read.upto), (0, 2));
    append(&mut reference, 2, &user("three"));
    let second = write(&mut reference);
    assert_eq!((second.read.from, second.read.upto), (2, 3));
    assert!(second.bytes < first.bytes);
    let third = write(&mut reference);
    assert_eq!((third.part, third.bytes, third.read.from), (None, 0, 3));
    let expected = ["part-000000 r0", "part-000000 r1", "part-000001 r2"];
    assert_eq!(held(&mut reference), (expected.map(String::from).to_vec(), 3));
}

#[test]
fn an_open_stream_holds_the_seal_and_nothing_is_written_twice() {
    let mut reference = Reference::new();
    let piece = r#"{"event":{"type":"delta","message":"m","part":"text","text":"half"}}"#;
    load(&mut reference, false, &[row(0, &user("one")), row(1, piece), row(2, &user("two"))]);
    write(&mut reference);
    let (rows, sealed) = held(&mut reference);
    assert_eq!((rows.len(), sealed), (2, 1));
    append(&mut reference, 3, r#"{"event":{"type":"turn","edge":"interrupted"}}"#);
    assert_eq!(write(&mut reference).read.from, 1);
    let expected = ["part-000000 r0", "part-000000 r2", "part-000001 r1"];
    assert_eq!(held(&mut reference), (expected.map(String::from).to_vec(), 4));
}

#[test]
fn whoever_dies_is_made_good_by_the_next() {
    for (place, bytes_are_few) in [("half-part", false), ("after-part", true)] {
        let mut reference = Reference::new();
        load(&mut reference, false, &[row(0, &user("one")), row(1, &user("two"))]);
        die(&mut reference, place);
        // No part is whole and named: nothing was archived yet.
        let parts = perform(&mut reference, r#"{"parts":{"conversation":"barn"}}"#).unwrap();
        let Outcome::Refused(refused) = parts else { panic!("{place}: {parts:?}") };
        assert_eq!(refused.code, RefusalCode::NoArchive, "{place}");
        let next = write(&mut reference);
        assert_eq!(next.part.is_none(), bytes_are_few, "{place}");
        let expected = ["part-000000 r0", "part-000000 r1"];
        assert_eq!(held(&mut reference), (expected.map(String::from).to_vec(), 2), "{place}");
    }
}

#[test]
fn a_record_of_an_archived_name_is_told_from_the_one_before() {
    let old = [row(0, &user("one")), row(1, &user("two"))];
    // What comes under the name, and how many versions are held then.
    let cases = [
        (vec![row(0, &user("else")), row(1, &user("two"))], 4),
        (vec![row(0, &user("one")), row(1, &user("else"))], 4),
        (vec![row(0, &user("else"))], 3),
        (old.to_vec(), 2),
        (vec![old[0].clone(), old[1].clone(), row(2, &user("three"))], 3),
        (Vec::new(), 2),
    ];
    for (new, versions) in cases {
        let mut reference = Reference::new();
        load(&mut reference, false, &old);
        write(&mut reference);
        perform(&mut reference, r#"{"delete":{}}"#).unwrap();
        load(&mut reference, true, &new);
        write(&mut reference);
        assert_eq!(held(&mut reference).0.len(), versions, "{new:?}");
        assert!(write(&mut reference).part.is_none());
    }
}
