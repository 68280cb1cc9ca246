"""The events of a thread with their subjects, as subscribers receive them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.model.conversation.feedback import RATED, RatingCount
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Actor, Message
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials.grants import read_access_epoch
from aitp_desk.store.records.threads import Event

MESSAGE_CREATED = "message.created"
MESSAGE_DELETED = "message.deleted"
THREAD_DELETED = "thread.deleted"
THREAD_CLAIMED = "thread.claimed"
THREAD_HANDED = ("thread.handed_over", "thread.handed_back")
"""Kinds of the events when an operator takes a thread over, and gives it back."""
ACTOR_JOINED = "actor.joined"
ACTOR_LEFT = "actor.left"
RUN = "run."
"""Prefix of the kinds of run events; the state that the run has reached follows."""
AT_ONCE_BYTES = 256 * 1024
"""Total size of the messages in one page: every subscriber that catches up holds one in memory."""


class ThreadEvent(msgspec.Struct, frozen=True):
    """An event of a thread.

    Parameters:
        n: its number on the thread, from 1, without gaps.
        kind: as in :class:`aitp_desk.store.records.threads.Event`.
        ref: id of its subject.
        subject: the message as stored, the run in its state then, the actor as it joined, the
            present ratings of a message; None for a message that was deleted since, for an actor
            that left, for the deletion of a message or of the thread itself, for the thread's
            claim, and for its takeover.
    """

    n: int
    kind: str
    ref: str
    subject: Message | Run | Actor | RatingCount | None


class ThreadEventPage(msgspec.Struct, frozen=True):
    """One page of a thread's events, in order.

    Parameters:
        has_more: whether there may be more after it.
        access_epoch: how often access to the thread was lost without an event, read after the
            events: those written after such a change come with another number.
    """

    happenings: tuple[ThreadEvent, ...]
    has_more: bool
    access_epoch: int


ReadThreadEvents = Callable[[str, int, int], Awaitable[ThreadEventPage]]
"""Reads the events of a thread after a number, up to a limit."""


async def read_thread_events(
    store: Store, thread_id: str, after: int, limit: int
) -> ThreadEventPage:
    """Read a thread's events after event ``after``; fewer if messages are long."""
    events = await reads.events(store, thread_id, after=after, limit=limit)
    has_more = len(events) == limit
    messages: dict[str, Message] = {}
    created = [event.n for event in events if event.kind == MESSAGE_CREATED]
    if created:
        page = await reads.messages_after_event(
            store, thread_id, after=created[0] - 1, limit=len(created), most_bytes=AT_ONCE_BYTES
        )
        messages = {message.id: message for message in page.items}
        if page.has_more and len(messages) < len(created):
            last = page.items[-1].id
            end = next(place for place, event in enumerate(events, 1) if event.ref == last)
            events, has_more = events[:end], True
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
    has_ratings = any(event.kind == RATED for event in events)
    ratings = await reads.list_ratings(store, thread_id) if has_ratings else {}
    happened = (_happening(event, messages, runs, actors, ratings) for event in events)
    access_epoch = await read_access_epoch(store, thread_id)
    return ThreadEventPage(tuple(happened), has_more, access_epoch)


def _happening(
    event: Event,
    messages: dict[str, Message],
    runs: dict[str, Run],
    actors: dict[int, Actor],
    ratings: dict[str, RatingCount],
) -> ThreadEvent:
    subject: Message | Run | Actor | RatingCount | None = None
    if event.kind == MESSAGE_CREATED:
        subject = messages.get(event.ref)
    elif event.kind == ACTOR_JOINED:
        subject = actors.get(event.n)
    elif event.kind == RATED:
        subject = ratings.get(event.ref, RatingCount(0, 0))
    elif event.ref in runs:
        subject = _as_it_stood(runs[event.ref], RunState(event.kind.removeprefix(RUN)))
    return ThreadEvent(event.n, event.kind, event.ref, subject)


def _as_it_stood(run: Run, state: RunState) -> Run:
    """Return a run in an earlier state, without later details."""
    if run.state is state:
        return run
    return msgspec.structs.replace(run, state=state, error=None)
