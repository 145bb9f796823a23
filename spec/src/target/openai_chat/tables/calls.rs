//! The calls themselves: ids, names, arguments.

use crate::target::tests::Table;

pub(super) const CALLS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "OAI-CHAT-3",
            r#"{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"},
                 "id":"ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé!"}]},
               {"role":"tool","content":"1","tool_call_id":"ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé!"}"#,
        ),
        (
            "OAI-CHAT-5",
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":" {\"x\": 1e400} "}}]},
               {"role":"tool","tool_call_id":"a","content":"1"}"#,
        ),
        (
            "OAI-CHAT-10",
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"arguments":"{}",
                  "name":"aA0_-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"}"#,
        ),
        (
            "OAI-CHAT-14",
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"custom","custom":{"name":"f","input":"free"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"}"#,
        ),
    ],
    breaks: &[
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"","content":"1"},
               {"role":"tool","tool_call_id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","content":"1"}"#,
            &[
                (
                    "OAI-CHAT-3",
                    "messages[0].tool_calls[0].id",
                    "has 0 characters; 1 to 64 would do",
                ),
                (
                    "OAI-CHAT-3",
                    "messages[0].tool_calls[1].id",
                    "has 65 characters; 1 to 64 would do",
                ),
                (
                    "OAI-CHAT-3",
                    "messages[0].tool_calls[2].id",
                    "must be a string of 1 to 64 characters, found nothing",
                ),
                ("OAI-CHAT-3", "messages[1].tool_call_id", "has 0 characters; 1 to 64 would do"),
                ("OAI-CHAT-3", "messages[2].tool_call_id", "has 65 characters; 1 to 64 would do"),
            ],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":{"x":1}}},
                 {"id":"b","type":"function","function":{"name":"f","arguments":"{\"x\":"}},
                 {"id":"c","type":"function","function":{"name":"f","arguments":"[1]"}},
                 {"id":"d","type":"function","function":{"name":"f","arguments":""}},
                 {"id":"e","type":"function","function":{"name":"f"}},
                 {"id":"f","type":"function","function":{"name":"f","arguments":"{\"x\":\"\\ud83d\"}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"1"},
               {"role":"tool","tool_call_id":"c","content":"1"},{"role":"tool","tool_call_id":"d","content":"1"},
               {"role":"tool","tool_call_id":"e","content":"1"},{"role":"tool","tool_call_id":"f","content":"1"}"#,
            &[
                (
                    "OAI-CHAT-5",
                    "messages[0].tool_calls[0].function.arguments",
                    r#"must be a string that holds a JSON object, found {"x":1}"#,
                ),
                (
                    "OAI-CHAT-5",
                    "messages[0].tool_calls[1].function.arguments",
                    r#"must be a string that holds a JSON object; `{"x":` is no JSON"#,
                ),
                (
                    "OAI-CHAT-5",
                    "messages[0].tool_calls[2].function.arguments",
                    "must be a string that holds a JSON object; `[1]` is an array",
                ),
                (
                    "OAI-CHAT-5",
                    "messages[0].tool_calls[3].function.arguments",
                    "must be a string that holds a JSON object; `` is no JSON",
                ),
                (
                    "OAI-CHAT-5",
                    "messages[0].tool_calls[4].function.arguments",
                    "must be a string that holds a JSON object, found nothing",
                ),
                (
                    "OAI-CHAT-5",
                    "messages[0].tool_calls[5].function.arguments",
                    "its JSON holds an unpaired surrogate escape; `\\ufffd` in its place would do",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f g","arguments":"{}"}},
                 {"id":"b","type":"function","function":{"name":"","arguments":"{}"}},
                 {"id":"c","type":"custom","custom":{"input":"x"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"1"},
               {"role":"tool","tool_call_id":"c","content":"1"}"#,
            &[
                (
                    "OAI-CHAT-10",
                    "messages[0].tool_calls[0].function.name",
                    r#"must be 1 to 64 characters of a-z, A-Z, 0-9, `_` and `-`, found "f g""#,
                ),
                (
                    "OAI-CHAT-10",
                    "messages[0].tool_calls[1].function.name",
                    r#"must be 1 to 64 characters of a-z, A-Z, 0-9, `_` and `-`, found """#,
                ),
                (
                    "OAI-CHAT-10",
                    "messages[0].tool_calls[2].custom.name",
                    "must be 1 to 64 characters of a-z, A-Z, 0-9, `_` and `-`, found nothing",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","content":"a","tool_calls":[]},{"role":"assistant","content":"a","tool_calls":{}},
               {"role":"assistant","tool_calls":[4,{"id":"b"}]},{"role":"tool","tool_call_id":"b","content":"1"},
               {"role":"user","content":"a","tool_calls":[]}"#,
            &[
                (
                    "OAI-CHAT-14",
                    "messages[0].tool_calls",
                    "must be an array of at least one call, found []",
                ),
                (
                    "OAI-CHAT-14",
                    "messages[1].tool_calls",
                    "must be an array of at least one call, found {}",
                ),
                ("OAI-CHAT-14", "messages[2].tool_calls[0]", "must be an object, found 4"),
                (
                    "OAI-CHAT-14",
                    "messages[2].tool_calls[1].type",
                    r#"must be "function" or "custom", found nothing"#,
                ),
                (
                    "OAI-CHAT-14",
                    "messages[4].tool_calls",
                    "stands in a message that is not the assistant's",
                ),
            ],
        ),
    ],
};
