//! Calls and their results.

use crate::target::tests::Table;

pub(super) const PAIRS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "OAI-CHAT-1",
            r#"{"role":"user","content":"go"},
               {"role":"assistant","content":null,"tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"b","type":"function","function":{"name":"g","arguments":"{\"x\":1}"}}]},
               {"role":"tool","tool_call_id":"b","content":""},
               {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"1"}]},
               {"role":"user","content":"on"}"#,
        ),
        (
            "OAI-CHAT-2",
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"},
               {"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"2"}"#,
        ),
        (
            "OAI-CHAT-12",
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"}"#,
        ),
    ],
    breaks: &[
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"b","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"c","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"c","content":"1"},
               {"role":"user","content":"on"}"#,
            &[
                (
                    "OAI-CHAT-1",
                    "messages[0].tool_calls[0].id",
                    "`b` is not answered before messages[2]; a `tool` message right behind the declaration would do",
                ),
                (
                    "OAI-CHAT-1",
                    "messages[0].tool_calls[2].id",
                    "`a` is not answered before messages[2]; a `tool` message right behind the declaration would do",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            &[(
                "OAI-CHAT-1",
                "messages[0].tool_calls[0].id",
                "`a` is not answered before the end; a `tool` message right behind the declaration would do",
            )],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"user","content":"wait"},
               {"role":"tool","tool_call_id":"a","content":"1"}"#,
            &[
                (
                    "OAI-CHAT-1",
                    "messages[0].tool_calls[0].id",
                    "`a` is not answered before messages[1]; a `tool` message right behind the declaration would do",
                ),
                (
                    "OAI-CHAT-2",
                    "messages[2].tool_call_id",
                    "answers `a`, but this run of `tool` messages stands behind no declaration; text in a user message would do",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"},
               {"role":"tool","tool_call_id":"z","content":"2"},
               {"role":"tool","tool_call_id":"a","content":"3"}"#,
            &[
                (
                    "OAI-CHAT-2",
                    "messages[2].tool_call_id",
                    "answers `z`, which messages[0] does not declare; text in a user message would do",
                ),
                (
                    "OAI-CHAT-12",
                    "messages[3].tool_call_id",
                    "answers `a` once more; one result for each call would do",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"},
               {"role":"tool","tool_call_id":"a","content":"2"}"#,
            &[(
                "OAI-CHAT-12",
                "messages[0].tool_calls[1].id",
                "`a` is another call's id; one of its own would do",
            )],
        ),
    ],
};
