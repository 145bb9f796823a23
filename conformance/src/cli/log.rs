//! A log that a command works on: read, and held by the reference.

use std::path::Path;

use onrecord_reference::Reference;
use onrecord_spec::op::{Bytes, Implementation, Op, Outcome, Refusal};

use super::{BROKE, Stop, USAGE, note};
use crate::words::visible;

/// Reads a log file and has the reference hold it. Damage is told on standard
/// error; what is no log is wrong usage.
pub(super) fn open(file: &Path) -> Result<Reference, Stop> {
    let log = crate::input::read_log(file).map_err(Stop::usage)?;
    let mut reference = Reference::default();
    let outcome = perform(&mut reference, &Op::Open { log: Bytes(log) })?;
    let Outcome::Loaded { damage, .. } = outcome else { return Err(no_log(file, &outcome)) };
    for damage in damage {
        let (line, offset, what) = (damage.line, damage.offset, visible(&damage.what));
        note(&format!("damage: line {line}, byte {offset}: {what}"));
    }
    Ok(reference)
}

/// Asks the reference for a projection of the log that it holds.
pub(super) fn perform(reference: &mut Reference, op: &Op) -> Result<Outcome, Stop> {
    reference.perform(op).map_err(|fault| Stop::broke(fault.message))
}

/// What is said where a file is no log: anything but a refusal is a bug.
pub(super) fn no_log(file: &Path, outcome: &Outcome) -> Stop {
    let file = visible(&file.display().to_string());
    if let Outcome::Refused(Refusal { code, seq, detail }) = outcome {
        let code = crate::expect::name(code);
        let place = seq.map(|seq| format!(", row {seq}")).unwrap_or_default();
        let message = format!(
            "`{file}` is no log that can be replayed ({code}{place}): {}; `onrecord schema \
             record` shows the shape of its lines",
            visible(detail)
        );
        return Stop { code: USAGE, message };
    }
    unexpected(outcome)
}

/// The reference answered with an outcome that is none of the op's.
pub(super) fn unexpected(outcome: &Outcome) -> Stop {
    let kind = crate::expect::name(&crate::expect::kind(outcome));
    Stop { code: BROKE, message: format!("the reference answered with `{kind}`") }
}
