//! The judges of chapter `compaction`.

use super::evidence::Evidence;
use crate::finding::Ruling;

/// `compaction.flags-rows`
pub(super) fn flags_rows(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.flag-once`
pub(super) fn flag_once(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.replaces-range`
pub(super) fn replaces_range(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.summary-before-kept`
pub(super) fn summary_before_kept(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.reparents-kept`
pub(super) fn reparents_kept(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.screen-anchor`
pub(super) fn screen_anchor(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.balanced-cut`
pub(super) fn balanced_cut(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.bracket`
pub(super) fn bracket(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.one-at-a-time`
pub(super) fn one_at_a_time(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.concurrent-append`
pub(super) fn concurrent_append(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.declared-checkpoint`
pub(super) fn declared_checkpoint(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.summary-of-summary`
pub(super) fn summary_of_summary(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.log-marker`
pub(super) fn log_marker(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.upgrade`
pub(super) fn upgrade(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.record-first`
pub(super) fn record_first(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.clearing-keeps-calls`
pub(super) fn clearing_keeps_calls(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.clearing-one-result`
pub(super) fn clearing_one_result(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.input-typed`
pub(super) fn input_typed(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.live-round-kept`
pub(super) fn live_round_kept(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.dead-call`
pub(super) fn dead_call(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `compaction.tokens-from-context`
pub(super) fn tokens_from_context(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}
