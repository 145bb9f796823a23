//! An adapter that can be told to misbehave. The tests of the runner use it; told
//! `well`, it serves the reference and is a small example of an adapter.
//!
//! `cargo run --example fake_adapter -- well`

use std::io::{self, BufRead, Write};
use std::process::exit;

use onrecord::Reference;
use onrecord::spec::json::RawValue;
use onrecord::spec::op::{Hello, Implementation, Op};
use serde::Deserialize;

/// One request. Its parameters stay raw: they are an op's own.
#[derive(Deserialize)]
struct Request<'a> {
    id: u64,
    method: String,
    #[serde(borrow)]
    params: &'a RawValue,
}

fn main() -> io::Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let mut adapter = Adapter { mode, reference: Reference::default() };
    adapter.begin()?;
    for line in io::stdin().lock().lines() {
        adapter.answer(&line?)?;
    }
    adapter.input_ended();
    Ok(())
}

struct Adapter {
    mode: String,
    reference: Reference,
}

impl Adapter {
    fn begin(&self) -> io::Result<()> {
        match self.mode.as_str() {
            "dies-at-once" => {
                eprintln!("no library of that name\u{1b}[31m");
                exit(7)
            }
            "talks-first" => say("loading the library ..."),
            _ => Ok(()),
        }
    }

    fn answer(&mut self, line: &str) -> io::Result<()> {
        let request: Request<'_> = serde_json::from_str(line)?;
        let id = request.id;
        if request.method == "hello" {
            return self.hello(id);
        }
        if self.misbehave(&request)? {
            return Ok(());
        }
        if !Op::NAMES.contains(&request.method.as_str()) {
            return error(id, -32601, "no such method");
        }
        let op = format!("{{\"{}\":{}}}", request.method, request.params.get());
        match serde_json::from_str::<Op>(&op).map(|op| self.reference.perform(&op)) {
            Ok(Ok(outcome)) => result(id, &serde_json::to_string(&outcome)?),
            Ok(Err(fault)) => error(id, -32000, &fault.message),
            Err(bad) => error(id, -32602, &bad.to_string()),
        }
    }

    fn hello(&mut self, id: u64) -> io::Result<()> {
        match self.mode.as_str() {
            "nothing" => return result(id, "null"),
            "newer-target" => {
                return result(
                    id,
                    r#"{"name":"x","version":"1","language":"x","ops":["load"],"targets":["gemini"]}"#,
                );
            }
            "hello-error" => return error(id, -32000, "the licence has expired"),
            _ => {}
        }
        let hello = self.reference.hello().map_err(|fault| io::Error::other(fault.message))?;
        let hello = match self.mode.as_str() {
            "few-ops" => Hello { ops: vec!["load".to_string()], reports: Vec::new(), ..hello },
            "unknown-op" => Hello { ops: vec!["load".to_string(), "fly".to_string()], ..hello },
            "coloured-name" => Hello { name: "red\u{1b}[31m".to_string(), ..hello },
            _ => hello,
        };
        result(id, &serde_json::to_string(&hello)?)
    }

    /// Does what the mode says. True if that was the answer.
    fn misbehave(&self, request: &Request<'_>) -> io::Result<bool> {
        let id = request.id;
        let replay = request.method == "replay";
        match self.mode.as_str() {
            "dies-mid-run" if replay => {
                eprintln!("Traceback: the library fell over");
                exit(1)
            }
            "dies-on-poison" if request.params.get().contains("poison") => exit(9),
            "hangs" if replay => park(),
            "half-line-then-hangs" if replay => {
                print!("{{\"jsonrpc\":\"2.0\",");
                io::stdout().flush()?;
                park()
            }
            "half-a-line" if replay => {
                print!("{{\"jsonrpc\":\"2.0\",");
                io::stdout().flush()?;
                exit(0)
            }
            "floods" if replay => loop {
                say("flood flood flood")?;
            },
            "floods-stderr" if replay => {
                for line in 0..20_000 {
                    eprintln!("line {line} of my log");
                }
                exit(1)
            }
            "huge-line" if replay => loop {
                io::stdout().write_all(&[b'x'; 65_536])?;
            },
            "not-json" if replay => say("Warning: \u{1b}[33mdeprecated\u{1b}[0m")?,
            "not-utf8" if replay => io::stdout().write_all(b"{\"\xff\"}\n")?,
            "no-version" if replay => say(&format!("{{\"id\":{id},\"result\":{{}}}}"))?,
            "no-id" if replay => say("{\"jsonrpc\":\"2.0\",\"result\":{}}")?,
            "neither" if replay => say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}"))?,
            "wrong-id" if replay => result(id + 40, "{}")?,
            "answers-twice" if request.method == "load" => {
                result(id, r#"{"loaded":{"next":2}}"#)?;
                result(id, r#"{"loaded":{"next":2}}"#)?;
            }
            "lies-about-ops" if replay => error(id, -32601, "no method replay")?,
            "unsupported-everything" => {
                result(id, r#"{"unsupported":{"reason":"not in this version"}}"#)?;
            }
            "empty-outcome" if replay => result(id, "{}")?,
            "another-outcome" if replay => result(id, r#"{"loaded":{"next":2}}"#)?,
            "error-answer" if replay => {
                eprintln!("disk full");
                error(id, -32000, "the cache is not writable")?;
            }
            "answers-unknown" if !Op::NAMES.contains(&request.method.as_str()) => result(id, "{}")?,
            "never-forgets" if replay => result(
                id,
                r#"{"replayed":{"payload":{"messages":[{"role":"user","content":"canary-of-the-first-record"}]}}}"#,
            )?,
            "refuses-plain" if request.method == "load" => {
                result(id, r#"{"refused":{"code":"malformed","detail":"no"}}"#)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn input_ended(&self) {
        if self.mode == "lingers" {
            park();
        }
    }
}

/// Waits for ever.
fn park() -> ! {
    loop {
        std::thread::park();
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn result(id: u64, result: &str) -> io::Result<()> {
    say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"))
}

fn error(id: u64, code: i64, message: &str) -> io::Result<()> {
    let message = serde_json::to_string(message)?;
    say(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}"
    ))
}
