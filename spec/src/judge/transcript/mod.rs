//! The judges of chapter `transcript`.

use super::evidence::Evidence;
use crate::finding::Ruling;

/// `transcript.append-origin`
pub(super) fn append_origin(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.marker-per-landing`
pub(super) fn marker_per_landing(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.payload-hidden`
pub(super) fn payload_hidden(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.silent-replacements`
pub(super) fn silent_replacements(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.tool-pairing`
pub(super) fn tool_pairing(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.live-equals-replay`
pub(super) fn live_equals_replay(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.monotone`
pub(super) fn monotone(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.reasoning-typed`
pub(super) fn reasoning_typed(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.verbatim-hydration`
pub(super) fn verbatim_hydration(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `transcript.audience`
pub(super) fn audience(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}
