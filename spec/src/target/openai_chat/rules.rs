//! The table of what OpenAI Chat Completions demands.

use crate::target::{Confidence, TargetRule};

use Confidence::{High, Low, Medium};

/// Every rule: id, confidence, sentence, the provider's error, source, limit.
pub(crate) const RULES: &[TargetRule] = &[
    rule(
        "OAI-CHAT-1",
        High,
        "Every declared call is answered in the run of `tool` messages right behind its declaration.",
        "The following tool_call_ids did not have response messages: …",
        "aliasrobotics/cai#111, QwenLM/qwen-code#606",
        "",
    ),
    rule(
        "OAI-CHAT-2",
        High,
        "A `tool` message answers a call of the assistant message that its run stands behind.",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "simonw/llm#937, OpenManus#744",
        "",
    ),
    rule(
        "OAI-CHAT-3",
        Medium,
        "A call's id, on both sides, is a string of 1 to 64 characters.",
        "string_above_max_length: … maximum length 64",
        "jin-bo/agentao#321",
        "",
    ),
    rule(
        "OAI-CHAT-4",
        High,
        "One assistant message declares at most 128 calls.",
        "Invalid 'messages[2].tool_calls': array too long. Expected … maximum length 128",
        "openai/openai-dotnet#317",
        "",
    ),
    rule(
        "OAI-CHAT-5",
        High,
        "A call's arguments are a string that holds a JSON object.",
        "",
        "OpenAPI document, ChatCompletionMessageToolCall",
        "The schema demands the string alone. That it holds a JSON object is what compatible \
         servers demand, which open it; the check reports both.",
    ),
    rule(
        "OAI-CHAT-6",
        High,
        "A `tool` message's content is a string or at least one text part; images stand in user \
         messages only.",
        "Image URLs are only allowed for messages with role 'user', …",
        "OpenAPI document; OpenHands#7700, openai-node#1030",
        "",
    ),
    rule(
        "OAI-CHAT-7",
        High,
        "The body has at least one message; a message's content is a string or an array of at \
         least one part of a type that its role takes, and not null.",
        "Invalid 'messages': empty array. Expected an array with minimum length 1, …",
        "OpenAPI document; CopilotKit/CopilotKit#529",
        "An assistant's null content is OAI-CHAT-8, a tool's content OAI-CHAT-6.",
    ),
    rule(
        "OAI-CHAT-8",
        Medium,
        "An assistant message has content unless it declares calls.",
        "",
        "OpenAPI document, in prose; its schema lets it pass",
        "Null content beside an audio reference is let pass as well.",
    ),
    rule(
        "OAI-CHAT-9",
        High,
        "A message is an object with one of the roles developer, system, user, assistant, tool \
         and (deprecated) function; a `tool` message names the call that it answers.",
        "",
        "OpenAPI document",
        "Of a message of the deprecated role nothing else is checked.",
    ),
    rule(
        "OAI-CHAT-10",
        High,
        "A function's name is 1 to 64 characters of a-z, A-Z, 0-9, `_` and `-`.",
        "",
        "OpenAPI document, FunctionObject",
        "",
    ),
    rule(
        "OAI-CHAT-11",
        Medium,
        "Roles need not alternate, the assistant may speak first, and a system message may stand \
         anywhere.",
        "",
        "nothing forbids it, and no error was found",
        "It permits; there is nothing to check.",
    ),
    rule(
        "OAI-CHAT-12",
        Low,
        "An id stands for one call of its message and is answered once.",
        "",
        "from memory; OpenHands checks the same",
        "",
    ),
    rule(
        "OAI-CHAT-13",
        High,
        "The body is valid Unicode: no string holds an unpaired surrogate.",
        "The request body is not valid JSON: no low surrogate in string: …",
        "bugs B029, B055",
        "",
    ),
    rule(
        "OAI-CHAT-14",
        High,
        "Calls are an array of at least one object of type `function` or `custom`, in an \
         assistant message.",
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, …",
        "OpenAPI document; openai/openai-python#2061",
        "Null is taken for absence.",
    ),
    rule(
        "OAI-CHAT-15",
        High,
        "`reasoning_content` stands in assistant messages only, and only where the model takes \
         plain reasoning.",
        "Extra inputs are not permitted",
        "charmbracelet/crush#1590, BerriAI/litellm#30835",
        "The errors are those of compatible servers; whether a model takes it is for the profile \
         to say.",
    ),
    rule(
        "DS-1",
        High,
        "An assistant message that declares calls carries its `reasoning_content` for as long as \
         it is sent, where the model demands it.",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "api-docs.deepseek.com, thinking mode; opencode#24722",
        "The check sees that the field is there, not whether it is what the model thought.",
    ),
    rule(
        "DS-2",
        Medium,
        "That field is a string; an empty one will do.",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "vercel/ai#13203, deepseek-harness#739",
        "",
    ),
    rule(
        "KIMI-1",
        High,
        "An assistant message that declares calls carries `reasoning_content` while thinking is \
         on; an empty one will do.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message …",
        "mastra#12592, openclaw#74846",
        "It demands what DS-1 and DS-2 demand, and the check reports a breach as one of theirs.",
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
