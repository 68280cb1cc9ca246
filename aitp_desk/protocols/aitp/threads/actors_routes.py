"""Serves the actors of a thread: list, add, remove."""

from __future__ import annotations

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.aitp.threads import actors_wire
from aitp_desk.protocols.aitp.threads.affordances import describe_actors
from aitp_desk.protocols.aitp.wire import encode_deleted
from aitp_desk.protocols.base.protocol import Call, Reply, Route, with_description


async def list_actors(desk: Desk, call: Call) -> Reply:
    """``GET /v1/threads/{id}/actors``."""
    view = await desk.reader.read_thread(call.principal, call.params["thread_id"])
    return actors_wire.encode_actors(view.thread.actors)


async def add_actor(desk: Desk, call: Call) -> Reply:
    """``POST /v1/threads/{id}/actors``."""
    actor = actors_wire.decode_actor(call.body)
    joined = await desk.participants.add_actor(call.principal, call.params["thread_id"], actor)
    return actors_wire.encode_actor(joined)


async def remove_actor(desk: Desk, call: Call) -> Reply:
    """``DELETE /v1/threads/{id}/actors/{actor}``; an id that is a URL is percent-encoded."""
    actor_id = call.params["actor"]
    await desk.participants.remove_actor(call.principal, call.params["thread_id"], actor_id)
    return encode_deleted(actor_id, "thread.actor.deleted")


def actors_routes(max_body: int) -> tuple[Route, ...]:
    """Return the routes of actors.

    Parameters:
        max_body: the most bytes of an actor's body.
    """
    actors = "/v1/threads/{thread_id}/actors"
    return (
        Route(
            "GET",
            actors,
            list_actors,
            "static",
            second=with_description(list_actors, describe_actors),
        ),
        Route("POST", actors, add_actor, "converse", max_body),
        Route("DELETE", f"{actors}/{{actor}}", remove_actor, "converse"),
    )
