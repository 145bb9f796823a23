//! The judges of chapter `compaction`.

mod asked;
mod bracket;
mod clearing;
mod cut;
mod ground;
mod input;
mod landing;
mod one_result;
mod ranges;
mod state;
mod unchanged;
mod upgrade;

pub(super) use bracket::{bracket, one_at_a_time};
pub(super) use clearing::clearing_keeps_calls;
pub(super) use cut::{balanced_cut, dead_call, live_round_kept};
pub(super) use input::input_typed;
pub(super) use landing::{concurrent_append, log_marker};
pub(super) use one_result::clearing_one_result;
pub(super) use upgrade::upgrade;

pub(super) use ranges::replaces_range;
pub(super) use state::{
    declared_checkpoint, flag_once, flags_rows, record_first, reparents_kept, screen_anchor,
    summary_before_kept, summary_of_summary, tokens_from_context,
};
