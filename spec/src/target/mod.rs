//! Targets: the provider APIs that a replay is made for.
//!
//! Each target has its own file with the table of its rules (an id, a sentence,
//! where it is known from, the provider's own error), a `lift` from its JSON to
//! the neutral [`Wire`], and a `check` that finds every breach of the table.

mod anthropic;
mod openai_chat;
mod shape;
#[cfg(test)]
mod tests;
mod unicode;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::json::RawValue;
use crate::op::Constraint;
use crate::record::Provenance;
use crate::wire::Wire;

/// A provider API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// OpenAI Chat Completions, and what is compatible with it.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
}

/// What the model behind a target can do and demands: the facts that a caller
/// supplies, since they differ from one model generation to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// It sees images. Default: true.
    pub vision: bool,
    /// The request offers tools. Default: true.
    pub tools: bool,
    /// It takes an assistant message last (older Anthropic models; ANT-12).
    /// Default: false. OpenAI Chat always takes one.
    pub prefill: bool,
    /// The request switches extended thinking on (Anthropic). Default: false;
    /// then no thinking crosses.
    pub thinking: bool,
    /// How it takes plain reasoning in a field of its own (`reasoning_content`
    /// of OpenAI-compatible APIs). Default: refused.
    pub plain_reasoning: PlainReasoning,
    /// A signature is bound to everything before it, so that one behind a
    /// replaced range is no longer valid. Default: false.
    pub prefix_bound: bool,
    /// Whose reasoning it accepts: its own. Without it no reasoning crosses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Provenance>,
}

/// How a model takes plain reasoning in a field of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlainReasoning {
    /// It has no such field.
    #[default]
    Refused,
    /// It takes it.
    Accepted,
    /// It demands it on every assistant message that declares calls (DS-1,
    /// KIMI-1); an empty one is the documented stand-in (DS-2).
    Required,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            vision: true,
            tools: true,
            prefill: false,
            thinking: false,
            plain_reasoning: PlainReasoning::Refused,
            prefix_bound: false,
            model: None,
        }
    }
}

/// One rule of a target's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TargetRule {
    /// Its id, like `ANT-3`.
    pub id: &'static str,
    /// What it demands.
    pub sentence: &'static str,
    /// The provider's own error, shortened; empty where none was seen.
    pub error: &'static str,
    /// Where it is known from.
    pub source: &'static str,
    /// How sure that is.
    pub confidence: Confidence,
    /// What the check looks at, where that is less than the whole rule; empty
    /// where it is the whole rule.
    pub limit: &'static str,
}

/// How sure a fact about a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Official text, or the provider's own error was quoted.
    High,
    /// One second-hand source.
    Medium,
    /// From memory.
    Low,
}

/// A breach of a target's rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The rule's id.
    pub rule: &'static str,
    /// Where in the payload, like `messages[3].content[0]`.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 2] = [Self::OpenaiChat, Self::Anthropic];

    /// The name, as it is written everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::Anthropic => "anthropic",
        }
    }

    /// The table of the target's rules.
    #[must_use]
    pub fn rules(self) -> &'static [TargetRule] {
        match self {
            Self::OpenaiChat => openai_chat::RULES,
            Self::Anthropic => anthropic::RULES,
        }
    }

    /// Lifts a payload (`{"messages": [...]}`, for Anthropic also `system`) to
    /// the neutral wire. Tolerant: what is malformed is left out or kept as
    /// [`crate::wire::Body::Foreign`]; to complain is the work of
    /// [`Target::check`].
    #[must_use]
    pub fn lift(self, payload: &RawValue) -> Wire {
        match self {
            Self::OpenaiChat => openai_chat::lift(payload),
            Self::Anthropic => anthropic::lift(payload),
        }
    }

    /// Finds every breach of the target's rules in a payload. `constraints` is
    /// what the replay said that the request must respect; a breach that such a
    /// constraint averts is none.
    #[must_use]
    pub fn check(
        self,
        profile: &Profile,
        payload: &RawValue,
        constraints: &[Constraint],
    ) -> Vec<Breach> {
        match self {
            Self::OpenaiChat => openai_chat::check(profile, payload, constraints),
            Self::Anthropic => anthropic::check(profile, payload, constraints),
        }
    }

    /// True if an image is native in a tool's result (the IMG table).
    #[must_use]
    pub fn takes_image_in_result(self) -> bool {
        match self {
            Self::OpenaiChat => false,
            Self::Anthropic => true,
        }
    }
}
