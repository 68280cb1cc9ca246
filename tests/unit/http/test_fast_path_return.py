"""A connection on its way back to waiting: what arrives there takes the fast path again."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import uvloop
from aiohttp import web

from aitp_desk.app.server import RunningServer
from aitp_desk.http.connection.fallback import AiohttpHandler
from tests.support.desk.server import serving
from tests.support.http.connection import HEALTH, MANIFEST, SECONDS


class Busy:
    """Keeps the loop busy between an answer and the server's next step, as other requests do.

    Attributes:
        handled: the paths of all requests that went the general way.
        has_sent: set when the caller has sent its next request.
    """

    def __init__(self) -> None:
        self.handled: list[str] = []
        self.has_sent = threading.Event()
        self._handle = AiohttpHandler.handle

    async def handle(self, general: AiohttpHandler, request: web.BaseRequest) -> web.StreamResponse:
        self.handled.append(request.path)
        loop = asyncio.get_running_loop()
        goes_on = loop.create_future()

        def go_on() -> None:
            goes_on.set_result(None)
            loop.call_soon(self.has_sent.wait, SECONDS)  # right after the answer is written

        loop.call_soon(go_on)
        await goes_on
        return await self._handle(general, request)


def ask_twice(desk: RunningServer, busy: Busy) -> bytes:
    """Ask, and ask again as soon as the answer is there; return the beginning of the second."""
    address = urlsplit(desk.url)
    with socket.create_connection((address.hostname, address.port), timeout=SECONDS) as line:
        line.sendall(HEALTH)
        first = b""
        while not first.endswith(b'{"status":"ok"}'):
            first += line.recv(65536)
        line.sendall(MANIFEST)
        busy.has_sent.set()
        return line.recv(65536)


def test_what_arrives_before_the_server_waits_again_takes_the_fast_path(tmp_path: Path) -> None:
    busy = Busy()

    async def handle(general: AiohttpHandler, request: web.BaseRequest) -> web.StreamResponse:
        return await busy.handle(general, request)

    async def serve_and_ask() -> bytes:
        async with serving(tmp_path) as desk:
            return await asyncio.to_thread(ask_twice, desk, busy)

    with patch.object(AiohttpHandler, "handle", handle):
        second = uvloop.run(serve_and_ask())  # which reads before it goes on with what was ready
    assert second.startswith(b"HTTP/1.1 200 OK")
    assert busy.handled == ["/health"]
