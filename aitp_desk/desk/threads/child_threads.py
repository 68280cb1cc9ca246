"""Shows what partner sites were asked on a thread: one child thread for each partner.

A child thread is read from the thread's calls of a partner, and is not stored: so its readers are
the parent's at each read, and it is deleted, erased and kept with the parent. It shows no call
whose question or answer the reader may not read on the parent, or that was deleted there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.thread import Actor, Message, Origin, Thread
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as thread_reads
from aitp_desk.store.reads.threads import BEYOND

SEPARATOR = "."
"""Stands between a thread's id and a partner's name in the id of a child thread."""
PAGE = 100
"""How many messages of the parent are read at once."""
QUESTIONS = ("words", "summary")
"""The arguments of a call that hold what the partner was asked."""


class AskedPartner(msgspec.Struct, frozen=True):
    """A partner that a call has asked.

    Parameters:
        name: as ``desk.toml`` has it.
        url: its address, under which it speaks.
    """

    name: str
    url: str


class ChildThread(msgspec.Struct, frozen=True):
    """A child thread with its messages, oldest first."""

    thread: Thread
    messages: tuple[Message, ...]


FindPartner = Callable[[ActionCall], AskedPartner | None]
"""Returns the partner that a call has asked; None for calls that asked none."""


def split_child_id(thread_id: str) -> tuple[str, str]:
    """Return the id of a child's parent, and the partner; an empty one for other threads."""
    parent, _, partner = thread_id.partition(SEPARATOR)
    return parent, partner


async def read_children(
    store: Store, parent: Thread, find_partner: FindPartner, *, upto_seq: int | None
) -> tuple[ChildThread, ...]:
    """Return the child threads of a thread, the partner asked first leading.

    Parameters:
        upto_seq: the newest message of the parent that the reader may read; None for all.
    """
    calls = [
        (call, partner)
        for call in await call_reads.calls_on_thread(store, parent.id)
        if (partner := find_partner(call)) is not None
    ]
    if not calls:
        return ()
    messages = await _read_since(store, parent.id, calls[0][0].created_at, upto_seq)
    asked = {one.run_id for one in messages if one.origin is Origin.VISITOR} - {None}
    # callers write metadata as well: theirs would bring back what was deleted
    told_by_desk = (one for one in messages if one.origin is Origin.DESK)
    noted = " ".join(one.metadata.get("calls", "") for one in told_by_desk)
    speaker = parent.actors[0].id
    said: dict[AskedPartner, list[Message]] = {}
    for call, partner in calls:
        if call.run_id in asked if call.run_id is not None else call.id in noted:
            pair = _write_messages(parent.id, call, partner, speaker)
            said.setdefault(partner, []).extend(pair if call.id in noted else pair[:1])
    return tuple(_make_child(parent, one, told) for one, told in said.items() if told)


async def _read_since(
    store: Store, thread_id: str, since: float, upto_seq: int | None
) -> list[Message]:
    """Return a thread's messages since some time, and the page before."""
    found: list[Message] = []
    below = BEYOND if upto_seq is None else upto_seq + 1
    is_last = False
    while not is_last:
        is_last = bool(found) and found[-1].created_at < since
        page = await thread_reads.messages_between(
            store, thread_id, above=0, below=below, limit=PAGE, order="desc"
        )
        found += page.items
        if not page.has_more:
            break
        below = page.items[-1].seq
    return found


def _make_child(parent: Thread, partner: AskedPartner, told: Sequence[Message]) -> ChildThread:
    thread = Thread(
        f"{parent.id}{SEPARATOR}{partner.name}",
        parent.owner,
        told[0].created_at,
        {},
        (parent.actors[0], Actor(partner.url)),
        parent.id,
        parent.desk,
    )
    return ChildThread(
        thread, tuple(msgspec.structs.replace(one, seq=seq) for seq, one in enumerate(told, 1))
    )


def _write_messages(
    parent_id: str, call: ActionCall, partner: AskedPartner, speaker: str
) -> list[Message]:
    """Return what a call asked, and what the partner answered."""
    thread_id = f"{parent_id}{SEPARATOR}{partner.name}"
    words = next((call.arguments[one] for one in QUESTIONS if one in call.arguments), None)
    if not isinstance(words, str):  # erased
        return []
    question = Message(
        f"{call.id}{SEPARATOR}asked",
        thread_id,
        1,
        "user",
        speaker,
        Origin.DESK,
        call.created_at,
        (words,),
    )
    result = call.result if isinstance(call.result, dict) else {}
    text = result.get("text")
    if call.state is not CallState.SUCCEEDED or not isinstance(text, str):
        return [question]
    answer = msgspec.structs.replace(
        question,
        id=f"{call.id}{SEPARATOR}answered",
        role="assistant",
        actor=partner.url,
        created_at=call.ended_at or call.created_at,
        content=(text,),
    )
    return [question, answer]
