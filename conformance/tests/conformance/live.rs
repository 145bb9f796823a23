//! A client of the transcript: it holds items, and applies what comes live to
//! them. It works on plain JSON and shares no code with what is under test.

use serde_json::{Value, json};

/// Applies one live event.
pub fn apply(items: &mut Vec<Value>, live: &Value) {
    let (kind, event) = live["event"].as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "shown" => {
            let last = items.iter().rposition(|held| is_piece_of(held, &event["row"]));
            let at = match last {
                Some(last) if event["shows"]["pieces"].is_object() => last + 1,
                _ => items.len(),
            };
            link(items, event);
            items.insert(at, event.clone());
        }
        "grown" => {
            let grows = |held: &&mut Value| {
                is_piece_of(held, &event["row"]) && held["shows"]["pieces"]["part"] == event["part"]
            };
            let held = items.iter_mut().find(grows).unwrap();
            let text = held["shows"]["pieces"]["text"].as_str().unwrap();
            let grown = format!("{text}{}", event["text"].as_str().unwrap());
            held["shows"]["pieces"]["text"] = json!(grown);
        }
        "settled" => settle(items, event),
        other => panic!("a live event `{other}`"),
    }
}

fn is_piece_of(held: &Value, row: &Value) -> bool {
    held["row"] == *row && held["shows"]["pieces"].is_object()
}

fn settle(items: &mut Vec<Value>, event: &Value) {
    let new = event["items"].as_array().unwrap();
    let holds = |part: &Value| {
        let kind = if *part == json!("text") { "assistant-message" } else { "reasoning-message" };
        let of_text = |item: &Value| {
            item["shows"][kind]["content"]["type"] == *part
                || (*part == json!("text")
                    && item["shows"]["user-message"]["content"]["type"] == json!("text"))
        };
        new.iter().any(of_text)
    };
    let pieces: Vec<usize> =
        (0..items.len()).filter(|at| is_piece_of(&items[*at], &event["row"])).collect();
    let gone: Vec<usize> =
        pieces.iter().copied().filter(|at| holds(&items[*at]["shows"]["pieces"]["part"])).collect();
    let at = gone.first().copied().unwrap_or_else(|| pieces.last().unwrap() + 1);
    for piece in &pieces {
        items[*piece]["shows"]["pieces"]["open"] = json!(false);
    }
    for piece in gone.iter().rev() {
        items.remove(*piece);
    }
    items.splice(at..at, new.iter().cloned());
    for item in new {
        link(items, item);
    }
}

/// Links a card and its return, whichever came first.
fn link(items: &mut [Value], new: &Value) {
    let (kind, shown) = new["shows"].as_object().unwrap().iter().next().unwrap();
    let (far, there, back) = match kind.as_str() {
        "tool-return" => (&shown["call"], "tool-call", "returned"),
        "tool-call" => (&shown["returned"], "tool-return", "call"),
        _ => return,
    };
    if far.is_null() {
        return;
    }
    let held = items
        .iter_mut()
        .find(|held| held["row"] == far["row"] && held["shows"][there]["block"] == far["block"]);
    // Both may come with one row; then the other names this one itself.
    if let Some(held) = held {
        held["shows"][there][back] = json!({ "row": new["row"], "block": shown["block"] });
    }
}
