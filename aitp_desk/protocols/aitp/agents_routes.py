"""Serves the site's agents as the OpenAI API's assistants and models, read-only."""

from __future__ import annotations

from typing import NoReturn

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import Forbidden
from aitp_desk.protocols.aitp import agents_wire, wire
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


async def list_models(desk: Desk, _call: Call) -> Reply:
    """``GET /v1/models``."""
    return agents_wire.encode_models(tuple(desk.agents), desk.site.name)


async def retrieve_model(desk: Desk, call: Call) -> Reply:
    """``GET /v1/models/{id}``."""
    agent = agents_wire.find_model(tuple(desk.agents), call.params["model"])
    return Reply(200, wire.encode(agents_wire.write_model(agent, desk.site.name)))


_ASSISTANT = "/v1/assistants/{assistant_id}"
ROUTES = (
    Route("GET", "/v1/assistants", list_assistants, "static"),
    Route("POST", "/v1/assistants", refuse_change, "converse"),
    Route("GET", _ASSISTANT, retrieve_assistant, "static"),
    Route("POST", _ASSISTANT, refuse_change, "converse"),
    Route("DELETE", _ASSISTANT, refuse_change, "converse"),
    Route("GET", "/v1/models", list_models, "static"),
    Route("GET", "/v1/models/{model}", retrieve_model, "static"),
)
