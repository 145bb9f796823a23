//! The judges of chapter `page`.

use super::evidence::Evidence;
use crate::finding::Ruling;

/// `page.contiguous`
pub(super) fn contiguous(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.counts-append-origin`
pub(super) fn counts_append_origin(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.provenance-together`
pub(super) fn provenance_together(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.never-mid-message`
pub(super) fn never_mid_message(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.covers-once`
pub(super) fn covers_once(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.limits`
pub(super) fn limits(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.windows`
pub(super) fn windows(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.no-summaries`
pub(super) fn no_summaries(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.display-order`
pub(super) fn display_order(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.cursor-strict`
pub(super) fn cursor_strict(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.says-more`
pub(super) fn says_more(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}

/// `page.cost`
pub(super) fn cost(_evidence: &Evidence<'_>) -> Ruling {
    Ruling::default()
}
