//! Mutants of the chapter `authority`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
