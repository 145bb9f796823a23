//! Equations of what people are shown.

use onrecord::generate::Conversation;
use onrecord::spec::json::{Json, to_line};
use onrecord::spec::op::{Op, Outcome};
use serde_json::Value;

use crate::ask::{answer, ask, holding, load, rows};

/// A client that knows nothing but the events; the one of the suite's own tests.
#[path = "../../conformance/tests/conformance/live.rs"]
mod live;

/// What is shown at once is what is shown when one comes in between, wherever.
pub fn follow(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let record = &conversation.record;
    let join = conversation.choices.between(0..=record.rows.len());
    let mut early = onrecord::Reference::new();
    ask(&mut early, &load(&record.header, &record.rows[..join]));
    // Half a surrogate pair is no text of a JSON library: it is followed elsewhere.
    let Some(mut items) = transcript(&mut early) else { return };
    let mut whole = holding(record);
    let followed = ask(&mut whole, &Op::Follow { join: join as u64 });
    let Outcome::Followed { events } = followed else { panic!("{followed:?}") };
    for event in &events {
        let Ok(event) = serde_json::from_str::<Value>(&to_line(event).unwrap()) else { return };
        live::apply(&mut items, &event);
    }
    assert_eq!(Some(items), transcript(&mut whole), "joined at row {join}");
}

fn transcript(reference: &mut onrecord::Reference) -> Option<Vec<Value>> {
    let text = answer(reference, &Op::Transcript {});
    let outcome: Value = serde_json::from_str(&text).ok()?;
    outcome["transcript"]["items"].as_array().cloned()
}

/// Pages back to row 0, joined, are all rows.
pub fn pages(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let mut reference = holding(&conversation.record);
    let limit = conversation.choices.between(1..=7) as i64;
    let mut joined: Vec<Json> = Vec::new();
    let mut before = None;
    loop {
        let outcome = ask(&mut reference, &Op::Page { limit, before });
        let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
        assert!(!page.rows.is_empty() || page.before.is_none(), "an empty page with a cursor");
        joined.splice(0..0, page.rows);
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    let all = rows(&mut reference);
    assert_eq!(texts(&joined), texts(&all), "pages of {limit}");
}

fn texts(rows: &[Json]) -> Vec<&str> {
    rows.iter().map(|row| row.get()).collect()
}
