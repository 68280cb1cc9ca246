"""Stores events of platforms, each as a job of its sender."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.ids import next_id
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.transports import Conversation, StoredBytes, name_at
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job

EVENT_KIND = "transport_event"
"""The kind of job that handles an event."""
STOP_KIND = "transport_stop"
"""The kind of job that handles an opt-out, which waits for no other event."""
EVENT_KINDS = {"event": EVENT_KIND, "stop": STOP_KIND}


def enqueue_jobs(
    *, jobs: Sequence[NewJob], most: int, is_outside: bool, kept: Sequence[StoredBytes] = ()
) -> Work[int]:
    """Queue jobs, those whose subjects have none yet, each after its principal's others.

    Their ids give the order. One that is not after those that wait, and after the last opt-out,
    gets a new id: other processes have other clocks.

    Parameters:
        most: how many of a kind and a principal may wait; further ones are dropped.
        is_outside: whether another process than the desk queues them, so that the desk has to look.
        kept: what may be kept of files that came with them.

    Returns:
        How many were dropped.
    """
    dropped = 0
    waiting: dict[tuple[str, str], int] = {}
    last: dict[str, str] = {}
    for job in jobs:
        who = job.principal or ""
        lane = (job.kind, who)
        if lane not in waiting:
            of = {**EVENT_KINDS, "kind": job.kind, "who": who}
            ((waiting[lane], newest),) = yield "waiting_events", of
            if who not in last:
                ((last[who],),) = yield "newest_stop", {"stop": STOP_KIND, "who": who}
            last[who] = max(last[who] or "", newest or "")
        if waiting[lane] >= most:
            dropped += 1
            continue
        newest = last[who]
        last[who] = job.id if job.id > newest else next_id(newest)
        yield from enqueue_job(msgspec.structs.replace(job, id=last[who]))
        waiting[lane] += 1
    for one in kept:
        owned = {"transport": one.transport, "key": one.key, "whose": one.principal}
        yield "own_transport_bytes", owned
    if is_outside:
        yield "raise_epoch", {"name": JOBS_EPOCH}
    return dropped


class NotNext(Exception):
    """The event was stored before, or earlier ones of its person wait."""


def take_message(*, job: NewJob, conversation: Conversation, ref: str) -> Work[None]:
    """Store the job of an event as done: the rest of the unit posts its message.

    Parameters:
        conversation: as it was read: since then its person may have joined another thread.
        ref: what the platform calls the message.

    Raises:
        NotNext: nothing was written.
    """
    of = {"who": job.principal or "", "id": conversation.id, "thread_id": conversation.thread_id}
    named = name_at(conversation.transport, conversation.address, ref)
    if not (yield "message_is_next", {**EVENT_KINDS, **of, **named}):
        raise NotNext
    if not (yield "add_done_job", {**msgspec.structs.asdict(job), "payload": "{}"}):
        raise NotNext
