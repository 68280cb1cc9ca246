"""Serves AITP 0.1's Threads API and Messages API."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Literal

import msgspec

from aitp_desk.config import THREADS
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.threads.sessions import is_session
from aitp_desk.model.errors import ThreadNotFound, UnknownSession
from aitp_desk.protocols.aitp import agents_routes, files_routes, objects, wire
from aitp_desk.protocols.aitp.completions import objects as completion_objects
from aitp_desk.protocols.aitp.completions.routes import completion_routes
from aitp_desk.protocols.aitp.responses import objects as response_objects
from aitp_desk.protocols.aitp.responses.routes import response_routes
from aitp_desk.protocols.aitp.runs import objects as run_objects
from aitp_desk.protocols.aitp.runs.further_desks import FurtherDesks
from aitp_desk.protocols.aitp.runs.replies import find_format, wait_for_replies
from aitp_desk.protocols.aitp.runs.routes import run_routes
from aitp_desk.protocols.aitp.threads import affordances as seen
from aitp_desk.protocols.aitp.threads import events_wire, messages_wire, sealed_routes
from aitp_desk.protocols.aitp.threads import objects as thread_objects
from aitp_desk.protocols.aitp.threads import wire as threads_wire
from aitp_desk.protocols.aitp.threads.actors_routes import actors_routes
from aitp_desk.protocols.aitp.threads.contact_routes import CONTACT_PATH, contact_routes
from aitp_desk.protocols.aitp.threads.feedback_routes import FEEDBACK_PATH, feedback_routes
from aitp_desk.protocols.aitp.threads.grants_routes import grants_routes
from aitp_desk.protocols.aitp.threads.requests_routes import requests_routes
from aitp_desk.protocols.aitp.transcript_routes import KEYS_ROUTE, transcript_routes
from aitp_desk.protocols.base.protocol import (
    EVENT_STREAM,
    JSON,
    Call,
    Counted,
    Describe,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    with_description,
)
from aitp_desk.protocols.base.sse import UNBUFFERED

_OBJECTS = (
    *objects.OBJECTS,
    *thread_objects.OBJECTS,
    *run_objects.OBJECTS,
    *completion_objects.OBJECTS,
    *response_objects.OBJECTS,
)


async def create_thread(desk: Desk, call: Call) -> Reply:
    """``POST /v1/thread`` and ``/v1/threads``."""
    draft = threads_wire.decode_thread(call.body)
    opened = await desk.creation.open_thread(call.principal, draft, wire.read_request(call))
    run, replies = await wait_for_replies(desk, call, opened.run_id)
    messages = (*opened.messages, *opened.replies, *(replies or ()))
    return threads_wire.encode_thread(
        opened.thread, messages, run, replies, *find_format(desk, call)
    )


async def retrieve_thread(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}``."""
    view = await desk.reader.read_thread(call.principal, call.params["thread_id"])
    shown = threads_wire.write_thread(
        view.thread, view.messages, *find_format(desk, call), view.ratings
    )
    return Reply(200, wire.encode(shown))


