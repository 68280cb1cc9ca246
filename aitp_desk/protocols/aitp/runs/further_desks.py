"""Finds the desk of the agent that a request names: the site's own address serves all of them.

A request that another desk answers counts against the limits of that desk as well, and its caller
has the rights that they have there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.protocol import Call


class FurtherDesks:
    """The desks of further site agents, as the site's own address serves them.

    Parameters:
        desks: empty at the address of one agent.
    """

    def __init__(self, desks: Sequence[Desk] = ()) -> None:
        self._desks = tuple(desks)

    @property
    def agents(self) -> tuple[SiteAgent, ...]:
        """Their agents."""
        return tuple(agent for desk in self._desks for agent in desk.agents)

    def choose(self, desk: Desk, call: Call, model: str) -> tuple[Desk, Call]:
        """Return the desk with this agent, and the call as it sees it.

        A name that no agent has, or that the called desk knows, leaves both as they are.

        Raises:
            RateLimited: the caller has asked that desk too often.
        """
        if any(model in {agent.model, agent.id, agent.actor} for agent in desk.agents):
            return desk, call
        for one in self._desks:
            if any(model in {agent.id, agent.actor} for agent in one.agents):
                return one, count_there(one, see_from(one, call), "converse")
        return desk, call

    def see_all(self, desk: Desk, call: Call) -> Iterator[tuple[Desk, Call]]:
        """Yield each desk with the call as it sees it."""
        yield desk, call
        for one in self._desks:
            yield one, see_from(one, call)


def see_from(desk: Desk, call: Call) -> Call:
    """Return a call as another desk sees it."""
    principal = msgspec.structs.replace(call.principal, desk=desk.name)
    return msgspec.structs.replace(call, principal=principal)


def count_there(desk: Desk, call: Call, kind: Literal["static", "converse"]) -> Call:
    """Count a call at the desk that answers it.

    Raises:
        RateLimited: the caller has asked there too often.
    """
    agent = desk.limiter.find_agent(call.headers.get("User-Agent", ""))
    allowance = desk.limiter.count(call.principal, kind, agent)
    if allowance is not None:
        allowance.check()
    return msgspec.structs.replace(call, allowance=allowance)
