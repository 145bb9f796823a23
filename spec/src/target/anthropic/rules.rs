//! The table of what Anthropic Messages demands.

use crate::target::{Confidence, TargetRule};

use Confidence::{High, Low, Medium};

/// Every rule: id, confidence, sentence, the provider's error, source, limit.
pub(crate) const RULES: &[TargetRule] = &[
    rule(
        "ANT-1",
        High,
        "Every `tool_use` is answered in the next message.",
        "`tool_use` ids were found without `tool_result` blocks immediately after: …",
        "anthropics/claude-code#8210",
        "Checked after consecutive messages of one role were joined (ANT-9); in which order the \
         provider does so is not documented.",
    ),
    rule(
        "ANT-2",
        High,
        "Every `tool_result` answers a `tool_use` of the previous message.",
        "unexpected `tool_use_id` found in `tool_result` blocks: …",
        "anthropics/claude-code#18947",
        "As ANT-1.",
    ),
    rule(
        "ANT-3",
        High,
        "The `tool_result` blocks lead their user message.",
        "",
        "documentation, handling tool calls; verified live by misanthropic, 2026-06-12",
        "As ANT-1.",
    ),
    rule(
        "ANT-4",
        High,
        "A `tool_use` has one `tool_result`.",
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: …",
        "vectorize-io/hindsight#4250",
        "As ANT-1.",
    ),
    rule(
        "ANT-5",
        High,
        "No two `tool_use` blocks of a request have one id.",
        "`tool_use` ids must be unique",
        "anthropics/claude-code#20901, NVIDIA-NeMo/Switchyard#502",
        "",
    ),
    rule(
        "ANT-6",
        High,
        "A call's id, on both sides, is one or more characters of a-z, A-Z, 0-9, `_` and `-`.",
        "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "maximhq/bifrost#5097",
        "",
    ),
    rule(
        "ANT-7",
        High,
        "No text block is empty or all white space, inside a result neither.",
        "text content blocks must be non-empty; … must contain non-whitespace text",
        "anthropics/claude-code#59812, #23440; LibreChat-AI/agents#124",
        "White space alone was seen to pass beside other text; the check reports it everywhere.",
    ),
    rule(
        "ANT-8",
        High,
        "No message is empty, but for a final one of the assistant.",
        "all messages must have non-empty content except for the optional final assistant message",
        "anthropics/claude-code#6774",
        "",
    ),
    rule(
        "ANT-9",
        High,
        "Consecutive messages of one role are joined, not refused.",
        "",
        "SDK, message_create_params",
        "It permits; there is nothing to check.",
    ),
    rule("ANT-10", Medium, "The first message is the user's.", "", "litellm; misanthropic", ""),
    rule(
        "ANT-11",
        High,
        "A message of role system stands behind a user message, or behind an assistant message \
         that ends in a server tool's result, and before an assistant message or the end.",
        "role 'system' must follow a 'user' message or an 'assistant' message ending in a server \
         tool result",
        "documentation, mid-conversation system messages; misanthropic; litellm",
        "Older models refuse such a message anywhere; no profile tells them apart, so only its \
         place is checked.",
    ),
    rule(
        "ANT-12",
        High,
        "The last message is not the assistant's. An older model takes one there, without white \
         space at its end.",
        "This model does not support assistant message prefill. The conversation must end with a \
         user message.",
        "zhefox#249, langchain#36611",
        "A final assistant message that ends in an unfinished server tool is a turn to be \
         continued and is let pass.",
    ),
    rule(
        "ANT-13",
        High,
        "A `thinking` block has its text and its signature.",
        "Invalid `signature` in `thinking` block",
        "SDK, ThinkingBlockParam; lbjlaq#498",
        "That the bytes and the order are the original ones is not visible in a payload.",
    ),
    rule(
        "ANT-14",
        High,
        "The thinking of the latest assistant message stays as the model made it.",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
         modified.",
        "anthropics/claude-code#63203, vscode#327646",
        "The original is not in a payload. The check sees one alteration, a block that stands \
         there twice, and only with thinking on.",
    ),
    rule(
        "ANT-15",
        High,
        "With thinking on, the assistant message of an open tool loop begins with a thinking \
         block.",
        "Expected `thinking` or `redacted_thinking`, but found … When `thinking` is enabled, a \
         final `assistant` message must start with a thinking block …",
        "lbjlaq#139, n8n-io/n8n#22550",
        "A loop is open where the request ends in results and nothing else; a prefill is not \
         looked at. A loop is let pass where its first or its last assistant message begins with \
         thinking: a model that does not think between calls thinks in the first alone.",
    ),
    rule(
        "ANT-16",
        High,
        "A signature is valid for the model that made it and for unchanged bytes, without end.",
        "Invalid `signature` in `thinking` block",
        "anthropics/anthropic-sdk-python#1598",
        "A payload does not show who made a signature. Whether reasoning crosses to its own \
         model alone is judged by replay.reasoning-native.",
    ),
    rule(
        "ANT-17",
        Medium,
        "The thinking of earlier turns may be sent or left out.",
        "",
        "documentation, at second hand",
        "It permits; there is nothing to check.",
    ),
    rule(
        "ANT-18",
        High,
        "A `redacted_thinking` block has its data.",
        "",
        "SDK, RedactedThinkingBlockParam",
        "As ANT-13.",
    ),
    rule(
        "ANT-19",
        High,
        "A result's content is absent, a string, or blocks of text, image, document, \
         search_result, tool_reference or browser_state.",
        "",
        "SDK, ToolResultBlockParam",
        "",
    ),
    rule(
        "ANT-20",
        High,
        "A `tool_use` has an object as its input.",
        "",
        "SDK, ToolUseBlockParam",
        "",
    ),
    rule(
        "ANT-21",
        High,
        "A server tool's result stands behind its `server_tool_use` in the same message, and an \
         unfinished one is followed by nothing but the assistant's own continuation.",
        "unexpected `tool_use_id` found in `advisor_tool_result` blocks … must have a \
         corresponding `server_tool_use` block before it.",
        "anthropics/claude-code#64383; misanthropic",
        "An unfinished one beside a `tool_use` is let pass: it may wait for that call's result.",
    ),
    rule(
        "ANT-22",
        Medium,
        "A request whose messages hold calls declares tools.",
        "",
        "litellm; OpenHands",
        "Kept where the profile or the payload has tools; otherwise a replay's constraint must \
         name every tool that is called.",
    ),
    rule(
        "ANT-23",
        High,
        "A `compaction` block has a text that is not empty, or null where it failed.",
        "",
        "SDK, BetaCompactionBlockParam",
        "That its encrypted content came back unchanged is not visible in a payload.",
    ),
    rule(
        "ANT-24",
        High,
        "A request has at most 100,000 messages.",
        "",
        "SDK, message_create_params",
        "",
    ),
    rule(
        "ANT-25",
        Low,
        "A message or a block has no field that its type does not know.",
        "Extra inputs are not permitted",
        "from memory; anthropics/claude-code#4378",
        "Checked for messages and for the block types whose fields are listed, not inside them.",
    ),
    rule(
        "ANT-26",
        High,
        "The body is valid Unicode: no string holds an unpaired surrogate.",
        "The request body is not valid JSON: no low surrogate in string: …",
        "bugs B029, B055; anthropics/claude-code#2108",
        "",
    ),
    rule(
        "ANT-27",
        High,
        "The body has the shape of the schema: at least one message, each with a role and with \
         a string or an array of blocks of known types; what a block must have is there.",
        "",
        "SDK, MessageParam, ContentBlockParam, Base64ImageSourceParam",
        "",
    ),
    rule(
        "ANT-28",
        High,
        "A block stands in the voice that it belongs to: calls, thinking and server tools in \
         the assistant's, results and images in the user's, and text alone in the system's.",
        "`tool_result` blocks can only be in `user` messages",
        "tghamm/Anthropic.SDK#128",
        "That no image stands in an assistant message is from memory.",
    ),
    rule(
        "ANT-29",
        Medium,
        "A called tool's name is 1 to 200 characters of a-z, A-Z, 0-9, `_` and `-`.",
        "tool_use.name: String should have at most 200 characters",
        "openclaw/openclaw#13134; the characters from memory",
        "The name of a declared tool is bound more tightly, to 64 or 128 characters.",
    ),
    rule(
        "ANT-30",
        High,
        "An assistant message does not end in thinking.",
        "The final block in an assistant message cannot be `thinking`.",
        "tailcallhq/forgecode#2107, NousResearch/hermes-agent#16921",
        "",
    ),
    rule(
        "ANT-31",
        High,
        "With thinking off, an assistant message that ends the request holds no thinking.",
        "When thinking is disabled, an `assistant` message in the final position cannot contain \
         `thinking`.",
        "tailcallhq/forgecode#1853",
        "",
    ),
];

const fn rule(
    id: &'static str,
    confidence: Confidence,
    sentence: &'static str,
    error: &'static str,
    source: &'static str,
    limit: &'static str,
) -> TargetRule {
    TargetRule { id, sentence, error, source, confidence, limit }
}
