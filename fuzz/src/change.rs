//! Equations of what changes a record: the order in which things come must not matter
//! where the spec says that it does not.

use onrecord::Reference;
use onrecord::generate::{Choices, Conversation, any_replay, broken, odd_rows_of, raw_rows_of};
use onrecord::spec::json::Json;
use onrecord::spec::op::{Compact, Cut, Ending, Mode, Op, Outcome, SummaryText};
use onrecord::spec::record::CompactionMode;
use onrecord::spec::text::Text;

use crate::ask::{answers, ask, context, holding, load, log, questions, replayed, rows};

/// Rows that are no rows, or not in this order, are refused whole: what was held
/// before is asked, and answers as it did.
pub fn refused_rows(bytes: &[u8]) {
    let mut choices = Choices::of_bytes(bytes);
    let odd = if choices.bool() { raw_rows_of(&mut choices) } else { odd_rows_of(&mut choices) };
    let conversation = Conversation::of_bytes(&bytes[bytes.len() / 2..]);
    let mut reference = holding(&conversation.record);
    let questions = questions(&mut choices);
    let before = answers(&mut reference, &questions);
    let next = conversation.record.rows.len() as u64;
    for op in [
        Op::Append { expect: next, rows: renumbered(&odd, next) },
        load(&conversation.record.header, &odd),
    ] {
        let refused = matches!(ask(&mut reference, &op), Outcome::Refused(_));
        let after = answers(&mut reference, &questions);
        if refused {
            assert_eq!(after, before, "a refused `{}` changed an answer", op.name());
        } else {
            return;
        }
    }
}

/// The rows with the seqs that they would have behind others.
fn renumbered(rows: &[Json], next: u64) -> Vec<Json> {
    let mut renumbered = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let mut row = row.clone();
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(row.get()) else { continue };
        if let Some(fields) = value.as_object_mut() {
            fields.insert("seq".to_string(), (next + at as u64).into());
            let id = format!("behind-{at}");
            fields.insert("id".to_string(), id.into());
            row = onrecord::spec::json::keep(&value.to_string()).unwrap();
        }
        renumbered.push(row);
    }
    renumbered
}

/// Whatever is asked, no judge finds anything.
pub fn rules(bytes: &[u8]) {
    let conversation = Conversation::of_bytes(bytes);
    let trace = conversation.ask(10, &mut Reference::new()).unwrap();
    if let Some((rule, ruling)) = broken(&trace).into_iter().next() {
        panic!("{rule}: {:#?}", ruling.findings[0]);
    }
}

/// Where a record is cut into writes says nothing of it.
pub fn split_writes(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let record = &conversation.record;
    let choices = &mut conversation.choices;
    let questions = questions(choices);
    let whole = answers(&mut holding(record), &questions);
    // An append refuses a stale authority block, which a load keeps.
    let imported = record.rows.iter().rposition(|row| row.get().contains("\"authority\""));
    let mut cut = choices.between(imported.map_or(0, |at| at + 1)..=record.rows.len());
    let mut reference = Reference::new();
    ask(&mut reference, &load(&record.header, &record.rows[..cut]));
    while cut < record.rows.len() {
        let end = choices.between(cut + 1..=record.rows.len());
        let append = Op::Append { expect: cut as u64, rows: record.rows[cut..end].to_vec() };
        let outcome = ask(&mut reference, &append);
        assert!(matches!(outcome, Outcome::Appended { .. }), "{outcome:?}");
        cut = end;
    }
    assert_eq!(answers(&mut reference, &questions), whole);
}

/// A summary stands where its range stood, whether it landed before or after what
/// came meanwhile.
pub fn compact_and_append(bytes: &[u8]) {
    let mut conversation = Conversation::of_bytes(bytes);
    let choices = &mut conversation.choices;
    let mut first = holding(&conversation.record);
    let context = context(&mut first);
    if context.is_empty() {
        return;
    }
    let from = choices.between(0..=context.len() - 1);
    let to = choices.between(from..=context.len() - 1);
    let compact = Op::Compact(compact(&context[from], &context[to]));
    let said = format!("said behind the compaction, {from} to {to}");
    let mut second = first.clone();
    let landed = ask(&mut first, &compact);
    append(&mut first, &said);
    append(&mut second, &said);
    let landed_behind = ask(&mut second, &compact);
    // What is the live round, and what is still open, is another matter behind a
    // person's message; then one of the two is refused.
    let both = [&landed, &landed_behind].map(|outcome| matches!(outcome, Outcome::Changed(_)));
    if both == [true, true] {
        let replay = any_replay(choices);
        assert_eq!(
            replayed(&mut first, &replay).payload.get(),
            replayed(&mut second, &replay).payload.get(),
        );
    }
}

fn compact(first: &Text, last: &Text) -> Compact {
    let text = SummaryText { text: Text::from("what was said before"), error: false };
    Compact {
        id: Text::from("the-compaction"),
        cut: Some(Cut::Nearest { first: first.clone(), last: last.clone() }),
        end: Some(Ending::Summary(text)),
        agent: None,
        mode: CompactionMode::Model,
        turn: Mode::Cold,
        at: None,
    }
}

fn append(reference: &mut Reference, said: &str) {
    let next = rows(reference).len() as u64;
    let row = serde_json::json!({
        "seq": next, "id": "said-behind", "event": {
            "type": "message", "role": "user", "blocks": [{ "type": "text", "text": said }],
        },
    });
    let rows = vec![onrecord::spec::json::keep(&row.to_string()).unwrap()];
    let outcome = ask(reference, &Op::Append { expect: next, rows });
    assert!(matches!(outcome, Outcome::Appended { .. }), "{outcome:?}");
}

/// A process that starts again knows all that the one before it knew, and writes
/// nothing.
pub fn restart(bytes: &[u8]) {
    let conversation = Conversation::of_bytes(bytes);
    let mut reference = Reference::new();
    let _ = conversation.ask(6, &mut reference);
    let questions = questions(&mut Choices::of_bytes(bytes));
    if reference.record().is_none() {
        return;
    }
    let before = answers(&mut reference, &questions);
    let written = log(&mut reference);
    let outcome = ask(&mut reference, &Op::Restart {});
    assert!(matches!(outcome, Outcome::Loaded { .. }), "{outcome:?}");
    assert_eq!(log(&mut reference), written, "a start wrote to the log");
    assert_eq!(answers(&mut reference, &questions), before);
}
