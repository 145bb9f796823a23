//! Mutants of the chapter `archive`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
