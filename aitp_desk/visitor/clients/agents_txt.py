"""Calls the capabilities of a site's agents.json or agents.txt (agents.txt 1.0, section 9.2)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from yarl import URL

from aitp_desk.protocols.agents_txt import Capability, Parameter, RateLimit
from aitp_desk.visitor.base import Endpoint, SiteAction
from aitp_desk.visitor.clients.operations import Operation, OperationClient, Place
from aitp_desk.visitor.discovery.agents_file import AgentsFile, read_agents_file
from aitp_desk.visitor.discovery.members import clean
from aitp_desk.visitor.errors import VisitError
from aitp_desk.visitor.fetcher import Fetcher, Method

WINDOWS: Mapping[str, float] = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
MAX_DOCS = 1000
"""The most characters of a site's documentation of its credentials that an error holds."""


class AgentsTxtClient(OperationClient):
    """Calls declared capabilities over HTTP, no faster than the site declares."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        super().__init__(endpoint, fetcher)
        self._agents_file: AgentsFile = endpoint.document["agents_file"]
        self._calls: dict[str, deque[float]] = {}

    async def find_operations(self) -> Sequence[Operation]:
        """Return the capabilities that this agent may use over HTTP."""
        return [
            _read_capability(each)
            for each in self._agents_file.capabilities
            if each.protocol == "REST" and (each.method or "GET").upper() in get_args(Method)
        ]

    async def prepare(self, operation: Operation) -> None:
        """Wait until every declared limit allows one more call (section 7.2)."""
        capability = self._capability(operation.action.name)
        policy = self._agents_file.policy
        limits: list[tuple[str, RateLimit | None]] = [
            ("", None if policy is None else policy.rate_limit)
        ]
        limits.append(
            (operation.action.name, None if capability is None else capability.rate_limit)
        )
        for name, limit in limits:
            if limit is not None and limit.window in WINDOWS:
                await self._keep(name, limit)

    async def renew(self, operation: Operation) -> Operation | None:
        """Read the file again at once: the capability may have been removed or moved."""
        self._agents_file = await read_agents_file(
            self.fetcher, self.fetcher.identity.name, must_ask=True
        )
        capability = self._capability(operation.action.name)
        return None if capability is None else _read_capability(capability)

    async def explain(self, operation: Operation) -> str:
        """Return what the site's Auth-Docs say (section 6.3): data, never an instruction."""
        capability = self._capability(operation.action.name)
        if capability is None or not capability.auth.docs_url:
            return ""
        try:
            url = self.fetcher.resolve(self.endpoint.url, capability.auth.docs_url)
            found = await self.fetcher.read(url, accept="text/plain, text/markdown, */*;q=0.1")
        except VisitError:
            return f"See {clean(capability.auth.docs_url)}"
        text = clean(found.body[:MAX_DOCS].decode("utf-8", "replace"))
        return f"{url}: {text}" if found.status == 200 else f"See {url}"

    def _capability(self, name: str) -> Capability | None:
        return next((one for one in self._agents_file.capabilities if one.id == name), None)

    async def _keep(self, name: str, limit: RateLimit) -> None:
        calls = self._calls.setdefault(name, deque(maxlen=max(1, limit.requests)))
        now = time.monotonic()
        if len(calls) == calls.maxlen:
            pause = calls[0] + WINDOWS[limit.window] - now
            if pause > 0:
                await self.fetcher.wait(pause)
                now += pause
        calls.append(now)


def _read_capability(capability: Capability) -> Operation:
    """Return a capability as an operation; what it does is as safe as it says, which is nothing."""
    method: Any = (capability.method or "GET").upper()
    rest: Place = "query" if method == "GET" else "body"
    places: dict[str, Place] = {one.name: _place(one, rest) for one in capability.parameters}
    return Operation(
        SiteAction(
            name=capability.id,
            description=clean(capability.description or ""),
            origin=str(URL(capability.endpoint).origin()),
            input_schema={
                "type": "object",
                "properties": {
                    one.name: {"type": one.type, "description": clean(one.description or "")}
                    for one in capability.parameters
                },
                "required": [one.name for one in capability.parameters if one.is_required],
            },
        ),
        method,
        capability.endpoint,
        places,
    )


def _place(parameter: Parameter, rest: Place) -> Place:
    location: Any = parameter.location
    return location if location in get_args(Place) else rest
