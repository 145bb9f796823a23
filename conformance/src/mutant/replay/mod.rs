//! Mutants of the chapter `replay`: of what becomes of calls and results, and of
//! everything else that crosses.

mod calls;
mod speech;

use super::Mutant;

pub(super) const CALLS: &[Mutant] = calls::MUTANTS;
pub(super) const SPEECH: &[Mutant] = speech::MUTANTS;

/// The ops that send something to a model.
const SENDING: &[&str] = &["replay", "request"];