async def list_children(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/threads``: what partner sites were asked on the thread."""
    children = await desk.reader.list_children(call.principal, call.params["thread_id"])
    form = find_format(desk, call)
    shown = [threads_wire.write_thread(one.thread, one.messages, *form) for one in children]
    return wire.encode_list(shown, has_more=False)


async def retrieve_or_update_thread(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}``: without metadata it retrieves, with metadata it updates."""
    update = threads_wire.decode_update(call.body)
    if update is not None:
        await desk.messages.update_thread(call.principal, call.params["thread_id"], update)
    return await retrieve_thread(desk, call)


async def delete_thread(desk: Desk, call: Call) -> Reply:
    """``DELETE /v1/threads/{id}``."""
    await desk.deletion.delete_thread(call.principal, call.params["thread_id"])
    return wire.encode_deleted(call.params["thread_id"], "thread.deleted")


async def claim_thread(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/claim``: makes the caller the thread's owner."""
    await desk.grants.claim_thread(call.principal, call.params["thread_id"])
    return await retrieve_thread(desk, call)


async def create_message(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/messages``."""
    draft = messages_wire.decode_message(call.body)
    posted = await desk.messages.post_message(
        call.principal, call.params["thread_id"], draft, wire.read_request(call)
    )
    run, replies = await wait_for_replies(desk, call, posted.run_id, posted.message)
    return messages_wire.encode_message(posted.message, run, replies, *find_format(desk, call))


async def list_messages(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/messages``."""
    page = await desk.reader.list_messages(
        call.principal,
        call.params["thread_id"],
        wire.decode_page(call.query),
        call.query.get("run_id") or None,
    )
    return messages_wire.encode_messages(page.items, page.has_more, *find_format(desk, call))


async def follow_thread(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/events``: streams the events of the thread."""
    after, param = events_wire.decode_after(call.headers, call.query)
    wording = events_wire.get_event_format(*find_format(desk, call))
    stream = await desk.streams.open_thread(
        call.principal, call.params["thread_id"], after, wording, param=param
    )
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


async def retrieve_message(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/messages/{message_id}``."""
    thread_id, message_id = call.params["thread_id"], call.params["message_id"]
    message = await desk.reader.read_message(call.principal, thread_id, message_id)
    return messages_wire.encode_message(message, None, None, *find_format(desk, call))


async def retrieve_or_update_message(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/messages/{message_id}``: as :func:`retrieve_or_update_thread`."""
    update = messages_wire.decode_message_update(call.body)
    if update is None:
        return await retrieve_message(desk, call)
    thread_id, message_id = call.params["thread_id"], call.params["message_id"]
    message = await desk.deletion.update_message(call.principal, thread_id, message_id, *update)
    return messages_wire.encode_message(message, None, None, *find_format(desk, call))


async def delete_message(desk: Desk, call: Call) -> Reply:
    """``DELETE /v1/threads/{id}/messages/{message_id}``."""
    thread_id, message_id = call.params["thread_id"], call.params["message_id"]
    with_replies = messages_wire.decode_with_replies(call.query)
    replies = await desk.deletion.delete_message(
        call.principal, thread_id, message_id, with_replies=with_replies
    )
    if wire.read_dialect(call.headers) is wire.Dialect.OPENAI:
        return wire.encode_deleted(message_id, "thread.message.deleted")
    return messages_wire.encode_deleted_message(message_id, replies, are_deleted=with_replies)


def _by_any_name(route: Route) -> Route:
    """Return a route that also accepts another protocol's session id for its thread."""
    if "{thread_id}" not in route.path:
        return route
    second = route.second and _by_any_name_too(route.second)
    return msgspec.structs.replace(route, handler=_by_any_name_too(route.handler), second=second)


def _by_any_name_too(handler: Handler) -> Handler:
    def handle(desk: Desk, call: Call) -> Awaitable[Reply]:
        if is_session(call.params["thread_id"]):
            return _handle_of_session(handler, desk, call)
        return handler(desk, call)

    return handle


async def _handle_of_session(handler: Handler, desk: Desk, call: Call) -> Reply:
    try:
        thread_id = await desk.sessions.find_thread(call.principal, call.params["thread_id"])
    except UnknownSession:
        raise ThreadNotFound("There is no thread with this id.", param="thread_id") from None
    params = {**call.params, "thread_id": thread_id}
    return await handler(desk, msgspec.structs.replace(call, params=params))


def _seen(
    method: Literal["GET", "POST", "DELETE"],
    path: str,
    handler: Handler,
    describe: Describe,
    max_body: int = 0,
    *,
    is_hot: bool = False,
) -> Route:
    """Return a route whose replies can be described."""
    counted: Counted = "static" if method == "GET" else "converse"
    second = with_description(handler, describe)
    return Route(method, path, handler, counted, max_body, is_hot=is_hot, second=second)


def make_routes(
    max_body: int, max_file: int, desk: Desk | None = None, further: Sequence[Desk] = ()
) -> ProtocolRoutes:
    """Return the protocol with its table of routes.

    Parameters:
        max_body: the most bytes of a thread or message body.
        max_file: the most bytes of an uploaded file.
        desk: a further site agent, whose addresses are below its name; None for the site's own.
        further: the desks of further site agents, which the site's own addresses reach as models.
    """
    thread, messages = "/v1/threads/{thread_id}", "/v1/threads/{thread_id}/messages"
    message = f"{messages}/{{message_id}}"
    others = FurtherDesks(further)
    routes = (
        _seen("POST", "/v1/thread", create_thread, seen.describe_thread, max_body),
        _seen("POST", "/v1/threads", create_thread, seen.describe_thread, max_body),
        _seen("GET", thread, retrieve_thread, seen.describe_thread),
        _seen("POST", thread, retrieve_or_update_thread, seen.describe_thread, max_body),
        _seen("DELETE", thread, delete_thread, seen.describe_deleted),
        Route("GET", f"{thread}/threads", list_children, "static"),
        _seen("POST", f"{thread}/claim", claim_thread, seen.describe_thread, max_body),
        _seen("POST", messages, create_message, seen.describe_message, max_body, is_hot=True),
        _seen("GET", messages, list_messages, seen.describe_messages),
        *actors_routes(max_body),
        *grants_routes(max_body),
        *requests_routes(max_body),
        *transcript_routes(max_body),
        Route("GET", f"{thread}/events", follow_thread, "static", gives=(EVENT_STREAM, JSON)),
        _seen("GET", message, retrieve_message, seen.describe_message),
        _seen("POST", message, retrieve_or_update_message, seen.describe_message, max_body),
        _seen("DELETE", message, delete_message, seen.describe_deleted),
        *feedback_routes(max_body),
        *contact_routes(max_body),
        *agents_routes.ROUTES,
        *agents_routes.model_routes(others),
        *run_routes(max_body),
        *completion_routes(max_body, others),
        *response_routes(max_body, others),
        *files_routes.make_routes(max_file),
        *sealed_routes.ROUTES,
    )
    file = "/v1/files/{file_id}"
    called = {"/v1/threads", thread, messages}
    called |= {f"{thread}/{part}" for part in ("actors", "claim", "events")}
    called |= {FEEDBACK_PATH, CONTACT_PATH, "/v1/files", file, f"{file}/content"}
    routes = tuple(
        msgspec.structs.replace(_by_any_name(route), is_for_widget=route.path in called)
        for route in routes
    )
    if desk is None:
        return ProtocolRoutes(
            "aitp",
            (*routes, KEYS_ROUTE),
            ("/v1/",),
            wire.render_error,
            action=THREADS,
            objects=_OBJECTS,
        )
    below = f"/{desk.name}"
    placed = tuple(msgspec.structs.replace(route, path=below + route.path) for route in routes)
    return ProtocolRoutes(
        f"aitp of {desk.name}",
        placed,
        (f"{below}/v1/",),
        wire.render_error,
        desk,
        THREADS,
        objects=_OBJECTS,
    )
