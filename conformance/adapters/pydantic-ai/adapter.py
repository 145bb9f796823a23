"""pydantic-ai under test: a record as its `ModelMessage`s, repaired and mapped as before each of its own requests.

An agent's request is `repair_messages`, `prepare_messages`, `repair_messages` once more, and the model's `request`.
This does the same steps, all of them public, against a provider on loopback, and hands over the body that it got.
"""

import asyncio
import base64
import binascii
import pathlib
import sys
from importlib.metadata import version

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import stdio  # noqa: E402  (first: it takes standard output for the protocol)

from pydantic_ai.capabilities import ProcessHistory  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    BinaryContent, FilePart, ImageUrl, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart, ThinkingPart,
    ToolCallPart, ToolReturnPart, UserPromptPart, repair_messages)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters  # noqa: E402
from pydantic_ai.models.anthropic import AnthropicModel  # noqa: E402
from pydantic_ai.models.openai import OpenAIChatModel  # noqa: E402
from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: E402
from pydantic_ai.providers.openai import OpenAIProvider  # noqa: E402
from pydantic_ai.tools import RunContext, ToolDefinition  # noqa: E402
from pydantic_ai.usage import RunUsage  # noqa: E402

PINS = ("pydantic-ai-slim", "openai", "anthropic")
HELLO = {
    "name": "pydantic-ai", "language": "python", "version": ", ".join(f"{name} {version(name)}" for name in PINS),
    "ops": ["load", "append", "restart", "replay", "compact"], "targets": ["openai-chat", "anthropic"],
    "wordings": {"did_not_complete": ["The tool call was interrupted"], "unseen": ["was not sent"],
                 "invalid_arguments": ["INVALID_JSON"]},
    "limits": [
        "the library keeps a list of messages, not a record: no seq, no ranges, no turn boundaries, no call starts",
        "the library repairs a last response's open calls before each request, also where a tool still runs",
        "it trims with ProcessHistory, and the processor that its documentation shows: the last so many messages; no budget "
        "in tokens",
    ],
}
WIRE = stdio.Wire()
PROVIDERS = {
    "openai-chat": OpenAIProvider(base_url=WIRE.url + "/v1", api_key="none"),
    "anthropic": AnthropicProvider(base_url=WIRE.url, api_key="none"),
}
for provider in PROVIDERS.values():
    provider.client.max_retries = 0
LOOP = asyncio.new_event_loop()


def convert(messages):
    return [converted(event, blocks) for event, blocks in messages]


def reread(history):
    try:
        return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(history))
    except Exception as error:
        raise stdio.Refused(f"{type(error).__name__}: {error}") from error


def replay(history, calls, params):
    model, settings = model_for(params["target"], params["profile"])
    offered = calls if params["profile"]["tools"] else []
    request = ModelRequestParameters(
        function_tools=[ToolDefinition(name=name, parameters_json_schema={"type": "object"}) for name in offered])

    def send():
        prepared = model.prepare_messages(repair_messages(history), request)
        LOOP.run_until_complete(model.request(repair_messages(prepared), settings, request))

    return WIRE.sent_by(send)


def trim(history, budget):
    """What a processor that keeps the last messages leaves, run as before a request."""
    if "messages" not in budget:
        raise stdio.Unsupported("the processor that the library's documentation shows counts messages, not tokens")
    most = budget["messages"]
    model, _ = model_for("openai-chat", {"vision": True, "plain_reasoning": "refused"})
    keep_last = ProcessHistory(lambda messages: messages[len(messages) - most:] if len(messages) > most else messages)
    run = RunContext(deps=None, model=model, usage=RunUsage(), messages=list(history))
    request = ModelRequestContext(
        model=model, messages=list(history), model_settings=None, model_request_parameters=ModelRequestParameters())
    return LOOP.run_until_complete(keep_last.before_model_request(run, request)).messages


def model_for(target, profile):
    """The model, told what the library can be told: vision, thinking, a field for plain reasoning."""
    name = (profile.get("model") or {}).get("model")
    abilities = {"supports_image_input": profile["vision"]}
    if target == "anthropic":
        settings = {"max_tokens": 4096}
        if profile["thinking"]:
            settings["anthropic_thinking"] = {"type": "enabled", "budget_tokens": 1024}
        return AnthropicModel(name or "claude-sonnet-4-5", provider=PROVIDERS[target], profile=abilities), settings
    if profile["plain_reasoning"] != "refused":
        abilities |= {"openai_chat_thinking_field": "reasoning_content", "openai_chat_send_back_thinking_parts": "field",
                      "openai_chat_thinking_requires_field_on_tool_calls": profile["plain_reasoning"] == "required",
                      "supports_thinking": True, "thinking_enabled_by_default": True}
    return OpenAIChatModel(name or "gpt-4o", provider=PROVIDERS[target], profile=abilities), {}


def converted(event, blocks):
    if event["role"] == "user":
        return ModelRequest(parts=request_parts(blocks))
    made_by = next((block["from"] for block in blocks if block.get("from")), {})
    return ModelResponse(
        parts=[response_part(block) for block in blocks], state=event.get("status", "complete"),
        model_name=made_by.get("model", "unknown"), provider_name=made_by.get("provider"))


def request_parts(blocks):
    """Results as parts of their own; what stands between them as prompts."""
    parts, said = [], []
    for block in [*blocks, None]:
        if block and block["type"] != "result":
            said.append(block["text"] if block["type"] == "text" else image(block))
            continue
        if said:
            parts.append(UserPromptPart(said[0] if len(said) == 1 and isinstance(said[0], str) else said))
            said = []
        if block:
            content = [part["text"] if part["type"] == "text" else image(part) for part in block["content"]]
            parts.append(ToolReturnPart(
                tool_name=block["name"], tool_call_id=block["call"], outcome="failed" if block.get("error") else "success",
                content="" if not content else content[0] if len(content) == 1 else content))
    return parts


def response_part(block):
    if block["type"] == "text":
        return TextPart(block["text"])
    if block["type"] == "call":
        return ToolCallPart(tool_name=block["name"], args=block["arguments"], tool_call_id=block["id"])
    if block["type"] == "image":
        if "url" in block:
            raise stdio.Unsupported("the library's ModelResponse has no place for an image at a URL")
        return FilePart(image(block))
    made_by = (block.get("from") or {}).get("provider")
    # What the library itself stores: the redacted form, or the field that plain reasoning came in.
    form = "redacted_thinking" if block.get("encrypted") else None if block.get("token") or not made_by else "reasoning_content"
    return ThinkingPart(block["text"], id=form, signature=block.get("token"), provider_name=made_by)


def image(block):
    if "url" in block:
        return ImageUrl(block["url"], media_type=block["media_type"])
    try:
        return BinaryContent(base64.b64decode(block["data"], validate=True), media_type=block["media_type"])
    except binascii.Error as error:
        raise stdio.Unsupported(f"the library holds an image as bytes, and this is no base64: {error}") from error


stdio.serve(HELLO, convert, reread, replay, trim)
