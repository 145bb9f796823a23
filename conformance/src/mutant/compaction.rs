//! Mutants of the chapter `compaction`.

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[];
