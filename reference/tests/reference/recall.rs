//! Recall: what of a row is searched, and what of a record is reached.

use onrecord_reference::Record;
use onrecord_reference::recall::{recall, texts};
use onrecord_spec::json::Json;
use onrecord_spec::record::Row;
use onrecord_spec::text::Text;

use super::{ids, row, rows, user};

/// The ids of the rows that are hit, and by which row each was taken.
fn hits(record: &Record, asks: bool, query: Option<&str>) -> Vec<(String, Option<String>)> {
    let query = query.map(Text::from);
    let hits = recall(record, asks, query.as_ref());
    hits.map(|hit| (hit.row.to_string(), hit.left.map(|left| left.by.to_string()))).collect()
}

fn taken(ids: &[&str], by: &str) -> Vec<(String, Option<String>)> {
    ids.iter().map(|id| ((*id).to_string(), Some(by.to_string()))).collect()
}

#[test]
fn every_place_of_a_row_in_which_words_are_looked_for() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"{"event":{"type":"message","role":"assistant","blocks":[{"type":"reasoning","text":"a thought"},{"type":"text","text":"a word"}]}}"#,
            &["a thought", "a word"],
        ),
        (
            r#"{"event":{"type":"message","role":"assistant","blocks":[{"type":"call","id":"c","name":"dig","arguments":"{\"at\": [\"x\\ny\"], \"n\": 3}"}]}}"#,
            &["dig", r#"{"at": ["x\ny"], "n": 3}"#, "x\ny"],
        ),
        (
            r#"{"event":{"type":"message","role":"assistant","blocks":[{"type":"call","id":"c","name":"dig","arguments":"{\"at\": \"cut"}]}}"#,
            &["dig", r#"{"at": "cut"#],
        ),
        (
            r#"{"event":{"type":"result","call":"c","name":"dig","content":[{"type":"text","text":"gravel"},{"type":"image","media_type":"image/png","url":"u"}]}}"#,
            &["dig", "gravel"],
        ),
        (
            r#"{"event":{"type":"message","role":"user","blocks":[{"type":"authority","facts":"root"},{"type":"result","call":"c","content":[{"type":"text","text":"sand"}]}]}}"#,
            &["sand"],
        ),
        (
            r#"{"event":{"type":"delta","message":"m","part":"text","text":"a piece"}}"#,
            &["a piece"],
        ),
        (
            r#"{"event":{"type":"compaction","compaction":"k","step":"upgraded","summary":"s","text":"a summary","agent":"tidier"}}"#,
            &["a summary"],
        ),
        (r#"{"event":{"type":"turn","edge":"ended"}}"#, &[]),
        (r#"{"event":{"type":"call-started","call":"c"}}"#, &[]),
        (r#"{"ignorable":true,"event":{"type":"weather","text":"rain"}}"#, &[]),
    ];
    for (stored, expected) in cases {
        let decoded = Row::decode(&row(0, stored)).unwrap();
        assert_eq!(texts(&decoded), *expected, "{stored}");
    }
}

#[test]
fn words_are_runs_of_letters_and_digits_whatever_their_case() {
    let text = "Barn-owl no. 7 sat in the ÉTÉ sun; barns?";
    let record = Record::load(None, &rows([user(text).as_str()])).unwrap();
    for (query, found) in [
        ("barn", true),
        ("OWL barn", true),
        ("owl-barn, 7!", true),
        ("été", true),
        ("ete", false),
        ("bar", false),
        ("owls", false),
        ("barn eagle", false),
        ("77", false),
        ("", true),
        (" -- ", true),
    ] {
        assert_eq!(!hits(&record, false, Some(query)).is_empty(), found, "{query}");
    }
}

#[test]
fn what_is_reached_depends_on_who_asks() {
    let summary = |first: &str, rows: &str| {
        format!(
            r#"{{"replaces":{{"first":"{first}","last":"r1","rows":[{rows}],"source":"other"}},"event":{{"type":"message","role":"user","blocks":[{{"type":"text","text":"owl"}}]}}}}"#
        )
    };
    let given = [
        user("owl one"),
        user("owl two"),
        user("owl three"),
        summary("r0", r#""r0","r1""#),
        r#"{"event":{"type":"turn","edge":"ended"}}"#.to_string(),
    ];
    let record = Record::load(None, &rows(given.iter().map(String::as_str))).unwrap();
    assert_eq!(hits(&record, true, None), taken(&["r0", "r1"], "r3"));
    assert_eq!(hits(&record, true, Some("two")), taken(&["r1"], "r3"));
    assert_eq!(hits(&record, true, Some("three")), []);
    let stayed = |id: &str| (id.to_string(), None);
    let mut all = taken(&["r0", "r1"], "r3");
    all.extend([stayed("r2"), stayed("r3"), stayed("r4")]);
    assert_eq!(hits(&record, false, None), all);
    all.pop();
    assert_eq!(hits(&record, false, Some("owl")), all);
}

/// A summary of these rows.
fn summary_of(seq: usize, taken: &[String]) -> Json {
    let cited: Vec<String> = taken.iter().map(|id| format!("\"{id}\"")).collect();
    let (first, last, cited) = (&cited[0], &cited[cited.len() - 1], cited.join(","));
    let text = user("a summary").replacen('{', "", 1);
    row(
        seq,
        &format!(
            r#"{{"replaces":{{"first":{first},"last":{last},"rows":[{cited}],"source":"compaction"}},{text}"#
        ),
    )
}

/// Every two ranges, one after the other, of a record of five rows.
#[test]
fn context_and_recall_hold_each_row_once() {
    let given: Vec<String> = (0..5).map(|seq| user(&format!("word{seq}"))).collect();
    let plain = Record::load(None, &rows(given.iter().map(String::as_str))).unwrap();
    let ranges =
        |rows: usize| (0..rows).flat_map(move |first| (first..rows).map(move |last| first..=last));
    let mut seen = 0;
    for first in ranges(5) {
        let mut once = plain.clone();
        let taken = &ids(&once).1[first];
        once.append(5, &[summary_of(5, taken)]).unwrap();
        for second in ranges(ids(&once).1.len()) {
            let mut twice = once.clone();
            let taken = &ids(&twice).1[second];
            twice.append(6, &[summary_of(6, taken)]).unwrap();
            let (mut all, context) = ids(&twice);
            let recalled = hits(&twice, true, None).into_iter().map(|(id, _)| id);
            let mut reached: Vec<String> = context.into_iter().chain(recalled).collect();
            all.sort();
            reached.sort();
            assert_eq!(reached, all);
            seen += 1;
        }
    }
    assert_eq!(seen, 140);
}
