"""Stores events of platforms, each as a job of its sender.

A job's subject is the event, so that a repetition changes nothing. A message that is posted at once
needs no job: its conversation knows what the platform calls it. Where such names are dropped, jobs
that are done remember the newest of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from aitp_desk.model.ids import id_from, next_id
from aitp_desk.store.base import Row, Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.transports import (
    Conversation,
    StoredBytes,
    name_at,
    platform_address,
)
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job

EVENT_KIND = "transport_event"
"""The kind of job that handles an event."""
STOP_KIND = "transport_stop"
"""The kind of job that handles an opt-out, which waits for no other event."""
EVENT_KINDS = {"event": EVENT_KIND, "stop": STOP_KIND}
_REMEMBERED = 100
"""How many messages of a conversation are remembered whose names are dropped."""


def name_event(transport: str, *what: str) -> str:
    """Return the subject of an event's job.

    Parameters:
        what: the event's id; of a remembered message the caller, the conversation and its name.
    """
    digest = hashlib.sha256("\x1f".join(what).encode())
    return f"{transport} {digest.hexdigest()[:40]}"


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
    """The message was handled before, or earlier events of its person wait."""


def take_message(conversation: Conversation, caller: str, ref: str) -> Work[None]:
    """Take the turn of a message: the rest of the unit posts it.

    Parameters:
        conversation: as it was read: since then its person may have joined another thread.
        caller: of the event.
        ref: what the platform calls the message.

    Raises:
        NotNext: nothing was written.
    """
    of = {"who": caller, "id": conversation.id, "thread_id": conversation.thread_id}
    named = name_at(conversation.transport, conversation.address, ref)
    if not (yield "message_is_next", {**EVENT_KINDS, **of, **named}):
        raise NotNext


def list_names(conversation_id: str = "", thread_id: str = "") -> Work[Sequence[Row]]:
    """Read the newest names of a conversation, or of all on a thread: a part of a unit."""
    of = {"id": conversation_id, "thread_id": thread_id, "limit": _REMEMBERED}
    return (yield "newest_names", of)


def remember_handled(names: Sequence[Row]) -> Work[None]:
    """Keep that messages are handled whose names are dropped.

    They may be delivered again. The jobs are as old as the newest message of the conversation, and
    forgotten as others are.

    Parameters:
        names: as :func:`list_names` returns them.
    """
    for transport, address, principal, heard_at, ref in names:
        subject = name_event(transport, principal, platform_address(address), ref)
        done = NewJob(
            id=id_from("job", heard_at, hashlib.sha512(subject.encode()).digest()),
            kind=EVENT_KIND,
            ref=subject,
            payload={},
            created_at=heard_at,
            principal=principal,
        )
        yield "add_done_job", {**msgspec.structs.asdict(done), "payload": "{}"}
