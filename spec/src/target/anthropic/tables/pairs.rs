//! Calls and their results, tools of the server, tools that are declared.

use crate::target::tests::Table;

pub(super) const PAIRS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "ANT-1",
            messages![
                go!(),
                assistant![call!("a"), call!("b")],
                user![result!("b"), result!("a"), text!("on")]
            ],
        ),
        (
            "ANT-2",
            messages![go!(), assistant![call!("a")], user![result!("a")], user![text!("on")]],
        ),
        (
            "ANT-3",
            messages![
                go!(),
                assistant![text!("so")],
                assistant![call!("a")],
                user![result!("a")],
                go!()
            ],
        ),
        ("ANT-4", messages![go!(), assistant![call!("a")], user![result!("a")]]),
        (
            "ANT-5",
            messages![
                go!(),
                assistant![call!("a")],
                user![result!("a")],
                assistant![call!("A")],
                user![result!("A")]
            ],
        ),
        ("ANT-6", messages![go!(), assistant![call!("toolu_01-Z")], user![result!("toolu_01-Z")]]),
    ],
    breaks: &[
        (
            messages![
                go!(),
                assistant![call!("b"), call!("c"), call!("a")],
                user![result!("c"), text!("on")]
            ],
            &[
                (
                    "ANT-1",
                    "messages[1].content[0].id",
                    "`b` has no `tool_result` in the next message, messages[2]; one at its beginning would do",
                ),
                (
                    "ANT-1",
                    "messages[1].content[2].id",
                    "`a` has no `tool_result` in the next message, messages[2]; one at its beginning would do",
                ),
            ],
        ),
        (
            messages![go!(), assistant![call!("a")]],
            &[
                (
                    "ANT-12",
                    "messages[1].role",
                    "ends with the assistant; a user message behind it would do",
                ),
                (
                    "ANT-1",
                    "messages[1].content[0].id",
                    "`a` has no `tool_result` and no message follows; one at its beginning would do",
                ),
            ],
        ),
        (
            messages![
                go!(),
                assistant![call!("a")],
                go!(),
                assistant![text!("so")],
                user![result!("a")]
            ],
            &[
                (
                    "ANT-1",
                    "messages[1].content[0].id",
                    "`a` has no `tool_result` in the next message, messages[2]; one at its beginning would do",
                ),
                (
                    "ANT-2",
                    "messages[4].content[0].tool_use_id",
                    "answers `a`, which the previous message does not call; text would do",
                ),
            ],
        ),
        (
            messages![user![result!("z")]],
            &[(
                "ANT-2",
                "messages[0].content[0].tool_use_id",
                "answers `z`, which the previous message does not call; text would do",
            )],
        ),
        (
            messages![go!(), assistant![call!("a")], go!(), user![result!("a")]],
            &[(
                "ANT-3",
                "messages[3].content[0]",
                "stands behind messages[2].content (`text`); results first would do",
            )],
        ),
        (
            messages![go!(), assistant![call!("a")], user![text!("so"), result!("a")]],
            &[(
                "ANT-3",
                "messages[2].content[1]",
                "stands behind messages[2].content[0] (`text`); results first would do",
            )],
        ),
        (
            messages![go!(), assistant![call!("a")], user![result!("a")], user![result!("a")]],
            &[(
                "ANT-4",
                "messages[3].content[0].tool_use_id",
                "answers `a` once more; one result for each call would do",
            )],
        ),
        (
            messages![
                go!(),
                assistant![call!("a"), call!("a")],
                user![result!("a"), result!("a")],
                assistant![call!("a")],
                user![result!("a")]
            ],
            &[
                (
                    "ANT-5",
                    "messages[1].content[1].id",
                    "`a` is also the id of messages[1].content[0]; one of its own would do",
                ),
                (
                    "ANT-5",
                    "messages[3].content[0].id",
                    "`a` is also the id of messages[1].content[0]; one of its own would do",
                ),
            ],
        ),
        (
            messages![
                go!(),
                assistant![call!("a:1"), r#"{"type":"tool_use","name":"f","input":{}}"#],
                user![result!("a:1"), r#"{"type":"tool_result","tool_use_id":7}"#]
            ],
            &[
                (
                    "ANT-6",
                    "messages[1].content[0].id",
                    r#"must be characters of a-z, A-Z, 0-9, `_` and `-`, found "a:1""#,
                ),
                (
                    "ANT-6",
                    "messages[1].content[1].id",
                    "must be characters of a-z, A-Z, 0-9, `_` and `-`, found nothing",
                ),
                (
                    "ANT-6",
                    "messages[2].content[0].tool_use_id",
                    r#"must be characters of a-z, A-Z, 0-9, `_` and `-`, found "a:1""#,
                ),
                (
                    "ANT-6",
                    "messages[2].content[1].tool_use_id",
                    "must be characters of a-z, A-Z, 0-9, `_` and `-`, found 7",
                ),
            ],
        ),
    ],
};

pub(super) const SERVER_TOOLS: Table = Table {
    profile: "{}",
    constraints: "[]",
    keeps: &[
        (
            "ANT-21",
            messages![
                go!(),
                assistant![search!("s")],
                assistant![searched!("s"), text!("so")],
                go!()
            ],
        ),
        ("ANT-21", messages![go!(), assistant![search!("s"), call!("a")], user![result!("a")]]),
    ],
    breaks: &[
        (
            messages![go!(), assistant![searched!("s"), search!("s"), text!("so")], go!()],
            &[(
                "ANT-21",
                "messages[1].content[0].tool_use_id",
                "answers `s`, which no server tool before it in its message has; with its `server_tool_use` it would do",
            )],
        ),
        (
            messages![go!(), assistant![search!("s"), text!("so")], go!()],
            &[(
                "ANT-21",
                "messages[1].content[0].id",
                "`s` is unfinished and messages[2] follows; only the assistant's own continuation would do",
            )],
        ),
    ],
};

pub(super) const NO_TOOLS: Table = Table {
    profile: r#"{"tools":false}"#,
    constraints: "[]",
    keeps: &[
        ("ANT-22", messages![go!()]),
        (
            "ANT-22",
            concat!(
                r#"{"tools":[{"name":"g"}],"messages":["#,
                messages![go!(), assistant![call!("a")], user![result!("a")]],
                "]}"
            ),
        ),
    ],
    breaks: &[(
        concat!(
            r#"{"tools":[],"messages":["#,
            messages![go!(), assistant![call!("a"), call!("b")], user![result!("a"), result!("b")]],
            "]}"
        ),
        &[(
            "ANT-22",
            "messages[1].content[0].name",
            "calls `f`, and the request declares no tools; a constraint that declares it would do",
        )],
    )],
};

pub(super) const DECLARED: Table = Table {
    profile: r#"{"tools":false}"#,
    constraints: r#"[{"declare-tools":["e","f"]}]"#,
    keeps: &[("ANT-22", messages![go!(), assistant![call!("a")], user![result!("a")]])],
    breaks: &[(
        messages![
            go!(),
            assistant![r#"{"type":"tool_use","id":"a","name":"g","input":{}}"#],
            user![result!("a")]
        ],
        &[(
            "ANT-22",
            "messages[1].content[0].name",
            "calls `g`, and the request declares no tools; a constraint that declares it would do",
        )],
    )],
};
