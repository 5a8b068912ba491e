"""A docket storage backend in Python, certified through a pipe.

    conformance-runner --exec python3 -- examples/agent-python/agent.py

It was written from docs/wire-protocol.md and docs/contract.md alone. It keeps
everything in memory and declares no capability, so it earns the level core.
This file is the protocol, check.py the shape of requests, store.py the rules.
"""

import json
import struct
import sys

from check import Refusal, check
from store import Store

PROTOCOL, CONTRACT = "1", "0.1"
MAX_FRAME = 64 << 20


def read_frame(stream):
    """Return the next message, or None at the end of the input."""
    header = stream.read(4)
    if not header:
        return None
    (size,) = struct.unpack(">I", header)
    if not 0 < size <= MAX_FRAME:
        raise ValueError(f"a frame of {size} bytes")
    body = stream.read(size)
    if len(body) < size:
        raise ValueError("the input ends inside a frame")
    return json.loads(body)


def write_frame(stream, message):
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()


def plain(value):
    """Make an answer travel: integers as text, and nothing that is zero."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v not in (None, "", 0, False, [], {})}
    return value


class Session:
    """One connection: a handle on one store."""

    def __init__(self):
        self.store = None
        self.closed = False

    def answer(self, op, params):
        if op == "hello":
            if not params.get("fresh"):
                raise Refusal("other", message="stores end with their process: there is none to open again")
            self.store = Store()
            version = sys.version.split()[0]
            return {"protocol": PROTOCOL, "contract": CONTRACT, "name": "python", "version": version, "volatile": True}
        if self.store is None:
            raise Refusal("other", message="a request before hello")
        if op == "close":
            self.closed = True
            return {}
        if self.closed:
            raise Refusal("closed")
        method = getattr(self.store, op, None)
        if method is None or op.startswith("_"):
            raise Refusal("unsupported", message=op)
        check(op, params)
        return method(params)


def main():
    session = Session()
    while (message := read_frame(sys.stdin.buffer)) is not None:
        if "cancel" in message:
            continue  # nothing here waits: what is cancelled has been answered
        reply = {"id": message["id"]}
        try:
            reply["result"] = plain(session.answer(message["op"], message.get("params", {})))
        except Refusal as refusal:
            reply["error"] = plain(vars(refusal))
        write_frame(sys.stdout.buffer, reply)


if __name__ == "__main__":
    main()
