//! Mutants of the chapter `recall`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
