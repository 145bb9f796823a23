//! Mutants of the chapter `sync`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
