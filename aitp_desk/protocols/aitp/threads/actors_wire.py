"""Reads and writes actors as JSON.

Source: AITP 0.1, Thread Specification (Actor, Capability). Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.aitp.shapes import read_list, read_object
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import encode, encode_list
from aitp_desk.protocols.base.protocol import Reply


def decode_actor(body: bytes) -> Actor:
    """Decode the body of a call that adds an actor, as in ``metadata.actors``.

    Raises:
        MissingField: there is no id.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    return read_actor(decode_json(body) if body.strip() else {}, "")


def read_actor(given: Any, at: str) -> Actor:
    """Return an actor from its id, or from an object with capabilities and principal.

    Parameters:
        at: its path, such as ``metadata.actors[0]``; empty for the body itself.

    Raises:
        MissingField, InvalidRequest: as :func:`decode_actor`.
    """
    if isinstance(given, str):
        return Actor(given)
    actor = read_object(given, at)
    prefix = f"{at}." if at else ""
    if not isinstance(actor.get("id"), str):
        raise MissingField("An actor needs an id: a URL or a name.", param=f"{prefix}id")
    principal = actor.get("principal")
    if principal is not None and not isinstance(principal, str):
        raise InvalidRequest(
            "`principal` must be the id of a caller, such as 'key:' and the id of an API key.",
            param=f"{prefix}principal",
        )
    capabilities = read_list(actor.get("capabilities"), f"{prefix}capabilities")
    return Actor(
        actor["id"],
        tuple(_capability(c, f"{prefix}capabilities[{i}]") for i, c in enumerate(capabilities)),
        principal,
    )


def _capability(given: Any, at: str) -> str:
    """Return a capability: ``{"schema": …}``, ``{"$schema": …}``, or a string."""
    if isinstance(given, dict):
        given = given.get("schema", given.get("$schema", given.get("id")))
    if not isinstance(given, str):
        raise InvalidRequest(
            'A capability must be {"schema": "https://…"} or its schema\'s URL.', param=at
        )
    return given


def write_thread_actor(actor: Actor) -> objects.ThreadActor:
    """Write an actor as the AITP Thread Specification has it."""
    return objects.ThreadActor(actor.id, list(map(objects.Capability, actor.capabilities)))


def write_actor(actor: Actor) -> objects.Actor:
    """Write a single actor with ``object``, a member of every OpenAI API object."""
    return objects.Actor(actor.id, list(map(objects.Capability, actor.capabilities)))


def encode_actor(actor: Actor) -> Reply:
    """Encode the response to an added actor."""
    return Reply(200, encode(write_actor(actor)))


def encode_actors(actors: Sequence[Actor]) -> Reply:
    """Encode all participants, the desk first, in the OpenAI API's list form."""
    return encode_list(list(map(write_actor, actors)), has_more=False)
