"""The site's agents, as callers name them.

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
    """An agent of the site, as callers see it.

    Parameters:
        actor: its actor's id, by which it may be named as well.
        name: of the site.
        description: of the site, in a sentence or two.
        model: the kind of answerer, such as ``extractive``.
        created_at: Unix seconds, since when it serves.
    """

    id: str
    actor: str
    name: str
    description: str
    model: str
    created_at: int


class SiteAgents:
    """The agents of one desk; the default agent comes first.

    Attributes:
        default: the agent that answers if none is named.
    """

    def __init__(self, agents: Sequence[SiteAgent]) -> None:
        self._agents = tuple(agents)
        self.default = self._agents[0]

    def __iter__(self) -> Iterator[SiteAgent]:
        return iter(self._agents)

    def find(self, id_: str) -> SiteAgent:
        """Return the agent with this id.

        Raises:
            AgentNotFound: there is none.
        """
        for agent in self._agents:
            if id_ in {agent.id, agent.actor}:
                return agent
        names = " or ".join(repr(agent.id) for agent in self._agents)
        raise AgentNotFound(
            f"This site has no agent with this id; its agents are {names}.", param="assistant_id"
        )

    def find_for_run(self, id_: str | None) -> SiteAgent:
        """Return the agent that a run names, or the default one.

        The default is used if it names none or a former agent.
        """
        return next((agent for agent in self._agents if agent.id == id_), self.default)


class OwnNames:
    """The actor names reserved for the site's agents and operators.

    Parameters:
        actors: those of all agents of the site, at any desk.
    """

    def __init__(self, actors: Iterable[Actor]) -> None:
        self._names = frozenset(comparable_address(actor.id) for actor in actors)
        self._operators = tuple(f"{name}/{OPERATORS}/" for name in self._names)

    def check(self, actors: Iterable[Actor], param: str) -> None:
        """Refuse actors that could be taken for the site's.

        Parameters:
            param: the request member that named them.

        Raises:
            Forbidden: an actor has a reserved name.
        """
        names = [comparable_address(actor.id) for actor in actors]
        if any(name in self._names or name.startswith(self._operators) for name in names):
            raise Forbidden("This actor belongs to the desk. Choose another id.", param=param)
