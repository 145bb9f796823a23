//! Anthropic Messages: its table rule by rule, and its lift.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::tables::TABLES;
use crate::json::keep;
use crate::target::tests::{check_tables, lines, payload, told};
use crate::target::{Profile, Target};

#[test]
fn every_rule_is_kept_and_broken() {
    check_tables(Target::Anthropic, TABLES, &["ANT-9", "ANT-16", "ANT-17"], &["ANT-24"]);
}

#[test]
fn what_is_no_object_has_no_messages() {
    for written in ["[1]", "null", "7"] {
        let found = Target::Anthropic.check(&Profile::default(), &keep(written).unwrap(), &[]);
        let message = format!("must be an object with `messages`, found {written}");
        assert_eq!(told(&found), [("ANT-27", "", message.as_str())]);
    }
}

#[test]
fn a_request_has_at_most_100_000_messages() {
    let found = |count: usize| {
        let messages: Vec<&str> = (0..count).map(|_| r#"{"role":"user","content":"a"}"#).collect();
        Target::Anthropic.check(&Profile::default(), &payload(&messages.join(",")), &[])
    };
    assert_eq!(found(100_000), []);
    let message = "holds 100001 messages; at most 100000 would do";
    assert_eq!(told(&found(100_001)), [("ANT-24", "messages", message)]);
}

#[test]
fn names_and_ids_have_their_lengths() {
    let found = |id: usize, name: usize| {
        let (id, name) = ("i".repeat(id), "n".repeat(name));
        let payload = payload(&format!(
            r#"{{"role":"user","content":"a"}},
               {{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}]}},
               {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}"}}]}}"#
        ));
        let found = Target::Anthropic.check(&Profile::default(), &payload, &[]);
        found.into_iter().map(|breach| (breach.rule, breach.path)).collect::<Vec<_>>()
    };
    assert_eq!(found(5000, 200), []);
    let path = |field: &str| String::from(field);
    assert_eq!(found(1, 201), [("ANT-29", path("messages[1].content[0].name"))]);
    let ids = ["messages[1].content[0].id", "messages[2].content[0].tool_use_id"];
    assert_eq!(found(0, 1), ids.map(|id| ("ANT-6", path(id))));
}

#[test]
fn every_kind_of_block_is_lifted() {
    let wire = Target::Anthropic.lift(&payload(
        r#"{"system":[{"type":"text","text":"s"},{"type":"image"}],"messages":[
           {"role":"user","content":"see"},
           {"role":"user","content":[
             {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},
             {"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},
             {"type":"image","source":{"type":"file","file_id":"f"}},
             {"type":"document","source":{}},{"text":"no type"},6]},
           {"role":"assistant","content":[
             {"type":"thinking","thinking":"r","signature":"k"},{"type":"thinking","thinking":"q"},
             {"type":"redacted_thinking","data":"d"},{"type":"text","text":"t"},
             {"type":"tool_use","id":"a","name":"f","input":{"x": 1.0}},{"type":"tool_use"}]},
           {"role":"user","content":[
             {"type":"tool_result","tool_use_id":"a","is_error":true,"content":"1"},
             {"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"2"},
               {"type":"image","source":{"type":"base64","data":"aGk="}},
               {"type":"tool_result","content":[{"type":"text","text":"deep"}]}]},
             {"type":"tool_result","content":7}]},
           {"role":"system","content":"m"},{"role":"tool","content":"x"},{"role":"user"},null,
           {"role":"user","content":{}}]}"#,
    ));
    let expected = [
        "System system[0] text s",
        "System system[1] foreign image",
        "User messages[0].content text see",
        "User messages[1].content[0] image aGk=",
        "User messages[1].content[1] image https://example.org/a.png",
        "User messages[1].content[2] foreign image",
        "User messages[1].content[3] foreign document",
        "User messages[1].content[4] foreign an object",
        "User messages[1].content[5] foreign a number",
        "Assistant messages[2].content[0] reasoning r k",
        "Assistant messages[2].content[1] reasoning q -",
        "Assistant messages[2].content[2] reasoning  d",
        "Assistant messages[2].content[3] text t",
        r#"Assistant messages[2].content[4] call a f {"x": 1.0}"#,
        "Assistant messages[2].content[5] call   ",
        "User messages[3].content[0] result a Some(true)",
        "in it messages[3].content[0].content text 1",
        "User messages[3].content[1] result b Some(false)",
        "in it messages[3].content[1].content[0] text 2",
        "in it messages[3].content[1].content[1] image aGk=",
        "in it messages[3].content[1].content[2] foreign tool_result",
        "User messages[3].content[2] result  Some(false)",
        "in it messages[3].content[2].content foreign a number",
        "System messages[4].content text m",
        "User messages[5] foreign tool",
        "User messages[7] foreign null",
        "User messages[8].content foreign an object",
    ];
    assert_eq!(lines(&wire), expected);
    assert_eq!(wire.messages.len(), 10, "a message without content is a message");
    let bare = Target::Anthropic.lift(&payload(r#"{"system":"s","messages":[]}"#));
    assert_eq!(lines(&bare), ["System system text s"]);
}
