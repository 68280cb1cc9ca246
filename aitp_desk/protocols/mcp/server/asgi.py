"""One request to an ASGI application, and its whole answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from aitp_desk.protocols.base.door import JSON, Call, Reply
from aitp_desk.protocols.mcp.caller import Caller

CALLER: Final = "aitp_desk.caller"
"""Where the scope says who asks."""
_PASSED = frozenset({"accept", "host", "origin"})
"""Headers that the application sees, beside those of the protocol's own; no credential is among
them. What the body is the front has looked at."""
_OWN = frozenset({"content-type", "content-length"})

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


async def ask_application(application: Application, call: Call, caller: Caller) -> Reply:
    """Pass a request on, and wait for the answer.

    The body is handed over once. Whoever asks for more waits until the answer is there: were they
    told at once that the client has gone, they would give up, or ask again without end.
    """
    bodies: list[bytes] = [call.body]
    answered = asyncio.Event()
    status = 500
    headers: tuple[tuple[bytes, bytes], ...] = ()
    chunks: list[bytes] = []

    async def receive() -> Message:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], tuple(message.get("headers", ()))
        else:
            chunks.append(message.get("body", b""))

    try:
        await application(make_scope(call, caller), receive, send)
    finally:
        answered.set()
    told = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    content_type = next((value for name, value in told if name.lower() == "content-type"), "")
    own = tuple((name, value) for name, value in told if name.lower() not in _OWN)
    return Reply(status, b"".join(chunks), content_type or JSON, own)


def make_scope(call: Call, caller: Caller) -> Message:
    """A request as ASGI describes it; the message's body is not in it."""
    headers = [
        # names of hosts are the same in capital letters
        (
            name.encode("latin-1", "replace"),
            (value.lower() if name == "host" else value).encode("utf-8", "surrogateescape"),
        )
        for name, value in zip(map(str.lower, call.headers), call.headers.values(), strict=True)
        if name in _PASSED or name.startswith("mcp-")
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": "http",
        "path": call.path,
        "raw_path": call.path.encode("latin-1", "replace"),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"content-type", JSON.encode()), *headers],
        "client": None,
        "server": None,
        CALLER: caller,
    }
