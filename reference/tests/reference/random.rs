//! Pseudo-random records: the same every time, and whatever a log may hold.

use onrecord_reference::Record;
use onrecord_spec::json::{Json, keep};

/// A small generator of numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }
}

/// So many records of so many rows.
pub fn random_records(count: u64, rows: usize) -> impl Iterator<Item = Vec<Json>> {
    (1..=count).map(move |seed| random_record(seed, rows))
}

/// The record of rows that fit.
pub fn grown(rows: &[Json]) -> Record {
    Record::load(None, rows).unwrap()
}

fn random_record(seed: u64, most: usize) -> Vec<Json> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut record = Record::load(None, &[]).unwrap();
    let mut rows = vec![];
    for _ in 0..most {
        let row = keep(&random_row(&mut dice, &record)).unwrap();
        // A row that does not fit is passed over.
        if record.append(rows.len() as u64, std::slice::from_ref(&row)).is_ok() {
            rows.push(row);
        }
    }
    rows
}

fn random_row(dice: &mut Dice, record: &Record) -> String {
    let seq = record.rows().len();
    let mut id = format!("r{seq}");
    let mut fields = String::new();
    let event = match dice.roll(16) {
        0..=1 => message(dice, "user"),
        2..=4 => message(dice, "assistant"),
        5..=6 => result(dice),
        7..=9 => format!(
            r#"{{"type":"delta","message":"m{}","part":"{}","text":"p{seq};"}}"#,
            dice.roll(3),
            dice.pick(&["text", "reasoning"])
        ),
        10 => {
            id = format!("m{}", dice.roll(3));
            if dice.roll(8) == 0 { result(dice) } else { message(dice, "assistant") }
        }
        11 => format!(r#"{{"type":"turn","edge":"{}"}}"#, dice.pick(&["started", "ended"])),
        12 => format!(
            r#"{{"type":"compaction","compaction":"k{}","step":"provenance","rows":[]}}"#,
            dice.roll(3)
        ),
        13..=14 => {
            fields = replaces(dice, record);
            message(dice, "user")
        }
        _ => r#"{"type":"call-started","call":"a"}"#.to_string(),
    };
    if dice.roll(3) == 0 {
        let audience = dice.pick(&["model", "people"]);
        fields += &format!(r#""audience":"{audience}","#);
    }
    if seq > 0 && dice.roll(3) == 0 {
        fields += &format!(r#""parent":"{}","#, record.rows()[dice.roll(seq)].id);
    }
    format!(r#"{{"seq":{seq},"id":"{id}",{fields}"event":{event}}}"#)
}

fn message(dice: &mut Dice, role: &str) -> String {
    let blocks: Vec<String> = (0..dice.roll(4)).map(|_| block(dice, role)).collect();
    let status = dice.pick(&["", "", "", r#""status":"interrupted","#, r#""status":"failed","#]);
    format!(r#"{{"type":"message",{status}"role":"{role}","blocks":[{}]}}"#, blocks.join(","))
}

fn block(dice: &mut Dice, role: &str) -> String {
    let image = r#"{"type":"image","media_type":"image/png","data":"AAAA"}"#;
    let call = format!(
        r#"{{"type":"call","id":"{}","name":"n","arguments":"{{}}"}}"#,
        dice.pick(&["a", "b", ""])
    );
    match (dice.roll(7), role) {
        (0..=1, _) => r#"{"type":"text","text":"t"}"#.to_string(),
        (2, _) => image.to_string(),
        (3, _) | (4..=5, "user") => result(dice),
        (4, _) => r#"{"type":"reasoning","text":"h"}"#.to_string(),
        _ => call,
    }
}

fn result(dice: &mut Dice) -> String {
    let id = dice.pick(&["a", "b", ""]);
    format!(r#"{{"type":"result","call":"{id}","content":[{{"type":"text","text":"o"}}]}}"#)
}

/// An unbroken stretch of the context, for some reason.
fn replaces(dice: &mut Dice, record: &Record) -> String {
    let context: Vec<String> = record.context().map(|row| row.id.to_string()).collect();
    if context.is_empty() {
        return String::new();
    }
    let first = dice.roll(context.len());
    let last = (first + dice.roll(4)).min(context.len() - 1);
    let rows = serde_json::to_string(&context[first..=last]).unwrap();
    let source = dice.pick(&["compaction", "compaction", "regeneration", "other"]);
    let compaction = match dice.roll(2) {
        0 => String::new(),
        _ => format!(r#","compaction":"k{}""#, dice.roll(3)),
    };
    format!(
        r#""replaces":{{"first":"{}","last":"{}","rows":{rows},"source":"{source}"{compaction}}},"#,
        context[first], context[last]
    )
}
