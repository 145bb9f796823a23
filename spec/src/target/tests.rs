//! How the targets' tables are tested: each rule by payloads that keep it and
//! payloads that break it, and both targets by any JSON at all.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Breach, Profile, Target};
use crate::json::{Json, compact, keep};
use crate::op::Constraint;
use crate::wire::{Body, Part, Wire};

/// Payloads under one profile and the constraints of one replay, each written
/// as its messages or as a whole.
pub(super) struct Table {
    pub(super) profile: &'static str,
    pub(super) constraints: &'static str,
    /// A rule, and a payload that keeps it and every other.
    pub(super) keeps: &'static [(&'static str, &'static str)],
    /// A payload, and all that is found in it.
    pub(super) breaks: &'static [(&'static str, &'static [Found])],
}

/// A breach: rule, path, message.
pub(super) type Found = (&'static str, &'static str, &'static str);

/// The whole payload that a test's short form stands for.
pub(super) fn payload(written: &str) -> Json {
    let whole = [r#"{"messages""#, r#"{"system""#, r#"{"tools""#, "{}"];
    if whole.iter().any(|beginning| written.starts_with(beginning)) {
        keep(written).unwrap()
    } else {
        keep(&format!(r#"{{"messages":[{written}]}}"#)).unwrap()
    }
}

/// Checks every payload of some tables; then that every rule of the target is
/// kept by one and broken by one, but for those that no payload can show.
/// `apart` are rules that have a test of their own.
pub(super) fn check_tables(target: Target, tables: &[Table], hidden: &[&str], apart: &[&str]) {
    let mut keeping: BTreeSet<&str> = apart.iter().copied().collect();
    let mut breaking = keeping.clone();
    for table in tables {
        let profile: Profile = serde_json::from_str(table.profile).unwrap();
        let constraints: Vec<Constraint> = serde_json::from_str(table.constraints).unwrap();
        for (rule, written) in table.keeps {
            assert_eq!(target.check(&profile, &payload(written), &constraints), [], "{written}");
            keeping.insert(*rule);
        }
        for (written, found) in table.breaks {
            let breaches = target.check(&profile, &payload(written), &constraints);
            assert_eq!(told(&breaches), *found, "{written}");
            breaking.extend(found.iter().map(|(rule, ..)| *rule));
        }
    }
    for rule in target.rules() {
        if hidden.contains(&rule.id) {
            assert!(!rule.limit.is_empty(), "{} says why it is not checked", rule.id);
            assert!(!breaking.contains(rule.id), "{} is checked after all", rule.id);
        } else {
            assert!(keeping.contains(rule.id), "no payload keeps {}", rule.id);
            assert!(breaking.contains(rule.id), "no payload breaks {}", rule.id);
        }
    }
    let ids: BTreeSet<&str> = target.rules().iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), target.rules().len(), "ids are unique");
    assert!(breaking.union(&keeping).all(|rule| ids.contains(rule)), "every rule is in the table");
}

/// Breaches as a table writes them.
pub(super) fn told(breaches: &[Breach]) -> Vec<(&str, &str, &str)> {
    breaches.iter().map(|breach| (breach.rule, &*breach.path, &*breach.message)).collect()
}

/// A wire, one line a part: role, path, body.
pub(super) fn lines(wire: &Wire) -> Vec<String> {
    let line = |part: &Part| {
        let body = match &part.body {
            Body::Text(text) => format!("text {text}"),
            Body::Reasoning(reasoning) => {
                let token = reasoning.token.as_deref().unwrap_or("-");
                format!("reasoning {} {token}", reasoning.text)
            }
            Body::Call(call) => format!("call {} {} {}", call.id, call.name, call.arguments),
            Body::Result(result) => format!("result {} {:?}", result.call, result.error),
            Body::Image(image) => format!("image {}", image.source),
            Body::Foreign(kind) => format!("foreign {kind}"),
        };
        format!("{} {body}", part.path)
    };
    let mut lines = Vec::new();
    for (message, part) in wire.parts() {
        lines.push(format!("{:?} {}", message.role, line(part)));
        if let Body::Result(result) = &part.body {
            lines.extend(result.content.iter().map(|part| format!("in it {}", line(part))));
        }
    }
    lines
}

const ODD: [&str; 12] = [
    "null",
    "1e400",
    r#""""#,
    "true",
    "[]",
    "{}",
    r#""\ud83d""#,
    r#"[[],{}, null]"#,
    r#"{"type":"text","text":null}"#,
    r#"{"type":"tool_result","content":[{"type":"tool_result","content":7}]}"#,
    r#"{"role":"assistant","content":[1,{"type":1},{"type":"x"}],"tool_calls":[{"function":3}]}"#,
    r#"{"id":"a","id":"b","type":"tool_use","type":"text"}"#,
];

/// The places that an odd value is put in.
const PLACES: [&str; 14] = [
    "@",
    r#"{"messages":@}"#,
    r#"{"messages":[@,@]}"#,
    r#"{"system":@,"tools":@,"messages":[{"role":"user","content":"a"}]}"#,
    r#"{"messages":[{"role":@,"content":@}]}"#,
    r#"{"messages":[{"role":"user","content":[@,@]},{"role":"user","content":@}]}"#,
    r#"{"messages":[{"role":"system","content":@},{"role":"system","content":[@]}]}"#,
    r#"{"messages":[{"role":"assistant","content":@,"tool_calls":@,"reasoning_content":@}]}"#,
    r#"{"messages":[{"role":"assistant","tool_calls":[@,{"id":@,"type":@,"function":@}]}]}"#,
    r#"{"messages":[{"role":"assistant","tool_calls":[{"type":"function","id":"a","function":{"name":@,"arguments":@}}]},{"role":"tool","tool_call_id":@,"content":@}]}"#,
    r#"{"messages":[{"role":"user","content":[{"type":"image","source":@},{"type":"image_url","image_url":@}]}]}"#,
    r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":@,"name":@,"input":@},{"type":"thinking","thinking":@,"signature":@}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":@,"content":@,"is_error":@}]}]}"#,
    r#"{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":@},{"type":"x_tool_result","tool_use_id":@},{"type":"compaction","content":@},{"type":"redacted_thinking","data":@}]}]}"#,
    r#"{"messages":[{"@":1}]}"#,
];

