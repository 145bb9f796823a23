//! What a compaction takes, cut by cut and budget by budget, and what a clearing
//! leaves of results.

use onrecord_spec::json::Tree;
use onrecord_spec::op::Outcome;

use super::compaction::{
    CONTEXT, LANDS, ask, asking, calls, check, compact, loaded, range, result, returns, says,
    taking, told,
};
use super::{perform, row};

#[test]
fn a_cut_at_every_place() {
    let all = [ask(), calls(&["a", "b"]), returns("a", "o"), returns("b", "o"), says(), ask()];
    // From which row to which, and the nearest that separates nothing.
    let cases = [
        ((0, 0), (0, 0)),
        ((0, 1), (0, 3)),
        ((0, 2), (0, 3)),
        ((0, 3), (0, 3)),
        ((0, 4), (0, 4)),
        ((1, 1), (1, 3)),
        ((1, 2), (1, 3)),
        ((1, 3), (1, 3)),
        ((1, 4), (1, 4)),
        ((2, 2), (1, 3)),
        ((2, 3), (1, 3)),
        ((2, 4), (1, 4)),
        ((3, 3), (1, 3)),
        ((3, 4), (1, 4)),
        ((4, 4), (4, 4)),
    ];
    for ((first, last), (from, to)) in cases {
        let ids: Vec<String> = (from..=to).map(|seq| format!("r{seq}")).collect();
        let landed = format!(
            "k/started k/provenance k/summary k/ended took {} ({} of {})",
            ids.join(" "),
            ids.len(),
            all.len() - ids.len()
        );
        let cut = range(&format!("r{first}"), &format!("r{last}"));
        let refused = format!(
            "unbalanced: the range would separate a call from its result, or pieces of one \
             message; the nearest that does not goes from `r{from}` to `r{to}` \
             (compaction.balanced-cut)"
        );
        let exact = if (first, last) == (from, to) { &*landed } else { &*refused };
        check(&all, &[(compact("k", &[&cut, LANDS]), exact)]);
        let nearest = cut.replace("range", "nearest");
        check(&all, &[(compact("k", &[&nearest, LANDS]), &*landed)]);
    }
    for first in 0..6 {
        let cut = range(&format!("r{first}"), "r5");
        let waits = "live-round: the range holds `r5`, which is not answered yet (compaction.live-round-kept)";
        check(&all, &[(compact("k", &[&cut, LANDS]), waits)]);
        check(&all, &[(compact("k", &[&cut.replace("range", "nearest"), LANDS]), waits)]);
    }
}

#[test]
fn budgets() {
    let mut all = asking();
    all.push(says());
    let cases = [
        (r#"{"messages":6}"#, None),
        (r#"{"messages":5}"#, Some(0)),
        (r#"{"messages":4}"#, Some(2)),
        (r#"{"messages":3}"#, Some(2)),
        (r#"{"messages":2}"#, Some(3)),
        (r#"{"messages":1}"#, Some(4)),
        (r#"{"messages":0}"#, Some(5)),
        (r#"{"tokens":1000}"#, None),
        (r#"{"tokens":0}"#, Some(5)),
    ];
    for (budget, last) in cases {
        let op = compact("k", &[&format!(r#""cut":{{"budget":{budget}}}"#), LANDS]);
        let expected = last.map_or(" took ".to_string(), |last: usize| {
            let ids: Vec<String> = (0..=last).map(|seq| format!("r{seq}")).collect();
            format!(
                "k/started k/provenance k/summary k/ended took {} ({} of {})",
                ids.join(" "),
                ids.len(),
                all.len() - ids.len()
            )
        });
        check(&all, &[(op, &*expected)]);
    }
    // The question waits: as much as may be taken is taken.
    let op = compact("k", &[r#""cut":{"budget":{"messages":0}}"#, LANDS]);
    let expected = "k/started k/provenance k/summary k/ended took r0 r1 r2 r3 (4 of 1)";
    check(&asking(), &[(op, expected)]);
}

#[test]
fn clearing() {
    let clear = |id: &str, keep: u64| format!(r#"{{"clear":{{"id":"{id}","keep":{keep}}}}}"#);
    let long = "o".repeat(300);
    let parallel = [ask(), calls(&["a", "b"]), returns("a", &long), returns("b", &long), says()];
    let steps = [
        (clear("c", 2), " took "),
        (clear("c", 1), "c/0 took r2"),
        (clear("d", 1), " took "),
        (clear("d", 0), "d/0 took r3"),
        (clear("e", 0), " took "),
        (CONTEXT.into(), "r0 r1 c/0 d/0 r4 | r2>c/0@5 r3>d/0@6 | "),
    ];
    check(&parallel, &steps);
    // Nothing is saved where an output is shorter than the notice.
    check(&asking(), &[(clear("c", 0), " took ")]);
}

#[test]
fn a_message_with_results_and_words_is_cleared_in_its_results_alone() {
    let long = "o".repeat(300);
    let mixed = |first: &str| {
        format!(
            r#"{{"event":{{"type":"message","role":"user","blocks":[{},{{"type":"text","text":"and"}},{}]}}}}"#,
            result("a", first),
            result("b", &long)
        )
    };
    let mut reference = loaded(&[ask(), calls(&["a", "b"]), mixed(&long)]);
    let op = r#"{"clear":{"id":"c","keep":1}}"#;
    let outcome = perform(&mut reference, op).unwrap();
    assert_eq!(told(&outcome), "c/0 took r2");
    let notice = "[The output of this tool was cleared to save space; it is kept in row r2.]";
    let copy = row(3, &taking(&mixed(notice), "r2", "r2", r#"["r2"]"#, "clearing"));
    let copy = copy.get().replacen("r3", "c/0", 1);
    let Outcome::Changed(changed) = outcome else { panic!("it changed nothing") };
    assert_eq!(Tree::parse(changed.rows[0].get()), Tree::parse(&copy));
    for (op, expected) in [
        (r#"{"clear":{"id":"d","keep":0}}"#, "d/0 took c/0"),
        (r#"{"clear":{"id":"e","keep":0}}"#, " took "),
    ] {
        assert_eq!(told(&perform(&mut reference, op).unwrap()), expected, "{op}");
    }
}
