"""What happened on a thread, with what it happened to: the events that followers are told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from aitp_desk.model.run import Run, RunState
from aitp_desk.model.thread import Actor, Message
from aitp_desk.store import reads
from aitp_desk.store.base import Store
from aitp_desk.store.records import Event

MESSAGE_CREATED = "message.created"
MESSAGE_DELETED = "message.deleted"
THREAD_DELETED = "thread.deleted"
THREAD_CLAIMED = "thread.claimed"
HANDED = ("thread.handed_over", "thread.handed_back")
"""What tells of a thread that an operator takes over, and gives back; of which operator."""
ACTOR_JOINED = "actor.joined"
ACTOR_LEFT = "actor.left"
RUN = "run."
"""How the kinds begin that tell of a run; the state follows that it has reached."""
AT_ONCE = 4
"""How many messages are read before others may run: the longest take some milliseconds each."""


class Happening(msgspec.Struct, frozen=True):
    """An event of a thread.

    Parameters:
        n: its number on the thread, from 1, without gaps.
        kind: as :class:`aitp_desk.store.records.Event` has it.
        thread_id: where it happened.
        ref: id of what it happened to.
        subject: the message as it is kept, the run as it stood then, the actor as it joined; None
            for a message that was deleted since, for an actor that left, for the deletion of a
            message or of the thread itself, for the thread's claim, and for its being handed over.
    """

    n: int
    kind: str
    thread_id: str
    ref: str
    subject: Message | Run | Actor | None


ReadHappenings = Callable[[str, int, int], Awaitable[tuple[Happening, ...]]]
"""Reads what happened on a thread after a number, at most so many, in order."""


async def read_happenings(
    store: Store, thread_id: str, after: int, limit: int
) -> tuple[Happening, ...]:
    """Read what happened on a thread after event ``after``, in order."""
    events = await reads.events(store, thread_id, after=after, limit=limit)
    if not events:
        return ()
    messages = await _read_messages(store, thread_id, events)
    runs: dict[str, Run] = {}
    for event in events:
        if event.kind.startswith(RUN) and event.ref not in runs:
            run = await reads.run(store, event.ref)
            if run is not None:
                runs[run.id] = run
    actors: dict[int, Actor] = {}
    for event in events:
        if event.kind == ACTOR_JOINED:
            actor = await reads.joined(store, thread_id, event.n)
            if actor is not None:
                actors[event.n] = actor
    return tuple(_happening(thread_id, event, messages, runs, actors) for event in events)


async def _read_messages(
    store: Store, thread_id: str, events: Sequence[Event]
) -> dict[str, Message]:
    created = [event.n for event in events if event.kind == MESSAGE_CREATED]
    messages: dict[str, Message] = {}
    for begin in range(0, len(created), AT_ONCE):
        if begin:
            await asyncio.sleep(0)
        part = created[begin : begin + AT_ONCE]
        said = await reads.messages_after_event(
            store, thread_id, after=part[0] - 1, limit=len(part)
        )
        messages |= {message.id: message for message in said}
    return messages


def _happening(
    thread_id: str,
    event: Event,
    messages: dict[str, Message],
    runs: dict[str, Run],
    actors: dict[int, Actor],
) -> Happening:
    subject: Message | Run | Actor | None = None
    if event.kind == MESSAGE_CREATED:
        subject = messages.get(event.ref)
    elif event.kind == ACTOR_JOINED:
        subject = actors.get(event.n)
    elif event.ref in runs:
        subject = _as_it_stood(runs[event.ref], RunState(event.kind.removeprefix(RUN)))
    return Happening(event.n, event.kind, thread_id, event.ref, subject)


def _as_it_stood(run: Run, state: RunState) -> Run:
    """A run in a state that it has reached, without what it learned later."""
    if run.state is state:
        return run
    return msgspec.structs.replace(run, state=state, error=None)
