"""Visits of tests, through endpoints that they name, and the people who confirm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aitp_desk.egress import Egress
from aitp_desk.visitor import Endpoint, Identity, PlannedCall, Policy, Site
from aitp_desk.visitor.base import EndpointKind
from aitp_desk.visitor.discovery.agents_file import AgentsFile
from aitp_desk.visitor.discovery.endpoints import Discovery
from aitp_desk.visitor.fetcher import Fetcher

PATHS: Mapping[EndpointKind, str] = {
    "ahp": "/.well-known/agent.json",
    "aitp": "/v1/threads",
    "a2a": "/.well-known/agent-card.json",
    "mcp": "/mcp",
}


class Person:
    """A person who confirms, or not.

    Attributes:
        asked: what was asked so far.
    """

    def __init__(self, *answers: bool) -> None:
        self._answers = list(answers)
        self.asked: list[PlannedCall] = []

    async def confirm(self, call: PlannedCall) -> bool:
        """Answer as told, the last answer again and again."""
        self.asked.append(call)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    @property
    def reasons(self) -> list[str]:
        """Why the person was asked, one text a call."""
        return [" ".join(call.reasons) for call in self.asked]


class Pauses:
    """Notes the pauses of a visit, and waits for none."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def endpoint(kind: EndpointKind, url: str, **more: Any) -> Endpoint:
    """The endpoint of a protocol at its usual path; it answers and acts."""
    address = url + PATHS[kind]
    return Endpoint(kind, address, address, "A test names it.", answers=True, acts=True, **more)


@asynccontextmanager
async def visiting(
    url: str,
    *kinds: EndpointKind,
    endpoints: Sequence[Endpoint] = (),
    policy: Policy | None = None,
    key: str | None = None,
    identity: Identity | None = None,
    pause: Pauses | None = None,
) -> AsyncIterator[Site]:
    """A visit through endpoints of these kinds."""
    policy = policy or Policy()
    async with Egress(allow_loopback=True) as egress:
        fetcher = Fetcher(
            egress,
            seconds=policy.seconds,
            headers={"User-Agent": "a-visitor/1"},
            origins=(url, *policy.origins),
            credential=key,
            identity=identity,
            pause=pause or asyncio.sleep,
        )
        chosen = tuple(endpoints or (endpoint(kind, url) for kind in kinds))
        site = Site(url, chosen, fetcher, policy, Discovery(chosen, (), AgentsFile()))
        try:
            yield site
        finally:
            await site.close()
