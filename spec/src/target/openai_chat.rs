//! OpenAI Chat Completions.
use super::{Breach, Profile, TargetRule};
use crate::json::RawValue;
use crate::op::Constraint;
use crate::wire::Wire;
use alloc::vec::Vec;
pub(super) const RULES: &[TargetRule] = &[];
pub(super) fn lift(_: &RawValue) -> Wire {
    Wire::default()
}
pub(super) fn check(_: &Profile, _: &RawValue, _: &[Constraint]) -> Vec<Breach> {
    Vec::new()
}
