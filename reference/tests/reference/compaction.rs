//! Compaction and upgrades: small conversations, op by op, each with what comes
//! back. A refusal comes with its whole message and changes nothing.

use onrecord_reference::Reference;
use onrecord_spec::json::Json;
use onrecord_spec::op::{Changed, Context, Outcome};
use onrecord_spec::record::{Event, Row};

use super::{perform, row, rows, user, written};

/// Loads the rows, performs the ops, and compares what each gave, in short. What
/// is derived is the same after a restart.
pub(super) fn check(conversation: &[String], steps: &[(String, &str)]) {
    let mut reference = loaded(conversation);
    for (op, expected) in steps {
        let before = format!("{:?}", reference.record());
        let outcome = perform(&mut reference, op).unwrap();
        assert_eq!(told(&outcome), *expected, "{op}");
        if matches!(outcome, Outcome::Refused(_)) {
            assert_eq!(format!("{:?}", reference.record()), before, "{op}");
        }
    }
    let context = written(&perform(&mut reference, CONTEXT).unwrap());
    perform(&mut reference, RESTART).unwrap();
    assert_eq!(written(&perform(&mut reference, CONTEXT).unwrap()), context);
}

pub(super) fn loaded(conversation: &[String]) -> Reference {
    let all: Vec<String> =
        rows(conversation.iter().map(|row| &**row)).iter().map(|row| row.get().into()).collect();
    let mut reference = Reference::new();
    let load = format!(r#"{{"load":{{"rows":[{}]}}}}"#, all.join(","));
    let outcome = perform(&mut reference, &load).unwrap();
    assert!(matches!(outcome, Outcome::Loaded { .. }), "{outcome:?}");
    reference
}

/// An outcome in short.
pub(super) fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Loaded { next, .. } | Outcome::Appended { next } => format!("next {next}"),
        Outcome::Changed(changed) => told_change(changed),
        Outcome::Context(context) => told_context(context),
        Outcome::Replayed(replayed) => replayed.payload.get().to_string(),
        Outcome::Refused(refusal) => {
            let code = serde_json::to_string(&refusal.code).unwrap();
            format!("{}: {}", code.trim_matches('"'), refusal.detail)
        }
        other => panic!("{other:?}"),
    }
}

/// The rows that came, those that were taken, and what the marker counts.
fn told_change(changed: &Changed) -> String {
    let rows: Vec<Row> = changed.rows.iter().map(|row| Row::decode(row).unwrap()).collect();
    let came: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
    let taken: Vec<String> = changed.taken.iter().map(ToString::to_string).collect();
    let counts = rows.iter().find_map(|row| match &row.event {
        Event::Compaction(step) => step.counts.as_ref(),
        _ => None,
    });
    let counts = counts.map_or(String::new(), |of| format!(" ({} of {})", of.taken, of.kept));
    format!("{} took {}{counts}", came.join(" "), taken.join(" "))
}

/// Each row with its parent, which stands before it; who took the rows that left;
/// for each summary what it follows and how many rows it took.
fn told_context(context: &Context) -> String {
    let mut seen = vec![];
    let in_context = context.rows.iter().map(|row| {
        let parent = row.parent.as_ref().map_or(String::new(), |parent| {
            assert!(seen.contains(parent), "{parent} does not stand before {}", row.id);
            format!("<{parent}")
        });
        seen.push(row.id.clone());
        format!("{}{parent}", row.id)
    });
    let in_context: Vec<String> = in_context.collect();
    let left = context.left.iter().map(|left| format!("{}>{}@{}", left.id, left.by, left.seq));
    let summaries =
        context.summaries.iter().map(|of| format!("{}:{}/{}", of.summary, of.follows, of.replaced));
    let (left, summaries): (Vec<_>, Vec<_>) = (left.collect(), summaries.collect());
    format!("{} | {} | {}", in_context.join(" "), left.join(" "), summaries.join(" "))
}

