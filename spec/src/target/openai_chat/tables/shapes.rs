//! The shape of the body, roles and contents.

use crate::target::tests::Table;

pub(super) const SHAPES: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "OAI-CHAT-6",
            r#"{"role":"user","content":[{"type":"text","text":"see"},
                 {"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}"#,
        ),
        ("OAI-CHAT-7", r#"{"role":"user","content":""}"#),
        ("OAI-CHAT-8", r#"{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"#),
        ("OAI-CHAT-8", r#"{"role":"assistant","content":null,"audio":{"id":"x"}}"#),
        (
            "OAI-CHAT-9",
            r#"{"role":"developer","content":"d"},{"role":"system","content":"s"},
               {"role":"function","name":"f","content":"1"}"#,
        ),
        ("OAI-CHAT-13", r#"{"role":"user","content":"\ud83d\ude00 \\ud83d"}"#),
    ],
    breaks: &[
        (
            r#"{"messages":[]}"#,
            &[("OAI-CHAT-7", "messages", "is empty; must hold at least one message")],
        ),
        (r#"{}"#, &[("OAI-CHAT-7", "messages", "is missing; must be an array of messages")]),
        (
            r#"{"messages":{"role":"user"}}"#,
            &[("OAI-CHAT-7", "messages", r#"must be an array of messages, found {"role":"user"}"#)],
        ),
        (
            r#"{"role":"user","content":null},{"role":"user","content":[]},{"role":"system","content":7},
               {"role":"user","content":[{"type":"text"},{"text":"a"},{"type":"image_url","image_url":"u"}]},
               {"role":"user"}"#,
            &[
                (
                    "OAI-CHAT-7",
                    "messages[0].content",
                    "must be a string or an array of at least one part, found null",
                ),
                (
                    "OAI-CHAT-7",
                    "messages[1].content",
                    "must be a string or an array of at least one part, found []",
                ),
                (
                    "OAI-CHAT-7",
                    "messages[2].content",
                    "must be a string or an array of at least one part, found 7",
                ),
                ("OAI-CHAT-7", "messages[3].content[0].text", "must be a string, found nothing"),
                (
                    "OAI-CHAT-7",
                    "messages[3].content[1]",
                    "must be a part of type text or image_url or input_audio or file, found type nothing",
                ),
                (
                    "OAI-CHAT-7",
                    "messages[3].content[2].image_url.url",
                    "must be a string, found nothing",
                ),
                (
                    "OAI-CHAT-7",
                    "messages[4].content",
                    "must be a string or an array of at least one part, found nothing",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","tool_calls":[
                 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"b","type":"function","function":{"name":"f","arguments":"{}"}},
                 {"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"u"}}]},
               {"role":"tool","tool_call_id":"b","content":[]},
               {"role":"tool","tool_call_id":"c","content":null},
               {"role":"assistant","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#,
            &[
                (
                    "OAI-CHAT-6",
                    "messages[1].content[0]",
                    "an image in a message of role `tool`; only a user message takes one",
                ),
                (
                    "OAI-CHAT-6",
                    "messages[2].content",
                    "must be a string or an array of at least one part, found []",
                ),
                (
                    "OAI-CHAT-6",
                    "messages[3].content",
                    "must be a string or an array of at least one part, found null",
                ),
                (
                    "OAI-CHAT-6",
                    "messages[4].content[0]",
                    "an image in a message of role `assistant`; only a user message takes one",
                ),
            ],
        ),
        (
            r#"{"role":"assistant","content":null},{"role":"assistant","tool_calls":null},
               {"role":"assistant","content":[]}"#,
            &[
                (
                    "OAI-CHAT-8",
                    "messages[0].content",
                    "must be a string or an array of parts where no call is declared, found null",
                ),
                (
                    "OAI-CHAT-8",
                    "messages[1].content",
                    "must be a string or an array of parts where no call is declared, found nothing",
                ),
                (
                    "OAI-CHAT-7",
                    "messages[2].content",
                    "must be a string or an array of at least one part, found []",
                ),
            ],
        ),
        (
            r#"7,{"content":"a"},{"role":"model","content":"a"},{"role":"tool","content":"a"}"#,
            &[
                ("OAI-CHAT-9", "messages[0]", "must be an object with a role, found 7"),
                (
                    "OAI-CHAT-9",
                    "messages[1].role",
                    "must be developer, system, user, assistant or tool, found nothing",
                ),
                (
                    "OAI-CHAT-9",
                    "messages[2].role",
                    r#"must be developer, system, user, assistant or tool, found "model""#,
                ),
                (
                    "OAI-CHAT-9",
                    "messages[3].tool_call_id",
                    "is missing; must be the id of the call that the message answers",
                ),
            ],
        ),
        (
            r#"{"role":"user","content":"a\ud83d"}"#,
            &[(
                "OAI-CHAT-13",
                "messages[0].content",
                "holds an unpaired surrogate escape; `\\ufffd` in its place would do",
            )],
        ),
    ],
};
