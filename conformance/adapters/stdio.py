"""What the Python adapters share: the protocol's loop, the rows as plain messages, trimming to a budget, and the wire that
captures a body.

Nothing here repairs a record. What a list of messages cannot hold is answered `unsupported`, with the reason.
"""

import contextlib
import http.server
import json
import os
import sys
import threading
import traceback

# A library that prints must not print into the protocol, and none may look for a proxy on the way to loopback.
ANSWERS, sys.stdout = sys.stdout, sys.stderr
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
sys.setrecursionlimit(20_000)  # rows may be nested deeply

BLOCKS = {"user": ("text", "image", "result"), "assistant": ("text", "reasoning", "call", "image")}
FIELDS = {"text": {"text": str}, "reasoning": {"text": str}, "image": {"media_type": str},
          "call": {"id": str, "name": str, "arguments": str}, "result": {"call": str, "content": list}}
OPTIONAL = {"token": str, "encrypted": bool, "from": dict, "error": bool, "name": str, "data": str, "url": str}


class Unsupported(Exception):
    """The library has no place for this; the message says for what."""


class Refused(Exception):
    """The library itself threw on the history."""


def serve(hello, convert, reread, replay, trim):
    """Answers until the input ends. The library's part: `convert(messages)` gives its own messages, `reread(history)`
    writes them with its own storage format and reads them again, `replay(history, calls, params)` gives the payload,
    `trim(history, budget)` the messages that stay."""
    held = None
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request.get("id")}
        try:
            method, params = request["method"], request.get("params") or {}
            if method == "hello":
                answer["result"] = hello
            elif method == "load":
                held = None  # what cannot be taken leaves nothing of what was before
                held = Held(params.get("header"), params["rows"], convert)
                answer["result"] = {"loaded": {"next": held.next}}
            elif method not in hello["ops"]:
                answer["error"] = {"code": -32601, "message": f"no method {method}"}
            elif held is None:
                answer["result"] = {"refused": {"code": "no-record", "detail": "nothing is loaded"}}
            elif method == "append":
                held.append(params["expect"], params["rows"])
                answer["result"] = {"appended": {"next": held.next}}
            elif method == "compact":
                answer["result"] = {"changed": {"next": held.next, "rows": [], "taken": held.trim(params, trim)}}
            elif method == "restart":
                held.history = reread(held.history)
                answer["result"] = {"loaded": {"next": held.next}}
            else:
                answer["result"] = {"replayed": {"payload": replay(held.history, held.calls(), params)}}
        except Unsupported as missing:
            answer["result"] = {"unsupported": {"reason": str(missing)}}
        except Refused as thrown:
            answer["result"] = {"refused": {"code": "malformed", "detail": str(thrown)}}
        except Exception as fault:  # the adapter's own
            traceback.print_exc()
            answer["error"] = {"code": -32000, "message": f"{type(fault).__name__}: {fault}"}
        print(json.dumps(answer), file=ANSWERS, flush=True)
    os._exit(0)  # at once: taking down all that the libraries imported can last longer than the runner waits


class Held:
    """The rows as `(message, blocks)`, a result row as a user message, and the library's messages made of them."""

    def __init__(self, header, rows, convert):
        if header and (header.get("onrecord") != 1 or header.get("records_call_starts")):
            raise Unsupported("a list of messages has no header: no version, no promise about call starts")
        self.next, self.messages, self.ids, self.convert = 0, [], set(), convert
        self.history, self.owners = [], []  # the library's messages, and of each the id of the row that it was made of
        self.append(0, rows)

    def append(self, expect, rows):
        messages, ids = [], set()
        if expect != self.next:
            raise Unsupported("a list of messages has no seq that a writer could expect")
        for seq, row in enumerate(rows, start=self.next):
            messages.append(taken(seq, row, self.ids | ids))
            ids.add(row["id"])
        named(self.messages + messages)
        made = [(message, row["id"]) for row, whole in zip(rows, messages) for message in self.convert([whole])]
        self.history = self.history + [message for message, _ in made]
        self.owners = self.owners + [owner for _, owner in made]
        self.next, self.messages, self.ids = self.next + len(rows), self.messages + messages, self.ids | ids

    def trim(self, params, trim):
        """Lets the library's own trimming choose what stays. Gives the ids of the rows of which nothing is left."""
        budget = (params.get("cut") or {}).get("budget")
        if not budget or "summary" not in (params.get("end") or {}):
            raise Unsupported("the library can trim its list of messages, and no more: it replaces no range, and nothing "
                              "is open meanwhile")
        stays = {id(message) for message in trim(self.history, budget)}
        places = [place for place, message in enumerate(self.history) if id(message) in stays]
        if len(places) != len(stays):
            raise Unsupported("the library trims by messages of its own making, and not by those that it was given")
        kept = {self.owners[place] for place in places}
        if sum(owner in kept for owner in self.owners) != len(places):
            raise Unsupported("the library lets go of a part of what one row holds, and that is no row that left")
        taken = [owner for owner in dict.fromkeys(self.owners) if owner not in kept]
        self.history = [self.history[place] for place in places]
        self.owners = [self.owners[place] for place in places]
        return taken

    def calls(self):
        """The names of the tools that were called: a request offers them."""
        return sorted({block["name"] for _, blocks in self.messages for block in blocks if block["type"] == "call"})


