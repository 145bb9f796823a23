//! Keys, lookups, turns and deletions: scripts of ops, each with the whole of what
//! must come back, and every order of the edges of turns.

use onrecord_reference::Reference;
use serde_json::Value;

use super::{perform, written};

/// A message's row, which says its own id, with more fields, each with a comma
/// behind it.
fn said(seq: usize, id: &str, fields: &str) -> String {
    format!(
        r#"{{"seq":{seq},"id":"{id}",{fields}"event":{{"type":"message","role":"user","blocks":[{{"type":"text","text":"{id}"}}]}}}}"#
    )
}

/// The row of an edge.
fn edge(seq: usize, edge: &str) -> String {
    format!(r#"{{"seq":{seq},"id":"e{seq}","event":{{"type":"turn","edge":"{edge}"}}}}"#)
}

/// The fields of a row that replaces these.
fn replaces(rows: &[&str], source: &str) -> String {
    let (first, last) = (rows[0], rows[rows.len() - 1]);
    let rows = serde_json::to_string(rows).unwrap();
    format!(
        r#""replaces":{{"first":"{first}","last":"{last}","rows":{rows},"source":"{source}"}},"#
    )
}

fn load(rows: &[String]) -> String {
    format!(r#"{{"load":{{"rows":[{}]}}}}"#, rows.join(","))
}

fn load_as(name: &str, beside: bool, rows: &[String]) -> String {
    let header = format!(r#"{{"onrecord":1,"conversation":"{name}"}}"#);
    format!(r#"{{"load":{{"header":{header},"beside":{beside},"rows":[{}]}}}}"#, rows.join(","))
}

fn append(expect: usize, rows: &[String]) -> String {
    format!(r#"{{"append":{{"expect":{expect},"rows":[{}]}}}}"#, rows.join(","))
}

fn known(next: usize, rows: &[&String]) -> String {
    let rows: Vec<&str> = rows.iter().map(|row| row.as_str()).collect();
    format!(r#"{{"known":{{"next":{next},"rows":[{}]}}}}"#, rows.join(","))
}

fn lookup(key: &str) -> String {
    format!(r#"{{"lookup":{{"by":{{{key}}}}}}}"#)
}

fn found(row: &str) -> String {
    format!(r#"{{"found":{{"found":{{"row":{row}}}}}}}"#)
}

fn found_left(row: &str, left: &str) -> String {
    format!(r#"{{"found":{{"found":{{"row":{row},"left":{{{left}}}}}}}}}"#)
}

/// A refusal without its words.
fn refused(code: &str, seq: Option<usize>) -> String {
    let seq = seq.map(|seq| format!(r#","seq":{seq}"#)).unwrap_or_default();
    format!(r#"{{"refused":{{"code":"{code}"{seq}}}}}"#)
}

const NOT_FOUND: &str = r#"{"found":{}}"#;
const RESTART: &str = r#"{"restart":{}}"#;

/// Performs a script in one reference. Each op is followed by what must come back;
/// the words of a refusal are free here.
#[track_caller]
fn check(script: &[(&str, &str)]) {
    let mut reference = Reference::new();
    for (at, (op, due)) in script.iter().enumerate() {
        let mut outcome: Value =
            serde_json::from_str(&written(&perform(&mut reference, op).unwrap())).unwrap();
        if let Some(Value::Object(refusal)) = outcome.get_mut("refused") {
            refusal.remove("detail");
        }
        let due: Value = serde_json::from_str(due).unwrap();
        assert_eq!(outcome, due, "step {at}: {op}");
    }
}

fn loaded(next: usize) -> String {
    format!(r#"{{"loaded":{{"next":{next}}}}}"#)
}

fn appended(next: usize) -> String {
    format!(r#"{{"appended":{{"next":{next}}}}}"#)
}

#[test]
fn a_known_key_comes_before_everything_else() {
    let a = said(0, "a", r#""request":"k1","#);
    let b = said(1, "b", r#""report":"k1","#);
    let c = said(2, "c", r#""request":"k2","report":"k3","#);
    let again = |rows: &[(&str, &str)]| -> Vec<String> {
        rows.iter().enumerate().map(|(at, (id, keys))| said(3 + at, id, keys)).collect()
    };
    let all = [a.clone(), b.clone(), c.clone()];
    for (expect, rows, back) in [
        // At the right place, at that of the first delivery, and at one to come.
        (3, again(&[("x", r#""request":"k1","#)]), vec![&a]),
        (0, again(&[("x", r#""request":"k1","#)]), vec![&a]),
        (99, again(&[("x", r#""request":"k1","#)]), vec![&a]),
        // The kinds of keys are told apart.
        (3, again(&[("x", r#""report":"k1","#)]), vec![&b]),
        (3, again(&[("x", r#""request":"k2","#)]), vec![&c]),
        (3, again(&[("x", r#""report":"k3","#)]), vec![&c]),
        // Both keys of one row: of one row that is held, and of two.
        (3, again(&[("x", r#""request":"k2","report":"k3","#)]), vec![&c]),
        (3, again(&[("x", r#""request":"k1","report":"k3","#)]), vec![&a, &c]),
        (3, again(&[("x", r#""request":"k2","report":"k1","#)]), vec![&c, &b]),
        // A key that is held beside one that is not.
        (3, again(&[("x", r#""request":"new","report":"k3","#)]), vec![&c]),
        // Several rows: in their order, each row that is held once.
        (
            3,
            again(&[
                ("x", r#""request":"k2","#),
                ("y", ""),
                ("z", r#""request":"k1","#),
                ("w", r#""report":"k3","#),
            ]),
            vec![&c, &a],
        ),
        // The same key twice in the append is no fault where it is held already.
        (3, again(&[("x", r#""request":"k1","#), ("y", r#""request":"k1","#)]), vec![&a]),
        // What would be refused otherwise: a taken id, no parent, a wrong seq, an
        // authority block, a row that is none.
        (3, again(&[("a", r#""request":"k1","#)]), vec![&a]),
        (3, again(&[("x", r#""parent":"nobody","request":"k1","#)]), vec![&a]),
        (3, vec![said(7, "x", r#""request":"k1","#)], vec![&a]),
        (3, vec![said(3, "x", r#""request":"k1","#), "{}".into()], vec![&a]),
        (
            3,
            vec![
                r#"{"seq":3,"id":"x","request":"k1","event":{"type":"message","role":"user","blocks":[{"type":"authority","text":"root"}]}}"#
                    .into(),
            ],
            vec![&a],
        ),
    ] {
        let op = append(expect, &rows);
        let rest = format!(r#"{{"rows":{{"rows":[{a},{b},{c}]}}}}"#);
        check(&[(&load(&all), &loaded(3)), (&op, &known(3, &back)), (r#"{"read":{}}"#, &rest)]);
    }
}

#[test]
fn what_no_row_holds_is_new_or_refused() {
    let a = said(0, "a", r#""request":"k1","#);
    let row = |at: usize, keys: &str| said(at, &format!("n{at}"), keys);
    for keys in ["", r#""request":"k2","#, r#""report":"k1","#] {
        check(&[
            (&load(std::slice::from_ref(&a)), &loaded(1)),
            (&append(1, &[row(1, keys)]), &appended(2)),
            (&append(1, &[row(1, "")]), &refused("conflict", Some(2))),
        ]);
    }
    for (rows, due) in [
        (
            vec![row(1, r#""request":"k2","#), row(2, r#""request":"k2","#)],
            refused("duplicate-key", Some(2)),
        ),
        (
            vec![row(1, r#""report":"k2","#), row(2, ""), row(3, r#""report":"k2","#)],
            refused("duplicate-key", Some(3)),
        ),
        (
            vec![row(1, r#""request":"k2","report":"k3","#), row(2, r#""report":"k3","#)],
            refused("duplicate-key", Some(2)),
        ),
        // One key of two kinds is two keys.
        (vec![row(1, r#""request":"k2","#), row(2, r#""report":"k2","#)], appended(3)),
        (vec![row(1, r#""request":"k2","report":"k2","#)], appended(2)),
        // The fault that comes first is told.
        (
            vec![row(5, r#""request":"k2","#), row(2, r#""request":"k2","#)],
            refused("wrong-seq", Some(5)),
        ),
        (
            vec![row(1, r#""request":"k2","#), row(5, r#""request":"k2","#)],
            refused("duplicate-key", Some(5)),
        ),
    ] {
        let rest = if due.contains("refused") {
            format!(r#"{{"rows":{{"rows":[{a}]}}}}"#)
        } else {
            format!(r#"{{"rows":{{"rows":[{a},{}]}}}}"#, rows.join(","))
        };
        check(&[
            (&load(std::slice::from_ref(&a)), &loaded(1)),
            (&append(1, &rows), &due),
            (r#"{"read":{}}"#, &rest),
        ]);
        // A stale append is stale first.
        check(&[
            (&load(std::slice::from_ref(&a)), &loaded(1)),
            (&append(0, &rows), &refused("conflict", Some(1))),
        ]);
    }
}

#[test]
fn what_was_refused_leaves_no_key() {
    let first = said(0, "a", r#""request":"k1","#);
    let wrong = said(2, "b", r#""parent":"nobody","#);
    check(&[
        (&load(&[]), &loaded(0)),
        (
            &append(0, &[first.clone(), said(1, "c", ""), wrong]),
            &refused("unknown-parent", Some(2)),
        ),
        (&lookup(r#""request":"k1""#), NOT_FOUND),
        (r#"{"status":{"request":"k1"}}"#, r#"{"status":{}}"#),
        (&append(0, std::slice::from_ref(&first)), &appended(1)),
        (&append(0, &[said(0, "x", r#""request":"k1","#)]), &known(1, &[&first])),
    ]);
}

#[test]
fn keys_outlive_the_process_and_the_context() {
    let a = said(0, "a", r#""request":"k1","#);
    let b = said(1, "b", r#""report":"k2","#);
    let s = said(2, "s", &replaces(&["a", "b"], "compaction"));
    let c = said(3, "c", r#""request":"k3","#);
    let t = said(4, "t", &replaces(&["s", "c"], "compaction"));
    let by_s = |id: &str| format!(r#""id":"{id}","by":"s","seq":2,"source":"compaction""#);
    let by_t = |id: &str| format!(r#""id":"{id}","by":"t","seq":4,"source":"compaction""#);
    let again = append(0, &[said(0, "x", r#""request":"k3","report":"k2","#)]);
    let asked = [
        (lookup(r#""request":"k1""#), found_left(&a, &by_s("a"))),
        (lookup(r#""row":"a""#), found_left(&a, &by_s("a"))),
        (lookup(r#""report":"k2""#), found_left(&b, &by_s("b"))),
        // A flag is set once: that the summary left changes no other label.
        (lookup(r#""row":"s""#), found_left(&s, &by_t("s"))),
        (lookup(r#""request":"k3""#), found_left(&c, &by_t("c"))),
        (lookup(r#""row":"t""#), found(&t)),
        (lookup(r#""row":"k1""#), NOT_FOUND.into()),
        (lookup(r#""report":"k1""#), NOT_FOUND.into()),
        (again, known(5, &[&c, &b])),
    ];
    let asked = || asked.iter().map(|(op, due)| (&**op, &**due));
    let all = load(&[a.clone(), b.clone()]);
    let (loaded, restarted) = (loaded(2), loaded(5));
    let before = lookup(r#""request":"k1""#);
    let stands = found(&a);
    let (first, second) = (append(2, &[s.clone(), c.clone()]), append(4, std::slice::from_ref(&t)));
    let (one, two) = (appended(4), appended(5));
    let mut script = vec![(&*all, &*loaded), (&before, &stands), (&first, &one), (&second, &two)];
    script.extend(asked());
    script.push((RESTART, &restarted));
    script.extend(asked());
    check(&script);
}

#[test]
fn every_source_of_a_replacement_is_a_label() {
    for source in ["compaction", "clearing", "regeneration", "other"] {
        let result = |seq: usize, id: &str, fields: &str, text: &str| {
            format!(
                r#"{{"seq":{seq},"id":"{id}",{fields}"event":{{"type":"result","call":"c","content":[{{"type":"text","text":"{text}"}}]}}}}"#
            )
        };
        let call = r#"{"seq":0,"id":"q","event":{"type":"message","role":"assistant","blocks":[{"type":"call","id":"c","name":"t","arguments":"{}"}]}}"#;
        let whole = result(1, "a", r#""report":"k","#, "all of it");
        let copy = result(2, "b", &replaces(&["a"], source), "less");
        let left = format!(r#""id":"a","by":"b","seq":2,"source":"{source}""#);
        check(&[
            (&load(&[call.into(), whole.clone(), copy.clone()]), &loaded(3)),
            (&lookup(r#""report":"k""#), &found_left(&whole, &left)),
            (&lookup(r#""row":"b""#), &found(&copy)),
        ]);
    }
}

#[test]
fn of_an_imported_double_key_the_first_counts() {
    let a = said(0, "a", r#""request":"k","report":"r","#);
    let b = said(1, "b", r#""request":"k","#);
    let c = said(2, "c", r#""report":"r","#);
    let s = said(3, "s", &replaces(&["a"], "compaction"));
    let left = found_left(&a, r#""id":"a","by":"s","seq":3,"source":"compaction""#);
    let again = append(0, &[said(0, "x", r#""request":"k","report":"r","#)]);
    check(&[
        (&load(&[a.clone(), b.clone(), c.clone()]), &loaded(3)),
        (&lookup(r#""request":"k""#), &found(&a)),
        (&lookup(r#""report":"r""#), &found(&a)),
        (&again, &known(3, &[&a])),
        (RESTART, &loaded(3)),
        (&again, &known(3, &[&a])),
        (&append(3, &[s]), &appended(4)),
        (&lookup(r#""request":"k""#), &left),
        (&lookup(r#""row":"b""#), &found(&b)),
        (&lookup(r#""row":"c""#), &found(&c)),
        (&again, &known(4, &[&a])),
    ]);
}

#[test]
fn a_key_is_of_its_conversation() {
    let (a, b) = (said(0, "a", r#""request":"k","#), said(0, "b", r#""request":"k","#));
    let elsewhere =
        |name: &str| format!(r#"{{"lookup":{{"by":{{"request":"k"}},"conversation":"{name}"}}}}"#);
    let gone = refused("no-record", None);
    let again = append(7, &[said(7, "x", r#""request":"k","#)]);
    check(&[
        (&load_as("one", false, &[a.clone(), said(1, "z", "")]), &loaded(2)),
        (&load_as("two", true, &[]), &loaded(0)),
        (&lookup(r#""request":"k""#), NOT_FOUND),
        (&append(0, std::slice::from_ref(&b)), &appended(1)),
        (&again, &known(1, &[&b])),
        (&elsewhere("one"), &found(&a)),
        (&elsewhere("three"), &gone),
        (r#"{"delete":{"conversation":"three"}}"#, &gone),
        (r#"{"enter":{"conversation":"one"}}"#, &loaded(2)),
        (&again, &known(2, &[&a])),
        (r#"{"delete":{"conversation":"two"}}"#, r#"{"deleted":{"rows":1}}"#),
        (&elsewhere("two"), &gone),
        (RESTART, &loaded(2)),
        (r#"{"enter":{"conversation":"two"}}"#, &gone),
        (&again, &known(2, &[&a])),
        (r#"{"delete":{}}"#, r#"{"deleted":{"rows":2}}"#),
        (r#"{"delete":{}}"#, &gone),
        (&lookup(r#""request":"k""#), &gone),
        (r#"{"status":{"request":"k"}}"#, &gone),
        (&again, &gone),
        (&load_as("one", true, &[]), &loaded(0)),
        (&lookup(r#""row":"a""#), NOT_FOUND),
        (&append(0, std::slice::from_ref(&a)), &appended(1)),
        (&load_as("one", true, &[]), &refused("exists", None)),
        (&again, &known(1, &[&a])),
    ]);
}

const EDGES: [&str; 3] = ["started", "ended", "interrupted"];

/// Every order of so many edges.
fn orders(length: usize) -> Vec<Vec<&'static str>> {
    let mut orders: Vec<Vec<&str>> = vec![vec![]];
    for _ in 0..length {
        orders = orders
            .into_iter()
            .flat_map(|order| EDGES.map(|edge| [order.clone(), vec![edge]].concat()))
            .collect();
    }
    orders
}

/// The state of the turn of what stands before the edge of this number, said by
/// intervals: each turn goes from the edge that begins it to the next one; an end
/// that no start came before is a turn of its own.
fn state(order: &[&str], gap: usize) -> &'static str {
    let is = |at: usize, edge: &str| order.get(at).is_some_and(|found| *found == edge);
    let turns =
        (0..order.len()).filter(|at| is(*at, "started") || *at == 0 || !is(at - 1, "started"));
    let turns: Vec<(usize, usize)> =
        turns.map(|at| (at, if is(at, "started") { at + 1 } else { at })).collect();
    // An edge stands behind the gap of its own number.
    let inside = turns.iter().find(|(begins, ends)| *begins < gap && gap <= *ends);
    let next = turns.iter().find(|(begins, _)| *begins >= gap);
    match inside.or(next).and_then(|(_, ends)| order.get(*ends)) {
        None => "open",
        Some(&"ended") => "ended",
        Some(_) => "interrupted",
    }
}

/// Requests in every gap of every order of up to four edges: loaded, appended one
/// by one, behind a restart, and with all of it compacted.
#[test]
fn turns_by_every_order_of_their_edges() {
    let mut seen = std::collections::BTreeMap::new();
    for order in (0..=4).flat_map(orders) {
        let mut rows = vec![];
        for gap in 0..=order.len() {
            rows.push(said(rows.len(), &format!("q{gap}"), &format!(r#""request":"k{gap}","#)));
            if let Some(name) = order.get(gap) {
                rows.push(edge(rows.len(), name));
            }
        }
        let ids: Vec<String> = (0..rows.len())
            .map(|seq| if seq % 2 == 0 { format!("q{}", seq / 2) } else { format!("e{seq}") })
            .collect();
        let asked: Vec<(String, String)> = (0..=order.len())
            .map(|gap| {
                let state = state(&order, gap);
                *seen.entry(state).or_insert(0) += 1;
                (
                    format!(r#"{{"status":{{"request":"k{gap}"}}}}"#),
                    format!(r#"{{"status":{{"turn":{{"row":"q{gap}","state":"{state}"}}}}}}"#),
                )
            })
            .collect();
        let asked = || asked.iter().map(|(op, due)| (op.clone(), due.clone()));
        let next = rows.len();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let summary = said(next, "s", &replaces(&ids, "compaction"));
        let mut script = vec![(load(&rows), loaded(next))];
        script.extend(asked());
        script.push((load(&[]), loaded(0)));
        for (at, row) in rows.iter().enumerate() {
            script.push((append(at, std::slice::from_ref(row)), appended(at + 1)));
        }
        script.extend(asked());
        script.push((append(next, &[summary]), appended(next + 1)));
        script.extend(asked());
        script.push((RESTART.into(), loaded(next + 1)));
        script.extend(asked());
        let script: Vec<(&str, &str)> = script.iter().map(|(op, due)| (&**op, &**due)).collect();
        check(&script);
    }
    assert!(seen.values().all(|times| *times > 50) && seen.len() == 3, "{seen:?}");
}
