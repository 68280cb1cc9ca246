"""A visiting agent: asks a real desk over AHP.

Where `AITP_DESK_SHARED` is set it holds every question and every answer to the published schemas.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from multidict import CIMultiDictProxy

from aitp_desk.agent.base import Agent
from aitp_desk.app.server import RunningServer
from tests.support.desk.server import SITE, serving
from tests.support.specs.ahp_schemas import AhpSchemas
from tests.support.specs.folder import find_shared_folder

CONVERSE = "/agent/converse"
MANIFEST = "/.well-known/agent.json"
CONTENT = "/llms.txt"

Headers = Iterable[tuple[str, str]]


class Said(msgspec.Struct, frozen=True):
    """What the desk answered."""

    status: int
    headers: CIMultiDictProxy[str]
    body: dict[str, Any]

    @property
    def answer(self) -> str:
        """The text of a success."""
        assert self.body["status"] == "success", self.body
        text: str = self.body["response"]["answer"]
        return text

    @property
    def session_id(self) -> str:
        """The session that the answer belongs to."""
        id_: str = self.body["session_id"]
        return id_

    @property
    def is_cached(self) -> bool:
        """Whether the desk says that it gave this answer before."""
        cached: bool = self.body["meta"]["cached"]
        return cached

    @property
    def refusal(self) -> tuple[int, str, str | None]:
        """Status, code and detail of an error."""
        assert self.body["status"] == "error", self.body
        return self.status, self.body["code"], self.body.get("detail")


class Visitor:
    """A visitor's agent, with its HTTP client.

    Parameters:
        desk: whom it asks.
        http: a client whose addresses are the desk's.
    """

    def __init__(self, desk: RunningServer, http: aiohttp.ClientSession) -> None:
        self.desk = desk
        self.http = http

    async def ask(
        self,
        query: str,
        capability: str = "content_search",
        *,
        session_id: str | None = None,
        clarification: str | None = None,
        headers: Headers = (),
        **context: Any,
    ) -> Said:
        """Put a question as AHP 0.1, section 6.1 says; what is None or absent is left out."""
        body: dict[str, Any] = {"ahp": "0.1", "capability": capability, "query": query}
        if session_id is not None:
            body["session_id"] = session_id
        if clarification is not None:
            body["clarification"] = clarification
        if context:
            body["context"] = context
        if (schemas := _schemas()) is not None:
            schemas.check_request(body)
        return await self.post(body, headers=headers)

    async def post(self, body: Any, *, headers: Headers = ()) -> Said:
        """Send any JSON to the endpoint."""
        async with self.http.post(CONVERSE, json=body, headers=list(headers)) as response:
            return await read(response)


async def read(response: aiohttp.ClientResponse) -> Said:
    """Read a response in AHP's form."""
    assert response.content_type == "application/json"
    said = Said(response.status, response.headers, await response.json())
    if (schemas := _schemas()) is not None:
        schemas.check_response(said.body)
    return said


@asynccontextmanager
async def visiting(
    data: Path,
    *settings: str,
    folder: Path = SITE,
    clock: Callable[[], float] = time.time,
    agent: Agent | None = None,
) -> AsyncIterator[Visitor]:
    """A desk as `tests.support.desk.server.serving` makes it, and a visitor."""
    async with (
        serving(data, *settings, folder=folder, clock=clock, agent=agent) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Visitor(desk, http)


@cache
def _schemas() -> AhpSchemas | None:
    named = os.environ.get("AITP_DESK_SHARED")
    return AhpSchemas(find_shared_folder(named)) if named else None
