//! Loading: damage in all forms, what is lost to it, and what is refused.

use onrecord_reference::{LONGEST_LINE, Record};
use onrecord_spec::op::{Damage, RefusalCode};

use super::{ids, row, rows, texts, user};

const HEADER: &str = r#"{"onrecord":1,"conversation":"c1"}"#;

/// A log of three rows with characters of two to four bytes.
fn log() -> Vec<u8> {
    let rows = rows([&*user("é"), &user("→😀"), &user("end")]);
    let record = Record::load(None, &rows).unwrap();
    record.log().to_vec()
}

/// A row as a line of a log, without its line break.
fn line(seq: usize) -> String {
    row(seq, &user("x")).get().to_string()
}

fn damage(offset: usize, line: u64, what: &str) -> Damage {
    Damage { offset: offset as u64, line, what: what.to_string() }
}

#[test]
fn a_log_cut_at_any_byte_keeps_every_whole_row_and_grows_on() {
    let log = log();
    let header = log.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in 0..=log.len() {
        for tail in [&b""[..], b"\0\0\0", b"\xF0\x9F"] {
            let torn = [&log[..cut], tail].concat();
            if cut < header {
                let refusal = Record::open(&torn).unwrap_err();
                assert_eq!(refusal.code, RefusalCode::NoHeader, "cut at {cut}");
                continue;
            }
            let whole = (1..=3).filter(|end| ends(&log, *end) <= cut).count();
            let (mut record, damage) = Record::open(&torn).unwrap();
            assert_eq!(record.rows().len(), whole, "cut at {cut}");
            let loaded = damage.len();
            let rest = torn.len() - if whole == 0 { header } else { ends(&log, whole) };
            let clean = torn[torn.len() - rest..].iter().all(|byte| *byte == b'\n');
            assert_eq!(loaded, usize::from(!clean), "cut at {cut}: {damage:?}");

            // What is appended stands on its own line, and loads with the rest.
            assert_eq!(record.log(), torn);
            record.append(whole as u64, &[row(whole, &user("new"))]).unwrap();
            assert!(record.log().starts_with(&torn));
            let (again, damage) = Record::open(record.log()).unwrap();
            assert_eq!(ids(&again), ids(&record), "cut at {cut}");
            assert_eq!(damage.len(), loaded, "cut at {cut}");
            assert_eq!(texts(again.read(0, None)), texts(record.read(0, None)));
        }
    }
}

/// Where row number `count` ends in the log, its line break left out.
fn ends(log: &[u8], count: usize) -> usize {
    let breaks = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    breaks.map(|(at, _)| at).nth(count).unwrap()
}

#[test]
fn a_row_that_fused_with_a_fragment_is_found_wherever_the_cut_was() {
    let log = log();
    let (begin, end) = (ends(&log, 1) + 1, ends(&log, 2));
    for cut in begin + 1..end {
        let fused = [&log[..cut], line(1).as_bytes(), b"\n", line(2).as_bytes(), b"\n"].concat();
        let (record, damage) = Record::open(&fused).unwrap();
        assert_eq!(ids(&record).0, ["r0", "r1", "r2"], "cut at {cut}");
        assert_eq!((damage.len(), damage[0].offset), (1, begin as u64), "cut at {cut}");
        assert_eq!(texts(record.read(1, Some(1))), [line(1)]);
    }
}