def taken(seq, row, ids):
    """One row as `(message, blocks)`. A list of messages holds no more than that."""
    event = row.get("event") if isinstance(row, dict) else None
    if not isinstance(event, dict) or not isinstance(row.get("id"), str):
        raise Unsupported("a list of messages has no rows whose shape could be checked")
    if row.get("seq") != seq or row["id"] in ids or not row["id"]:
        raise Unsupported("a list of messages has no seq and no row id to check")
    if "parent" in row and row["parent"] not in ids:
        raise Unsupported("a list of messages has no parents")
    if row.get("replaces"):
        raise Unsupported("a list of messages has no row that stands for a range of others")
    if row.get("audience", "both") not in ("both", "model"):
        raise Unsupported("a list of messages holds nothing that is for people alone")
    if event.get("type") == "result":
        event = {"role": "user", "blocks": [event]}
    elif event.get("type") != "message":
        raise Unsupported(f"a list of messages has no place for an event `{event.get('type')}`")
    if event.get("role") not in BLOCKS or not isinstance(event.get("blocks"), list):
        raise Unsupported("a list of messages has no rows whose shape could be checked: not a message")
    if event.get("status", "complete") not in ("complete", "interrupted"):
        raise Unsupported(f"a list of messages does not keep a message that is `{event['status']}`")
    return event, [checked(block, event["role"]) for block in event["blocks"]]


def checked(block, role):
    kind = block.get("type") if isinstance(block, dict) else block
    if kind not in BLOCKS[role]:
        raise Unsupported(f"the library's {role} message has no place for a block `{kind}`")
    needed = all(isinstance(block.get(field), form) for field, form in FIELDS[kind].items())
    if not needed or not all(isinstance(block[field], form) for field, form in OPTIONAL.items() if field in block) or (
            kind == "image" and ("data" in block) == ("url" in block)):
        raise Unsupported(f"a list of messages has no rows whose shape could be checked: not a block `{kind}`")
    if kind == "result":
        return {**block, "content": [checked(part, "user") for part in block["content"]]}
    return block


def named(messages):
    """A result's tool name where the row has none: both libraries want one. That of the call, the nearest before it."""
    calls = {}
    for _, blocks in reversed(messages):
        calls.update({block["id"]: block["name"] for block in blocks if block["type"] == "call"})
    for _, blocks in messages:
        calls.update({block["id"]: block["name"] for block in blocks if block["type"] == "call"})
        for block in blocks:
            if block["type"] == "result":
                block.setdefault("name", calls.get(block["call"], "unknown"))


class Wire(http.server.ThreadingHTTPServer):
    """A provider on loopback that keeps what it is sent and takes none of it: what would come next is not under test."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Post)
        self.body = None
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def sent_by(self, call):
        """The `messages` and `system` of the first body that `call` sends. What it throws before is the library's."""
        self.body, thrown = None, None
        try:
            call()
        except Exception as error:
            thrown = error
        if self.body is None:
            raise Refused(f"{type(thrown).__name__}: {thrown}")
        body = json.loads(self.body)
        return {field: body[field] for field in ("system", "messages") if field in body}


class Post(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.body = self.server.body or body
        answer = b'{"type":"error","error":{"type":"invalid_request_error","message":"captured"}}'
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(answer)

    def log_message(self, *_):
        pass