pub(super) const CONTEXT: &str = r#"{"context":{}}"#;
const RESTART: &str = r#"{"restart":{}}"#;
pub(super) const LANDS: &str = r#""end":{"summary":{"text":"sum"}}"#;
const FAILS: &str = r#""end":{"failed":{"reason":"no answer"}}"#;
const EMPTY: &str = r#""end":{"summary":{"text":" "}}"#;
const ERROR: &str = r#""end":{"summary":{"text":"sum","error":true}}"#;

pub(super) fn ask() -> String {
    user("ask")
}

pub(super) fn says() -> String {
    user("says").replace("user", "assistant")
}

pub(super) fn calls(ids: &[&str]) -> String {
    let calls = ids
        .iter()
        .map(|id| format!(r#"{{"type":"call","id":"{id}","name":"t","arguments":"{{}}"}}"#));
    let calls: Vec<String> = calls.collect();
    format!(r#"{{"event":{{"type":"message","role":"assistant","blocks":[{}]}}}}"#, calls.join(","))
}

/// The JSON of a result's block, and of a result's event.
pub(super) fn result(id: &str, output: &str) -> String {
    format!(r#"{{"type":"result","call":"{id}","content":[{{"type":"text","text":"{output}"}}]}}"#)
}

pub(super) fn returns(id: &str, output: &str) -> String {
    format!(r#"{{"event":{}}}"#, result(id, output))
}

/// Whose last question waits.
pub(super) fn asking() -> Vec<String> {
    vec![ask(), calls(&["a"]), returns("a", "out"), says(), ask()]
}

pub(super) fn compact(id: &str, fields: &[&str]) -> String {
    format!(r#"{{"compact":{{"id":"{id}",{}}}}}"#, fields.join(","))
}

pub(super) fn range(first: &str, last: &str) -> String {
    format!(r#""cut":{{"range":{{"first":"{first}","last":"{last}"}}}}"#)
}

fn append(rows: &[Json]) -> String {
    let first: Row = Row::decode(&rows[0]).unwrap();
    let rows: Vec<&str> = rows.iter().map(|row| row.get()).collect();
    format!(r#"{{"append":{{"expect":{},"rows":[{}]}}}}"#, first.seq, rows.join(","))
}

/// A row that takes others.
pub(super) fn taking(row: &str, first: &str, last: &str, cited: &str, source: &str) -> String {
    let replaces = format!(
        r#"{{"replaces":{{"first":"{first}","last":"{last}","rows":{cited},"source":"{source}"}},"#
    );
    row.replacen('{', &replaces, 1)
}

#[test]
fn what_is_refused() {
    let begin = compact("k", &[&range("r0", "r3")]);
    let begun = (begin.clone(), "k/started k/provenance took ");
    let end = |how: &str| compact("k", &[how]);
    let busy = "busy: the compaction `k` is open; it must end before another begins \
                (compaction.one-at-a-time)";
    let changed = "changed: the rows that the compaction `k` was to take are no longer together in \
                   the context; end it as failed and begin another (compaction.concurrent-append)";
    let empty = "empty-summary: the summary is empty (compaction.bracket)";
    let error = "empty-summary: what came back is an error and no summary (compaction.bracket)";
    let failed = (end(FAILS), "k/ended took ");
    let started = row(7, r#"{"event":{"type":"compaction","compaction":"l","step":"started"}}"#);
    let again = row(7, &taking(&says(), "r3", "r3", r#"["r3"]"#, "regeneration"));
    let cases: Vec<Vec<(String, &str)>> = vec![
        vec![(
            r#"{"compact":{"id":"k"}}"#.into(),
            "malformed: a compaction needs a `cut` to begin with, an `end`, or both \
             (compaction.bracket)",
        )],
        vec![(end(LANDS), "not-open: no compaction `k` is open (compaction.bracket)")],
        vec![
            begun.clone(),
            (compact("l", &[&range("r0", "r0")]), busy),
            (append(&[started]), busy),
            failed.clone(),
            (begin.clone(), "duplicate-id: there was a compaction `k` before (compaction.bracket)"),
        ],
        vec![
            (
                compact("k", &[&range("r0", "r9")]),
                "not-in-context: no stretch of the context goes from `r0` to `r9` \
                 (compaction.replaces-range)",
            ),
            (
                compact("k", &[&range("r3", "r0"), LANDS]),
                "not-in-context: no stretch of the context goes from `r3` to `r0` \
                 (compaction.replaces-range)",
            ),
            (
                r#"{"input":{"first":"r3","last":"r0","replay":{"target":"anthropic"}}}"#.into(),
                "not-in-context: no stretch of the context goes from `r3` to `r0` \
                 (compaction.replaces-range)",
            ),
        ],
        vec![begun.clone(), (append(&[again]), "next 8"), (end(LANDS), changed), failed.clone()],
        vec![begun, (end(EMPTY), empty), (end(ERROR), error), failed],
        vec![
            (compact("k", &[&range("r0", "r3"), EMPTY]), empty),
            (compact("k", &[&range("r0", "r3"), ERROR]), error),
        ],
        vec![(
            r#"{"upgrade":{"id":"u","summary":"r0","text":"better"}}"#.into(),
            "not-in-context: `r0` is no summary of the context (compaction.upgrade)",
        )],
        vec![
            (
                compact("k", &[&range("r0", "r3"), LANDS]),
                "k/started k/provenance k/summary k/ended took r0 r1 r2 r3 (4 of 1)",
            ),
            (r#"{"upgrade":{"id":"u","summary":"k/summary","text":"\n"}}"#.into(), empty),
        ],
    ];
    for steps in cases {
        check(&asking(), &steps);
    }
    let nothing = "live-round: nothing may be taken before what is not answered yet \
                   (compaction.live-round-kept)";
    check(&[ask()], &[(compact("k", &[r#""cut":{"budget":{"messages":0}}"#]), nothing)]);
}

#[test]
fn a_clearing_row_is_one_result() {
    let clears = |first: &str, last: &str, cited: &str, copy: &str| {
        append(&[row(5, &taking(copy, first, last, cited, "clearing"))])
    };
    let refused = "not-one-result: row 5 clears, and is not one row of the context that holds a \
                   result, with other content in its results alone \
                   (compaction.clearing-one-result)";
    let other = returns("b", "gone");
    let cases = [
        (clears("r3", "r3", r#"["r3"]"#, &says()), refused),
        (clears("r2", "r2", r#"["r2"]"#, &other), refused),
        (clears("r2", "r3", r#"["r2","r3"]"#, &returns("a", "gone")), refused),
        (clears("r2", "r2", r#"["r2"]"#, &returns("a", "gone")), "next 6"),
    ];
    for case in cases {
        check(&asking(), &[case]);
    }
}

#[test]
fn brackets() {
    let begin = compact("k", &[&range("r0", "r3")]);
    let begun = (begin, "k/started k/provenance took ");
    let cancelled = r#""end":{"cancelled":{}}"#;
    let land = compact("k", &[LANDS]);
    let own = [
        row(5, r#"{"event":{"type":"compaction","compaction":"k","step":"started"}}"#),
        row(
            6,
            r#"{"event":{"type":"compaction","compaction":"k","step":"provenance","rows":["r5"]}}"#,
        ),
    ];
    let cases: Vec<Vec<(String, &str)>> = vec![
        // Rows that come while it is open stay, in order, behind the summary.
        vec![
            begun.clone(),
            (append(&[row(7, &says())]), "next 8"),
            (land.clone(), "k/summary k/ended took r0 r1 r2 r3 (4 of 2)"),
            (
                CONTEXT.into(),
                "k/summary r4 k/started k/provenance r7 k/ended | r0>k/summary@8 r1>k/summary@8 \
                 r2>k/summary@8 r3>k/summary@8 | k/summary:r3/4",
            ),
        ],
        vec![
            begun.clone(),
            (compact("k", &[cancelled]), "k/ended took "),
            (CONTEXT.into(), "r0 r1 r2 r3 r4 k/started k/provenance k/ended |  | "),
        ],
        vec![(compact("k", &[&range("r0", "r3"), FAILS]), "k/started k/provenance k/ended took ")],
        // What an earlier lifetime left open blocks nobody.
        vec![
            begun,
            (RESTART.into(), "next 7"),
            (land.clone(), "not-open: no compaction `k` is open (compaction.bracket)"),
            (compact("l", &[&range("r0", "r3")]), "k/ended l/started l/provenance took "),
            (compact("l", &[LANDS]), "l/summary l/ended took r0 r1 r2 r3 (4 of 4)"),
        ],
        // A bracket that was appended raw, and takes its own beginning.
        vec![(append(&own), "next 7"), (land, "k/summary k/ended took r5 (1 of 5)")],
    ];
    for steps in cases {
        check(&asking(), &steps);
    }
}

#[test]
fn a_summary_of_a_summary_and_what_hangs_from_it() {
    let mut all = asking();
    for (seq, row) in all.iter_mut().enumerate().skip(1) {
        *row = row.replacen('{', &format!(r#"{{"parent":"r{}","#, seq - 1), 1);
    }
    // The answer stays: without it the first question would wait again.
    let steps = [
        (
            compact("k", &[&range("r1", "r2"), LANDS]),
            "k/started k/provenance k/summary k/ended took r1 r2 (2 of 3)",
        ),
        (
            CONTEXT.into(),
            "r0 k/summary<r0 r3<k/summary r4<r3 k/started k/provenance k/ended | r1>k/summary@7 \
             r2>k/summary@7 | k/summary:r2/2",
        ),
        (
            compact("l", &[&range("r0", "k/summary"), LANDS]),
            "l/started l/provenance l/summary l/ended took r0 k/summary (2 of 5)",
        ),
        (
            CONTEXT.into(),
            "l/summary r3<l/summary r4<r3 k/started k/provenance k/ended l/started l/provenance \
             l/ended | r0>l/summary@11 r1>k/summary@7 r2>k/summary@7 k/summary>l/summary@11 | \
             k/summary:r2/2 l/summary:r2/2",
        ),
    ];
    check(&all, &steps);
}

#[test]
fn the_newest_text_of_a_summary_crosses() {
    let upgrade = |id: &str, text: &str| {
        format!(r#"{{"upgrade":{{"id":"{id}","summary":"k/summary","text":"{text}"}}}}"#)
    };
    let replay = |text: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"{text}"}},{{"role":"user","content":"ask"}}]}}"#
        )
    };
    let asked = r#"{"replay":{"target":"openai-chat"}}"#;
    let [first, better, best] = ["sum", "better", "best"].map(replay);
    let steps = [
        (
            compact("k", &[&range("r0", "r3"), LANDS]),
            "k/started k/provenance k/summary k/ended took r0 r1 r2 r3 (4 of 1)",
        ),
        (asked.into(), &*first),
        (upgrade("u", "better"), "u took "),
        (asked.into(), &*better),
        (upgrade("v", "best"), "v took "),
        (asked.into(), &*best),
        (RESTART.into(), "next 11"),
        (asked.into(), &*best),
    ];
    check(&asking(), &steps);
}

/// An upgrade that names no summary, be it itself, is a row like any other.
#[test]
fn an_upgrade_of_itself_changes_nothing() {
    let itself = row(
        5,
        r#"{"event":{"type":"compaction","compaction":"k","step":"upgraded","summary":"r5","text":"t"}}"#,
    );
    let steps = [(append(&[itself]), "next 6"), (CONTEXT.into(), "r0 r1 r2 r3 r4 r5 |  | ")];
    check(&asking(), &steps);
}
