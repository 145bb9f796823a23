//! What stands in texts, in results, and in which fields.

use crate::target::tests::Table;

pub(super) const TEXTS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        ("ANT-7", messages![user![text!(" a ")]]),
        ("ANT-8", messages![go!(), assistant![text!("so")], go!()]),
    ],
    breaks: &[
        (
            messages![
                user![text!("go"), text!("")],
                assistant![text!(" \\n"), call!("a")],
                user![result!("a", r#"[{"type":"text","text":""}]"#)],
                r#"{"role":"user","content":" "}"#
            ],
            &[
                ("ANT-7", "messages[0].content[1].text", "is empty; leave the block out"),
                (
                    "ANT-7",
                    "messages[1].content[0].text",
                    "is nothing but white space; leave the block out",
                ),
                (
                    "ANT-7",
                    "messages[2].content[0].content[0].text",
                    "is empty; leave the block out",
                ),
                ("ANT-7", "messages[3].content", "is nothing but white space; leave the block out"),
            ],
        ),
        (
            messages![
                r#"{"role":"user","content":""}"#,
                r#"{"role":"assistant","content":[]}"#,
                r#"{"role":"user","content":null}"#,
                r#"{"role":"user"}"#
            ],
            &[
                ("ANT-8", "messages[0].content", "is empty; leave the message out"),
                ("ANT-8", "messages[1].content", "is empty; leave the message out"),
                (
                    "ANT-8",
                    "messages[2].content",
                    "must be a string or an array of blocks, found null",
                ),
                (
                    "ANT-8",
                    "messages[3].content",
                    "must be a string or an array of blocks, found nothing",
                ),
            ],
        ),
    ],
};

pub(super) const RESULTS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "ANT-19",
            messages![
                go!(),
                assistant![call!("a"), call!("b"), call!("c")],
                user![
                    r#"{"type":"tool_result","tool_use_id":"a","is_error":true}"#,
                    result!("b", r#""""#),
                    result!(
                        "c",
                        r#"[{"type":"text","text":"1"},{"type":"image","source":{"type":"url","url":"u"}},{"type":"tool_reference"}]"#
                    )
                ]
            ],
        ),
        ("ANT-20", messages![go!(), assistant![call!("a")], user![result!("a")]]),
        ("ANT-29", messages![go!(), assistant![call!("a")], user![result!("a")]]),
    ],
    breaks: &[
        (
            messages![
                go!(),
                assistant![call!("a"), call!("b"), call!("c")],
                user![
                    result!("a", "null"),
                    result!("b", "7"),
                    result!(
                        "c",
                        r#"[{"type":"tool_use","id":"x","name":"f","input":{}},{"type":"widget"},5]"#
                    )
                ]
            ],
            &[
                (
                    "ANT-19",
                    "messages[2].content[0].content",
                    "must be a string or an array of blocks, or be absent, found null",
                ),
                (
                    "ANT-19",
                    "messages[2].content[1].content",
                    "must be a string or an array of blocks, or be absent, found 7",
                ),
                (
                    "ANT-19",
                    "messages[2].content[2].content[0]",
                    "`tool_use` in a result; one of text, image, document, search_result, tool_reference, browser_state would do",
                ),
                (
                    "ANT-19",
                    "messages[2].content[2].content[1]",
                    "`widget` in a result; one of text, image, document, search_result, tool_reference, browser_state would do",
                ),
                (
                    "ANT-27",
                    "messages[2].content[2].content[2]",
                    "must be an object with a `type`, found 5",
                ),
            ],
        ),
        (
            messages![
                go!(),
                assistant![
                    r#"{"type":"tool_use","id":"a","name":"f","input":"{}"}"#,
                    r#"{"type":"tool_use","id":"b","name":"f g"}"#
                ],
                user![result!("a"), result!("b")]
            ],
            &[
                ("ANT-20", "messages[1].content[0].input", r#"must be an object, found "{}""#),
                (
                    "ANT-29",
                    "messages[1].content[1].name",
                    r#"must be 1 to 200 characters of a-z, A-Z, 0-9, `_` and `-`, found "f g""#,
                ),
                ("ANT-20", "messages[1].content[1].input", "must be an object, found nothing"),
            ],
        ),
    ],
};

pub(super) const FIELDS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "ANT-13",
            messages![
                go!(),
                assistant![
                    thinking!("k"),
                    r#"{"type":"thinking","thinking":"","signature":"l"}"#,
                    text!("so")
                ],
                go!()
            ],
        ),
        (
            "ANT-18",
            messages![
                go!(),
                assistant![r#"{"type":"redacted_thinking","data":"d"}"#, text!("so")],
                go!()
            ],
        ),
        (
            "ANT-23",
            messages![
                go!(),
                assistant![
                    r#"{"type":"compaction","content":null}"#,
                    r#"{"type":"compaction","content":"c","encrypted_content":"e"}"#
                ],
                go!()
            ],
        ),
        (
            "ANT-25",
            messages![user![
                r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral"},"citations":[]}"#
            ]],
        ),
    ],
    breaks: &[
        (
            messages![
                go!(),
                assistant![
                    r#"{"type":"thinking","thinking":"t"}"#,
                    r#"{"type":"thinking","signature":""}"#,
                    text!("so")
                ],
                go!()
            ],
            &[
                (
                    "ANT-13",
                    "messages[1].content[0].signature",
                    "must be what the provider gave, found nothing; leave the block out",
                ),
                ("ANT-13", "messages[1].content[1].thinking", "must be a string, found nothing"),
                (
                    "ANT-13",
                    "messages[1].content[1].signature",
                    r#"must be what the provider gave, found ""; leave the block out"#,
                ),
            ],
        ),
        (
            messages![go!(), assistant![r#"{"type":"redacted_thinking"}"#, text!("so")], go!()],
            &[(
                "ANT-18",
                "messages[1].content[0].data",
                "must be what the provider gave, found nothing; leave the block out",
            )],
        ),
        (
            messages![
                go!(),
                assistant![r#"{"type":"compaction","content":""}"#, r#"{"type":"compaction"}"#],
                go!()
            ],
            &[
                (
                    "ANT-23",
                    "messages[1].content[0].content",
                    r#"must be a text that is not empty, or null, found """#,
                ),
                (
                    "ANT-23",
                    "messages[1].content[1].content",
                    "must be a text that is not empty, or null, found nothing",
                ),
            ],
        ),
        (
            messages![
                r#"{"role":"user","content":"a","id":"m"}"#,
                assistant![r#"{"type":"tool_use","id":"a","name":"f","input":{},"index":0}"#],
                user![result!("a", r#"[{"type":"text","text":"1","id":"x"}]"#)]
            ],
            &[
                ("ANT-25", "messages[0].id", "is no field of `message`; leave it out"),
                (
                    "ANT-25",
                    "messages[1].content[0].index",
                    "is no field of `tool_use`; leave it out",
                ),
                (
                    "ANT-25",
                    "messages[2].content[0].content[0].id",
                    "is no field of `text`; leave it out",
                ),
            ],
        ),
    ],
};
