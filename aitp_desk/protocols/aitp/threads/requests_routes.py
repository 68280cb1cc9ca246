"""Serves the open requests of a thread: list, and answer by a form."""

from __future__ import annotations

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.aitp import wire
from aitp_desk.protocols.aitp.addresses import thread_path
from aitp_desk.protocols.aitp.runs.replies import find_format, wait_for_replies
from aitp_desk.protocols.aitp.shapes import decode_object
from aitp_desk.protocols.aitp.threads import messages_wire, requests_wire
from aitp_desk.protocols.aitp.threads.affordances import describe_message
from aitp_desk.protocols.aitp.threads.request_affordances import describe_requests
from aitp_desk.protocols.base.protocol import Call, Reply, Route, with_description


async def list_requests(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/requests``."""
    thread_id = call.params["thread_id"]
    found = await desk.open_requests.list_for_thread(call.principal, thread_id)
    return requests_wire.encode_requests(found, thread_path(desk, thread_id))


async def answer_request(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/requests/{capability}/{request_id}``: returns the posted message."""
    given = decode_object(call.body)
    posted = await desk.open_requests.answer_request(
        call.principal,
        call.params["thread_id"],
        (call.params["capability"], call.params["request_id"]),
        given,
        wire.read_request(call),
    )
    run, replies = await wait_for_replies(desk, call, posted.run_id, posted.message)
    return messages_wire.encode_message(posted.message, run, replies, *find_format(desk, call))


def requests_routes(max_body: int) -> tuple[Route, ...]:
    """Return the routes of requests.

    Parameters:
        max_body: the most bytes of an answer's body.
    """
    requests = "/v1/threads/{thread_id}/requests"
    one = f"{requests}/{{capability}}/{{request_id}}"
    listed, answered = (
        with_description(list_requests, describe_requests),
        with_description(answer_request, describe_message),
    )
    return (
        Route("GET", requests, list_requests, "static", second=listed),
        Route("POST", one, answer_request, "converse", max_body, second=answered),
    )
