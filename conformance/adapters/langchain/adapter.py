"""LangChain under test: a record as its messages, sent by `ChatOpenAI` and `ChatAnthropic` to a provider on loopback.

LangChain repairs nothing by itself. Blocks have the shapes in which its own provider packages store what they receive.
"""

import json
import os
import pathlib
import sys
from importlib.metadata import version

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import stdio  # noqa: E402  (first: it takes standard output for the protocol)

os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"  # nothing goes out of the machine

from langchain_anthropic import ChatAnthropic  # noqa: E402
from langchain_core.exceptions import OutputParserException  # noqa: E402
from langchain_core.messages import (  # noqa: E402
    AIMessage, HumanMessage, ToolMessage, messages_from_dict, messages_to_dict, trim_messages)
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402

PINS = ("langchain-core", "langchain-openai", "langchain-anthropic", "openai", "anthropic")
HELLO = {
    "name": "langchain", "language": "python", "version": ", ".join(f"{name} {version(name)}" for name in PINS),
    "ops": ["load", "append", "restart", "replay", "compact"], "targets": ["openai-chat", "anthropic"],
    "limits": [
        "the library keeps a list of messages, not a record: no seq, no ranges, no turn boundaries, no call starts",
        "the library cannot be told that a model sees no images, or that a tool still runs",
        "ChatOpenAI has no field for plain reasoning; its documentation names other packages for that",
        "it trims with trim_messages, and the options that its documentation recommends; it counts messages with `len` and "
        "tokens with its own `approximate`",
    ],
}
WIRE = stdio.Wire()


def convert(messages):
    return [message for event, blocks in messages for message in converted(event["role"], blocks)]


def reread(history):
    return messages_from_dict(json.loads(json.dumps(messages_to_dict(history))))


def replay(history, calls, params):
    model = model_for(params["target"], params["profile"])
    if params["profile"]["tools"] and calls:
        model = model.bind_tools([
            {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
            for name in calls])
    return WIRE.sent_by(lambda: model.invoke(history))


def trim(history, budget):
    """What `trim_messages` leaves, which is to begin with a person and to end with what is newest."""
    counter, most = (len, budget["messages"]) if "messages" in budget else ("approximate", budget["tokens"])
    return trim_messages(history, max_tokens=most, token_counter=counter, strategy="last", start_on="human",
                         include_system=True, allow_partial=False)


def model_for(target, profile):
    """The model, told what the library can be told: the model's name, and whether it thinks."""
    name = (profile.get("model") or {}).get("model")
    if target == "anthropic":
        thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if profile["thinking"] else {}
        return ChatAnthropic(model=name or "claude-sonnet-4-5", api_key="none", base_url=WIRE.url, max_retries=0,
                             max_tokens=4096, **thinking)
    if profile["plain_reasoning"] != "refused":
        raise stdio.Unsupported("ChatOpenAI has no field for plain reasoning; its documentation names other packages")
    return ChatOpenAI(model=name or "gpt-4o", api_key="none", base_url=WIRE.url + "/v1", max_retries=0,
                      use_responses_api=False)


def converted(role, blocks):
    if role == "assistant":
        return [answer(blocks)]
    messages, said = [], []
    for block in [*blocks, None]:
        if block and block["type"] != "result":
            said.append(content(block))
            continue
        if said or not blocks:
            messages.append(HumanMessage(alone(said)))
            said = []
        if block:
            messages.append(ToolMessage(
                alone([content(part) for part in block["content"]]), tool_call_id=block["call"], name=block["name"],
                status="error" if block.get("error") else "success"))
    return messages


def answer(blocks):
    """One `AIMessage`: its calls in `tool_calls`, and in the content at their place, as ChatAnthropic stores them."""
    parts, calls, broken, extra = [], [], [], {}
    for block in blocks:
        if block["type"] == "call":
            raw = {"id": block["id"], "function": {"name": block["name"], "arguments": block["arguments"]}}
            try:
                call = parse_tool_call(raw)
                if not isinstance(call["args"], dict):
                    raise OutputParserException("the arguments are no JSON object")
                calls.append(call)
                parts.append({"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]})
            except OutputParserException as error:
                broken.append(make_invalid_tool_call(raw, str(error)))
        elif block["type"] == "reasoning":
            part = reasoning(block)
            if part:
                parts.append(part)
            else:
                extra["reasoning_content"] = "\n\n".join(filter(None, [extra.get("reasoning_content"), block["text"]]))
        else:
            parts.append(content(block))
    if len({call["id"] for call in calls}) < len(calls):
        # ChatAnthropic, whose ids differ, is not where these came from; the other packages keep calls in `tool_calls` alone.
        parts = [part for part in parts if part["type"] != "tool_use"]
    made_by = next((block["from"] for block in blocks if block.get("from")), {})
    known = {"model_provider": made_by.get("provider"), "model_name": made_by.get("model")} if made_by else {}
    return AIMessage(alone(parts), tool_calls=calls, invalid_tool_calls=broken, additional_kwargs=extra,
                     response_metadata=known)


def reasoning(block):
    """The block that the package of its provider stores; None where that is `additional_kwargs` (plain reasoning)."""
    api, token = (block.get("from") or {}).get("api"), block.get("token")
    if api == "responses":
        return {"type": "reasoning", "summary": [{"type": "summary_text", "text": block["text"]}],
                **({"encrypted_content": token} if token else {})}
    if api == "converse":
        return {"type": "reasoning_content", "reasoning_content": {
            "text": block["text"], **({"signature": token} if token else {})}}
    if block.get("encrypted"):
        return {"type": "redacted_thinking", "data": token or ""}
    if token or api == "messages":
        return {"type": "thinking", "thinking": block["text"], **({"signature": token} if token else {})}
    return None


def content(block):
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    source = {"url": block["url"]} if "url" in block else {"base64": block["data"]}
    return {"type": "image", "mime_type": block["media_type"], **source}


def alone(parts):
    """A single text is stored as a string."""
    if not parts:
        return ""
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


stdio.serve(HELLO, convert, reread, replay, trim)
