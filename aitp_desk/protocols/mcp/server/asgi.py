"""Sends one request to an ASGI application and returns its whole response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from aitp_desk.protocols.base.door import JSON, Call, Reply
from aitp_desk.protocols.mcp.caller import Caller

CALLER: Final = "aitp_desk.caller"
"""The member of the scope that holds the caller."""
_PASSED = frozenset({"accept", "host", "origin"})
"""Headers that the application sees, in addition to the protocol's own.

No credential is among them. The dispatcher has already checked the content type.
"""
_OWN = frozenset({"content-type", "content-length"})

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


async def ask_application(application: Application, call: Call, caller: Caller) -> Reply:
    """Forward a request to the application and wait for its response.

    The application receives the body once. A further ``receive`` waits until the response is there:
    a disconnect would make the application give up, or ask again without end.
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
    """Return a request as an ASGI scope, without the body."""
    headers = [
        # host names ignore case
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
