//! OpenAI Chat Completions: its table rule by rule, and its lift.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::tables::TABLES;
use crate::target::tests::{check_tables, lines, payload, told};
use crate::target::{Profile, Target};

#[test]
fn every_rule_is_kept_and_broken() {
    check_tables(Target::OpenaiChat, TABLES, &["OAI-CHAT-11", "KIMI-1"], &["OAI-CHAT-4"]);
}

#[test]
fn what_is_no_object_has_no_messages() {
    for written in ["[1]", "null", "7"] {
        let payload = crate::json::keep(written).unwrap();
        let found = Target::OpenaiChat.check(&Profile::default(), &payload, &[]);
        let message = format!("must be an object with `messages`, found {written}");
        assert_eq!(told(&found), [("OAI-CHAT-7", "", message.as_str())]);
    }
}

#[test]
fn a_message_declares_at_most_128_calls() {
    let found = |count: usize| {
        let call = |at| {
            format!(
                r#"{{"id":"{at}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
            )
        };
        let result = |at| format!(r#",{{"role":"tool","tool_call_id":"{at}","content":"1"}}"#);
        let calls: Vec<String> = (0..count).map(call).collect();
        let results: String = (0..count).map(result).collect();
        let declaration = format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, calls.join(","));
        let payload = payload(&format!(r#"{{"messages":[{declaration}{results}]}}"#));
        Target::OpenaiChat.check(&Profile::default(), &payload, &[])
    };
    assert_eq!(found(128), []);
    let message = "holds 129 calls; at most 128 would do";
    assert_eq!(told(&found(129)), [("OAI-CHAT-4", "messages[0].tool_calls", message)]);
}

#[test]
fn every_kind_of_message_is_lifted() {
    let wire = Target::OpenaiChat.lift(&payload(
        r#"{"role":"system","content":"s"},
           {"role":"developer","content":[{"type":"text","text":"d"}]},
           {"role":"user","content":[{"type":"text","text":"see"},
             {"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},
             {"type":"image_url","image_url":{"url":"https://example.org/a.png"}},
             {"type":"image_url"},{"type":"file"},5]},
           {"role":"assistant","content":"t","reasoning_content":"r","tool_calls":[
             {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},
             {"id":"b","type":"custom","custom":{"name":"g","input":"free"}},6]},
           {"role":"tool","tool_call_id":"a","content":"1"},
           {"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"2"},{"type":"x"}]},
           {"role":"assistant","content":null,"refusal":"no","function_call":{"name":"h","arguments":"{}"}},
           {"role":"function","content":"3"},
           {"role":"model","content":"m"},7,{"role":"user","content":8}"#,
    ));
    let expected = [
        "System messages[0].content text s",
        "System messages[1].content[0] text d",
        "User messages[2].content[0] text see",
        "User messages[2].content[1] image aGk=",
        "User messages[2].content[2] image https://example.org/a.png",
        "User messages[2].content[3] foreign image_url",
        "User messages[2].content[4] foreign file",
        "User messages[2].content[5] foreign a number",
        "Assistant messages[3].reasoning_content reasoning r -",
        "Assistant messages[3].content text t",
        r#"Assistant messages[3].tool_calls[0] call a f {"x": 1}"#,
        r#"Assistant messages[3].tool_calls[1] call b g "free""#,
        "Assistant messages[3].tool_calls[2] foreign a number",
        "Tool messages[4] result a None",
        "in it messages[4].content text 1",
        "Tool messages[5] result b None",
        "in it messages[5].content[0] text 2",
        "in it messages[5].content[1] foreign x",
        "Assistant messages[6].refusal text no",
        "Assistant messages[6].function_call call  h {}",
        "Tool messages[7] result  None",
        "in it messages[7].content text 3",
        "User messages[8] foreign model",
        "User messages[9] foreign a number",
        "User messages[10].content foreign a number",
    ];
    assert_eq!(lines(&wire), expected);
    let paths: Vec<&str> = wire.messages.iter().map(|message| message.path.as_str()).collect();
    assert_eq!(paths[10], "messages[10]");
}
