#!/usr/bin/env python3
"""A template: copy it, and put your own program in the place of the class `Program`.

    onrecord smoke -- python3 my_adapter.py     # is the adapter itself right?
    onrecord run   -- python3 my_adapter.py     # does what it stands for keep the rules?

It needs Python 3.9 or later and nothing else, and it works as it stands: `Program` keeps a list of messages and sends it as
it is, which many programs do, and which breaks a good many rules. The protocol is in conformance/PROTOCOL.md.
"""

import json
import sys
import traceback

# Standard output belongs to the protocol. What your program prints goes to standard error, the adapter's own log.
ANSWERS, sys.stdout = sys.stdout, sys.stderr

HELLO = {
    "name": "my-program",
    "version": "1.0.0",  # with the pinned versions of the libraries that it uses
    "language": "python",
    # Name others here as you write them below. A record: `append`, `read`, `restart`, `open`, `log`. A wire: `request`, `input`.
    # Letting go: `context`, `compact`, `clear`, `upgrade`. People: `transcript`, `follow`. A part at a time: `page`, `window`.
    "ops": ["load", "replay"],
    "targets": ["openai-chat"],
    "reports": [],  # `anomalies` and `constraints`, if it tells them with a replay
    "wordings": {},  # like {"did_not_complete": ["was interrupted"]}, if it uses words of its own
    "limits": ["keeps a list of messages, and nothing else"],
}


class Unsupported(Exception):
    """Your program has no place for this. Say for what: the reason is shown, and the check counts as unsupported."""


class Program:
    """Yours. It takes rows, and gives what it would send to a provider."""

    def __init__(self, rows):
        self.messages = []
        for row in rows:
            self.take(row)

    def take(self, row):
        """One row. What cannot be expressed is said, never dropped in silence, and nothing is repaired here: what your
        program does with a broken record is what the suite wants to see."""
        event = row["event"]
        if row.get("replaces") or row.get("audience") == "people":
            raise Unsupported("it keeps a flat list: no ranges, no rows for people alone")
        if event["type"] == "result":
            self.result(event)
        elif event["type"] == "message" and event.get("status", "complete") != "failed":
            self.message(event["role"], event["blocks"])
        else:
            raise Unsupported(f"it has no place for an event `{event['type']}` like this")

    def message(self, role, blocks):
        message = {"role": role, "content": []}
        for block in blocks:
            kind = block["type"]
            if kind == "text":
                message["content"].append({"type": "text", "text": block["text"]})
            elif kind == "image" and role == "user":
                url = block.get("url") or f"data:{block['media_type']};base64,{block['data']}"
                message["content"].append({"type": "image_url", "image_url": {"url": url}})
            elif kind == "call" and role == "assistant":
                function = {"name": block["name"], "arguments": block["arguments"]}
                message.setdefault("tool_calls", []).append({"id": block["id"], "type": "function", "function": function})
            elif kind == "result" and role == "user":
                self.result(block)
            else:
                raise Unsupported(f"its {role} message has no place for a block `{kind}`")
        if message["content"] or "tool_calls" in message:
            if not message["content"]:
                del message["content"]
            self.messages.append(message)

    def result(self, result):
        if any(part["type"] != "text" for part in result["content"]):
            raise Unsupported("its tools give text alone")
        text = "".join(part["text"] for part in result["content"])
        self.messages.append({"role": "tool", "tool_call_id": result["call"], "content": text})

    def sent(self, target, profile, mode):
        """The part of the request's body that the history fills. A client that captures the body is the best source.

        `profile` says what the model can do, `mode` whether a tool may still run. Pass on what your program can be told.
        """
        return {"messages": self.messages}


# One function a method. `held` is the program with what was loaded; `load` puts a new one in its place.

def hello(held, params):
    return held, HELLO


def load(held, params):
    try:
        return Program(params["rows"]), {"loaded": {"next": len(params["rows"])}}
    except (AttributeError, KeyError, TypeError) as error:  # or `refused`, if it checks what it is given
        raise Unsupported(f"it checks no rows: {error!r}") from error


def replay(held, params):
    if held is None:
        return held, {"refused": {"code": "no-record", "detail": "nothing is loaded"}}
    try:
        payload = held.sent(params["target"], params["profile"], params["mode"])
    except ValueError as error:  # what your program throws on a history: a verdict on it, and no fault of this adapter
        return held, {"refused": {"code": "malformed", "detail": f"{type(error).__name__}: {error}"}}
    return held, {"replayed": {"payload": payload}}


METHODS = {"hello": hello, "load": load, "replay": replay}


def main():
    held = None
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        method = METHODS.get(request["method"])
        try:
            if method is None:
                answer["error"] = {"code": -32601, "message": f"no method {request['method']}"}
            else:
                if request["method"] == "load":
                    held = None  # a record that cannot be taken leaves nothing of the one before
                held, answer["result"] = method(held, request.get("params") or {})
        except Unsupported as missing:
            answer["result"] = {"unsupported": {"reason": str(missing)}}
        except Exception as fault:  # the adapter's own: never a verdict
            traceback.print_exc()
            answer["error"] = {"code": -32000, "message": f"{type(fault).__name__}: {fault}"}
        print(json.dumps(answer), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
