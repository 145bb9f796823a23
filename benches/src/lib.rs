//! Logs to measure with: the same log for the same length, on any machine.

use onrecord_reference::Record;

/// The record of a log with so many rows of messages and results: a question, a
/// call, its result and an answer, over and over.
///
/// # Errors
///
/// If the reference refuses the log; it does not.
pub fn record(messages: usize) -> Result<Record, String> {
    let mut log = String::from("{\"onrecord\":1,\"conversation\":\"measured\"}\n");
    for seq in 0..messages {
        log.push_str(&format!("{{\"seq\":{seq},\"id\":\"row-{seq}\",\"event\":{}}}\n", event(seq)));
    }
    let (record, damage) = Record::open(log.as_bytes()).map_err(|refusal| refusal.detail)?;
    match damage.first() {
        None => Ok(record),
        Some(damage) => Err(format!("byte {}: {}", damage.offset, damage.what)),
    }
}

/// Texts of the lengths that an agent's log has: a short question, a call with
/// little in it, a page of output with line breaks and quotes, a paragraph.
fn event(seq: usize) -> String {
    let call = seq / 4;
    match seq % 4 {
        0 => format!(
            r#"{{"type":"message","role":"user","blocks":[{{"type":"text","text":"Question {seq}: what does part {call} of the tree hold, and who wrote it? Say it in a line or two."}}]}}"#
        ),
        1 => format!(
            r#"{{"type":"message","role":"assistant","blocks":[{{"type":"text","text":"Let me look at part {call}."}},{{"type":"call","id":"call-{call}","name":"read_file","arguments":"{{\"path\":\"src/part_{call}.txt\",\"from\":1,\"lines\":40}}"}}]}}"#
        ),
        2 => {
            let line = format!(r#"  {call}: \"a line of the file\", as it stands there\n"#);
            let output = line.repeat(8);
            format!(
                r#"{{"type":"result","call":"call-{call}","name":"read_file","content":[{{"type":"text","text":"{output}"}}]}}"#
            )
        }
        _ => format!(
            r#"{{"type":"message","role":"assistant","blocks":[{{"type":"text","text":"Part {call} holds eight lines, all of them alike. {}"}}]}}"#,
            "They were written by one hand. ".repeat(6)
        ),
    }
}
