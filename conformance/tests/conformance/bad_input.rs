//! What someone may give by mistake: one message that says what, where and what
//! to do, the documented exit code, and no panic.

use std::fs::File;
use std::path::Path;

use tempfile::TempDir;

use crate::world::{OPEN_CALL, onrecord, small_folder, stderr, write};

/// The message of a command that must end with this code. Nothing goes to standard
/// output, and the message is one.
#[track_caller]
fn message(arguments: &[&str], code: i32) -> String {
    let output = onrecord(arguments);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty(), "{text}");
    assert_eq!(text.matches("error: ").count(), 1, "{text}");
    assert!(!text.contains("panicked"), "{text}");
    text.trim_start_matches("error: ").trim_end().to_string()
}

fn replay(path: &Path) -> String {
    message(&["replay", path.to_str().unwrap(), "--target", "anthropic"], 2)
}

const HEADER: &str = "{\"onrecord\":1,\"conversation\":\"c1\"}\n";

#[test]
fn a_file_that_is_not_there() {
    let path = Path::new("no/such/log.jsonl");
    assert_eq!(
        replay(path),
        "cannot read `no/such/log.jsonl`: there is no such file; give the path of a log, a file of \
         JSON lines"
    );
}

#[test]
fn a_folder() {
    let folder = TempDir::new().unwrap();
    let shown = folder.path().display();
    assert_eq!(
        replay(folder.path()),
        format!(
            "cannot read `{shown}`: it is a folder; give the path of a log, a file of JSON lines"
        )
    );
}

#[test]
fn files_that_are_no_logs() {
    let folder = TempDir::new().unwrap();
    let binary: Vec<u8> = (0..=255).cycle().take(5000).filter(|byte| *byte != b'\n').collect();
    for (name, content, begins) in [
        ("empty.jsonl", &b""[..], "is empty; a log begins with a header line like"),
        ("binary.jsonl", &binary, "is no log that can be replayed (no-header"),
        ("latin1.jsonl", b"caf\xe9 au lait\n", "is no log that can be replayed (no-header"),
        ("text.jsonl", b"Dear diary,\n", "is no log that can be replayed (no-header"),
        (
            "newer.jsonl",
            b"{\"onrecord\":9,\"conversation\":\"c1\"}\n",
            "is no log that can be replayed (newer-version",
        ),
    ] {
        let path = write(folder.path(), name, content);
        let text = replay(&path);
        let shown = path.display();
        assert!(text.starts_with(&format!("`{shown}` {begins}")), "{name}: {text}");
        assert!(text.contains("header") || text.contains("schema"), "{name}: {text}");
    }
    let newer = replay(&folder.path().join("newer.jsonl"));
    assert!(newer.contains('9') && newer.contains('1'), "names both versions: {newer}");
}

/// Invalid UTF-8 in a row is damage of that line: the rest is replayed.
#[test]
fn a_log_with_a_damaged_line_is_replayed_and_the_damage_told() {
    let folder = TempDir::new().unwrap();
    let row = r#"{"seq":0,"id":"r0","event":{"type":"message","role":"user","blocks":[{"type":"text","text":"Feed the owl."}]}}"#;
    let mut log = format!("{HEADER}{row}\n").into_bytes();
    log.extend_from_slice(b"{\"seq\":1,\"id\":\"\xff");
    let path = write(folder.path(), "torn.jsonl", log);
    let output = onrecord(&["replay", path.to_str().unwrap(), "--target", "openai-chat"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("damage: line 3, byte "), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Feed the owl."));
}

/// A gigabyte of one line. The file is sparse: no block of it is on the disk.
#[test]
fn a_line_of_a_gigabyte() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("huge.jsonl");
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    assert_eq!(
        replay(&path),
        format!(
            "`{}` has a line longer than 67108864 bytes: line 1, from byte 0; it was not read \
             further. A log is JSON lines, one row each: is the file another thing?",
            path.display()
        )
    );
}

#[test]
fn fixtures_that_are_none() {
    for (text, what) in [
        ("", "cannot read `FILE`: it is empty; a fixture is JSON in UTF-8"),
        (
            "{",
            "is not JSON: EOF while parsing an object at line 1 column 1; a fixture is one JSON object",
        ),
        ("[]", "must be an object, found []"),
        ("{}", "field `kind` is missing; it must be `case` or `verdict`"),
        (r#"{"kind":"cases"}"#, "kind: must be `case` or `verdict`, found `cases`"),
        (
            &OPEN_CALL.replace("replay.did-not-complete", "replay.did-complete"),
            "rules[1]: there is no rule `replay.did-complete`; `onrecord list rules` shows all ids",
        ),
        (
            &OPEN_CALL.replace("\"hunts\"", "\"haunts\""),
            "field `hunts` is missing; it must be a sentence",
        ),
        (
            &OPEN_CALL.replace("\"kind\"", "\"note\": 1, \"kind\""),
            "unknown field `note`; known are `kind`, `title`, `hunts`, `rules`, `bugs`, `targets`, \
             `steps` and `allow_trivial`",
        ),
        (
            &OPEN_CALL.replace("\"replay\": {}", "\"reply\": {}"),
            "steps[1]: holds no op; it needs one of `load`, `open`, `enter`, `append`, `read`, `log`, \
             `restart`, `replay`, `request`, `context`, `input`, `compact`, `clear`, `upgrade`, `transcript`, `follow`, `page`, `window`, \
             `lookup`, `status`, `delete`, `stamp`, `sync`, `recall`, `archive`, `parts`, `migrate`",
        ),
        (
            &OPEN_CALL.replace("\"replay\": {}", "\"replay\": {\"vision\": false}"),
            "steps[1].replay: unknown field `vision`, expected one of `target`, `profile`, `mode`",
        ),
        (
            &OPEN_CALL.replace(
                "\"replay\": {}",
                "\"replay\": {}, \"expect\": {\"outcom\": \"replayed\"}",
            ),
            "steps[1].expect: unknown field `outcom`, expected one of `outcome`, `code`, `seq`, \
             `next`, `damage`, `anomalies`, `constraints`, `taken`, `reference`",
        ),
        (
            &OPEN_CALL.replace("\"replay\": {}", "\"replay\": {\"target\": \"anthropic\"}"),
            "targets: says for which targets the case is made, but no step is a replay without a \
             target; leave `targets` out",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let path = write(folder.path(), "replay/x.json", text);
        let what = what.replace("FILE", &path.display().to_string());
        let arguments = ["run", "--fixtures", folder.path().to_str().unwrap()];
        assert_eq!(message(&arguments, 2), format!("fixture replay/x.json: {what}"));
    }
}

#[test]
fn a_fixture_with_a_bad_name() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "replay/Open_Call.json", OPEN_CALL);
    assert_eq!(
        message(&["list", "fixtures", "--fixtures", folder.path().to_str().unwrap()], 2),
        "fixture replay/Open_Call.json: the file's name must be kebab-case in a folder named after \
         its chapter, like replay/late-result.json"
    );
}

#[test]
fn a_folder_of_fixtures_that_is_not_there() {
    assert_eq!(
        message(&["run", "--fixtures", "no/such/folder"], 2),
        "cannot read `no/such/folder`: there is no such file; give a folder of fixtures"
    );
}

#[test]
fn a_filter_that_matches_nothing() {
    let folder = small_folder();
    let arguments =
        ["run", "--fixtures", folder.path().to_str().unwrap(), "--filter", "no-such-fixture"];
    assert_eq!(
        message(&arguments, 2),
        "no check matches, so nothing would be proved; `onrecord list fixtures` shows what \
         `--filter` can match, `onrecord list rules` all rules"
    );
}

#[test]
fn an_adapter_command_that_is_not_there() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    let text = message(&["run", "--fixtures", fixtures, "--", "no-such-program", "an arg"], 3);
    assert!(
        text.starts_with(
            "the adapter broke before anything was run: `no-such-program` cannot be started: "
        ),
        "{text}"
    );
    assert!(text.ends_with("`onrecord smoke -- no-such-program 'an arg'` tells more"), "{text}");
}

