//! The command line as someone types it.

use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::world::{fake, onrecord, onrecord_on, small_folder, stderr, stdout, write};

#[test]
fn without_a_command_the_reference_is_run() {
    let folder = small_folder();
    let output = onrecord(&["--fixtures", folder.path().to_str().unwrap()]);
    assert_eq!(
        stdout(&output),
        " chapter     rules  declared  executed  passed  failed  warned  expected  unsupported  errors
 record          0         0         0       0       0       0         0            0       0
 lookup          0         0         0       0       0       0         0            0       0
 compaction      0         0         0       0       0       0         0            0       0
 replay          2         2         2       2       0       0         0            0       0
 authority       0         0         0       0       0       0         0            0       0
 transcript      0         0         0       0       0       0         0            0       0
 page            0         0         0       0       0       0         0            0       0
 sync            0         0         0       0       0       0         0            0       0
 recall          0         0         0       0       0       0         0            0       0
 archive         0         0         0       0       0       0         0            0       0
 migration       0         0         0       0       0       0         0            0       0
 all             2         2         2       2       0       0         0            0       0

reference: 2 checks of 2 rules, 2 executed: 2 passed. All holds.
"
    );
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn an_adapter_is_run_and_its_exit_code_says_how_it_went() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    for (mode, code, last) in [
        ("well", 0, "reference: 2 checks of 2 rules, 2 executed: 2 passed. All holds."),
        (
            "few-ops",
            2,
            "reference: 2 checks of 2 rules, 0 executed: 0 passed, 2 unsupported. Nothing was \
             executed, so this run proves nothing.",
        ),
        (
            "error-answer",
            3,
            "reference: 2 checks of 2 rules, 0 executed: 0 passed, 2 broken off. The adapter \
             broke: see the errors above.",
        ),
    ] {
        let output = onrecord_on(mode, &["run", "--fixtures", fixtures]);
        assert_eq!(output.status.code(), Some(code), "{mode}: {}", stderr(&output));
        assert_eq!(stdout(&output).lines().last(), Some(last), "{mode}");
    }
    let output = onrecord_on("never-forgets", &["run", "--fixtures", fixtures]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    let repeat = format!(
        "repeat  onrecord run --filter replay/open-call@openai-chat --rule replay.call-answered -- {}",
        fake("never-forgets").join(" ")
    );
    assert!(text.contains(&repeat), "{text}");
}

#[test]
fn an_adapter_that_hangs_is_given_its_time_and_no_more() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    let arguments = ["run", "--fixtures", fixtures, "--timeout", "1.5", "--format", "json"];
    let output = onrecord_on("hangs", &arguments);
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["checks"][0]["status"], "timeout");
    assert_eq!(report["checks"][0]["reason"], "step 1 (`replay`): it did not answer within 1.5 s");
}

#[test]
fn a_name_with_escapes_is_printed_as_text() {
    let folder = small_folder();
    let output =
        onrecord_on("coloured-name", &["run", "--fixtures", folder.path().to_str().unwrap()]);
    assert!(stdout(&output).contains("red\\u{1b}[31m: 2 checks"), "{}", stdout(&output));
    assert!(!stdout(&output).contains('\u{1b}'), "no colour where there is no terminal");
}

#[test]
fn a_report_goes_to_a_file_and_its_last_line_to_the_terminal() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    let file = folder.path().join("report.out");
    let path = file.to_str().unwrap();
    for (format, begins) in [("text", " chapter"), ("json", "{"), ("junit", "<?xml")] {
        let output =
            onrecord(&["run", "--fixtures", fixtures, "--format", format, "--output", path]);
        assert_eq!(
            stdout(&output),
            "reference: 2 checks of 2 rules, 2 executed: 2 passed. All holds.\n"
        );
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.starts_with(begins), "{format}: {written}");
    }
    let arguments = ["run", "--fixtures", fixtures, "--output", "no/such/folder/x"];
    let output = onrecord(&arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: cannot write `no/such/folder/x`: "));
}

