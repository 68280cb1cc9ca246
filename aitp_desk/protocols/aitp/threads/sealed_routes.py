"""Serves sealed values to callers that may read them."""

from __future__ import annotations

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.aitp.objects import Sealed
from aitp_desk.protocols.aitp.wire import encode
from aitp_desk.protocols.base.protocol import Call, Reply, Route


async def reveal(desk: Desk, call: Call) -> Reply:
    """``GET /v1/sealed/{ref}``."""
    revealed = await desk.sealed.reveal(call.principal, call.params["ref"])
    body = Sealed(revealed.ref, revealed.made_at, revealed.thread_id, revealed.value)
    return Reply(200, encode(body))


ROUTES = (Route("GET", "/v1/sealed/{ref}", reveal, "static"),)
