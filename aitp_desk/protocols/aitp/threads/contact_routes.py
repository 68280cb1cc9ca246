"""Serves the email address of a visitor who waits for a person."""

from __future__ import annotations

import re

from aitp_desk.desk.desk import Desk
from aitp_desk.model.conversation.ticket import LONGEST_CONTACT
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.aitp.shapes import decode_object
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import encode
from aitp_desk.protocols.base.protocol import Call, Reply, Route

CONTACT_PATH = "/v1/threads/{thread_id}/contact"
_ADDRESS = re.compile(r"[^\s@<>\"(),:;\\]+@[^\s@<>\"(),:;\\]+\.[^\s@<>\"(),:;\\.]+")


async def keep_contact(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/contact``."""
    email, thread_id = decode_contact(call.body), call.params["thread_id"]
    await desk.contacts.keep(call.principal, thread_id, email or "")
    return Reply(200, encode(objects.Contact(thread_id, email)))


def decode_contact(body: bytes) -> str | None:
    """Decode the body: ``email``, or null to take it back.

    Raises:
        InvalidRequest: it is no email address.
    """
    email = decode_object(body).get("email", "")
    if email is None:
        return None
    is_address = isinstance(email, str) and _ADDRESS.fullmatch(email) and email.isprintable()
    if not is_address or len(email) > LONGEST_CONTACT:
        raise InvalidRequest(
            "`email` must be an email address such as a@example.com, or null.", param="email"
        )
    return str(email)


def contact_routes(max_body: int) -> tuple[Route, ...]:
    """Return the route of contacts.

    Parameters:
        max_body: the most bytes of its body.
    """
    return (Route("POST", CONTACT_PATH, keep_contact, "converse", max_body),)
