//! Mutants of the chapter `migration`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
