"""Websites for tests: real servers on the loopback, whose pages a test writes and takes away."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import msgspec
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from multidict import CIMultiDictProxy

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Asked(msgspec.Struct, frozen=True):
    """A request that the website was sent."""

    path: str
    headers: CIMultiDictProxy[str]


class Website:
    """A website.

    Attributes:
        url: its address, without a slash at its end.
        asked: the requests so far, in order.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self._pages: dict[str, Handler] = {}

    def put(
        self,
        path: str,
        body: str | bytes,
        *,
        type: str = "text/html; charset=utf-8",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Write a page; one with an ETag or a date answers conditional requests."""
        payload = body.encode() if isinstance(body, str) else body
        sent = {"Content-Type": type, **(headers or {})}

        async def answer(request: web.Request) -> web.Response:
            is_kept = (
                request.headers.get("If-None-Match", "") == sent.get("ETag")
                or request.headers.get("If-Modified-Since", "") == sent.get("Last-Modified")
            )  # fmt: skip
            if is_kept:
                return web.Response(status=304)
            return web.Response(status=status, body=payload, headers=sent)

        self._pages[path] = answer

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        """Let an address lead to another."""
        self.put(path, b"", status=status, headers={"Location": to})

    def handle(self, path: str, handler: Handler) -> None:
        """Let a function answer; a path that ends in ``?`` stands for every query."""
        self._pages[path] = handler

    def take_away(self, path: str, status: int = 404) -> None:
        """Let an address answer with an error."""
        self.put(path, b"gone", status=status)

    def paths(self) -> list[str]:
        """What was asked for, in order, but for ``/robots.txt``."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        assert isinstance(request, web.BaseRequest)
        self.asked.append(Asked(request.path_qs, request.headers))
        page = self._pages.get(request.path_qs) or self._pages.get(f"{request.path}?")
        if page is None:
            return web.Response(status=404)
        return await page(request)  # type: ignore[arg-type]


@asynccontextmanager
async def website(host: str = "127.0.0.1") -> AsyncIterator[Website]:
    """A website on a free port of an address of the loopback."""
    site = Website()
    runner = web.ServerRunner(web.Server(site.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        place = web.TCPSite(runner, host, 0)
        await place.start()
        port = runner.addresses[0][1]
        site.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        yield site
    finally:
        await runner.cleanup()


class Names(AbstractResolver):
    """A name service that knows what it was told.

    Parameters:
        addresses: of each name.

    Attributes:
        asked: the names that were looked up, in order.
    """

    def __init__(self, addresses: Mapping[str, list[str]]) -> None:
        self.asked: list[str] = []
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name."""
        self.asked.append(host)
        if host not in self._addresses:
            raise OSError("no such name")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses[host]
        ]

    async def close(self) -> None:
        """Nothing is held."""
