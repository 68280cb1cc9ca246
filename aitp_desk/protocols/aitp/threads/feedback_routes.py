"""Serves feedback on the desk's messages."""

from __future__ import annotations

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.aitp.threads import feedback_wire
from aitp_desk.protocols.base.protocol import Call, Reply, Route

FEEDBACK_PATH = "/v1/threads/{thread_id}/messages/{message_id}/feedback"


async def rate_message(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/messages/{message_id}/feedback``."""
    draft = feedback_wire.decode_feedback(call.body)
    thread_id = call.params["thread_id"]
    rated = await desk.feedback.rate(call.principal, thread_id, call.params["message_id"], draft)
    return feedback_wire.encode_feedback(rated, thread_id, draft)


def feedback_routes(max_body: int) -> tuple[Route, ...]:
    """Return the route of feedback.

    Parameters:
        max_body: the most bytes of its body.
    """
    return (Route("POST", FEEDBACK_PATH, rate_message, "converse", max_body),)
