"""Writes the site's agents as the OpenAI API's assistants and models.

Source: OpenAI API, Assistants (v2) and Models. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.model.errors import AgentNotFound, InvalidRequest
from aitp_desk.protocols.aitp.objects import Assistant, Model
from aitp_desk.protocols.aitp.wire import Page, encode, encode_list
from aitp_desk.protocols.base.protocol import Reply


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


def encode_assistants(agents: Sequence[SiteAgent], part: Page) -> Reply:
    """Encode one page of the site's agents.

    Its first agent comes first; with ``order=asc`` the last one does.

    Raises:
        InvalidRequest: ``after`` or ``before`` names none of them.
    """
    listed = list(agents) if part.order == "desc" else list(reversed(agents))
    ids = [agent.id for agent in listed]
    low = 0 if part.after is None else _place(ids, part.after, "after") + 1
    high = len(ids) if part.before is None else _place(ids, part.before, "before")
    within = [write_assistant(agent) for agent in listed[low:high]]
    from_the_end = part.before is not None and part.after is None
    page = within[-part.limit :] if from_the_end else within[: part.limit]
    return encode_list(page, has_more=len(within) > part.limit)


def _place(ids: Sequence[str], id_: str, param: str) -> int:
    if id_ not in ids:
        raise InvalidRequest(f"`{param}` must be the id of an assistant of this site.", param=param)
    return ids.index(id_)


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


def encode_models(agents: Sequence[SiteAgent], owner: str) -> Reply:
    """Encode the models of all agents, each once."""
    bodies = {agent.model: write_model(agent, owner) for agent in reversed(agents)}
    return Reply(200, encode({"object": "list", "data": list(bodies.values())}))
