//! Reads one line of an adapter as the answer to a request.

use onrecord_spec::json::{Fields, RawValue};
use onrecord_spec::op::{Fault, FaultKind, Hello, Outcome};
use serde::Deserialize;

use super::fault;
use crate::words::excerpt;

/// JSON-RPC's code for a method that is not there.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// How much of a bad line is quoted.
const QUOTED: usize = 80;

/// An answer: a result, still raw, or an error.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A result.
    Result(String),
    /// An error of the adapter's own.
    Error {
        /// JSON-RPC's code.
        code: i64,
        /// What the adapter says.
        message: String,
    },
}

#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    #[serde(default)]
    message: String,
}

impl Answer {
    /// Reads a line as the answer to the request with this id.
    pub fn read(id: u64, line: &[u8]) -> Result<Self, Fault> {
        let quoted = || excerpt(&String::from_utf8_lossy(line), QUOTED);
        let Ok(text) = std::str::from_utf8(line) else {
            let what = "it wrote a line that is not UTF-8";
            return Err(fault(FaultKind::NotJson, &format!("{what}: `{}`", quoted())));
        };
        let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
            let what = "it wrote a line that is not JSON";
            let to_do = "standard output is for answers alone; write all else to standard error";
            return Err(fault(FaultKind::NotJson, &format!("{what}: `{}`; {to_do}", quoted())));
        };
        let no_answer = |what: &str| {
            let message = format!("it wrote what is no answer ({what}): `{}`", quoted());
            fault(FaultKind::NotAnAnswer, &message)
        };
        let mut fields = Fields::open(raw).map_err(|error| no_answer(&error.to_string()))?;
        let version: Option<String> =
            fields.take("jsonrpc", "a string").map_err(|error| no_answer(&error.to_string()))?;
        if version.as_deref() != Some("2.0") {
            return Err(no_answer("it needs `\"jsonrpc\":\"2.0\"`"));
        }
        let answered = fields.take_raw("id");
        let result = fields.take_raw("result");
        let error = fields.take_raw("error");
        check_id(id, answered, error.is_some()).map_err(|message| match message {
            Some(message) => fault(FaultKind::WrongId, &message),
            None => no_answer("it needs the request's `id`"),
        })?;
        match (result, error) {
            (Some(result), None) => Ok(Self::Result(result.get().to_string())),
            (None, Some(error)) => {
                let error: ErrorObject = serde_json::from_str(error.get())
                    .map_err(|_| no_answer("`error` needs a whole number `code`"))?;
                Ok(Self::Error { code: error.code, message: error.message })
            }
            (Some(_), Some(_)) => Err(no_answer("it has both `result` and `error`")),
            (None, None) => Err(no_answer("it has neither `result` nor `error`")),
        }
    }

    /// What an adapter says of itself.
    pub fn hello(&self) -> Result<Hello, Fault> {
        let text = self.result()?;
        serde_json::from_str(text).map_err(|error| malformed("hello", text, &error))
    }

    /// What came of an op. A method that is not there is not supported.
    pub fn outcome(&self) -> Result<Outcome, Fault> {
        if let Self::Error { code: METHOD_NOT_FOUND, message } = self {
            let reason = format!("method not found: {message}");
            return Ok(Outcome::Unsupported { reason });
        }
        let text = self.result()?;
        serde_json::from_str(text).map_err(|error| malformed("an outcome", text, &error))
    }

    fn result(&self) -> Result<&str, Fault> {
        match self {
            Self::Result(text) => Ok(text),
            Self::Error { code, message } => {
                let message = format!("it answered with error {code}: {message}");
                Err(fault(FaultKind::ErrorAnswer, &message))
            }
        }
    }
}

fn malformed(what: &str, text: &str, error: &serde_json::Error) -> Fault {
    let error = error.to_string();
    let why = error.split(" at line ").next().unwrap_or_default();
    let message = format!("its result is not {what}: {why}, in `{}`", excerpt(text, QUOTED));
    fault(FaultKind::NotAnAnswer, &message)
}

/// Requests are asked one at a time with rising ids, so an older id is that of a
/// request that was answered before. An error may have no id: the adapter could
/// not read the request.
fn check_id(asked: u64, answered: Option<&RawValue>, error: bool) -> Result<(), Option<String>> {
    let Some(answered) = answered else { return Err(None) };
    match answered.get().parse::<u64>() {
        Ok(id) if id == asked => Ok(()),
        Ok(id) if id < asked && id > 0 => {
            Err(Some(format!("it answered request {id} a second time; each has one answer")))
        }
        Err(_) if error && answered.get() == "null" => Ok(()),
        Ok(_) | Err(_) => Err(Some(format!(
            "it answered request {}; request {asked} was asked",
            excerpt(answered.get(), QUOTED)
        ))),
    }
}
