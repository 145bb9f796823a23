//! Mutants of the chapter `replay`.

use onrecord_spec::rule::Rule;

use super::{Mutant, edit};

pub(super) const MUTANTS: &[Mutant] =
    &[Mutant::new("empty-replay", Rule::ReplayTextAsSpeech, "It sends no message at all.", || {
        edit::messages(Vec::clear)
    })];
