"""A visiting agent with the habits of the reference client of AHP's authors.

It is given the bare origin, sends ``Content-Type: application/json`` with every request, takes a
manifest only as ``application/json`` or from an address with ``agent.json``, and reads members of
answers at the places where that client looks.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from multidict import CIMultiDictProxy

_AGENT = "ahp-test-suite/0.1"
_ENDED = ("success", "failed", "expired")


@dataclass(frozen=True)
class Outcome:
    """What it makes of an answer; what is missing has a default there."""

    http_status: int
    raw: dict[str, Any]
    headers: CIMultiDictProxy[str]

    @property
    def status(self) -> str:
        """AHP's status."""
        return str(self.raw.get("status", "unknown"))

    @property
    def session_id(self) -> str | None:
        """The conversation."""
        return self.raw.get("session_id")

    @property
    def meta(self) -> dict[str, Any]:
        """How the answer was made."""
        meta: dict[str, Any] = self.raw.get("meta", {})
        return meta

    @property
    def answer(self) -> str:
        """The text of the answer; empty without one."""
        return str(self.raw.get("response", {}).get("answer", ""))


class ReferenceClient:
    """One visiting agent.

    Parameters:
        url: the origin, without a slash at its end.
        http: with the headers of every request.
    """

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self._url = url
        self._http = http

    async def discover(self) -> dict[str, Any]:
        """Fetch the manifest at its well-known address."""
        async with self._http.get(f"{self._url}/.well-known/agent.json") as response:
            response.raise_for_status()
            manifest: dict[str, Any] = json.loads(await response.read())
            return manifest

    async def discover_by_accept(self) -> dict[str, Any]:
        """Ask the origin for the manifest's media type, and follow where it leads."""
        headers = {"Accept": "application/agent+json"}
        async with self._http.get(self._url, headers=headers) as response:
            kind = response.headers.get("Content-Type", "")
            if not kind.startswith("application/json") and "agent.json" not in str(response.url):
                raise ValueError(f"No manifest: {response.status} {kind}")
            manifest: dict[str, Any] = json.loads(await response.read())
            return manifest

    async def read_page(self, path: str = "/") -> str:
        """Read a page as a program does that accepts anything."""
        async with self._http.get(f"{self._url}{path}") as response:
            return await response.text()

    async def converse(
        self,
        capability: str,
        query: str,
        *,
        session_id: str | None = None,
        token: str = "",
        **context: Any,
    ) -> Outcome:
        """Ask one question."""
        body: dict[str, Any] = {
            "ahp": "0.1",
            "capability": capability,
            "query": query,
            "context": {"requesting_agent": _AGENT, **context},
        }
        if session_id:
            body["session_id"] = session_id
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.post(body, headers)

    async def post(self, body: dict[str, Any], headers: dict[str, str] | None = None) -> Outcome:
        """Send any JSON."""
        url = f"{self._url}/agent/converse"
        async with self._http.post(url, json=body, headers=headers) as response:
            return Outcome(response.status, json.loads(await response.read()), response.headers)

    async def poll(self, session_id: str) -> Outcome | None:
        """Ask for the status once; None while the work goes on, or nothing is told of it."""
        url = f"{self._url}/agent/converse/status/{session_id}"
        async with self._http.get(url) as response:
            raw = json.loads(await response.read())
            told = Outcome(response.status, raw, response.headers)
        return told if told.status in _ENDED else None


@asynccontextmanager
async def reference_client(url: str, key: str = "") -> AsyncIterator[ReferenceClient]:
    """A client of its own.

    Parameters:
        key: set on its session, so that it is sent with polls too; empty for none.
    """
    headers = {"Content-Type": "application/json", "User-Agent": _AGENT}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    async with aiohttp.ClientSession(headers=headers) as http:
        yield ReferenceClient(url, http)
