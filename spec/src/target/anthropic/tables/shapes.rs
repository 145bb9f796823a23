//! The shape of the body, and the voices that blocks stand in.

use crate::target::tests::Table;

pub(super) const SHAPES: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        ("ANT-26", messages![r#"{"role":"user","content":"\ud83d\ude00 \\ud83d"}"#]),
        (
            "ANT-27",
            messages![user![
                r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#,
                r#"{"type":"image","source":{"type":"file","file_id":"f"}}"#,
                r#"{"type":"document","source":{}}"#
            ]],
        ),
    ],
    breaks: &[
        (
            messages![
                go!(),
                assistant![r#"{"type":"tool_use","id":"a","name":"f","input":{"x":["\ud83d"]}}"#],
                user![result!("a")]
            ],
            &[(
                "ANT-26",
                "messages[1].content[0].input.x[0]",
                "holds an unpaired surrogate escape; `\\ufffd` in its place would do",
            )],
        ),
        (
            r#"{"messages":[]}"#,
            &[("ANT-27", "messages", "is empty; must hold at least one message")],
        ),
        ("{}", &[("ANT-27", "messages", "is missing; must be an array of messages")]),
        (
            messages![
                "7",
                r#"{"role":"tool","content":"a"}"#,
                r#"{"content":"a"}"#,
                r#"{"role":"user","content":7}"#
            ],
            &[
                ("ANT-27", "messages[0]", "must be an object with a role and content, found 7"),
                (
                    "ANT-27",
                    "messages[1].role",
                    r#"must be user, assistant or system, found "tool""#,
                ),
                ("ANT-27", "messages[2].role", "must be user, assistant or system, found nothing"),
                (
                    "ANT-27",
                    "messages[3].content",
                    "must be a string or an array of blocks, found 7",
                ),
            ],
        ),
        (
            messages![user![
                "5",
                r#"{"text":"a"}"#,
                r#"{"type":"widget"}"#,
                r#"{"type":"text"}"#,
                r#"{"type":"image"}"#,
                r#"{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":""}}"#,
                r#"{"type":"image","source":{"type":"url"}}"#
            ]],
            &[
                ("ANT-27", "messages[0].content[0]", "must be an object with a `type`, found 5"),
                (
                    "ANT-27",
                    "messages[0].content[1]",
                    r#"must be an object with a `type`, found {"text":"a"}"#,
                ),
                ("ANT-27", "messages[0].content[2].type", "is of the unknown type `widget`"),
                ("ANT-27", "messages[0].content[3].text", "must be a string, found nothing"),
                (
                    "ANT-27",
                    "messages[0].content[4].source.type",
                    "must be base64, url or file, found nothing",
                ),
                (
                    "ANT-27",
                    "messages[0].content[5].source.media_type",
                    r#"must be image/jpeg, image/png, image/gif, image/webp, found "image/tiff""#,
                ),
                (
                    "ANT-27",
                    "messages[0].content[5].source.data",
                    r#"must be base64 that is not empty, found """#,
                ),
                ("ANT-27", "messages[0].content[6].source.url", "must be a URL, found nothing"),
            ],
        ),
        (
            messages![
                go!(),
                assistant![call!("a")],
                user![r#"{"type":"tool_result","tool_use_id":"a","is_error":"yes"}"#]
            ],
            &[(
                "ANT-27",
                "messages[2].content[0].is_error",
                r#"must be true or false, found "yes""#,
            )],
        ),
    ],
};

pub(super) const PLACES: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[(
        "ANT-28",
        messages![user![text!("a"), r#"{"type":"image","source":{"type":"url","url":"u"}}"#]],
    )],
    breaks: &[
        (
            messages![
                user![call!("a"), thinking!("k")],
                assistant![result!("b"), r#"{"type":"image","source":{"type":"url","url":"u"}}"#],
                user![
                    text!("on"),
                    r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#
                ]
            ],
            &[
                (
                    "ANT-28",
                    "messages[0].content[0]",
                    "`tool_use` in a user message; in an assistant message it would do",
                ),
                (
                    "ANT-28",
                    "messages[0].content[1]",
                    "`thinking` in a user message; in an assistant message it would do",
                ),
                (
                    "ANT-28",
                    "messages[1].content[0]",
                    "`tool_result` in an assistant message; in a user message it would do",
                ),
                (
                    "ANT-28",
                    "messages[1].content[1]",
                    "`image` in an assistant message; in a user message it would do",
                ),
                (
                    "ANT-28",
                    "messages[2].content[1]",
                    "`web_search_tool_result` in a user message; in an assistant message it would do",
                ),
                (
                    "ANT-21",
                    "messages[2].content[1].tool_use_id",
                    "answers `s`, which no server tool before it in its message has; with its `server_tool_use` it would do",
                ),
            ],
        ),
        (
            r#"{"system":[{"type":"document","source":{}},{"type":"text","text":""}],"messages":[{"role":"user","content":"a"}]}"#,
            &[
                ("ANT-28", "system[0]", "`document` in the system's voice; `text` would do"),
                ("ANT-7", "system[1].text", "is empty; leave the block out"),
            ],
        ),
        (
            r#"{"system":null,"messages":[{"role":"user","content":"a"}]}"#,
            &[("ANT-27", "system", "must be a string or an array of text blocks, found null")],
        ),
    ],
};

pub(super) const SYSTEM: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        ("ANT-11", messages![go!(), r#"{"role":"system","content":"s"}"#]),
        (
            "ANT-11",
            messages![
                go!(),
                assistant![call!("a")],
                user![result!("a")],
                r#"{"role":"system","content":"s"}"#,
                assistant![text!("so")],
                go!()
            ],
        ),
        (
            "ANT-11",
            messages![
                go!(),
                assistant![
                    r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#,
                    r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#
                ],
                r#"{"role":"system","content":"s"}"#
            ],
        ),
    ],
    breaks: &[
        (
            messages![r#"{"role":"system","content":"s"}"#, go!()],
            &[("ANT-11", "messages[0].role", "stands first; behind a user message it would do")],
        ),
        (
            messages![go!(), assistant![text!("so")], r#"{"role":"system","content":"s"}"#],
            &[(
                "ANT-11",
                "messages[2].role",
                "stands behind an assistant message; behind a user message it would do",
            )],
        ),
        (
            messages![
                go!(),
                r#"{"role":"system","content":"s"}"#,
                r#"{"role":"system","content":"t"}"#
            ],
            &[(
                "ANT-11",
                "messages[2].role",
                "stands behind another one of role system; behind a user message it would do",
            )],
        ),
        (
            messages![go!(), r#"{"role":"system","content":"s"}"#, go!()],
            &[("ANT-11", "messages[1].role", "stands before a user message; put it behind")],
        ),
    ],
};
