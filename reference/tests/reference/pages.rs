//! Pages and windows: what they hold, against the plainest way to say it, and
//! what they cost at their limits.

use onrecord_reference::{Record, page, window};
use onrecord_spec::json::Json;
use onrecord_spec::op::RefusalCode;
use onrecord_spec::page::{Page, WINDOW_BYTES, Window, WindowAt};
use onrecord_spec::record::{Audience, CompactionStage, Event, Row};
use onrecord_spec::text::Text;

use super::random::{grown, random_records};
use super::{row, texts, user};

fn is_message(row: &Row) -> bool {
    row.replaces.is_none() && matches!(row.event, Event::Message(_))
}

/// First and last row of each stretch that no page separates.
fn units(rows: &[Row]) -> Vec<(usize, usize)> {
    let mut units = vec![];
    for (last, row) in rows.iter().enumerate() {
        let cited = row.replaces.as_ref().and_then(|replaces| replaces.compaction.as_ref());
        for (first, before) in rows[..last].iter().enumerate() {
            let whole_of = |delta: &onrecord_spec::record::Delta| {
                let came = rows[..last].iter().any(|row| row.id == delta.message);
                let also = matches!(&row.event, Event::Delta(other)
                    if other.message == delta.message && !came);
                row.id == delta.message || also
            };
            let joined = match &before.event {
                Event::Delta(delta) => {
                    let came = rows[..first].iter().any(|row| row.id == delta.message);
                    !came && whole_of(delta)
                }
                // The last that was said before the replacement.
                Event::Compaction(step) => {
                    let is = |row: &Row| {
                        matches!(&row.event, Event::Compaction(other)
                        if other.compaction == step.compaction
                            && other.step == CompactionStage::Provenance)
                    };
                    is(before)
                        && cited == Some(&step.compaction)
                        && !rows[first + 1..last].iter().any(is)
                }
                _ => false,
            };
            if joined {
                units.push((first, last));
            }
        }
    }
    units
}

/// Where a page begins, said plainly.
fn start(rows: &[Row], end: usize, limit: usize) -> usize {
    let messages: Vec<usize> = (0..end).filter(|place| is_message(&rows[*place])).collect();
    let mut start = messages.iter().rev().nth(limit - 1).copied().unwrap_or(0);
    let units = units(rows);
    while let Some((first, _)) = units.iter().find(|(first, last)| *first < start && start <= *last)
    {
        start = *first;
    }
    start
}

fn page_of(record: &Record, limit: usize, before: Option<&Text>) -> Page {
    page::page(record, i64::try_from(limit).unwrap(), before).unwrap()
}