#[test]
fn baselines_that_are_none() {
    let folder = small_folder();
    let fixtures = folder.path().to_str().unwrap();
    for (text, what) in [
        ("[]", "baseline `FILE`: invalid length 0, expected struct Baseline with 2 elements"),
        (
            r#"{"implementation":"x","expected":[{"check":"a:replay.nothing","digest":"0"}]}"#,
            "baseline `FILE`: `a:replay.nothing` names no check; a check is `<fixture>:<rule>`",
        ),
        (
            r#"{"implementation":"x","expected":[{"check":"a:replay.total","digest":"0"},{"check":"a:replay.total","digest":"0"}]}"#,
            "baseline `FILE`: `a:replay.total` is there twice; keep one",
        ),
    ] {
        let path = write(folder.path(), "base.json", text);
        let path = path.to_str().unwrap();
        let text = message(&["run", "--fixtures", fixtures, "--baseline", path], 2);
        assert!(text.starts_with(&what.replace("FILE", path)), "{text}");
    }
    let text = message(&["run", "--fixtures", fixtures, "--baseline", "no/base.json"], 2);
    assert_eq!(
        text,
        "cannot read `no/base.json`: there is no such file; write a baseline with `onrecord run \
         --write-baseline FILE`"
    );
}

#[test]
fn names_that_are_none() {
    assert_eq!(
        message(&["explain", "replay.late-results"], 2),
        "there is no rule `replay.late-results`; `onrecord list rules` shows all ids, `onrecord \
         list targets` those of the targets"
    );
    let text = message(&["explain", "record.late-result"], 2);
    assert!(text.ends_with("; near it are `replay.late-result`"), "{text}");
    for (arguments, what) in [
        (
            &["run", "--rule", "x.y"][..],
            "there is no rule `x.y`; `onrecord list rules` shows all ids",
        ),
        (
            &["run", "--target", "gemini"],
            "there is no target `gemini`; there are `openai-chat`, `anthropic`",
        ),
        (
            &["run", "--chapter", "weather"],
            "there is no chapter `weather` with rules; there are `record`, `lookup`, \
             `compaction`, `replay`, `authority`, `transcript`, `page`, `sync`, `recall`, \
             `archive`, `migration`",
        ),
        (
            &["run", "--store", "postgres"],
            "there is one store, `sqlite`; write `sqlite` or `sqlite:PATH`",
        ),
        (
            &["run", "--store", "sqlite:Cargo.toml"],
            "a run would forget what is in it; name a new file",
        ),
        (&["run", "--store", "sqlite:no/where"], "name a file in a folder that is there"),
        (&["run", "--store", "sqlite", "--", "x"], "cannot be used with"),
        (&["run", "--timeout", "-1"], "unexpected argument '-1' found"),
        (&["run", "--timeout", "NaN"], "must be a number of seconds, above 0 and up to 86400"),
        (&["smoke"], "the following required arguments were not provided"),
    ] {
        let output = onrecord(arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(what), "{text}");
    }
}
