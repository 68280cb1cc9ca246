"""A server that receives callbacks: it accepts them, or fails as a test wants."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from types import ModuleType
from typing import Any, Literal

import msgspec
from aiohttp import web

from tests.support.access.keys import CLIENTS
from tests.support.doubles.website import Website, website

PATH = "/told?by=desk"
Behaviour = int | Literal["hangs", "closes", "redirects", "talks"]
SECRET_ANSWER = "nothing that may be logged"
SECONDS = 60
_LONG = 10_000_000


class Delivery(msgspec.Struct, frozen=True):
    """What arrived."""

    method: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """A server that behaves as a test says, once for each callback.

    Attributes:
        url: where it is to be told.
        got: what arrived, in order.
    """

    def __init__(self, site: Website) -> None:
        self.url = f"{site.url}{PATH}"
        self.got: list[Delivery] = []
        self.site = site
        self._arrived = asyncio.Condition()
        self._behaviours: list[Behaviour] = []
        site.handle(PATH, self._answer)

    def behave(self, *behaviours: Behaviour) -> None:
        """Answer the next ones like this, and then with 204."""
        self._behaviours += behaviours

    async def told(self, count: int = 1) -> None:
        """Wait until so much has arrived."""
        async with asyncio.timeout(SECONDS), self._arrived:
            await self._arrived.wait_for(lambda: len(self.got) >= count)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.got.append(Delivery(request.method, headers, await request.read()))
        async with self._arrived:
            self._arrived.notify_all()
        match self._behaviours.pop(0) if self._behaviours else 204:
            case "hangs":
                await asyncio.get_running_loop().create_future()
            case "closes":
                broken = web.StreamResponse(headers={"Content-Length": "100"})
                await broken.prepare(request)
                await broken.write(b"half")
                assert request.transport is not None
                request.transport.close()
                return broken
            case "redirects":
                return web.Response(status=307, headers={"Location": f"{self.site.url}/elsewhere"})
            case "talks":
                return web.Response(headers={"Content-Length": str(_LONG)}, body=b"x" * _LONG)
            case int() as status:
                body = None if status == 204 else SECRET_ANSWER
                return web.Response(status=status, text=body)
        raise AssertionError("no such behaviour")


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """Run a server that receives callbacks."""
    async with website() as site:
        yield Receiver(site)


@cache
def verifying_client() -> ModuleType:
    """The example of a receiver, which verifies."""
    spec = importlib.util.spec_from_file_location("verifying", CLIENTS / "verify_callback.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verified(secret: str, delivery: Delivery) -> Any:
    """What a receiver reads that shares a secret with the desk."""
    return verifying_client().verify_with_secret(secret, delivery.headers, delivery.body)
