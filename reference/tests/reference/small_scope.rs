//! Every record of up to five rows out of a small alphabet, for both targets: the
//! wire keeps its laws, nothing is lost or doubled, and rows extend it.

use onrecord_reference::replay::{self, Payload, anthropic, openai_chat};
use onrecord_reference::{Record, replay::Replayed};
use onrecord_spec::op::Replay;
use onrecord_spec::target::Target;

use super::row;

const DEPTH: usize = 5;

/// The rows to choose from. Each text and output holds the row's seq, so that it
/// is known again. The last two are speech and an edge: they add to the wire and
/// change nothing in it.
fn alphabet(seq: usize) -> [String; 9] {
    let message = |role: &str, blocks: &[String]| {
        let blocks = blocks.join(",");
        format!(r#"{{"event":{{"type":"message","role":"{role}","blocks":[{blocks}]}}}}"#)
    };
    let text = |word: &str| format!(r#"{{"type":"text","text":"{word} {seq};"}}"#);
    let call = |id: &str| format!(r#"{{"type":"call","id":"{id}","name":"t","arguments":"{{}}"}}"#);
    let result =
        |id: &str| format!(r#"{{"type":"result","call":"{id}","content":[{}]}}"#, text("output"));
    [
        message("assistant", &[text("says"), call("a")]),
        message("assistant", &[call("a"), call("b"), text("says")]),
        message("assistant", &[call(""), call("")]),
        format!(r#"{{"event":{}}}"#, result("a")),
        format!(r#"{{"event":{}}}"#, result("b")),
        message("user", &[text("hears"), result("")]),
        message("assistant", &[result("a"), text("says")]),
        message("user", &[text("hears")]),
        r#"{"event":{"type":"turn","edge":"ended"}}"#.to_string(),
    ]
}

#[test]
fn every_small_record_keeps_the_laws() {
    let mut seen = 0;
    let record = Record::load(None, &[]).unwrap();
    for target in Target::ALL {
        grow(&record, target, &mut vec![], &[], &mut seen);
    }
    assert_eq!(seen, 2 * (0..=DEPTH as u32).map(|rows| 9_usize.pow(rows)).sum::<usize>());
}

fn grow(
    record: &Record,
    target: Target,
    words: &mut Vec<String>,
    before: &[Sent],
    seen: &mut usize,
) {
    *seen += 1;
    let replayed = replay::replay(record, &Replay::to(target));
    let sent = sent(&replayed);
    let at = || format!("{:?}\n{sent:?}", record.rows());
    obey(&sent, target).unwrap_or_else(|broken| panic!("{broken} {}", at()));
    let all: String = sent.iter().map(Sent::text).collect();
    for word in words.iter() {
        assert_eq!(all.matches(word.as_str()).count(), 1, "{word} {}", at());
    }
    assert!(sent.starts_with(before), "{before:?} {}", at());

    let seq = record.rows().len();
    if seq == DEPTH {
        return;
    }
    for (letter, rest) in alphabet(seq).iter().enumerate() {
        let mut longer = record.clone();
        longer.append(seq as u64, &[row(seq, rest)]).unwrap();
        let adds_only = letter >= 7 && !words.is_empty();
        let held = words.len();
        for word in ["says", "hears", "output"].map(|word| format!("{word} {seq};")) {
            if rest.contains(&word) {
                words.push(word);
            }
        }
        let kept =
            if adds_only { sent.iter().take_while(|sent| !sent.is_made_up()).count() } else { 0 };
        grow(&longer, target, words, &sent[..kept], seen);
        words.truncate(held);
    }
}

/// One thing on the wire.
#[derive(Debug, Clone, PartialEq)]
enum Sent {
    User(String),
    Assistant(String),
    Call(String),
    Result(String, String),
    /// Where one message ends and another begins.
    Break,
}

impl Sent {
    fn text(&self) -> &str {
        match self {
            Self::User(text) | Self::Assistant(text) | Self::Result(_, text) => text,
            Self::Call(_) | Self::Break => "",
        }
    }

    /// True for what was added at the end.
    fn is_made_up(&self) -> bool {
        *self == Self::User("(Nothing has been said since.)".to_string())
    }
}

/// Each declaration is answered at once, call by call, and nothing else is; texts
/// are not blank; no text of a call is made up.
fn obey(sent: &[Sent], target: Target) -> Result<(), String> {
    let mut open: Vec<&str> = vec![];
    let mut given: Vec<&str> = vec![];
    for one in sent {
        match one {
            Sent::Call(id) => {
                let fresh = match target {
                    Target::Anthropic => !given.contains(&&**id),
                    Target::OpenaiChat => !open.contains(&&**id),
                };
                if !fresh || id.is_empty() {
                    return Err(format!("id `{id}`"));
                }
                open.push(id);
                given.push(id);
            }
            Sent::Result(id, text) => {
                if open.is_empty() || open.remove(0) != id || text.trim().is_empty() {
                    return Err(format!("result `{id}`"));
                }
            }
            Sent::User(text) | Sent::Assistant(text) => {
                if text.trim().is_empty() || (matches!(one, Sent::User(_)) && !open.is_empty()) {
                    return Err(format!("text `{text}`"));
                }
            }
            Sent::Break => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err("a call is open".to_string()) }
}

fn sent(replayed: &Replayed<'_>) -> Vec<Sent> {
    match &replayed.payload {
        Payload::OpenaiChat(payload) => payload.messages.iter().flat_map(openai).collect(),
        Payload::Anthropic(payload) => {
            let roles: Vec<_> = payload.messages.iter().map(|message| message.role).collect();
            assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
            assert_eq!(roles.first(), Some(&anthropic::Role::User));
            assert_eq!(roles.last(), Some(&anthropic::Role::User));
            payload.messages.iter().flat_map(anthropic).collect()
        }
    }
}

fn openai(message: &openai_chat::Message<'_>) -> Vec<Sent> {
    use openai_chat::{Content, ContentPart, Message};
    let text = |content: &Content<'_>| match content {
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            assert!(!parts.is_empty());
            let texts = parts.iter().map(|part| match part {
                ContentPart::Text { text } => text.to_string(),
                ContentPart::ImageUrl { .. } => panic!("no image was stored"),
            });
            texts.collect()
        }
    };
    match message {
        Message::System { .. } => panic!("no facts were given"),
        Message::User { content } => vec![Sent::User(text(content))],
        Message::Assistant { content, tool_calls, .. } => {
            assert!(content.is_some() || !tool_calls.is_empty());
            let said = content.iter().map(|content| Sent::Assistant(text(content)));
            let calls = tool_calls.iter().map(|call| Sent::Call(call.id.to_string()));
            said.chain(calls).collect()
        }
        Message::Tool { tool_call_id, content } => {
            vec![Sent::Result(tool_call_id.to_string(), text(content))]
        }
    }
}

/// A user's message is not broken off: what is said next may extend it.
fn anthropic(message: &anthropic::Message<'_>) -> Vec<Sent> {
    use anthropic::{Block, Role};
    assert!(!message.content.is_empty());
    let blocks = message.content.iter().map(|block| match (block, message.role) {
        (Block::Text { text }, Role::User) => Sent::User(text.to_string()),
        (Block::Text { text }, Role::Assistant) => Sent::Assistant(text.to_string()),
        (Block::ToolUse { id, .. }, Role::Assistant) => Sent::Call(id.to_string()),
        (Block::ToolResult { tool_use_id, content, .. }, Role::User) => {
            let text = content.iter().map(|block| match block {
                Block::Text { text } => text.to_string(),
                other => panic!("{other:?}"),
            });
            Sent::Result(tool_use_id.to_string(), text.collect())
        }
        (block, role) => panic!("{block:?} of {role:?}"),
    });
    let begin = matches!(message.role, Role::Assistant).then_some(Sent::Break);
    begin.into_iter().chain(blocks).collect()
}
