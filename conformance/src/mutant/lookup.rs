//! Mutants of the chapter `lookup`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