#[test]
fn damage_is_named_with_its_byte_and_line() {
    let [a, b, c] = [line(0), line(1), line(2)];
    let h = HEADER;
    let first = h.len() + 1;
    let second = first + a.len() + 1;
    let quoted = format!(r#"{{"seq":1,"id":"q","quotes":{b},"eve"#);
    let cases: Vec<(String, &[&str], Vec<Damage>)> = vec![
        (format!("{h}\n{a}\n{b}"), &["r0", "r1"], vec![]),
        (format!("{h}\r\n{a}\r\n \t\r\n\n{b}\r\n"), &["r0", "r1"], vec![]),
        (format!("\n{h}\n{a}"), &["r0"], vec![]),
        (h.to_string(), &[], vec![]),
        (
            format!("{h}{a}\n{b}"),
            &["r0", "r1"],
            vec![damage(h.len(), 1, "no line break before this row")],
        ),
        (
            format!("{h}\n{a}{b}\n{c}"),
            &["r0", "r1", "r2"],
            vec![damage(second - 1, 2, "no line break before this row")],
        ),
        (
            format!("{h}\n{a} {b}{c}"),
            &["r0", "r1", "r2"],
            vec![
                damage(second, 2, "no line break before this row"),
                damage(second + b.len(), 2, "no line break before this row"),
            ],
        ),
        (format!("{h}\n{a}\n\0\0\0\0"), &["r0"], vec![damage(second, 3, "a run of 4 NUL bytes")]),
        (
            format!("{h}\n{a}\0\0\n{b}"),
            &["r0", "r1"],
            vec![damage(second - 1, 2, "a run of 2 NUL bytes")],
        ),
        (
            format!("{h}\n{a}\nnoise\n{b}\n"),
            &["r0", "r1"],
            vec![damage(second, 3, "5 bytes that are no whole row")],
        ),
        (
            format!("{h}\n{a}\n\0\0{b}\n"),
            &["r0", "r1"],
            vec![damage(second, 3, "a run of 2 NUL bytes")],
        ),
        (
            format!("{h}\n{a}\n{{\"seq\":1,{b}{c}"),
            &["r0", "r1", "r2"],
            vec![
                damage(second, 3, "9 bytes that are no whole row"),
                damage(second + 9 + b.len(), 3, "no line break before this row"),
            ],
        ),
        // A row that a torn row quotes is no row of the log.
        (
            format!("{h}\n{a}\n{quoted}"),
            &["r0"],
            vec![damage(second, 3, &format!("{} bytes that are no whole row", quoted.len()))],
        ),
        (
            format!("{h}\n{a}\n{{}}{{}}\n{b}"),
            &["r0", "r1"],
            vec![damage(second, 3, "4 bytes that are no whole row")],
        ),
    ];
    for (log, held, expected) in cases {
        let (record, damage) = Record::open(log.as_bytes()).unwrap();
        assert_eq!(damage, expected, "{log}");
        assert_eq!(ids(&record).0, held, "{log}");
    }
}

#[test]
fn bytes_that_are_no_text_cost_their_line_alone() {
    let log = [HEADER.as_bytes(), b"\n", b"\xFF\xFE{}\n", line(0).as_bytes(), b"\n"].concat();
    let (record, damaged) = Record::open(&log).unwrap();
    let what = "4 bytes that are no whole row and no valid UTF-8";
    assert_eq!(damaged, [damage(HEADER.len() + 1, 2, what)]);
    assert_eq!(ids(&record).0, ["r0"]);
}

#[test]
fn a_line_beyond_the_limit_is_damage() {
    let mut log = format!("{HEADER}\n").into_bytes();
    log.resize(log.len() + LONGEST_LINE + 1, b'7');
    log.extend_from_slice(format!("\n{}\n", line(0)).as_bytes());
    let (record, damaged) = Record::open(&log).unwrap();
    assert_eq!(damaged, [damage(HEADER.len() + 1, 2, "a line longer than 67108864 bytes")]);
    assert_eq!(ids(&record).0, ["r0"]);
}

#[test]
fn a_file_of_noise_names_a_thousand_places_and_then_one_for_all() {
    let log = format!("{HEADER}\n{}{}", "x\n".repeat(5000), line(0));
    let (record, damaged) = Record::open(log.as_bytes()).unwrap();
    assert_eq!((damaged.len(), ids(&record).0), (1001, vec!["r0".to_string()]));
    assert_eq!(damaged[1000].what, "more damage from here on; 1000 places are named");
}

#[test]
fn what_is_whole_and_wrong_is_refused_with_the_whole_message() {
    let like = "; a log begins with a line like {\"onrecord\":1,\"conversation\":\"c1\"}";
    let row = |seq: usize, rest: &str| super::row(seq, rest).get().to_string();
    let cases = [
        (String::new(), RefusalCode::NoHeader, None, format!("the log is empty{like}")),
        ("\n \n".into(), RefusalCode::NoHeader, None, format!("the log is empty{like}")),
        ("{\"onrec".into(), RefusalCode::NoHeader, None, format!("the first line does not begin with a whole JSON value{like}")),
        (line(0), RefusalCode::NoHeader, None, format!("the first line is no header: field `onrecord` is missing; it must be a format version{like}")),
        (r#"{"onrecord":0}"#.into(), RefusalCode::NoHeader, None, format!("the first line is no header: onrecord: versions start at 1, found 0{like}")),
        (r#"{"onrecord":2,"talk":1}"#.into(), RefusalCode::NewerVersion, None, "the log has format version 2; this reads up to version 1 (record.version)".into()),
        (format!("{HEADER}\n{}\n{}", line(0), line(2)), RefusalCode::WrongSeq, Some(2), "row 2 stands where row 1 must (record.seq-gap-free)".into()),
        (format!("{HEADER}\n{}\ntorn\n{}", line(0), line(2)), RefusalCode::WrongSeq, Some(2), "row 2 stands where row 1 must (record.seq-gap-free)".into()),
        (format!("{HEADER}\n{}\n{}", line(0), line(0)), RefusalCode::WrongSeq, Some(0), "row 0 stands where row 1 must (record.seq-gap-free)".into()),
        (format!("{HEADER}\n{}{}", line(0), line(2)), RefusalCode::WrongSeq, Some(2), "row 2 stands where row 1 must (record.seq-gap-free)".into()),
        (format!("{HEADER}\n[1]\n"), RefusalCode::Malformed, None, "must be an object, found [1] (record.expected-shape)".into()),
        (format!("{HEADER}\n{}", row(0, r#"{"event":{"type":"mood"}}"#)), RefusalCode::UnknownType, Some(0), "row 0 has the unknown event type `mood` and does not say `ignorable` (record.unknown-row)".into()),
        (format!("{HEADER}\n{}", row(0, r#"{"parent":"r7","event":{"type":"turn","edge":"ended"}}"#)), RefusalCode::UnknownParent, Some(0), "row 0 hangs from `r7`, which is no earlier row (record.expected-shape)".into()),
        (format!("{HEADER}\n{}", row(0, r#"{"event":{"type":"message","role":"user","blocks":[{"type":"song"}]}}"#)), RefusalCode::Malformed, Some(0), "row 0: event.blocks[0]: unknown block type `song` (record.expected-shape)".into()),
    ];
    for (log, code, seq, detail) in cases {
        let refusal = Record::open(log.as_bytes()).unwrap_err();
        assert_eq!((refusal.code, refusal.seq, refusal.detail), (code, seq, detail), "{log}");
    }
}

#[test]
fn an_imported_authority_block_is_kept() {
    let stale = r#"{"event":{"type":"message","role":"user","blocks":[{"type":"authority","text":"root"}]}}"#;
    let record = Record::load(None, &rows([stale])).unwrap();
    let (again, damage) = Record::open(record.log()).unwrap();
    assert_eq!((again.rows().len(), damage), (1, vec![]));
    assert!(again.rows()[0].holds_authority());
}

/// Bytes written over at random places, by a generator without a seed from
/// outside: the same on every run.
#[test]
fn a_log_written_over_anywhere_loads_or_is_refused_and_grows_on() {
    let log = log();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut loaded, mut damaged) = (0, 0);
    for _ in 0..20_000 {
        let mut torn = log.clone();
        for _ in 0..=random(3) {
            let at = random(torn.len());
            torn[at] = b"\0\n\"{}[],:0\\\xF0\xFF "[random(14)];
        }
        let Ok((mut record, damage)) = Record::open(&torn) else { continue };
        loaded += 1;
        damaged += usize::from(!damage.is_empty());
        let next = record.next();
        record.append(next, &[row(record.rows().len(), &user("new"))]).unwrap();
        let (again, found) = Record::open(record.log()).unwrap();
        assert_eq!((ids(&again), found), (ids(&record), damage));
    }
    assert!(loaded > 2000 && damaged > 1000, "{loaded} loaded, {damaged} damaged");
}
