"""Serves the site's agents as the OpenAI API's assistants and models, read-only."""

from __future__ import annotations

from functools import partial
from typing import NoReturn

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import Forbidden
from aitp_desk.protocols.aitp import agents_wire, wire
from aitp_desk.protocols.aitp.runs.further_desks import FurtherDesks
from aitp_desk.protocols.base.protocol import Call, Reply, Route


async def list_assistants(desk: Desk, call: Call) -> Reply:
    """``GET /v1/assistants``."""
    return agents_wire.encode_assistants(tuple(desk.agents), wire.decode_page(call.query))


async def retrieve_assistant(desk: Desk, call: Call) -> Reply:
    """``GET /v1/assistants/{id}``."""
    agent = desk.agents.find(call.params["assistant_id"])
    return Reply(200, wire.encode(agents_wire.write_assistant(agent)))


async def refuse_change(_desk: Desk, _call: Call) -> NoReturn:
    """``POST /v1/assistants``, ``POST`` and ``DELETE /v1/assistants/{id}``."""
    raise Forbidden(
        "The site's owner configures the assistants in desk.toml. Here they can only be"
        " listed and retrieved."
    )


async def list_models(others: FurtherDesks, desk: Desk, _call: Call) -> Reply:
    """``GET /v1/models``."""
    return agents_wire.encode_models(tuple(desk.agents), desk.site.name, others.agents)


async def retrieve_model(others: FurtherDesks, desk: Desk, call: Call) -> Reply:
    """``GET /v1/models/{id}``."""
    name = call.params["model"]
    agent = agents_wire.find_model((*desk.agents, *others.agents), name)
    model = agents_wire.write_model(agent, desk.site.name)
    if agent in others.agents:
        model = msgspec.structs.replace(model, id=agent.id)
    return Reply(200, wire.encode(model))


def model_routes(others: FurtherDesks) -> tuple[Route, ...]:
    """Return the routes of models.

    Parameters:
        others: whose agents are models as well.
    """
    return (
        Route("GET", "/v1/models", partial(list_models, others), "static"),
        Route("GET", "/v1/models/{model}", partial(retrieve_model, others), "static"),
    )


_ASSISTANT = "/v1/assistants/{assistant_id}"
ROUTES = (
    Route("GET", "/v1/assistants", list_assistants, "static"),
    Route("POST", "/v1/assistants", refuse_change, "converse"),
    Route("GET", _ASSISTANT, retrieve_assistant, "static"),
    Route("POST", _ASSISTANT, refuse_change, "converse"),
    Route("DELETE", _ASSISTANT, refuse_change, "converse"),
)
