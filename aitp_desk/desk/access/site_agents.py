"""Who answers for the site: its agents, as callers name them.

The OpenAI API calls such an agent an assistant and names it in ``assistant_id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from aitp_desk.model.access.actor_name import comparable_address
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.conversation.ticket import OPERATORS
from aitp_desk.model.errors import AgentNotFound, Forbidden

SITE_AGENT = "desk"
"""Id of the agent that answers by default."""


class SiteAgent(msgspec.Struct, frozen=True):
    """An agent of the site, as a caller may know it.

    Parameters:
        actor: its actor's id, by which it may be named as well.
        name: of the site.
        description: of the site, in a sentence or two.
        model: what answers, such as ``extractive``.
        created_at: Unix seconds, since when it serves.
    """

    id: str
    actor: str
    name: str
    description: str
    model: str
    created_at: int


class SiteAgents:
    """The agents of one desk, the one that answers by default first.

    Attributes:
        default: the agent that answers where none is named.
    """

    def __init__(self, agents: Sequence[SiteAgent]) -> None:
        self._agents = tuple(agents)
        self.default = self._agents[0]

    def __iter__(self) -> Iterator[SiteAgent]:
        return iter(self._agents)

    def find(self, id_: str) -> SiteAgent:
        """The agent with this id.

        Raises:
            AgentNotFound: there is none.
        """
        for agent in self._agents:
            if id_ in {agent.id, agent.actor}:
                return agent
        names = " or ".join(repr(agent.id) for agent in self._agents)
        raise AgentNotFound(
            f"This site has no assistant of that id; it has {names}.", param="assistant_id"
        )

    def find_for_run(self, id_: str | None) -> SiteAgent:
        """The agent that a run names; the default one where it names none or one of the past."""
        return next((agent for agent in self._agents if agent.id == id_), self.default)


class OwnNames:
    """What the site's agents and operators are called on threads: no visitor's actor is.

    Parameters:
        actors: those of all agents of the site, whichever desk is theirs.
    """

    def __init__(self, actors: Iterable[Actor]) -> None:
        self._names = frozenset(comparable_address(actor.id) for actor in actors)
        self._operators = tuple(f"{name}/{OPERATORS}/" for name in self._names)

    def check(self, actors: Iterable[Actor], param: str) -> None:
        """Refuse actors that would be taken for the site's.

        Parameters:
            param: where the caller named them.

        Raises:
            Forbidden: one would be.
        """
        names = [comparable_address(actor.id) for actor in actors]
        if any(name in self._names or name.startswith(self._operators) for name in names):
            raise Forbidden("That actor is this desk's own.", param=param)
