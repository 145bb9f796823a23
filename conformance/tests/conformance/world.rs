//! What the tests share: the binary, the fake adapters, a small suite.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use onrecord::suite::Suite;
use tempfile::TempDir;

/// A case with one open call, checked by two rules, on one target.
pub const OPEN_CALL: &str = r#"{
  "kind": "case",
  "title": "A call has no result.",
  "hunts": "A call that hangs: the provider refuses the whole conversation.",
  "rules": ["replay.call-answered", "replay.did-not-complete"],
  "targets": ["openai-chat"],
  "steps": [
    { "load": { "rows": [
      { "event": { "type": "message", "role": "user", "blocks": [{ "type": "text", "text": "Feed the owl." }] } },
      { "event": { "type": "message", "role": "assistant", "blocks": [
        { "type": "call", "id": "c1", "name": "feed", "arguments": "{}" }
      ] } }
    ] } },
    { "replay": {} }
  ]
}"#;

/// The same with another word in it.
pub fn open_call_with(word: &str) -> String {
    OPEN_CALL.replace("Feed the owl.", word)
}

/// A suite of one case.
pub fn small_suite() -> Suite {
    let mut suite = Suite::default();
    suite.add("replay/open-call.json", OPEN_CALL);
    assert_eq!(suite.broken(), &[], "the small suite is broken");
    suite
}

/// A folder with the small suite's fixture in it.
pub fn small_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "replay/open-call.json", OPEN_CALL);
    folder
}

/// Writes a file, and the folders above it.
pub fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// The command `onrecord`.
pub fn onrecord(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_onrecord")).args(arguments).output().unwrap()
}

/// The fake adapter, as a command line. Cargo builds examples before it runs
/// tests; it does not when one test target is asked for by name.
pub fn fake(mode: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_onrecord")).with_file_name("examples");
    let program = program.join(format!("fake_adapter{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{} is not built: run `cargo build -p onrecord --example fake_adapter`",
        program.display()
    );
    vec![program.display().to_string(), mode.to_string()]
}

/// Runs `onrecord` on a fake adapter: the arguments, `--`, the adapter.
pub fn onrecord_on(mode: &str, arguments: &[&str]) -> Output {
    let fake = fake(mode);
    let mut all = arguments.to_vec();
    all.push("--");
    all.extend(fake.iter().map(String::as_str));
    onrecord(&all)
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
