//! Mutants of the chapter `transcript`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
