"""Writes which site agents answer, and how well each fits a query.

Source: Who 0.1, sections 4 to 6. Each agent also has the members of the REST interface's ``/who``.
Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.protocols.nlweb import objects
from aitp_desk.protocols.nlweb.results import get_site_name

VERSION: Final = "0.1"
_BEST = 100
_TAKES: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        "prefer": {
            "type": "object",
            "properties": {
                "mode": {"enum": ["list", "summarize", "generate"]},
                "streaming": {"type": "boolean"},
            },
        },
    },
    "required": ["query"],
}


def encode_agents(desks: Sequence[Desk], query: str, most: int, path: str) -> bytes:
    """Encode the site agents, the fittest first.

    Parameters:
        query: what is sought; empty for any.
        most: the most agents.
        path: where each is asked, below its base path.
    """
    agents = [_write(desk, query, path) for desk in desks]
    agents.sort(key=lambda agent: -agent.score)
    del agents[most:]
    meta = objects.NLWebWhoMeta("answer", VERSION, len(agents))
    content = [
        objects.NLWebWhoContent(objects.NLWebWhoResource(agent.endpoint, agent)) for agent in agents
    ]
    return msgspec.json.encode(objects.NLWebAgents(meta, agents, content))


def _write(desk: Desk, query: str, path: str) -> objects.NLWebAgent:
    agent = desk.agents.default
    endpoint = f"{desk.site.url}{desk.base_path}{path}"
    return objects.NLWebAgent(
        endpoint=endpoint,
        score=_score(desk, query),
        definition=objects.NLWebDefinition(agent.name, agent.description, "POST", JSON, _TAKES),
        url=endpoint,
        name=agent.name,
        site=get_site_name(desk),
        description=agent.description,
    )


def _score(desk: Desk, query: str) -> int:
    """Return the weighted share of a query's words that the content has."""
    vocabulary = desk.knowledge.library.vocabulary
    terms = vocabulary.terms(vocabulary.words(query))
    total = sum(term.weight for term in terms)
    if not total:
        return _BEST
    return round(_BEST * sum(term.weight for term in terms if term.known) / total)
