//! Appending: what is refused, with the whole message, and that nothing of it
//! stays.

use onrecord_reference::{Appended, Record};
use onrecord_spec::json::keep;
use onrecord_spec::op::RefusalCode;

use super::{ids, row, rows, texts, user};

/// A record of three rows, the last of which replaced the first two.
fn compacted() -> Record {
    let summary = replacing(&user("sum"), &["r0", "r1"], ["r0", "r1"]);
    let all = rows([&*user("a"), &user("b"), &user("c"), &summary]);
    Record::load(None, &all).unwrap()
}

fn replacing(row: &str, cited: &[&str], ends: [&str; 2]) -> String {
    let (cited, [first, last]) = (serde_json::to_string(cited).unwrap(), ends);
    let replaces = format!(
        r#"{{"replaces":{{"first":"{first}","last":"{last}","rows":{cited},"source":"compaction"}},"#
    );
    row.replacen('{', &replaces, 1)
}

#[test]
fn a_refused_append_says_why_and_stores_nothing() {
    let plain = user("x");
    let authority = r#"{"event":{"type":"message","role":"user","blocks":[{"type":"authority","text":"root"}]}}"#;
    let with = |field: &str| plain.replacen('{', &format!("{{{field},"), 1);
    let raw = |text: &str| keep(text).unwrap();
    let cases = [
        (
            3,
            vec![row(3, &plain)],
            RefusalCode::Conflict,
            Some(4),
            "the append expects row 3 to come next; row 4 does (record.expected-seq)",
        ),
        (
            4,
            vec![row(4, &plain), row(6, &plain)],
            RefusalCode::WrongSeq,
            Some(6),
            "row 6 stands where row 5 must (record.seq-gap-free)",
        ),
        (
            4,
            vec![row(3, &plain)],
            RefusalCode::WrongSeq,
            Some(3),
            "row 3 stands where row 4 must (record.seq-gap-free)",
        ),
        (
            4,
            vec![
                row(4, &plain),
                raw(r#"{"seq":5,"id":"r4","event":{"type":"turn","edge":"ended"}}"#),
            ],
            RefusalCode::DuplicateId,
            Some(5),
            "row 5 has the id `r4` of row 4 (record.expected-shape)",
        ),
        (
            4,
            vec![raw(r#"{"seq":4,"id":" ","event":{"type":"turn","edge":"ended"}}"#)],
            RefusalCode::Malformed,
            Some(4),
            "row 4: id: must not be blank, found \" \" (record.expected-shape)",
        ),
        (
            4,
            vec![row(4, &with(r#""parent":"r9""#))],
            RefusalCode::UnknownParent,
            Some(4),
            "row 4 hangs from `r9`, which is no earlier row (record.expected-shape)",
        ),
        (
            4,
            vec![row(4, &with(r#""parent":"r4""#))],
            RefusalCode::UnknownParent,
            Some(4),
            "row 4 hangs from `r4`, which is no earlier row (record.expected-shape)",
        ),
        (
            4,
            vec![row(4, r#"{"event":{"type":"mood"}}"#)],
            RefusalCode::UnknownType,
            Some(4),
            "row 4 has the unknown event type `mood` and does not say `ignorable` (record.unknown-row)",
        ),
        (
            4,
            vec![row(4, r#"{"event":{"type":"turn"}}"#)],
            RefusalCode::Malformed,
            Some(4),
            "row 4: event: field `edge` is missing; it must be `started`, `ended` or `interrupted` (record.expected-shape)",
        ),
        (
            4,
            vec![raw("7")],
            RefusalCode::Malformed,
            None,
            "must be an object, found 7 (record.expected-shape)",
        ),
        (
            4,
            vec![row(4, authority)],
            RefusalCode::AuthorityStored,
            Some(4),
            "row 4 carries an authority block, which is made fresh for each request and never stored (authority.never-stored)",
        ),
        (
            4,
            vec![row(4, &replacing(&plain, &["r0"], ["r0", "r0"]))],
            RefusalCode::NotInContext,
            Some(4),
            "row 4 replaces `r0`, which is not in the context (compaction.replaces-range)",
        ),
        (
            4,
            vec![row(4, &replacing(&plain, &["r9"], ["r9", "r9"]))],
            RefusalCode::NotInContext,
            Some(4),
            "row 4 replaces `r9`, which is not in the context (compaction.replaces-range)",
        ),
        (
            4,
            vec![row(4, &replacing(&plain, &["r2", "r3"], ["r2", "r3"]))],
            RefusalCode::NotInContext,
            Some(4),
            "row 4 replaces `r3`, which does not come behind the row before \
             (compaction.replaces-range)",
        ),
        (
            4,
            vec![row(4, &plain), row(5, &replacing(&plain, &["r3", "r4"], ["r3", "r4"]))],
            RefusalCode::Uncited,
            Some(5),
            "row 5 replaces rows up to `r4` and leaves out one before it \
             (compaction.replaces-range)",
        ),
        (
            4,
            vec![row(4, &replacing(&plain, &["r3"], ["r3", "r2"]))],
            RefusalCode::NotInContext,
            Some(4),
            "row 4 replaces `r3` to `r2` and cites `r3` to `r3` (compaction.replaces-range)",
        ),
        (
            4,
            vec![row(4, &replacing(&plain, &[], ["r3", "r2"]))],
            RefusalCode::NotInContext,
            Some(4),
            "row 4 replaces no row at all (compaction.replaces-range)",
        ),
        (
            4,
            vec![
                row(4, &replacing(&plain, &["r3", "r2"], ["r3", "r2"])),
                row(5, &with(r#""parent":"r7""#)),
            ],
            RefusalCode::UnknownParent,
            Some(5),
            "row 5 hangs from `r7`, which is no earlier row (record.expected-shape)",
        ),
    ];
    for (expect, batch, code, seq, detail) in cases {
        let mut record = compacted();
        let (log, before) = (record.log().to_vec(), ids(&record));
        let refusal = record.append(expect, &batch).unwrap_err();
        assert_eq!((refusal.code, refusal.seq, &*refusal.detail), (code, seq, detail));
        assert_eq!(record.log(), log, "{detail}");
        assert_eq!(ids(&record), before, "{detail}");
        assert_eq!(record.append(4, &[row(4, &plain)]), Ok(Appended::Stored), "{detail}");
    }
}

#[test]
fn replacements_take_the_place_of_their_range() {
    let mut record = compacted();
    assert_eq!(ids(&record).1, ["r3", "r2"]);
    let batch = [
        row(4, &user("d")),
        row(5, &replacing(&user("e"), &["r2"], ["r2", "r2"])),
        row(6, &replacing(&user("f"), &["r3", "r5"], ["r3", "r5"])),
        row(7, &user("g")),
    ];
    assert_eq!(record.append(4, &batch), Ok(Appended::Stored));
    assert_eq!(ids(&record).1, ["r6", "r4", "r7"]);
    let all = replacing(&user("h"), &["r6", "r4", "r7"], ["r6", "r7"]);
    assert_eq!(record.append(8, &[row(8, &all)]), Ok(Appended::Stored));
    let (all, context) = ids(&record);
    assert_eq!((all.len(), context), (9, vec!["r8".to_string()]));
    let (again, damage) = Record::open(record.log()).unwrap();
    assert_eq!((ids(&again), damage), (ids(&record), vec![]));
}

#[test]
fn an_append_extends_the_bytes_and_nothing_is_lost() {
    let mut record = Record::load(None, &rows([&*user("a")])).unwrap();
    let odd = row(
        1,
        r#"{"ignorable":true,"big":123456789012345678901234567890,"event":{"type":"mood","half":"\ud83d","nul":"\u0000"}}"#,
    );
    let before = record.log().to_vec();
    assert_eq!(record.append(1, &[]), Ok(Appended::Stored));
    assert_eq!(record.log(), before);
    assert_eq!(record.append(1, &[odd]), Ok(Appended::Stored));
    assert!(record.log().starts_with(&before));
    assert_eq!(
        texts(record.read(1, None)),
        [
            r#"{"seq":1,"id":"r1","ignorable":true,"event":{"type":"mood","half":"\ud83d","nul":"\u0000"},"big":123456789012345678901234567890}"#
        ]
    );
}
