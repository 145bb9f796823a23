//! Mutants of the chapter `record`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
