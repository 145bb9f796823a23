//! The transcript by small logs, and that following it row by row from anywhere
//! gives the same list.

use onrecord_reference::{Record, follow, transcript};
use onrecord_spec::item::{Item, Shows};
use onrecord_spec::record::DeltaPart;

use super::random::{grown, random_records};
use super::row;

/// What is shown, one short word an item.
fn shown(items: &[Item]) -> String {
    items.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(item: &Item) -> String {
    let link = |half: &Option<onrecord_spec::item::Place>| {
        half.as_ref().map_or(String::new(), |half| format!("={}.{}", half.row, half.block))
    };
    let (kind, more) = match &item.shows {
        Shows::UserMessage { .. } => ("user", String::new()),
        Shows::AssistantMessage { .. } => ("says", String::new()),
        Shows::ReasoningMessage { .. } => ("thinks", String::new()),
        Shows::ToolCall { returned, .. } => ("call", link(returned)),
        Shows::ToolReturn { call, .. } => ("return", link(call)),
        Shows::Pieces { part, text, open } => {
            let part = match part {
                DeltaPart::Text => "text",
                DeltaPart::Reasoning => "reasoning",
            };
            ("pieces", format!("({part},{text},{})", if *open { "open" } else { "closed" }))
        }
        Shows::Marker { rows } => ("marker", format!("({rows})")),
    };
    let block = item.shows.block().map_or(String::new(), |block| format!(".{block}"));
    let parent = item.parent.as_ref().map_or(String::new(), |parent| format!("^{parent}"));
    let status = if item.status.is_some() { "!" } else { "" };
    format!("{kind}:{}{block}{more}{parent}{status}", item.row)
}

fn said(role: &str, blocks: &str) -> String {
    format!(r#"{{"event":{{"type":"message","role":"{role}","blocks":[{blocks}]}}}}"#)
}

fn with(row: &str, field: &str) -> String {
    row.replacen('{', &format!("{{{field},"), 1)
}

fn piece(message: &str, part: &str, text: &str) -> String {
    format!(
        r#"{{"event":{{"type":"delta","message":"{message}","part":"{part}","text":"{text}"}}}}"#
    )
}

fn replacing(row: &str, ids: &[&str], source: &str) -> String {
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    let rows = serde_json::to_string(ids).unwrap();
    with(
        row,
        &format!(
            r#""replaces":{{"first":"{first}","last":"{last}","rows":{rows},"source":"{source}"}}"#
        ),
    )
}

const TEXT: &str = r#"{"type":"text","text":"t"}"#;
const THINKS: &str = r#"{"type":"reasoning","text":"h"}"#;
const CALL: &str = r#"{"type":"call","id":"a","name":"n","arguments":"{}"}"#;
const RESULT: &str = r#"{"type":"result","call":"a","content":[{"type":"text","text":"o"}]}"#;
const TURN: &str = r#"{"event":{"type":"turn","edge":"ended"}}"#;

#[test]
fn what_shows_of_small_logs() {
    let (user, says) = (said("user", TEXT), said("assistant", TEXT));
    let call = said("assistant", CALL);
    let result = format!(r#"{{"event":{RESULT}}}"#);
    let failed = call.replacen(r#""role""#, r#""status":"failed","role""#, 1);
    let hidden = |row: &str| with(row, r#""audience":"model""#);
    let people = |row: &str| with(row, r#""audience":"people""#);
    let (a, b) = (piece("r2", "text", "a"), piece("r2", "text", "b"));
    let thought = piece("r2", "reasoning", "c");
    let half = [r#"\ud83d"#, r#"\ude00"#].map(|half| piece("m", "text", half));
    let cases: Vec<(Vec<String>, &str)> = vec![
        (vec![], ""),
        (
            vec![user.clone(), said("assistant", &[THINKS, TEXT, CALL].join(",")), result.clone()],
            "user:r0.0 thinks:r1.0 says:r1.1 call:r1.2=r2.0 return:r2.0=r1.2",
        ),
        // Audience: what is for the model alone does not show.
        (vec![hidden(&user), people(&says), TURN.into()], "says:r1.0"),
        (vec![hidden(&call), result.clone()], ""),
        (vec![call.clone(), hidden(&result)], "call:r0.0"),
        (vec![people(&call), result.clone()], "call:r0.0=r1.0 return:r1.0=r0.0"),
        // Early, late, second, and of nothing.
        (vec![result.clone(), call.clone()], "return:r0.0=r1.0 call:r1.0=r0.0"),
        (vec![result.clone(), hidden(&call)], "return:r0.0"),
        (vec![result.clone(), TURN.into(), call.clone()], "return:r0.0 call:r2.0"),
        (vec![result.clone(), user.clone(), call.clone()], "return:r0.0 user:r1.0 call:r2.0"),
        (vec![result.clone(), hidden(&user), call.clone()], "return:r0.0=r2.0 call:r2.0=r0.0"),
        (
            vec![call.clone(), user.clone(), result.clone()],
            "call:r0.0=r2.0 user:r1.0 return:r2.0=r0.0",
        ),
        (
            vec![call.clone(), result.clone(), result.clone()],
            "call:r0.0=r1.0 return:r1.0=r0.0 return:r2.0",
        ),
        // A newer round closes the older; of one round the first comes first.
        (
            vec![call.clone(), call.clone(), result.clone()],
            "call:r0.0 call:r1.0=r2.0 return:r2.0=r1.0",
        ),
        (
            vec![said("assistant", &[CALL, CALL].join(",")), result.clone()],
            "call:r0.0=r1.0 call:r0.1 return:r1.0=r0.0",
        ),
        // A failed attempt shows and pairs with nothing.
        (vec![failed, result.clone()], "call:r0.0! return:r1.0"),
        // Results in messages of either role.
        (
            vec![call.clone(), said("user", &[RESULT, TEXT].join(","))],
            "call:r0.0=r1.0 return:r1.0=r0.0 user:r1.1",
        ),
        (vec![said("assistant", &[CALL, RESULT].join(","))], "call:r0.0=r0.1 return:r0.1=r0.0"),
        // Replacements: a marker for each landing, nothing for the rest.
        (
            vec![
                user.clone(),
                says.clone(),
                hidden(&replacing(&user, &["r0", "r1"], "compaction")),
                with(&user, r#""parent":"r2""#),
                replacing(&user, &["r2", "r3"], "compaction"),
                with(&says, r#""parent":"r4""#),
                with(&replacing(&says, &["r5"], "regeneration"), r#""parent":"r0""#),
                with(&user, r#""parent":"r6""#),
                replacing(&user, &["r6"], "other"),
            ],
            "user:r0.0 says:r1.0 marker:r2(2) user:r3.0^r1 marker:r4(2) says:r5.0^r3 user:r7.0^r5",
        ),
        // Streams.
        (vec![a.clone(), user.clone()], "pieces:r2(text,a,open) user:r1.0"),
        (vec![a.clone(), b.clone(), says.clone(), b.clone()], "says:r2.0"),
        (vec![a.clone(), thought.clone(), says.clone()], "says:r2.0 pieces:r2(reasoning,c,closed)"),
        (
            vec![thought.clone(), user.clone(), says.clone()],
            "pieces:r2(reasoning,c,closed) says:r2.0 user:r1.0",
        ),
        (
            vec![thought, a.clone(), said("assistant", &[THINKS, TEXT].join(","))],
            "thinks:r2.0 says:r2.1",
        ),
        (vec![hidden(&a), b.clone()], "pieces:r2(text,b,open)"),
        (vec![a.clone(), user.clone(), hidden(&says)], "pieces:r2(text,a,open) user:r1.0"),
        (
            vec![a.clone(), user, replacing(&says, &["r1"], "other"), b],
            "pieces:r2(text,a,open) user:r1.0",
        ),
        (vec![a, says, TURN.into()], "pieces:r2(text,a,open) says:r1.0"),
        (half.into(), "pieces:m(text,\u{1f600},open)"),
    ];
    for (at, (rest, expected)) in cases.iter().enumerate() {
        let rows: Vec<_> = rest.iter().enumerate().map(|(seq, rest)| row(seq, rest)).collect();
        let record = Record::load(None, &rows).unwrap();
        let items = transcript::transcript(&record).unwrap();
        assert_eq!(shown(&items), *expected, "case {at}: {rest:#?}");
        assert_followed(&[&[], &*rows].concat(), at);
    }
}

/// From every join on, events that are applied row by row give the transcript of
/// every prefix.
fn assert_followed(rows: &[onrecord_spec::json::Json], at: usize) {
    let prefixes: Vec<Vec<Item>> = (0..=rows.len())
        .map(|held| transcript::transcript(&Record::load(None, &rows[..held]).unwrap()).unwrap())
        .collect();
    let whole = Record::load(None, rows).unwrap();
    let json = |items: &[Item]| serde_json::to_string(items).unwrap();
    for join in 0..=rows.len() {
        let mut events = follow::follow(&whole, join as u64).unwrap().into_iter().peekable();
        let mut items = prefixes[join].clone();
        for held in join..rows.len() {
            while let Some(live) = events.next_if(|live| live.seq == held as u64) {
                follow::apply(&mut items, live.event);
            }
            assert_eq!(
                json(&items),
                json(&prefixes[held + 1]),
                "record {at}, joined at {join}, row {held} of {rows:#?}"
            );
        }
        assert!(events.next().is_none(), "record {at}, joined at {join}");
    }
    assert!(follow::follow(&whole, u64::MAX).unwrap().is_empty());
}

#[test]
fn following_is_the_transcript_at_every_prefix_and_join() {
    let mut kinds = [0; 4];
    for (at, rows) in random_records(300, 24).enumerate() {
        assert_followed(&rows, at);
        for item in transcript::transcript(&grown(&rows)).unwrap() {
            match item.shows {
                Shows::ToolReturn { call: Some(_), .. } => kinds[0] += 1,
                Shows::ToolReturn { call: None, .. } => kinds[1] += 1,
                Shows::Pieces { open: false, .. } => kinds[2] += 1,
                Shows::Marker { .. } => kinds[3] += 1,
                _ => {}
            }
        }
    }
    // The records hold what is to be tested.
    assert!(kinds.iter().all(|count| *count > 20), "{kinds:?}");
}
