//! How a request begins and ends, and where thinking stands.

use crate::target::tests::Table;

pub(super) const ENDS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        ("ANT-10", messages![go!(), assistant![text!("so")], go!()]),
        ("ANT-12", messages![go!()]),
        (
            "ANT-12",
            messages![
                go!(),
                assistant![r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#]
            ],
        ),
    ],
    breaks: &[
        (
            messages![assistant![text!("so")], go!()],
            &[(
                "ANT-10",
                "messages[0].role",
                "begins with the assistant; a user message first would do",
            )],
        ),
        (
            messages![go!(), assistant![text!("so")]],
            &[(
                "ANT-12",
                "messages[1].role",
                "ends with the assistant; a user message behind it would do",
            )],
        ),
    ],
};

pub(super) const PREFILL: Table = Table {
    profile: r#"{"prefill":true}"#,
    constraints: "[]",
    keeps: &[
        ("ANT-12", messages![go!(), assistant![text!("so")]]),
        ("ANT-8", messages![go!(), r#"{"role":"assistant","content":""}"#]),
        ("ANT-31", messages![go!(), assistant![thinking!("k"), text!("so")], go!()]),
    ],
    breaks: &[
        (
            messages![go!(), assistant![text!("so "), text!("then\\n")]],
            &[("ANT-12", "messages[1].content[1].text", "ends in white space; trim it")],
        ),
        (
            messages![go!(), r#"{"role":"assistant","content":"so "}"#],
            &[("ANT-12", "messages[1].content", "ends in white space; trim it")],
        ),
        (
            messages![go!(), assistant![thinking!("k"), text!("so")]],
            &[(
                "ANT-31",
                "messages[1].content[0]",
                "`thinking` in the final assistant message with thinking off; leave it out",
            )],
        ),
    ],
};

pub(super) const THINKING: Table = Table {
    profile: r#"{"thinking":true}"#,
    constraints: "[]",
    keeps: &[
        (
            "ANT-14",
            messages![go!(), assistant![thinking!("k"), thinking!("l"), text!("so")], go!()],
        ),
        (
            "ANT-15",
            messages![
                go!(),
                assistant![thinking!("k"), call!("a")],
                user![result!("a")],
                assistant![call!("b")],
                user![result!("b")]
            ],
        ),
        (
            "ANT-15",
            messages![
                go!(),
                assistant![call!("a")],
                user![result!("a")],
                assistant![thinking!("k"), call!("b")],
                user![result!("b")]
            ],
        ),
        ("ANT-15", messages![go!(), assistant![call!("a")], user![result!("a"), text!("on")]]),
        (
            "ANT-15",
            messages![
                go!(),
                assistant![r#"{"type":"redacted_thinking","data":"d"}"#, call!("a")],
                user![result!("a")]
            ],
        ),
        ("ANT-30", messages![go!(), assistant![thinking!("k")], assistant![text!("so")], go!()]),
    ],
    breaks: &[
        (
            messages![
                go!(),
                assistant![thinking!("k"), text!("so"), thinking!("k"), text!("then")],
                go!()
            ],
            &[(
                "ANT-14",
                "messages[1].content[2]",
                "is messages[1].content[0] once more; as the model made it, once, would do",
            )],
        ),
        (
            messages![go!(), assistant![text!("so"), call!("a")], user![result!("a")]],
            &[(
                "ANT-15",
                "messages[1].content[0]",
                "`text` begins the final assistant message with thinking on; a thinking block there, or thinking off, would do",
            )],
        ),
        (
            messages![
                go!(),
                assistant![thinking!("k"), text!("so")],
                go!(),
                assistant![call!("a")],
                user![result!("a")],
                assistant![call!("b")],
                user![result!("b")],
                r#"{"role":"system","content":"s"}"#
            ],
            &[(
                "ANT-15",
                "messages[5].content[0]",
                "`tool_use` begins the final assistant message with thinking on; a thinking block there, or thinking off, would do",
            )],
        ),
        (
            messages![go!(), assistant![text!("so"), thinking!("k")], go!()],
            &[(
                "ANT-30",
                "messages[1].content[1]",
                "`thinking` is the last block; text or a call behind it would do",
            )],
        ),
    ],
};

pub(super) const THINKING_OFF: Table = Table {
    profile: r#"{"thinking":true}"#,
    constraints: r#"["thinking-off"]"#,
    keeps: &[
        ("ANT-15", messages![go!(), assistant![text!("so"), call!("a")], user![result!("a")]]),
        (
            "ANT-14",
            messages![
                go!(),
                assistant![thinking!("k"), text!("so"), thinking!("k"), text!("then")],
                go!()
            ],
        ),
    ],
    breaks: &[],
};
