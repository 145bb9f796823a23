//! The stdio adapter: a program of any language under test, spoken to in JSON-RPC
//! 2.0, one message a line (`PROTOCOL.md`).
//!
//! Whatever the program does (dies, hangs, floods, writes nonsense), the runner
//! comes out of it with one clear fault, and the program is started anew for the
//! next fixture.

mod answer;
mod process;

use std::time::Duration;

use onrecord_spec::json::RawValue;
use onrecord_spec::op::{Fault, FaultKind, Hello, Implementation, Op, Outcome};

pub use answer::{Answer, METHOD_NOT_FOUND};
use process::Process;

/// The version of the protocol, as `hello` is told it.
pub const PROTOCOL: u64 = 1;

/// What an adapter is allowed.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may take for one answer.
    pub timeout: Duration,
    /// How many bytes one line of it may have.
    pub longest_line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), longest_line: crate::input::LONGEST_LINE }
    }
}

impl Limits {
    /// How long the first answer may take. Some languages start slowly.
    fn first_timeout(self) -> Duration {
        self.timeout.saturating_mul(3)
    }
}

/// A program under test.
#[derive(Debug)]
pub struct Adapter {
    command: Vec<String>,
    limits: Limits,
    process: Option<Process>,
    hello: Option<Hello>,
    last_id: u64,
}

impl Adapter {
    /// An adapter that will be started as this command: a program and its
    /// arguments, without a shell between.
    #[must_use]
    pub fn new(command: Vec<String>, limits: Limits) -> Self {
        Self { command, limits, process: None, hello: None, last_id: 0 }
    }

    /// Sends one request and waits for its answer, in a process that has said
    /// hello. A fault other than an error answer ends the process: after it
    /// nobody can tell which answer belongs to which request.
    pub fn ask(&mut self, method: &str, params: &str) -> Result<Answer, Fault> {
        if self.process.is_none() {
            self.start()?;
        }
        self.exchange(method, params, self.limits.timeout)
    }

    /// Ends the input of the process and waits for it to end. True if it ended by
    /// itself, or was not running.
    pub fn close(&mut self) -> bool {
        self.process.take().is_none_or(|mut process| process.close())
    }

    /// Starts the process and has it say hello.
    fn start(&mut self) -> Result<Hello, Fault> {
        self.process = Some(Process::start(&self.command, self.limits.longest_line)?);
        let params = format!("{{\"protocol\":{PROTOCOL}}}");
        let answer = self.exchange("hello", &params, self.limits.first_timeout())?;
        let hello = answer.hello().map_err(|fault| self.end(fault))?;
        self.hello = Some(hello.clone());
        Ok(hello)
    }

    fn exchange(&mut self, method: &str, params: &str, timeout: Duration) -> Result<Answer, Fault> {
        self.last_id += 1;
        let id = self.last_id;
        let Some(process) = self.process.as_mut() else {
            return Err(fault(FaultKind::NotStarted, "it is not running"));
        };
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        let outcome = process
            .exchange(request.into_bytes(), timeout)
            .and_then(|line| Answer::read(id, &line));
        outcome.map_err(|fault| self.end(fault))
    }

    /// Ends the process for a fault, and adds what it last said.
    fn end(&mut self, mut fault: Fault) -> Fault {
        if let Some(mut process) = self.process.take() {
            if fault.kind == FaultKind::Died {
                fault.message = format!("{} ({})", fault.message, process.ending());
            }
            process.kill();
            fault.stderr = process.stderr_tail();
        }
        fault
    }

    fn tail(&mut self) -> String {
        self.process.as_mut().map(Process::stderr_so_far).unwrap_or_default()
    }
}

impl Implementation for Adapter {
    fn hello(&mut self) -> Result<Hello, Fault> {
        match (&self.hello, &self.process) {
            (Some(hello), Some(_)) => Ok(hello.clone()),
            (Some(_) | None, _) => {
                self.close();
                self.start()
            }
        }
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        let params = params(op).map_err(|error| {
            fault(FaultKind::NotAnAnswer, &format!("the op cannot be written: {error}"))
        })?;
        let answer = self.ask(op.name(), &params)?;
        match answer.outcome() {
            Ok(outcome) => crate::run::fitting(op, outcome).map_err(|fault| self.end(fault)),
            Err(fault) if fault.kind == FaultKind::ErrorAnswer => {
                Err(Fault { stderr: self.tail(), ..fault })
            }
            Err(fault) => Err(self.end(fault)),
        }
    }
}

/// The parameters of an op's request: what the op's JSON holds under its name.
fn params(op: &Op) -> Result<String, serde_json::Error> {
    let json = onrecord_spec::json::to_line(op)?;
    let held: std::collections::BTreeMap<&str, &RawValue> = serde_json::from_str(&json)?;
    Ok(held.values().next().map_or("{}", |raw| raw.get()).to_string())
}

fn fault(kind: FaultKind, message: &str) -> Fault {
    Fault { kind, message: message.to_string(), stderr: String::new() }
}
