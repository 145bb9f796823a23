//! The payloads that keep and break each rule of OpenAI Chat Completions.

mod calls;
mod pairs;
mod reasoning;
mod shapes;

use crate::target::tests::Table;

pub(super) const TABLES: &[Table] = &[
    pairs::PAIRS,
    calls::CALLS,
    shapes::SHAPES,
    reasoning::REFUSED,
    reasoning::ACCEPTED,
    reasoning::REQUIRED,
];
