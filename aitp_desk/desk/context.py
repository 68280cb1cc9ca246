"""What the agent is told of a thread: its own messages, and what it was forked off.

A fork's context is what its parent said up to the fork, the parent's own context before that, and
so on. It is read anew for every turn: what was deleted meanwhile is gone from it.
"""

from __future__ import annotations

import msgspec

from aitp_desk.model.thread import Message
from aitp_desk.store import reads
from aitp_desk.store.base import Store

TRANSCRIPT = 50
"""How many messages are read for a turn, context included."""
GENERATIONS = 8
"""How many parents back the context is read."""


class Context(msgspec.Struct, frozen=True):
    """What was said, oldest first.

    Parameters:
        messages: the newest of the thread itself.
        before: the newest of what it was forked off; empty where the thread's own fill the room.
    """

    messages: tuple[Message, ...]
    before: tuple[Message, ...] = ()


async def read_context(
    store: Store, thread_id: str, upto_seq: int, most: int = TRANSCRIPT
) -> Context:
    """Read the newest messages that a turn may know.

    Parameters:
        upto_seq: the newest message of the thread itself that the turn answers.
        most: how many are read.
    """
    messages = await reads.newest_messages(store, thread_id, most, upto_seq=upto_seq)
    before: tuple[Message, ...] = ()
    forked = thread_id
    for _ in range(GENERATIONS):
        room = most - len(messages) - len(before)
        fork = await reads.forked_at(store, forked) if room else None
        if fork is None:
            break
        forked, parent_seq = fork
        said = await reads.newest_messages(store, forked, room, upto_seq=parent_seq)
        before = said + before
    return Context(messages, before)