#[test]
fn any_json_is_lifted_and_checked() {
    let profiles = [
        r#"{}"#,
        r#"{"thinking":true,"prefill":true,"tools":false,"plain_reasoning":"required"}"#,
        r#"{"plain_reasoning":"accepted"}"#,
    ];
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    let objects = r#"{"content":"#.repeat(10_000) + "null" + &"}".repeat(10_000);
    let mut broken = 0;
    for place in PLACES {
        for odd in ODD.iter().copied().chain([deep.as_str(), objects.as_str()]) {
            // In the place of a name only a name can stand.
            let Ok(payload) = keep(&place.replace('@', odd)) else { continue };
            for target in Target::ALL {
                for profile in profiles {
                    let profile = serde_json::from_str(profile).unwrap();
                    broken += target.check(&profile, &payload, &[]).len();
                }
                for (_, part) in target.lift(&payload).parts() {
                    assert_eq!(compact(&part.sent), part.sent);
                    assert!(keep(&part.sent).is_ok(), "{}", part.sent);
                }
            }
        }
    }
    assert!(broken > 1000, "odd payloads are found to be odd: {broken}");
}

#[test]
fn a_part_keeps_its_json_as_it_was_written() {
    let written = r#"{ "messages" : [ {"role":"user","content":[ { "type" : "text",
        "zeta" : 1.0, "text" : "a  b", "big":123456789012345678901234567890 } ] },
        { "role":"user", "content" : "c \u00e9 \ud83d" } ] }"#;
    for target in Target::ALL {
        let wire = target.lift(&keep(written).unwrap());
        let sent: Vec<&str> = wire.parts().map(|(_, part)| part.sent.as_str()).collect();
        let first =
            r#"{"type":"text","zeta":1.0,"text":"a  b","big":123456789012345678901234567890}"#;
        assert_eq!(sent, [first, r#""c \u00e9 \ud83d""#]);
        let expected =
            ["User messages[0].content[0] text a  b", "User messages[1].content text c é \u{FFFD}"];
        assert_eq!(lines(&wire), expected);
    }
}
