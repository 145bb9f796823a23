//! Mutants: implementations that are broken on purpose, each in one rule.
//!
//! A suite that nothing fails proves nothing. Each MUST rule has a mutant here,
//! the reference with one fault, and it is caught only if that rule's own judge
//! finds the fault in a fixture that names the rule. A mutant that crashes, that
//! does not do an op or that is caught by another rule's judge is not caught.
//!
//! Some faults are famous: they are how the field has really mended what was
//! broken ([`famous`](field@Mutant::famous)).

mod archive;
mod authority;
mod compaction;
mod edit;
mod lookup;
pub mod matrix;
mod migration;
mod page;
mod recall;
mod record;
mod replay;
mod sync;
mod transcript;

use std::fmt;

use onrecord_reference::Reference;
use onrecord_spec::op::{Fault, Hello, Implementation, Op, Outcome};
use onrecord_spec::rule::Rule;

/// How a mutant does an op: it has the reference, and may ask it anything.
type Perform = Box<dyn FnMut(&mut Reference, &Op) -> Result<Outcome, Fault> + Send>;

/// An implementation that is broken on purpose.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// Its name: `drops-orphans`.
    pub name: &'static str,
    /// The rule that it breaks.
    pub rule: Rule,
    /// What it does, in one sentence.
    pub fault: &'static str,
    /// True if the field has really done so, to mend something else.
    pub famous: bool,
    make: fn() -> Perform,
}

impl Mutant {
    const fn new(
        name: &'static str,
        rule: Rule,
        fault: &'static str,
        make: fn() -> Perform,
    ) -> Self {
        Self { name, rule, fault, famous: false, make }
    }

    /// The same, with the word that the field has really done so.
    const fn famous(self) -> Self {
        Self { famous: true, ..self }
    }

    /// An implementation with this fault, which holds no record yet.
    #[must_use]
    pub fn implementation(&self) -> Mutated {
        Mutated { mutant: *self, reference: Reference::new(), perform: (self.make)() }
    }
}

impl fmt::Debug for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.name, self.rule, self.fault)
    }
}

/// All mutants, in the order of the chapters.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    [
        record::MUTANTS,
        lookup::MUTANTS,
        compaction::MUTANTS,
        replay::CALLS,
        replay::SPEECH,
        authority::MUTANTS,
        transcript::MUTANTS,
        page::MUTANTS,
        sync::MUTANTS,
        recall::MUTANTS,
        archive::MUTANTS,
        migration::MUTANTS,
    ]
    .into_iter()
    .flatten()
}

/// A mutant under test.
pub struct Mutated {
    mutant: Mutant,
    reference: Reference,
    perform: Perform,
}

impl Implementation for Mutated {
    fn hello(&mut self) -> Result<Hello, Fault> {
        Ok(Hello { name: self.mutant.name.to_string(), ..self.reference.hello()? })
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        (self.perform)(&mut self.reference, op)
    }
}
