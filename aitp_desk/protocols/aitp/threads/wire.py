"""Reads and writes threads as JSON: create, retrieve, update.

Source: AITP 0.1, Thread Specification and Threads API. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.model.access.principal import is_given_name
from aitp_desk.model.conversation.feedback import RatingCount
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import (
    VISITOR,
    Actor,
    Message,
    Thread,
    ThreadDraft,
    ThreadUpdate,
)
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.aitp.shapes import decode_object, read_list, read_object, read_strings
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.threads.actors_wire import read_actor, write_thread_actor
from aitp_desk.protocols.aitp.threads.messages_wire import add_run, read_draft, write_message
from aitp_desk.protocols.aitp.wire import Dialect
from aitp_desk.protocols.base.protocol import Reply


def decode_thread(body: bytes) -> ThreadDraft:
    """Decode the body of a create-thread call; an empty body is an empty thread.

    Source: AITP 0.1, Threads API, Create thread. Unknown members are ignored, for compatibility
    with the OpenAI API (AITP 0.1, Compatibility).

    Raises:
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    return read_thread_draft(decode_object(body))


def read_thread_draft(given: dict[str, Any]) -> ThreadDraft:
    """Return a thread as its opener requests it.

    Raises:
        InvalidRequest: as :func:`decode_thread`.
    """
    messages = read_list(given.get("messages"), "messages")
    metadata = dict(read_object(given.get("metadata"), "metadata"))
    parent_id = _parent_of(metadata)
    inside = metadata.pop("actors", None)
    if inside is not None and given.get("actors") is not None:
        raise InvalidRequest(
            "Name the actors once: in `metadata.actors` or in `actors`.", param="actors"
        )
    name = "actors" if inside is None else "metadata.actors"
    return ThreadDraft(
        tuple(read_draft(message, f"messages[{i}]") for i, message in enumerate(messages)),
        _actors(given.get("actors") if inside is None else inside, name),
        read_strings(metadata, "metadata"),
        parent_id,
    )


def decode_update(body: bytes) -> ThreadUpdate | None:
    """Decode the body of a POST to a thread: None retrieves, metadata updates.

    Source: AITP 0.1, Threads API, Retrieve thread (a POST). The OpenAI API updates by this call.
    Metadata may be sent back unchanged: the actors replace the participants, the parent stays the
    same.

    Raises:
        InvalidRequest: the body or its metadata has the wrong shape.
    """
    given = decode_object(body)
    if given.get("metadata") is None:
        return None
    metadata = dict(read_object(given["metadata"], "metadata"))
    parent_id = _parent_of(metadata)
    actors: tuple[Actor, ...] | None = None
    if (listed := metadata.pop("actors", None)) is not None:
        actors = _actors(listed, "metadata.actors")
    return ThreadUpdate(read_strings(metadata, "metadata"), actors, parent_id)


def _parent_of(metadata: dict[str, Any]) -> str | None:
    """Remove ``parent_id`` from a thread's metadata and return it."""
    parent_id = metadata.pop("parent_id", None)
    if parent_id is not None and not isinstance(parent_id, str):
        raise InvalidRequest(
            "`metadata.parent_id` must be the id of the thread to fork, or null.",
            param="metadata.parent_id",
        )
    return parent_id


def _actors(given: Any, name: str) -> tuple[Actor, ...]:
    listed = read_list(given, name)
    return tuple(read_actor(actor, f"{name}[{i}]") for i, actor in enumerate(listed))


def write_thread(
    thread: Thread,
    messages: Sequence[Message],
    dialect: Dialect,
    assistant: str,
    ratings: Mapping[str, RatingCount] = MappingProxyType({}),
) -> objects.Thread:
    """Write a thread as the AITP Thread Specification or the OpenAI API has it.

    AITP's thread has its newest messages, in order. Their authors are among the actors, also under
    names that the desk gave. The OpenAI API's thread has no messages and no actors, and its
    metadata has only strings: the caller's own, and ``parent_id`` where there is one.

    Parameters:
        ratings: of messages, by their ids.
    """
    if dialect is Dialect.OPENAI:
        parent = {} if thread.parent_id is None else {"parent_id": thread.parent_id}
        return objects.Thread(
            id=thread.id,
            created_at=thread.created_at,
            metadata={**thread.metadata, **parent},
            tool_resources={},
        )
    listed = {actor.id: actor for actor in thread.actors}
    for name in [message.actor for message in messages]:
        if name == VISITOR or is_given_name(name):
            listed.setdefault(name, Actor(name))
    actors = [write_thread_actor(actor) for actor in listed.values()]
    rated = [one.id for one in messages if one.id in ratings]
    counts = [objects.RatingChange(id_, ratings[id_].up, ratings[id_].down) for id_ in rated]
    return objects.Thread(
        id=thread.id,
        created_at=thread.created_at,
        ratings=counts or msgspec.UNSET,
        messages=[write_message(message, dialect, assistant) for message in messages],
        metadata={**thread.metadata, "parent_id": thread.parent_id, "actors": actors},
    )


def encode_thread(
    thread: Thread,
    messages: Sequence[Message],
    run: Run | None,
    replies: Sequence[Message] | None,
    dialect: Dialect,
    assistant: str,
) -> Reply:
    """Encode the response of a call that opens a thread; see :func:`add_run`."""
    return add_run(
        write_thread(thread, messages, dialect, assistant), run, replies, dialect, assistant
    )
