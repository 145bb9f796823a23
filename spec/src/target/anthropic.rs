//! Anthropic Messages.

mod blocks;
mod check;
mod lift;
mod rules;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tests;
mod turns;

pub(super) use check::check;
pub(super) use lift::lift;
pub(super) use rules::RULES;
