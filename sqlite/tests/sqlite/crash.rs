//! A process is killed at every write, the store is opened again, and whoever was at
//! work goes on from there: nothing is lost and nothing is there twice.

use std::collections::BTreeMap;
use std::path::Path;

use onrecord_spec::json::Fields;
use onrecord_spec::op::{Implementation, Op, Outcome};
use onrecord_spec::text::Text;
use onrecord_sqlite::{SqliteStore, Watch};

use crate::{assert_caches, child, log, message, open, perform, said, setting, written};

/// What the process is at when it is killed. Each op that changes something can be
/// asked again when nobody knows whether it was done: appends have keys.
fn script() -> Vec<String> {
    let call = r#"{"seq":5,"id":"r5","event":{"type":"message","role":"assistant","blocks":[{"type":"call","id":"c1","name":"weigh","arguments":"{\"sacks\":12}"}]}}"#;
    let result = format!(
        r#"{{"seq":6,"id":"r6","report":"p1","event":{{"type":"result","call":"c1","name":"weigh","content":[{{"type":"text","text":"{}"}}]}}}}"#,
        "twelve sacks of barley ".repeat(30)
    );
    let piece = |seq: u64, text: &str| {
        format!(
            r#"{{"seq":{seq},"id":"r{seq}","event":{{"type":"delta","message":"r9","part":"text","text":"{text}"}}}}"#
        )
    };
    let turn = r#"{"seq":10,"id":"r10","event":{"type":"turn","edge":"ended"}}"#;
    let keyed = |key: &str| format!(r#""request":"{key}","#);
    let append = |expect: u64, rows: &[String]| {
        format!(r#"{{"append":{{"expect":{expect},"rows":[{}]}}}}"#, rows.join(","))
    };
    vec![
        append(0, &[message(0, "user", "How much barley is there?", &keyed("k0"))]),
        append(1, &[message(1, "assistant", "Ten sacks, in the mill.", &keyed("k1"))]),
        append(2, &[
            message(2, "user", "And after the harvest?", &keyed("k2")),
            message(3, "assistant", "I will weigh them.", ""),
        ]),
        r#"{"archive":{}}"#.to_string(),
        append(4, &[
            message(4, "user", "Do.", &keyed("k4")),
            call.to_string(),
            result,
        ]),
        r#"{"clear":{"id":"tidy","keep":0}}"#.to_string(),
        append(8, &[piece(8, "There are "), message(9, "assistant", "There are twelve.", &keyed("k9")), turn.to_string()]),
        r#"{"compact":{"id":"first","cut":{"range":{"first":"r0","last":"r3"}},"end":{"summary":{"text":"A summary: barley, ten sacks."}}}}"#.to_string(),
        r#"{"archive":{}}"#.to_string(),
        append(15, &[message(15, "user", "Good.", &keyed("k15"))]),
        r#"{"delete":{"conversation":"ferry"}}"#.to_string(),
        r#"{"archive":{}}"#.to_string(),
    ]
}

/// The conversation is there before anybody is killed.
fn prepare(path: &Path) -> SqliteStore {
    let mut store = open(path);
    perform(&mut store, r#"{"load":{"header":{"onrecord":1,"conversation":"granary"},"rows":[]}}"#);
    for name in ["mill", "ferry"] {
        let other = message(0, "user", &format!("The {name} is another matter."), "");
        let other = format!(
            r#"{{"load":{{"header":{{"onrecord":1,"conversation":"{name}"}},"rows":[{other}],"beside":true}}}}"#
        );
        perform(&mut store, &other);
    }
    perform(&mut store, r#"{"enter":{"conversation":"granary"}}"#);
    store
}

/// Does the script from this step on, and says of each step that it was done.
fn work(store: &mut dyn Implementation, from: usize) {
    perform(store, r#"{"enter":{"conversation":"granary"}}"#);
    for (step, op) in script().iter().enumerate().skip(from) {
        let outcome = perform(store, op);
        let done = match &outcome {
            Outcome::Appended { .. }
            | Outcome::Known { .. }
            | Outcome::Changed(_)
            | Outcome::Archived(_)
            | Outcome::Deleted { .. } => true,
            // It was done before the answer was lost: the compaction landed, or the
            // conversation is gone.
            Outcome::Refused(refusal) => {
                let done = ["`first", "`ferry`"];
                step == from && done.iter().any(|name| refusal.detail.contains(name))
            }
            _ => false,
        };
        assert!(done, "step {step}: {}", written(&outcome));
        println!("done {step}");
    }
}

#[test]
fn child_that_dies() {
    let (Some(path), Some(at)) = (setting("ONRECORD_CRASH_FILE"), setting("ONRECORD_CRASH_AT"))
    else {
        return;
    };
    let at: u64 = at.parse().unwrap();
    let mut writes = 0;
    let watch: Watch = Box::new(move || {
        writes += 1;
        if writes == at {
            die();
        }
        println!("write {writes}");
    });
    let mut store = SqliteStore::open_watched(Path::new(&path), Some(watch)).unwrap();
    work(&mut store, 0);
}

#[cfg(unix)]
fn die() {
    let _sent =
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn die() {
    std::process::abort();
}

/// What must be the same whenever the process was killed: the log, and the rows in
/// the archive with how often each stands there.
fn outcome_of(store: &mut SqliteStore) -> (Vec<u8>, BTreeMap<Text, usize>) {
    let Outcome::Parts(archive) = perform(store, r#"{"parts":{}}"#) else { panic!("no parts") };
    let mut archived = BTreeMap::new();
    for part in &archive.parts {
        for line in
            part.bytes.0.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty())
        {
            let raw = serde_json::from_slice(line).unwrap();
            let id: Text = Fields::open(raw).unwrap().need("id", "an id").unwrap();
            *archived.entry(id).or_default() += 1;
        }
    }
    (log(store), archived)
}

#[test]
fn killed_at_every_write_nothing_is_lost_and_nothing_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.sqlite");
    let mut store = prepare(&whole);
    work(&mut store, 0);
    let due = outcome_of(&mut store);
    assert!(due.1.values().all(|times| *times == 1), "{:?}", due.1);
    let (mut tried, mut landed, mut lost) = (0, 0, 0);
    for at in 1.. {
        let path = folder.path().join(format!("{at}.sqlite"));
        drop(prepare(&path));
        let file = path.display().to_string();
        let number = at.to_string();
        let settings = [("ONRECORD_CRASH_FILE", &*file), ("ONRECORD_CRASH_AT", &*number)];
        let output = child("crash::child_that_dies", &settings).output().unwrap();
        let writes = said(&output.stdout, "write").len();
        let done = said(&output.stdout, "done").len();
        if output.status.success() {
            assert_eq!(done, script().len());
            break;
        }
        assert_eq!(writes + 1, at, "{}", String::from_utf8_lossy(&output.stdout));
        tried += 1;
        let mut store = open(&path);
        perform(&mut store, r#"{"enter":{"conversation":"granary"}}"#);
        assert_caches(&mut store, "granary");
        // What was in flight is there whole, or not at all.
        let before = log(&mut store);
        assert!(due.0.starts_with(&before), "write {at}: {}", String::from_utf8_lossy(&before));
        landed += usize::from(holds_more_than(&before, done));
        work(&mut store, done);
        let now = outcome_of(&mut store);
        lost += usize::from(now != due);
        assert_eq!(now, due, "killed at write {at}");
        assert_caches(&mut store, "granary");
        let other = perform(&mut store, r#"{"enter":{"conversation":"mill"}}"#);
        assert_eq!(written(&other), r#"{"loaded":{"next":1}}"#);
        let gone = perform(&mut store, r#"{"enter":{"conversation":"ferry"}}"#);
        assert!(matches!(gone, Outcome::Refused(_)), "{}", written(&gone));
    }
    println!("killed at {tried} writes: {lost} lost or doubled; {landed} had landed unheard");
    assert!(tried > 90, "the script has only {tried} writes");
}

/// Whether the step that was in flight had landed when the process was killed.
fn holds_more_than(log: &[u8], done: usize) -> bool {
    let rows = log.iter().filter(|byte| **byte == b'\n').count() - 1;
    let lengths = [0, 1, 2, 4, 4, 7, 8, 11, 15, 15, 16, 16, 16];
    rows > lengths[done]
}

#[test]
fn an_op_of_the_script_is_an_op() {
    for op in script() {
        let read: Op = serde_json::from_str(&op).unwrap_or_else(|error| panic!("{error}: {op}"));
        assert!(["append", "archive", "clear", "compact", "delete"].contains(&read.name()));
    }
}
