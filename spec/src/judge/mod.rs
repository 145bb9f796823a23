//! The judges: one a rule, one file a topic.
//!
//! A judge looks at a [`Trace`], the steps that were asked for and what came
//! back. It knows nothing of any implementation and calls none. It compares no
//! whole texts: wording is free and meaning is not, so it follows canaries.
//!
//! What a judge needs to know of the record it works out for itself, by another
//! way than the reference: see `held`, `context` and `crossing`.

mod archive;
mod authority;
mod canary;
mod compaction;
mod context;
mod crossing;
mod evidence;
mod held;
mod log;
mod lookup;
mod migration;
mod page;
mod recall;
mod record;
mod replay;
mod sync;
mod transcript;
mod words;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use evidence::Evidence;

use crate::chapter::Chapter;
use crate::finding::Ruling;
use crate::op::{Hello, Op, Outcome};
use crate::rule::Rule;

/// What was asked of an implementation, and what came back.
#[derive(Debug, Clone)]
pub struct Trace {
    /// What the implementation said of itself.
    pub hello: Hello,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a trace.
#[derive(Debug, Clone)]
pub struct Step {
    /// What was asked.
    pub op: Op,
    /// What came back.
    pub outcome: Outcome,
}

/// Judges a trace by every judged rule. A rule that is not yet judged has no
/// ruling.
#[must_use]
pub fn judge(trace: &Trace) -> BTreeMap<Rule, Ruling> {
    let prepared = evidence::Prepared::of(trace);
    let evidence = Evidence::of(trace, &prepared);
    Rule::ALL
        .iter()
        .filter_map(|rule| {
            let mut ruling = judge_of(*rule)?(&evidence);
            ruling.findings.sort_by_key(|finding| (finding.step, finding.seq));
            if !evidence.is_alive() && rule.chapter() != Chapter::Record {
                ruling.witnesses = 0;
            }
            // A place that breaks the rule had something to decide.
            ruling.witnesses = ruling.witnesses.max(ruling.findings.len());
            Some((*rule, ruling))
        })
        .collect()
}

type Judge = fn(&Evidence<'_>) -> Ruling;

/// The judge of a rule. None for a rule that is not yet judged.
fn judge_of(rule: Rule) -> Option<Judge> {
    let judge: Judge = match rule {
        Rule::RecordAppendOnly => record::append_only,
        Rule::RecordOneHistory => record::one_history,
        Rule::RecordSeqGapFree => record::seq_gap_free,
        Rule::RecordExpectedSeq => record::expected_seq,
        Rule::RecordBlocksTyped => record::blocks_typed,
        Rule::RecordVerbatim => record::verbatim,
        Rule::RecordKindsExhaustive => record::kinds_exhaustive,
        Rule::RecordUnknownRow => record::unknown_row,
        Rule::RecordVersion => record::version,
        Rule::RecordTornTail => record::torn_tail,
        Rule::RecordLoadReadOnly => record::load_read_only,
        Rule::RecordInterruptedKept => record::interrupted_kept,
        Rule::RecordCallStarted => record::call_started,
        Rule::RecordExpectedShape => record::expected_shape,

        Rule::RecordKeyedAppend => lookup::keyed_append,
        Rule::RecordLookupShadowed => lookup::lookup_shadowed,
        Rule::RecordDeleteConversation => lookup::delete_conversation,

        Rule::CompactionFlagsRows => compaction::flags_rows,
        Rule::CompactionFlagOnce => compaction::flag_once,
        Rule::CompactionReplacesRange => compaction::replaces_range,
        Rule::CompactionSummaryBeforeKept => compaction::summary_before_kept,
        Rule::CompactionReparentsKept => compaction::reparents_kept,
        Rule::CompactionScreenAnchor => compaction::screen_anchor,
        Rule::CompactionBalancedCut => compaction::balanced_cut,
        Rule::CompactionBracket => compaction::bracket,
        Rule::CompactionOneAtATime => compaction::one_at_a_time,
        Rule::CompactionConcurrentAppend => compaction::concurrent_append,
        Rule::CompactionDeclaredCheckpoint => compaction::declared_checkpoint,
        Rule::CompactionSummaryOfSummary => compaction::summary_of_summary,
        Rule::CompactionLogMarker => compaction::log_marker,
        Rule::CompactionUpgrade => compaction::upgrade,
        Rule::CompactionRecordFirst => compaction::record_first,
        Rule::CompactionClearingKeepsCalls => compaction::clearing_keeps_calls,
        Rule::CompactionClearingOneResult => compaction::clearing_one_result,
        Rule::CompactionInputTyped => compaction::input_typed,
        Rule::CompactionLiveRoundKept => compaction::live_round_kept,
        Rule::CompactionDeadCall => compaction::dead_call,
        Rule::CompactionTokensFromContext => compaction::tokens_from_context,

        Rule::ReplayTotal => replay::total,
        Rule::ReplayContextOnly => replay::context_only,
        Rule::ReplayTextAsSpeech => replay::text_as_speech,
        Rule::ReplayOneDeclaration => replay::one_declaration,
        Rule::ReplayCallAnswered => replay::call_answered,
        Rule::ReplayResultBound => replay::result_bound,
        Rule::ReplayPairsByPlace => replay::pairs_by_place,
        Rule::ReplayDidNotComplete => replay::did_not_complete,
        Rule::ReplayNeverStarted => replay::never_started,
        Rule::ReplayOrphanToProse => replay::orphan_to_prose,
        Rule::ReplayOrphanNotSpeech => replay::orphan_not_speech,
        Rule::ReplayLateResult => replay::late_result,
        Rule::ReplayEarlyResult => replay::early_result,
        Rule::ReplayDoingNotSaying => replay::doing_not_saying,
        Rule::ReplaySayingNotDoing => replay::saying_not_doing,
        Rule::ReplayReasoningNative => replay::reasoning_native,
        Rule::ReplayReasoningPrefix => replay::reasoning_prefix,
        Rule::ReplayReasoningRequired => replay::reasoning_required,
        Rule::ReplayImageOrMarker => replay::image_or_marker,
        Rule::ReplayVisionOnlyImages => replay::vision_only_images,
        Rule::ReplayNoEmpty => replay::no_empty,
        Rule::ReplayIdsValid => replay::ids_valid,
        Rule::ReplayArgumentsValid => replay::arguments_valid,
        Rule::ReplayDeterministic => replay::deterministic,
        Rule::ReplayPrefixStable => replay::prefix_stable,
        Rule::ReplayAnomaliesNamed => replay::anomalies_named,
        Rule::ReplayRunningOrCold => replay::running_or_cold,
        Rule::ReplayKindsExhaustive => replay::kinds_exhaustive,
        Rule::ReplayEndsRight => replay::ends_right,
        Rule::ReplayConstraintsSaid => replay::constraints_said,
        Rule::ReplayToolsAbsent => replay::tools_absent,

        Rule::AuthorityFresh => authority::fresh,
        Rule::AuthorityNeverStored => authority::never_stored,
        Rule::AuthorityRecomputed => authority::recomputed,
        Rule::AuthorityNotSpeech => authority::not_speech,
        Rule::AuthorityStaleInert => authority::stale_inert,

        Rule::TranscriptAppendOrigin => transcript::append_origin,
        Rule::TranscriptMarkerPerLanding => transcript::marker_per_landing,
        Rule::TranscriptPayloadHidden => transcript::payload_hidden,
        Rule::TranscriptSilentReplacements => transcript::silent_replacements,
        Rule::TranscriptToolPairing => transcript::tool_pairing,
        Rule::TranscriptLiveEqualsReplay => transcript::live_equals_replay,
        Rule::TranscriptMonotone => transcript::monotone,
        Rule::TranscriptReasoningTyped => transcript::reasoning_typed,
        Rule::TranscriptVerbatimHydration => transcript::verbatim_hydration,
        Rule::TranscriptAudience => transcript::audience,

        Rule::PageContiguous => page::contiguous,
        Rule::PageCountsAppendOrigin => page::counts_append_origin,
        Rule::PageProvenanceTogether => page::provenance_together,
        Rule::PageNeverMidMessage => page::never_mid_message,
        Rule::PageCoversOnce => page::covers_once,
        Rule::PageLimits => page::limits,
        Rule::PageWindows => page::windows,
        Rule::PageNoSummaries => page::no_summaries,
        Rule::PageDisplayOrder => page::display_order,
        Rule::PageCursorStrict => page::cursor_strict,
        Rule::PageSaysMore => page::says_more,
        Rule::PageCost => page::cost,

        Rule::SyncJoin => sync::join,
        Rule::SyncStamp => sync::stamp,
        Rule::SyncSettled => sync::settled,
        Rule::SyncNewestOnly => sync::newest_only,
        Rule::SyncCheap => sync::cheap,

        Rule::RecallFilter => recall::filter,
        Rule::RecallCovers => recall::covers,
        Rule::RecallOpensSource => recall::opens_source,
        Rule::RecallCleared => recall::cleared,

        Rule::ArchiveParts => archive::parts,
        Rule::ArchiveManifest => archive::manifest,
        Rule::ArchiveComplete => archive::complete,
        Rule::ArchiveLinear => archive::linear,
        Rule::ArchiveCrashSafe => archive::crash_safe,

        Rule::MigrationSideTable => migration::side_table,
    };
    Some(judge)
}