#[test]
fn pages_joined_are_the_record_whatever_the_limit() {
    let mut moved = 0;
    for (at, rows) in random_records(200, 24).enumerate() {
        let record = grown(&rows);
        let all: Vec<String> = record.read(0, None).map(|row| row.get().to_string()).collect();
        for limit in (1..=rows.len() + 1).chain([1 << 40]) {
            let (mut end, mut before) = (rows.len(), None);
            loop {
                let found = page_of(&record, limit, before.as_ref());
                let begins = start(record.rows(), end, limit);
                let why = || format!("record {at}, limit {limit}, to row {end}: {rows:#?}");
                assert_eq!(
                    texts(found.rows.iter().map(|row| &**row)),
                    all[begins..end],
                    "{}",
                    why()
                );
                assert_eq!(found.upto, rows.len() as u64);
                assert_eq!((found.older, found.before.is_some()), (begins > 0, begins > 0));
                moved += usize::from(begins > 0 && !is_message(&record.rows()[begins]));
                end = begins;
                before = found.before;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(end, 0);
        }
    }
    assert!(moved > 100, "{moved}");
}

#[test]
fn a_cursor_holds_for_as_long_as_the_record() {
    let rows: Vec<Json> =
        ["a", "b", "c", "d"].iter().enumerate().map(|(seq, text)| row(seq, &user(text))).collect();
    let mut record = grown(&rows);
    let newest = page_of(&record, 1, None);
    let cursor = newest.before.unwrap();
    let before = page_of(&record, 2, Some(&cursor));
    let held = |found: &Page| texts(found.rows.iter().map(|row| &**row)).join("\n");
    assert_eq!(held(&before), texts(record.read(1, Some(2))).join("\n"));
    let summary = user("sum").replacen(
        '{',
        r#"{"replaces":{"first":"r0","last":"r2","rows":["r0","r1","r2"],"source":"compaction"},"#,
        1,
    );
    record.append(4, &[row(4, &summary), row(5, &user("e"))]).unwrap();
    // An append that is refused changes nothing that pages are made of.
    record.append(6, &[row(6, &user("f")), row(9, &user("g"))]).unwrap_err();
    let (reopened, _) = Record::open(record.log()).unwrap();
    for record in [&record, &reopened] {
        assert_eq!(held(&page_of(record, 2, Some(&cursor))), held(&before));
        assert_eq!(page_of(record, 9, None).rows.len(), 6);
        assert_eq!(page_of(record, 1, None).rows.len(), 1);
    }
}

#[test]
fn a_cursor_of_nothing_is_refused() {
    let load = |conversation: &str, texts: &[&str]| {
        let header = format!(r#"{{"onrecord":1,"conversation":"{conversation}"}}"#);
        let rows: String = texts
            .iter()
            .enumerate()
            .map(|(seq, text)| format!("\n{}", row(seq, &user(text))))
            .collect();
        Record::open(format!("{header}{rows}\n").as_bytes()).unwrap().0
    };
    let record = load("c1", &["a", "b", "c"]);
    let cursor = page_of(&record, 1, None).before.unwrap();
    let text = cursor.to_string();
    assert!(text.len() <= 40, "{text}");
    let mut wrong: Vec<String> = (0..text.len())
        .map(|at| {
            let other = if &text[at..=at] == "0" { "1" } else { "0" };
            format!("{}{other}{}", &text[..at], &text[at + 1..])
        })
        .collect();
    wrong.extend((0..text.len()).map(|at| text[..at].to_string()));
    wrong.extend(["0", "-1", "2", "r2", "\u{0}", "💬"].map(String::from));
    wrong.extend([
        format!(" {text}"),
        format!("+{text}"),
        format!("0{text}"),
        text.to_uppercase() + "x",
    ]);
    for wrong in wrong {
        let refused = page::page(&record, 1, Some(&Text::from(wrong.as_str()))).unwrap_err();
        assert_eq!(refused.code, RefusalCode::BadCursor, "{wrong}");
    }
    let foreign = load("c2", &["a", "b", "c"]);
    let shorter = load("c1", &["a", "b"]);
    for record in [&foreign, &shorter] {
        let refused = page::page(record, 1, Some(&cursor)).unwrap_err();
        assert_eq!(refused.code, RefusalCode::BadCursor);
    }
    for limit in [0, -1, i64::MIN] {
        assert_eq!(page::page(&record, limit, None).unwrap_err().code, RefusalCode::BadLimit);
        let refused = window::window(&record, Some(limit), &WindowAt::Newest).unwrap_err();
        assert_eq!(refused.code, RefusalCode::BadLimit);
    }
    for at in [WindowAt::Before("r3".into()), WindowAt::From("".into())] {
        assert_eq!(window::window(&record, None, &at).unwrap_err().code, RefusalCode::BadCursor);
    }
    let empty = page_of(&grown(&[]), 1, None);
    assert_eq!((empty.rows.len(), empty.older, empty.upto), (0, false, 0));
}

fn is_shown(row: &Row) -> bool {
    row.replaces.is_none()
        && row.audience != Some(Audience::Model)
        && matches!(row.event, Event::Message(_) | Event::Result(_))
}

fn window_of(record: &Record, limit: Option<i64>, at: &WindowAt) -> Window {
    window::window(record, limit, at).unwrap()
}

#[test]
fn windows_hold_the_newest_rows_for_people() {
    let mut hung = 0;
    for rows in random_records(100, 24) {
        let record = grown(&rows);
        let shown: Vec<&Row> = record.rows().iter().filter(|row| is_shown(row)).collect();
        let behind = |place: u64| shown.iter().filter(|row| row.seq < place).count();
        let ends = record.rows().iter().flat_map(|row| {
            [
                (WindowAt::Before(row.id.clone()), 0, behind(row.seq)),
                (WindowAt::From(row.id.clone()), behind(row.seq), shown.len()),
            ]
        });
        for (at, from, to) in ends.chain([(WindowAt::Newest, 0, shown.len())]) {
            for limit in [1, 2, 3, 24, i64::MAX] {
                let window = window_of(&record, Some(limit), &at);
                let most = usize::try_from(limit).unwrap_or(usize::MAX);
                let due = &shown[from.max(to.saturating_sub(most))..to];
                let stored = due.iter().flat_map(|row| record.read(row.seq, Some(1)));
                assert_eq!(texts(window.rows.iter().map(|row| &**row)), texts(stored), "{at:?}");
                assert_eq!(window.older, from.max(to.saturating_sub(most)) > 0, "{at:?}");
                assert_eq!(window.newer, to < shown.len(), "{at:?}");
                let hangs = due.iter().filter(|row| {
                    let parent = row.parent.as_ref().and_then(|id| record.place(id));
                    parent.is_some_and(|parent| record.rows()[parent].replaces.is_some())
                });
                let hangs: Vec<&Text> = hangs.map(|row| &row.id).collect();
                hung += hangs.len();
                assert_eq!(window.hangs.iter().map(|hang| &hang.row).collect::<Vec<_>>(), hangs);
                for hang in &window.hangs {
                    let from = record.place(&hang.from).unwrap();
                    assert!(record.rows()[from].replaces.is_none());
                }
            }
        }
    }
    assert!(hung > 50, "{hung}");
}

/// A row of so many bytes.
fn row_of(seq: usize, bytes: usize) -> Json {
    let empty = row(seq, &user("")).get().len();
    row(seq, &user(&"x".repeat(bytes - empty)))
}

#[test]
fn a_window_is_as_large_as_it_may_be() {
    let half = WINDOW_BYTES / 2;
    // Two brackets and a comma stand beside two rows.
    for (sizes, count) in [
        (vec![half, half - 3], 2),
        (vec![half, half - 2], 1),
        (vec![WINDOW_BYTES - 2], 1),
        (vec![600 * 1024], 1),
        (vec![100, 600 * 1024], 1),
        (vec![600 * 1024, 100], 1),
        (vec![100, 600 * 1024, 100, 100], 2),
    ] {
        let rows: Vec<Json> =
            sizes.iter().enumerate().map(|(seq, bytes)| row_of(seq, *bytes)).collect();
        let window = window_of(&grown(&rows), None, &WindowAt::Newest);
        assert_eq!(window.rows.len(), count, "{sizes:?}");
        assert_eq!(window.older, count < sizes.len());
        assert_eq!(window.rows.last().unwrap().get(), rows.last().unwrap().get());
        let bytes = serde_json::to_string(&window.rows).unwrap().len();
        assert!(bytes <= WINDOW_BYTES || count == 1, "{bytes}");
    }
}

#[test]
fn a_window_of_a_thousand_and_one_rows() {
    let rows: Vec<Json> = (0..1001).map(|seq| row(seq, &user("x"))).collect();
    let record = grown(&rows);
    let first = WindowAt::From("r0".into());
    for (limit, at, count) in [
        (None, &WindowAt::Newest, 1000),
        (Some(1000), &WindowAt::Newest, 1000),
        (Some(1001), &first, 1000),
        (Some(i64::MAX), &WindowAt::Newest, 1000),
        (Some(999), &WindowAt::Newest, 999),
        (None, &WindowAt::From("r1".into()), 1000),
        (None, &WindowAt::Before("r1000".into()), 1000),
    ] {
        let window = window_of(&record, limit, at);
        assert_eq!(window.rows.len(), count, "{limit:?} {at:?}");
        let before = matches!(at, WindowAt::Before(_));
        assert_eq!((window.older, window.newer), (!before, before));
    }
}
