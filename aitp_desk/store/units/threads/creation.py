"""Inserts the rows of a new thread and of its actors. Parts of units."""

from __future__ import annotations

from aitp_desk.model.conversation.thread import Actor, Origin, Thread
from aitp_desk.store.base import Params, Work
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.threads.tail import ThreadTail


def add_thread(
    thread: Thread, speaker: str, tail: ThreadTail, parent_seq: int | None = None
) -> Work[None]:
    """Insert a new thread that ends at ``tail``, with its actors, the desk's first.

    Parameters:
        parent_seq: the parent's newest message that is the thread's context.
    """
    yield (
        "add_thread",
        {
            **tail.end(),
            "owner": thread.owner,
            "parent_id": thread.parent_id,
            "parent_seq": parent_seq,
            "speaker": speaker,
            "created_at": thread.created_at,
            "metadata": to_json(thread.metadata),
            "desk": thread.desk,
        },
    )
    desk, *brought = thread.actors
    yield adding_actor(thread.id, 0, desk, Origin.DESK)
    for position, actor in enumerate(brought, 1):
        bound = Actor(actor.id, actor.capabilities, actor.principal or thread.owner)
        yield adding_actor(thread.id, position, bound, Origin.VISITOR)


def adding_actor(
    thread_id: str, position: int, actor: Actor, origin: Origin, joined_event: int = 0
) -> tuple[str, Params]:
    """Return the statement that inserts an actor.

    Parameters:
        position: its position among all participants ever.
        joined_event: number of the event that it joined; 0 for one that is there from the start.
    """
    return (
        "add_actor",
        {
            "thread_id": thread_id,
            "position": position,
            "id": actor.id,
            "capabilities": to_json(actor.capabilities),
            "origin": origin.value,
            "principal": actor.principal,
            "joined_event": joined_event,
        },
    )
