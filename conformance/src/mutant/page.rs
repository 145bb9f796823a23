//! Mutants of the chapter `page`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
