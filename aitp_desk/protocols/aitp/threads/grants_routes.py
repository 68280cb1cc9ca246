"""Serves the grants of a thread: share, list, revoke."""

from __future__ import annotations

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.aitp.threads import grants_wire
from aitp_desk.protocols.aitp.wire import encode_deleted
from aitp_desk.protocols.base.protocol import Call, Reply, Route


async def share_thread(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/grants``."""
    draft = grants_wire.decode_grant(call.body)
    grant, link = await desk.grants.share_thread(call.principal, call.params["thread_id"], draft)
    return grants_wire.encode_grant(grant, link)


async def list_grants(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/grants``."""
    grants = await desk.grants.list_grants(call.principal, call.params["thread_id"])
    return grants_wire.encode_grants(grants)


async def revoke_grant(desk: Desk, call: Call) -> Reply:
    """``DELETE /v1/threads/{id}/grants/{grant}``."""
    grant_id = call.params["grant_id"]
    await desk.grants.revoke_grant(call.principal, call.params["thread_id"], grant_id)
    return encode_deleted(grant_id, "thread.grant.deleted")


def grants_routes(max_body: int) -> tuple[Route, ...]:
    """Return the routes of grants.

    Parameters:
        max_body: the most bytes of a grant's body.
    """
    grants = "/v1/threads/{thread_id}/grants"
    return (
        Route("GET", grants, list_grants, "static"),
        Route("POST", grants, share_thread, "converse", max_body),
        Route("DELETE", f"{grants}/{{grant_id}}", revoke_grant, "converse"),
    )
