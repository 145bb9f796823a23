//! The table of rules. What a rule says, why, and what harm follows is text, and
//! stands in the rule's chapter ([`Rule::section`]); here is what a program must
//! know of it: its id, its level, its chapter and whether it is judged.

use core::fmt;

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer};

use crate::chapter::{Chapter, Section};

/// How binding a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// A breach fails.
    Must,
    /// A breach warns.
    Should,
}

/// Whether a rule is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has a judge.
    Judged,
    /// It will have one when the store that it speaks of is there.
    NotYetJudged,
}

/// Makes [`Rule`] from one line a rule.
macro_rules! rules {
    ($($(#[doc = $doc:literal])* $name:ident = $id:literal, $level:ident, $chapter:ident, $status:ident;)*) => {
        /// A rule: one law with an id.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = concat!("`", $id, "`")] $name,)*
        }

        impl Rule {
            /// All rules, in the order of the chapters.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The rule's id, like `replay.total`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// How binding it is.
            #[must_use]
            pub fn level(self) -> Level {
                match self { $(Self::$name => Level::$level,)* }
            }

            /// The chapter that states it.
            #[must_use]
            pub fn chapter(self) -> Chapter {
                match self { $(Self::$name => Chapter::$chapter,)* }
            }

            /// Whether it is judged.
            #[must_use]
            pub fn status(self) -> Status {
                match self { $(Self::$name => Status::$status,)* }
            }
        }
    };
}

rules! {
    RecordAppendOnly = "record.append-only", Must, Record, Judged;
    RecordOneHistory = "record.one-history", Must, Record, Judged;
    RecordSeqGapFree = "record.seq-gap-free", Must, Record, Judged;
    RecordExpectedSeq = "record.expected-seq", Must, Record, Judged;
    RecordBlocksTyped = "record.blocks-typed", Must, Record, Judged;
    RecordVerbatim = "record.verbatim", Must, Record, Judged;
    RecordKindsExhaustive = "record.kinds-exhaustive", Must, Record, Judged;
    RecordUnknownRow = "record.unknown-row", Must, Record, Judged;
    RecordVersion = "record.version", Must, Record, Judged;
    RecordTornTail = "record.torn-tail", Must, Record, Judged;
    RecordLoadReadOnly = "record.load-read-only", Must, Record, Judged;
    RecordInterruptedKept = "record.interrupted-kept", Must, Record, Judged;
    RecordCallStarted = "record.call-started", Should, Record, Judged;
    RecordExpectedShape = "record.expected-shape", Must, Record, Judged;

    RecordKeyedAppend = "record.keyed-append", Must, Lookup, Judged;
    RecordLookupShadowed = "record.lookup-shadowed", Must, Lookup, Judged;
    RecordDeleteConversation = "record.delete-conversation", Must, Lookup, Judged;

    CompactionFlagsRows = "compaction.flags-rows", Must, Compaction, Judged;
    CompactionFlagOnce = "compaction.flag-once", Must, Compaction, Judged;
    CompactionReplacesRange = "compaction.replaces-range", Must, Compaction, Judged;
    CompactionSummaryBeforeKept = "compaction.summary-before-kept", Must, Compaction, Judged;
    CompactionReparentsKept = "compaction.reparents-kept", Must, Compaction, Judged;
    CompactionScreenAnchor = "compaction.screen-anchor", Must, Compaction, Judged;
    CompactionBalancedCut = "compaction.balanced-cut", Must, Compaction, Judged;
    CompactionBracket = "compaction.bracket", Must, Compaction, Judged;
    CompactionOneAtATime = "compaction.one-at-a-time", Must, Compaction, Judged;
    CompactionConcurrentAppend = "compaction.concurrent-append", Must, Compaction, Judged;
    CompactionDeclaredCheckpoint = "compaction.declared-checkpoint", Must, Compaction, Judged;
    CompactionSummaryOfSummary = "compaction.summary-of-summary", Must, Compaction, Judged;
    CompactionLogMarker = "compaction.log-marker", Must, Compaction, Judged;
    CompactionUpgrade = "compaction.upgrade", Must, Compaction, Judged;
    CompactionRecordFirst = "compaction.record-first", Must, Compaction, Judged;
    CompactionClearingKeepsCalls = "compaction.clearing-keeps-calls", Must, Compaction, Judged;
    CompactionClearingOneResult = "compaction.clearing-one-result", Must, Compaction, Judged;
    CompactionInputTyped = "compaction.input-typed", Must, Compaction, Judged;
    CompactionLiveRoundKept = "compaction.live-round-kept", Must, Compaction, Judged;
    CompactionDeadCall = "compaction.dead-call", Must, Compaction, Judged;
    CompactionTokensFromContext = "compaction.tokens-from-context", Should, Compaction, Judged;

    ReplayTotal = "replay.total", Must, Replay, Judged;
    ReplayContextOnly = "replay.context-only", Must, Replay, Judged;
    ReplayTextAsSpeech = "replay.text-as-speech", Must, Replay, Judged;
    ReplayOneDeclaration = "replay.one-declaration", Must, Replay, Judged;
    ReplayCallAnswered = "replay.call-answered", Must, Replay, Judged;
    ReplayResultBound = "replay.result-bound", Must, Replay, Judged;
    ReplayPairsByPlace = "replay.pairs-by-place", Must, Replay, Judged;
    ReplayDidNotComplete = "replay.did-not-complete", Must, Replay, Judged;
    ReplayNeverStarted = "replay.never-started", Should, Replay, Judged;
    ReplayOrphanToProse = "replay.orphan-to-prose", Must, Replay, Judged;
    ReplayOrphanNotSpeech = "replay.orphan-not-speech", Should, Replay, Judged;
    ReplayLateResult = "replay.late-result", Must, Replay, Judged;
    ReplayEarlyResult = "replay.early-result", Must, Replay, Judged;
    ReplayDoingNotSaying = "replay.doing-not-saying", Must, Replay, Judged;
    ReplaySayingNotDoing = "replay.saying-not-doing", Must, Replay, Judged;
    ReplayReasoningNative = "replay.reasoning-native", Must, Replay, Judged;
    ReplayReasoningPrefix = "replay.reasoning-prefix", Must, Replay, Judged;
    ReplayReasoningRequired = "replay.reasoning-required", Must, Replay, Judged;
    ReplayImageOrMarker = "replay.image-or-marker", Must, Replay, Judged;
    ReplayVisionOnlyImages = "replay.vision-only-images", Must, Replay, Judged;
    ReplayNoEmpty = "replay.no-empty", Must, Replay, Judged;
    ReplayIdsValid = "replay.ids-valid", Must, Replay, Judged;
    ReplayArgumentsValid = "replay.arguments-valid", Must, Replay, Judged;
    ReplayDeterministic = "replay.deterministic", Must, Replay, Judged;
    ReplayPrefixStable = "replay.prefix-stable", Must, Replay, Judged;
    ReplayAnomaliesNamed = "replay.anomalies-named", Must, Replay, Judged;
    ReplayRunningOrCold = "replay.running-or-cold", Must, Replay, Judged;
    ReplayKindsExhaustive = "replay.kinds-exhaustive", Must, Replay, Judged;
    ReplayEndsRight = "replay.ends-right", Must, Replay, Judged;
    ReplayConstraintsSaid = "replay.constraints-said", Must, Replay, Judged;
    ReplayToolsAbsent = "replay.tools-absent", Should, Replay, Judged;

    AuthorityFresh = "authority.fresh", Must, Authority, Judged;
    AuthorityNeverStored = "authority.never-stored", Must, Authority, Judged;
    AuthorityRecomputed = "authority.recomputed", Must, Authority, Judged;
    AuthorityNotSpeech = "authority.not-speech", Must, Authority, Judged;
    AuthorityStaleInert = "authority.stale-inert", Must, Authority, Judged;

    TranscriptAppendOrigin = "transcript.append-origin", Must, Transcript, Judged;
    TranscriptMarkerPerLanding = "transcript.marker-per-landing", Must, Transcript, Judged;
    TranscriptPayloadHidden = "transcript.payload-hidden", Must, Transcript, Judged;
    TranscriptSilentReplacements = "transcript.silent-replacements", Must, Transcript, Judged;
    TranscriptToolPairing = "transcript.tool-pairing", Must, Transcript, Judged;
    TranscriptLiveEqualsReplay = "transcript.live-equals-replay", Must, Transcript, Judged;
    TranscriptMonotone = "transcript.monotone", Must, Transcript, Judged;
    TranscriptReasoningTyped = "transcript.reasoning-typed", Must, Transcript, Judged;
    TranscriptVerbatimHydration = "transcript.verbatim-hydration", Must, Transcript, Judged;
    TranscriptAudience = "transcript.audience", Must, Transcript, Judged;

    PageContiguous = "page.contiguous", Must, Page, Judged;
    PageCountsAppendOrigin = "page.counts-append-origin", Must, Page, Judged;
    PageProvenanceTogether = "page.provenance-together", Must, Page, Judged;
    PageNeverMidMessage = "page.never-mid-message", Must, Page, Judged;
    PageCoversOnce = "page.covers-once", Must, Page, Judged;
    PageLimits = "page.limits", Must, Page, Judged;
    PageWindows = "page.windows", Must, Page, Judged;
    PageNoSummaries = "page.no-summaries", Must, Page, Judged;
    PageDisplayOrder = "page.display-order", Must, Page, Judged;
    PageCursorStrict = "page.cursor-strict", Must, Page, Judged;
    PageSaysMore = "page.says-more", Must, Page, Judged;
    PageCost = "page.cost", Must, Page, Judged;

    SyncJoin = "sync.join", Must, Sync, Judged;
    SyncStamp = "sync.stamp", Must, Sync, Judged;
    SyncSettled = "sync.settled", Must, Sync, Judged;
    SyncNewestOnly = "sync.newest-only", Must, Sync, Judged;
    SyncCheap = "sync.cheap", Should, Sync, Judged;

    RecallFilter = "recall.filter", Must, Recall, Judged;
    RecallCovers = "recall.covers", Must, Recall, Judged;
    RecallOpensSource = "recall.opens-source", Must, Recall, Judged;
    RecallCleared = "recall.cleared", Should, Recall, Judged;

    ArchiveParts = "archive.parts", Must, Archive, Judged;
    ArchiveManifest = "archive.manifest", Must, Archive, Judged;
    ArchiveComplete = "archive.complete", Must, Archive, Judged;
    ArchiveLinear = "archive.linear", Must, Archive, Judged;
    ArchiveCrashSafe = "archive.crash-safe", Must, Archive, Judged;

    MigrationSideTable = "migration.side-table", Must, Migration, Judged;
}

impl Rule {
    /// The rule with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// What its chapter says of it. None only where the text has no section for
    /// it, which a test forbids.
    #[must_use]
    pub fn section(self) -> Option<Section> {
        self.chapter().section(self.id())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = alloc::string::String::deserialize(deserializer)?;
        Self::from_id(&id).ok_or_else(|| {
            de::Error::custom(alloc::format!(
                "there is no rule `{id}`; `onrecord list rules` shows all ids"
            ))
        })
    }
}
