"""A site on the loopback that responds what a test has written, whatever that is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Asked(msgspec.Struct, frozen=True):
    """A request that the site was sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class ScriptedSite:
    """A site.

    Attributes:
        url: its origin.
        asked: the requests so far, in order.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self._script: dict[tuple[str, str], list[Handler]] = {}

    def will(
        self,
        path: str,
        body: Any,
        *,
        method: str = "POST",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Respond once with a body: bytes as they are, anything else as JSON.

        The last response to a path is repeated.
        """

        async def respond(request: web.Request) -> web.Response:
            sent = body(self.asked[-1].body) if callable(body) else body
            raw = sent if isinstance(sent, bytes) else msgspec.json.encode(sent)
            return web.Response(
                status=status,
                body=raw,
                headers={"Content-Type": "application/json", **(headers or {})},
            )

        self.do(path, respond, method=method)

    def do(self, path: str, handler: Handler, *, method: str = "POST") -> None:
        """Respond once by a handler; the last one is repeated."""
        self._script.setdefault((method, path), []).append(handler)

    def bodies(self, path: str) -> list[Any]:
        """What was posted to a path."""
        return [one.body for one in self.asked if (one.method, one.path) == ("POST", path)]

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Note a request, and do what comes next."""
        raw = await request.read()
        body = msgspec.json.decode(raw) if raw.startswith((b"{", b"[")) else raw
        self.asked.append(Asked(request.method, request.path, request.headers, body))
        script = self._script.get((request.method, request.path))
        if not script:
            return web.Response(status=404, text="Nothing is here.")
        return await (script.pop(0) if len(script) > 1 else script[0])(request)


@asynccontextmanager
async def scripted_site() -> AsyncIterator[ScriptedSite]:
    """A site on a free port."""
    site = ScriptedSite()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.respond)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        listener = web.TCPSite(runner, "127.0.0.1", 0)
        await listener.start()
        site.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield site
    finally:
        await runner.cleanup()
