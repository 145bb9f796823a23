//! Plain reasoning, under each of the profiles.

use crate::target::tests::Table;

/// An assistant message with one call, its result, and whatever reasoning is
/// written in between.
macro_rules! reasoned {
    ($field:literal) => {
        concat!(
            r#"{"role":"assistant","content":null,"#,
            $field,
            r#""tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"}"#
        )
    };
}

pub(super) const REFUSED: Table = Table {
    profile: r#"{"plain_reasoning":"refused"}"#,
    constraints: "[]",
    keeps: &[("OAI-CHAT-15", reasoned!(""))],
    breaks: &[(
        reasoned!(r#""reasoning_content":"t","#),
        &[(
            "OAI-CHAT-15",
            "messages[0].reasoning_content",
            "the model does not take it; must be left out",
        )],
    )],
};

pub(super) const ACCEPTED: Table = Table {
    profile: r#"{"plain_reasoning":"accepted"}"#,
    constraints: "[]",
    keeps: &[
        ("OAI-CHAT-15", reasoned!(r#""reasoning_content":"t","#)),
        ("DS-1", reasoned!("")),
        ("DS-2", reasoned!(r#""reasoning_content":null,"#)),
    ],
    breaks: &[
        (
            reasoned!(r#""reasoning_content":["t"],"#),
            &[("DS-2", "messages[0].reasoning_content", r#"must be a string, found ["t"]"#)],
        ),
        (
            r#"{"role":"user","content":"a","reasoning_content":"t"}"#,
            &[(
                "OAI-CHAT-15",
                "messages[0].reasoning_content",
                "stands in a message that is not the assistant's",
            )],
        ),
    ],
};

pub(super) const REQUIRED: Table = Table {
    profile: r#"{"plain_reasoning":"required"}"#,
    constraints: r#"[{"stand-in":3}]"#,
    keeps: &[
        ("DS-1", reasoned!(r#""reasoning_content":"t","#)),
        ("DS-1", r#"{"role":"assistant","content":"no call"}"#),
        ("DS-2", reasoned!(r#""reasoning_content":"","#)),
    ],
    breaks: &[
        (
            reasoned!(""),
            &[(
                "DS-1",
                "messages[0].reasoning_content",
                "is missing beside calls; must be the reasoning that led to them, or \"\"",
            )],
        ),
        (
            reasoned!(r#""reasoning_content":null,"#),
            &[("DS-2", "messages[0].reasoning_content", "must be a string, found null")],
        ),
    ],
};
