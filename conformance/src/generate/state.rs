//! What can happen to a conversation.

/// Makes [`State`] and the list of all of them.
macro_rules! states {
    ($($name:ident)*) => {
        /// Something that can happen to a conversation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "each name says what happened")]
        pub enum State {
            $($name,)*
        }

        impl State {
            /// All states, for a test that each was reached.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

states! {
    OneCall
    TwoCalls
    ThreeCalls
    FourCalls
    MissingResult
    LateResult
    RepeatedResult
    ForeignResult
    EarlyResult
    ErrorResult
    EmptyResult
    ResultInUserMessage
    ReusedId
    BlankId
    IdTwiceInRound
    LongId
    OddId
    OddName
    BrokenArguments
    ArgumentsNoObject
    NoArguments
    ImageFromUser
    ImageFromAssistant
    ImageInResult
    CutImage
    SignedReasoning
    EncryptedReasoning
    UnsignedReasoning
    ForeignReasoning
    ReasoningAlone
    EmptyBlock
    EmptyMessage
    TextBehindCall
    HalfSurrogate
    InterruptedMessage
    FailedMessage
    ForPeopleOnly
    ForModelOnly
    Replacement
    StreamWithoutMessage
    TurnBoundary
    CallStarted
    StaleAuthority
    AssistantFirst
    AssistantLast
    ResultLast
    TextThatLooksLikeACall
    StreamedMessage
    RowsInStream
    ClearedResult
    Regeneration
    OtherReplacement
    CompactionBracket
    RowsInBracket
    FailedCompaction
    OpenCompaction
    UpgradedSummary
    SummaryOfSummary
    Parent
}
