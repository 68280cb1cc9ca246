"""Applies effects of capabilities in the unit that writes the message. Parts of units.

Everything is checked before the first write; versions reveal a concurrent change.
"""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.audit import AuditAction, ObjectKind
from aitp_desk.model.conversation.thread import Message
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects, RecordsMoved
from aitp_desk.store.rows.calls import answer_to_json, read_call
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.calls.payment import note_quote, settle_payment
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job
from aitp_desk.store.units.privacy.sealed_values import keep_sealed
from aitp_desk.store.units.threads.tail import ThreadTail


def check_effects(effects: NewEffects) -> Work[None]:
    """Check that what the effects depend on is unchanged, and that counters have enough.

    Raises:
        RecordsMoved: it is not.
    """
    for seen in effects.seen:
        rows = yield "capability_record", {"capability": seen.capability, "key": seen.key}
        if (rows[0][2] if rows else 0) != seen.version:
            raise RecordsMoved
    for counter in effects.seen_counters:
        if not counter.is_same((yield from _count(counter.capability, counter.key))):
            raise RecordsMoved
    for added in effects.additions:
        if added.minimum is None:
            continue
        if (yield from _count(added.capability, added.key)) + added.delta < added.minimum:
            raise RecordsMoved
    for given in effects.answers:
        rows = yield "call", {"id": given.call_id}
        if not rows or not read_call(rows[0]).takes_answer:
            raise RecordsMoved


def _count(capability: str, key: str) -> Work[int]:
    rows = yield "capability_counter", {"capability": capability, "key": key}
    return int(rows[0][0]) if rows else 0


def say_effects(effects: NewEffects, tail: ThreadTail) -> tuple[Message, ...]:
    """Add the desk's messages to a thread's end; the unit writes them."""
    return tuple(tail.add_message(message) for message in effects.said)


def write_effects(effects: NewEffects, thread_id: str | None, now: int) -> Work[None]:
    """Write records, counters, sealed values, jobs and audit entries, after :func:`check_effects`.

    Parameters:
        thread_id: the thread on which records are written.
        now: Unix seconds.
    """
    for record in effects.records:
        yield (
            "keep_record",
            {
                "capability": record.capability,
                "key": record.key,
                "version": record.version,
                "value": to_json(record.value),
                "thread_id": None if record.outlives else thread_id,
                "now": now,
                "open_until": record.open_until,
                "open_on": None if record.open_until is None else thread_id,
            },
        )
    for added in effects.additions:
        counted = {"capability": added.capability, "key": added.key, "delta": added.delta}
        yield "add_to_counter", counted
    yield from keep_sealed(effects.sealed)
    for given in effects.answers:
        yield "answer_call", {"id": given.call_id, "answer": answer_to_json(given.answer)}
    for job in effects.jobs:
        yield from enqueue_job(job)
    for quote in effects.quotes:
        yield from note_quote(quote)
    for paid in effects.payments:
        yield from settle_payment(paid, effects.calls_by, now)
    for event in effects.events:
        yield from note_audit(
            effects.by, AuditAction.CAPABILITY_NOTED, ObjectKind.CAPABILITY, event
        )


def apply_effects(*, effects: NewEffects, thread_id: str | None, now: int) -> Work[None]:
    """Apply effects of a capability without a visitor's message: a part of a unit.

    On a thread that was deleted meanwhile the result is as if it had come before that.

    Raises:
        RecordsMoved: as :func:`check_effects`.
    """
    yield from check_effects(effects)
    if thread_id is not None:
        rows = yield "thread_end", {"thread_id": thread_id}
        if rows:
            tail = ThreadTail(thread_id, now, *rows[0])
            say_effects(effects, tail)
            yield from tail.write()
        else:
            effects = _once_deleted(effects)
    yield from write_effects(effects, thread_id, now)


def apply_from_beside(*, effects: NewEffects, now: int) -> Work[None]:
    """Apply effects of a command while a desk may be running: a separate unit.

    Raises:
        RecordsMoved: as :func:`check_effects`.
    """
    yield from apply_effects(effects=effects, thread_id=None, now=now)
    if effects.jobs:
        yield "raise_epoch", {"name": JOBS_EPOCH}


def _once_deleted(effects: NewEffects) -> NewEffects:
    """Return what is left of effects once their thread is deleted: what outlives threads.

    Payments for a call that was deleted with the thread are refunded.
    """
    return msgspec.structs.replace(
        effects,
        said=(),
        jobs=tuple(job for job in effects.jobs if job.thread_id is None),
        records=tuple(
            one if one.outlives else msgspec.structs.replace(one, value=None, open_until=None)
            for one in effects.records
        ),
    )
