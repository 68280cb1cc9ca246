"""Writes the site's agents as the OpenAI API's assistants and models.

Source: OpenAI API, Assistants (v2) and Models. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.model.errors import AgentNotFound
from aitp_desk.protocols.aitp.objects import Assistant, Model
from aitp_desk.protocols.aitp.wire import encode, encode_list
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.store.records.pages import PageRequest


def write_assistant(agent: SiteAgent) -> Assistant:
    """Write an agent as an assistant. Its instructions and tools stay private."""
    return Assistant(
        id=agent.id,
        created_at=agent.created_at,
        name=agent.name,
        description=agent.description or None,
        model=agent.model,
        instructions=None,
        tools=(),
        metadata={"actor": agent.actor},
    )


def encode_assistants(agents: Sequence[SiteAgent], part: PageRequest) -> Reply:
    """Encode one page of the site's agents.

    Its first agent comes first; with ``order=asc`` the last one does.

    Raises:
        InvalidRequest: ``after`` or ``before`` names none of them.
    """
    page = part.cut(agents[::-1], "an assistant of this site")
    return encode_list(list(map(write_assistant, page.items)), page.has_more)


def write_model(agent: SiteAgent, owner: str) -> Model:
    """Write the model of an agent.

    Parameters:
        owner: the site's name.
    """
    return Model(agent.model, agent.created_at, owner)


def find_model(agents: Sequence[SiteAgent], name: str) -> SiteAgent:
    """Return the first agent with a model of this name, or with this id.

    Raises:
        AgentNotFound: there is none.
    """
    for agent in agents:
        if name in {agent.model, agent.id, agent.actor}:
            return agent
    models = " or ".join(sorted({repr(agent.model) for agent in agents}))
    raise AgentNotFound(f"No agent of this site has this model. Use {models}.", param="model")


def encode_models(
    agents: Sequence[SiteAgent], owner: str, named: Sequence[SiteAgent] = ()
) -> Reply:
    """Encode the models of all agents, each once.

    Parameters:
        named: further agents; the name of each is a model.
    """
    bodies = {agent.model: write_model(agent, owner) for agent in reversed(agents)}
    for one in named:
        bodies.setdefault(one.id, Model(one.id, one.created_at, owner))
    return Reply(200, encode({"object": "list", "data": list(bodies.values())}))
