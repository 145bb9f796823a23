//! OpenAI Chat Completions, and what is compatible with it.

mod check;
mod lift;
mod rules;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tests;

pub(super) use check::check;
pub(super) use lift::lift;
pub(super) use rules::RULES;