#[test]
fn a_selection_is_run_alone() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    for (arguments, checks) in [
        (&["--rule", "replay.did-not-complete"][..], "1 check of 1 rule"),
        (&["--filter", "open-call"], "2 checks of 2 rules"),
        (&["--filter", "nope", "--filter", "open"], "2 checks of 2 rules"),
        (&["--chapter", "replay"], "2 checks of 2 rules"),
        (&["--target", "openai-chat"], "2 checks of 2 rules"),
    ] {
        let mut all = vec!["run", "--fixtures", fixtures];
        all.extend(arguments);
        assert!(stdout(&onrecord(&all)).contains(checks), "{arguments:?}");
    }
    for arguments in [["--chapter", "record"], ["--target", "anthropic"]] {
        let mut all = vec!["run", "--fixtures", fixtures];
        all.extend(arguments);
        assert_eq!(onrecord(&all).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn lists_are_for_people_and_for_programs() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    let output = onrecord(&["list", "fixtures", "--fixtures", fixtures]);
    assert_eq!(
        stdout(&output),
        " fixture           kind  title\n replay/open-call  case  A call has no result.\n"
    );
    let output = onrecord(&["list", "fixtures", "--fixtures", fixtures, "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(listed[0]["cases"], serde_json::json!(["replay/open-call@openai-chat"]));
    let output = onrecord(&["list", "rules"]);
    assert!(stdout(&output).contains(" replay.late-result "), "{}", stdout(&output));
    let output = onrecord(&["list", "targets", "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(listed[0]["target"], "openai-chat");
    assert_eq!(listed[1]["target"], "anthropic");
}

#[test]
fn a_rule_is_explained() {
    let output = onrecord(&["explain", "replay.call-answered"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(text.starts_with("replay.call-answered  MUST\n"), "{text}");
    let pieces =
        ["\nWhy. ", "\nHarm. ", "\nDetails. ", "\nExample:\n{", "\nKept by:\n", "\nBroken by:\n"];
    for piece in pieces {
        assert!(text.contains(piece), "{piece:?} is not in\n{text}");
    }
    assert!(text.contains("\nDetails. On OpenAI Chat the results are the run of `tool` messages"));
    // The points of a list stand on lines of their own.
    let text = stdout(&onrecord(&["explain", "replay.prefix-stable"]));
    assert!(text.contains("or it is one of these:\n- the answer of a call"), "{text}");
    // A rule whose sentence says all has none.
    let text = stdout(&onrecord(&["explain", "replay.orphan-not-speech"]));
    assert!(!text.contains("Details."), "{text}");
    let output = onrecord(&["explain", "ANT-3"]);
    assert!(stdout(&output).starts_with("ANT-3  of the target anthropic\n"), "{}", stderr(&output));
}

const LOG: &str = r#"{"onrecord":1,"conversation":"c1"}
{"seq":0,"id":"r0","event":{"type":"message","role":"user","blocks":[{"type":"text","text":"Feed the owl."},{"type":"image","media_type":"image/png","data":"iVBORw0KGgo="}]}}
{"seq":1,"id":"r1","event":{"type":"message","role":"assistant","blocks":[{"type":"reasoning","text":"It is hungry.","token":"sig-1","from":{"provider":"anthropic","api":"messages","model":"m-1"}},{"type":"call","id":"c1","name":"feed","arguments":"{}"}]}}
"#;

fn replay(arguments: &[&str]) -> (serde_json::Value, String) {
    let folder = TempDir::new().unwrap();
    let path = write(folder.path(), "log.jsonl", LOG);
    let mut all = vec!["replay", path.to_str().unwrap()];
    all.extend(arguments);
    let output = onrecord(&all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (serde_json::from_str(&stdout(&output)).unwrap(), stderr(&output))
}

#[test]
fn a_log_is_replayed_and_the_output_can_be_piped() {
    let (payload, said) = replay(&["--target", "openai-chat"]);
    assert_eq!(payload["messages"][1]["tool_calls"][0]["id"], "c1");
    assert_eq!(payload["messages"][2]["role"], "tool");
    assert_eq!(said, "repairs: `answered` (row 1), `omitted` (row 1)\n");

    let (payload, said) = replay(&["--target", "openai-chat", "--no-vision"]);
    assert!(!payload.to_string().contains("image_url"));
    assert!(said.contains("`unseen` (row 0)"), "{said}");

    let (payload, said) = replay(&["--target", "openai-chat", "--running"]);
    assert!(payload["messages"][2]["content"].to_string().contains("still running"));
    assert!(said.contains("`pending` (row 1)"), "{said}");

    let model = ["--provider", "anthropic", "--api", "messages", "--model", "m-1"];
    let mut arguments = vec!["--target", "anthropic", "--thinking", "--format", "json"];
    arguments.extend(model);
    let (all, said) = replay(&arguments);
    assert_eq!(all["payload"]["messages"][1]["content"][0]["signature"], "sig-1");
    assert_eq!(all["anomalies"], serde_json::json!([{ "name": "answered", "seq": 1 }]));
    assert_eq!(said, "", "with `--format json` all of it is in the object");
}

/// A conversation that was compacted once, with a call, a thought and a stream.
const COMPACTED: &str = r#"{"onrecord":1,"conversation":"c1"}
{"seq":0,"id":"u0","event":{"type":"message","role":"user","blocks":[{"type":"text","text":"Count the bees."}]}}
{"seq":1,"id":"a1","event":{"type":"message","role":"assistant","blocks":[{"type":"reasoning","text":"There is a hive."},{"type":"call","id":"c1","name":"count","arguments":"{\"what\":\"bees\"}"}]}}
{"seq":2,"id":"t2","event":{"type":"result","call":"c1","name":"count","content":[{"type":"text","text":"41 \u001b[31mbees"}]}}
{"seq":3,"id":"a3","event":{"type":"message","role":"assistant","blocks":[{"type":"text","text":"41."}]}}
{"seq":4,"id":"s4","replaces":{"first":"u0","last":"a3","rows":["u0","a1","t2","a3"],"source":"compaction"},"audience":"model","event":{"type":"message","role":"user","blocks":[{"type":"text","text":"Bees were counted."}]}}
{"seq":5,"id":"u5","parent":"s4","event":{"type":"message","role":"user","blocks":[{"type":"text","text":"And wasps?"}]}}
{"seq":6,"id":"d6","event":{"type":"delta","message":"a9","part":"text","text":"No wa"}}
"#;

/// The command on the compacted log, which must do well.
fn on_compacted(command: &str, more: &[&str]) -> (String, String) {
    let folder = TempDir::new().unwrap();
    let log = write(folder.path(), "log.jsonl", COMPACTED);
    let mut arguments = vec![command, log.to_str().unwrap()];
    arguments.extend(more);
    let output = onrecord(&arguments);
    let said = stderr(&output).replace(log.to_str().unwrap(), "log.jsonl");
    assert_eq!(output.status.code(), Some(0), "{said}");
    (stdout(&output), said)
}

#[test]
fn people_see_what_was_compacted_and_where() {
    let (text, said) = on_compacted("transcript", &["--no-reasoning"]);
    assert_eq!(
        text,
        "user (u0)
  Count the bees.

call count (a1, returned by t2)
  {\"what\":\"bees\"}

return (t2, of the call in a1)
  41 \\u{1b}[31mbees

assistant (a3)
  41.

---- 4 earlier rows compacted for the model, by s4 ----

user (u5)
  And wasps?

assistant (a9, still streamed)
  No wa

"
    );
    assert_eq!(said, "");
    let (json, _) = on_compacted("transcript", &["--format", "json"]);
    let items: serde_json::Value = serde_json::from_str(&json).unwrap();
    let kinds: Vec<&str> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["shows"].as_object().unwrap().keys().next().unwrap().as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "user-message",
            "reasoning-message",
            "tool-call",
            "tool-return",
            "assistant-message",
            "marker",
            "user-message",
            "pieces"
        ]
    );
}

#[test]
fn a_log_is_paged_back_to_its_first_row() {
    let (newest, said) = on_compacted("page", &["--limit", "2"]);
    assert_eq!(newest.lines().count(), 4, "{newest}");
    assert!(
        newest.contains("     4  s4           (for the model)  {\"type\":\"message\""),
        "{newest}"
    );
    let cursor = said.split("--before ").nth(1).unwrap().trim();
    assert_eq!(
        said,
        format!(
            "4 rows of 7; there are older ones: onrecord page log.jsonl --limit 2 --before {cursor}\n"
        )
    );
    let (older, said) = on_compacted("page", &["--limit", "2", "--before", cursor]);
    assert!(older.lines().next().unwrap().starts_with("     0  u0"), "{older}");
    assert_eq!(said, "3 rows of 7; there are no older ones\n");
    let (json, _) = on_compacted("page", &["--limit", "2", "--format", "json"]);
    let page: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&page["before"], &page["upto"]), (&cursor.into(), &7.into()));
}

#[test]
fn what_is_no_page_is_said_to_be_none() {
    let folder = TempDir::new().unwrap();
    let log = write(folder.path(), "log.jsonl", COMPACTED);
    for (arguments, why) in [
        (&["--limit", "0"][..], "page.cursor-strict"),
        (&["--limit", "-3"][..], "page.cursor-strict"),
        (&["--before", "yesterday"][..], "page.cursor-strict"),
        (&["--limit", "many"][..], "invalid value 'many'"),
    ] {
        let mut all = vec!["page", log.to_str().unwrap()];
        all.extend(arguments);
        let output = onrecord(&all);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
}

/// `onrecord … | head` is no error.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["list", "rules"][..], &["schema", "record"], &["--help"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_onrecord"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn every_help_teaches_with_an_example() {
    for command in ["", "run", "smoke", "list", "explain", "replay", "transcript", "page", "schema"]
    {
        let arguments: Vec<&str> =
            [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let output = onrecord(&arguments);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let example = format!("Examples:\n  onrecord {command}");
        assert!(text.contains(example.trim_end()), "{command}: {text}");
    }
}
