"""AITP-04 as a capability: answers healthchecks, and sends them to other agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.capability import (
    Capability,
    Context,
    Health,
    Inquiry,
    Own,
    Part,
    Query,
    Round,
    Say,
    Schema,
    Send,
    Take,
    Verdict,
)
from aitp_operations.health_report import health_of, tell_health, tell_question
from aitp_operations.messages import MESSAGES, AgentHealth, Healthcheck
from aitp_operations.peers import Peer, ask_all


class OperationsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.operations]``.

    Parameters:
        peers: other agents that are monitored.
        every: seconds between two healthchecks.
    """

    peers: Annotated[tuple[Peer, ...], Meta(max_length=50)] = ()
    every: Annotated[int, Meta(ge=10, le=24 * 60 * 60)] = 300


class Operations(Capability):
    """Answers healthchecks and monitors peers."""

    slug = "operations"
    names = ("aitp.dev/operations",)
    settings = OperationsSettings

    def __init__(self, chosen: OperationsSettings) -> None:
        """Create the capability; see :class:`Capability`.

        Raises:
            ValueError: two peers have one name.
        """
        super().__init__(chosen)
        names = [peer.name for peer in chosen.peers]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two peers are called {twice!r}; rename one of them.")
        self._actor = ""
        self._peers: dict[str, Health | None] = {}

    def use(self, own: Own) -> None:
        """Receive the desk's own actor, which sends healthchecks to the peers."""
        self._actor = own.actor

    def schemas(self) -> Sequence[Schema]:
        """Return version 1: AITP-04's draft, with the desk's own reply."""
        document = resources.files(__package__).joinpath("schemas/v1.json").read_bytes()
        return (Schema(version=1, messages=MESSAGES, document=msgspec.json.decode(document)),)

    def judge(self, part: Part, context: Context) -> Verdict:
        """Answer a healthcheck; store health messages of other agents."""
        match part.content:
            case Healthcheck() as asked:
                told = health_of(context.components, asked, context.now, operates=context.operates)
                return Take((Say({"health": told}),))
            case _:
                return Take()

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_operations.health_report`."""
        match part.content:
            case Healthcheck() as asked:
                return tell_question(asked)
            case AgentHealth() as health:
                return tell_health(health)
            case _:
                raise AssertionError(part.key)

    def actions(self) -> Sequence[Query]:
        """Return the healthcheck as a query, for protocols without threads."""
        return (
            Query(
                name="healthcheck",
                summary="Returns the state of this desk: up, degraded or down.",
                arguments=Healthcheck,
                result=AgentHealth,
                answer=self._answer,
                as_text=tell_health,
            ),
        )

    def rounds(self) -> Mapping[str, Round]:
        """Return the round that checks the peers, if there are any."""
        return {"peers": Round(self._ask_peers, self.chosen.every)} if self.chosen.peers else {}

    def watched(self) -> Mapping[str, Health | None]:
        """Return the health of the peers at the last check."""
        asked = (peer.name for peer in self.chosen.peers if peer.name in self._peers)
        return {name: self._peers[name] for name in asked}

    async def _answer(self, asked: Healthcheck, inquiry: Inquiry) -> AgentHealth:
        components = await inquiry.components()
        return health_of(components, asked, inquiry.now, operates=inquiry.operates)

    async def _ask_peers(self, send: Send) -> None:
        await ask_all(self.chosen.peers, self._actor, send, self._peers.__setitem__)
