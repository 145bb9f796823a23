//! The generator for those who test their own Rust code: one conversation made of
//! bytes, with what is asked of it, behind the three libraries that are used for it.
//!
//! With the feature `proptest` there is [`conversations`]; with `quickcheck` and
//! `arbitrary` a [`Conversation`] is `Arbitrary`. All three make the bytes, and the
//! bytes make the conversation: what they shrink is always a record that holds
//! together.

use std::collections::BTreeMap;

use onrecord_spec::finding::Ruling;
use onrecord_spec::judge::{Trace, judge};
use onrecord_spec::op::{Fault, Implementation};
use onrecord_spec::rule::Rule;

use super::{Choices, Hostile, drive, hostile};

/// How many bytes a conversation is made of at most; more are not looked at.
pub const MOST_BYTES: usize = 2_000;

/// A record that does everything wrong, and the choices of what is asked of it.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The bytes that it was made of.
    pub bytes: Vec<u8>,
    /// The record.
    pub record: Hostile,
    /// What is left of the choices for the questions.
    pub choices: Choices,
}

impl Conversation {
    /// The conversation that these bytes make. Any bytes make one.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes[..bytes.len().min(MOST_BYTES)].to_vec();
        let mut choices = Choices::of_bytes(&bytes);
        let record = hostile(&mut choices);
        Self { bytes, record, choices }
    }

    /// The conversation of a seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let mut choices = Choices::of_seed(seed);
        let record = hostile(&mut choices);
        Self { bytes: Vec::new(), record, choices }
    }

    /// Loads the record into an implementation and asks so many things of it. Gives
    /// all that was asked and answered; an error is a fault of the implementation.
    pub fn ask(
        &self,
        questions: usize,
        implementation: &mut dyn Implementation,
    ) -> Result<Trace, Fault> {
        drive(&mut self.choices.clone(), &self.record, questions, implementation)
    }
}

/// The rules that a trace breaks, with what was found.
#[must_use]
pub fn broken(trace: &Trace) -> BTreeMap<Rule, Ruling> {
    let mut rulings = judge(trace);
    rulings.retain(|_, ruling| !ruling.findings.is_empty());
    rulings
}

/// Conversations, for `proptest`.
///
/// ```
/// use onrecord::Reference;
/// use onrecord::generate::{broken, conversations};
/// use proptest::prelude::*;
///
/// proptest!(ProptestConfig::with_cases(8), |(conversation in conversations())| {
///     // Put your own implementation here.
///     let trace = conversation.ask(6, &mut Reference::new()).unwrap();
///     prop_assert!(broken(&trace).is_empty());
/// });
/// ```
#[cfg(feature = "proptest")]
pub fn conversations() -> impl proptest::strategy::Strategy<Value = Conversation> {
    use proptest::strategy::Strategy;
    proptest::collection::vec(proptest::num::u8::ANY, 0..800)
        .prop_map(|bytes| Conversation::of_bytes(&bytes))
}

/// Rows that nobody made with care, for `proptest`: mostly refused, and to be
/// refused well.
#[cfg(feature = "proptest")]
pub fn raw_rows() -> impl proptest::strategy::Strategy<Value = Vec<onrecord_spec::json::Json>> {
    use proptest::strategy::Strategy;
    proptest::collection::vec(proptest::num::u8::ANY, 0..400)
        .prop_map(|bytes| super::raw_rows_of(&mut Choices::of_bytes(&bytes)))
}

#[cfg(feature = "quickcheck")]
impl quickcheck::Arbitrary for Conversation {
    fn arbitrary(source: &mut quickcheck::Gen) -> Self {
        let bytes: Vec<u8> = (0..source.size() * 8).map(|_| u8::arbitrary(source)).collect();
        Self::of_bytes(&bytes)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(self.bytes.shrink().map(|bytes| Self::of_bytes(&bytes)))
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Conversation {
    fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let wanted = bytes.len().min(MOST_BYTES);
        Ok(Self::of_bytes(bytes.bytes(wanted)?))
    }

    fn arbitrary_take_rest(bytes: arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self::of_bytes(bytes.take_rest()))
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (0, Some(MOST_BYTES))
    }
}
