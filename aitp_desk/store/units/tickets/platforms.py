"""Stores which tickets operators see on other platforms, and which people are operators there."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.operators import (
    BindingCode,
    BoundPerson,
    OperatorTicket,
    PressedButton,
    TicketChange,
    TicketControl,
)
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.jobs import enqueue_job

SHOWN_KIND = "transport_ticket"
"""The kind of job that tells a platform's operators of a ticket."""
AT_ONCE = 500


def show_ticket(ticket: StoredTicket, transport: str, job: NewJob) -> Work[None]:
    """Queue a job that shows a ticket on a platform: a part of a unit.

    Parameters:
        job: its ``ref`` and ``payload`` are set here.
    """
    change = TicketChange(ticket.state.value, ticket.taken_by or "")
    yield (
        "add_operator_ticket",
        {
            "ticket": ticket.id,
            "transport": transport,
            "state": change.state,
            "taken_by": change.taken_by,
            "now": job.created_at,
        },
    )
    yield from _enqueue(job, f"{ticket.id} {transport} 0", change)


def queue_ticket(*, ticket_id: str, transport: str, job: NewJob) -> Work[bool]:
    """Queue a job for what has changed of a shown ticket.

    Parameters:
        job: as in :func:`show_ticket`.

    Returns:
        Whether there was a change without a job.
    """
    named = {"ticket": ticket_id, "transport": transport}
    rows = yield "operator_ticket_behind", named
    if not rows:
        return False
    queued, *found = rows[0]
    change = TicketChange(*found)
    yield "queue_operator_ticket", {**named, **msgspec.structs.asdict(change)}
    yield from _enqueue(job, f"{ticket_id} {transport} {queued + 1}", change)
    return True


def _enqueue(job: NewJob, ref: str, change: TicketChange) -> Work[None]:
    payload = msgspec.structs.asdict(change)
    yield from enqueue_job(msgspec.structs.replace(job, ref=ref, payload=payload))


def note_told(*, told: OperatorTicket, refs: Sequence[tuple[str, str]], now: int) -> Work[None]:
    """Store what operators on a platform know of a ticket.

    Parameters:
        refs: conversation and id of the message that told them, as the platform calls them.
        now: Unix seconds.
    """
    yield (
        "tell_operator_ticket",
        {
            "ticket": told.ticket,
            "transport": told.transport,
            "address": told.address,
            "state": told.state,
            "taken_by": told.taken_by,
            "seq": told.seq,
            "steps": told.steps,
            "is_over": int(told.is_over),
            "now": now,
        },
    )
    for address, ref in refs:
        yield from add_message(told.ticket, told.transport, address, ref, told.steps)


def add_message(ticket_id: str, transport: str, address: str, ref: str, step: int) -> Work[None]:
    """Store what a platform calls a message about a ticket: a part of a unit."""
    yield (
        "add_operator_message",
        {
            "transport": transport,
            "address": address,
            "ref": ref,
            "ticket": ticket_id,
            "step": step,
        },
    )


def note_message(*, ticket_id: str, transport: str, address: str, ref: str) -> Work[None]:
    """Store what a platform calls another message about a ticket."""
    yield from add_message(ticket_id, transport, address, ref, 0)


def is_new_press(ticket_id: str, pressed: PressedButton) -> Work[bool]:
    """Store a press of a button, and return whether it was unknown: a part of a unit."""
    named = {"ticket": ticket_id, **msgspec.structs.asdict(pressed)}
    return bool((yield "add_operator_press", named))


def await_answer(*, ticket_id: str, transport: str, person: str, until: int) -> Work[None]:
    """Store whose next reply is the answer of a ticket.

    Parameters:
        person: the platform's id; empty for nobody.
        until: Unix seconds.
    """
    given = {"ticket": ticket_id, "transport": transport, "person": person, "until": until}
    yield "await_operator_answer", given


def put_ticket_controls(*, controls: Sequence[TicketControl]) -> Work[None]:
    """Store what buttons do."""
    if controls:
        yield (
            "put_operator_control",
            tuple({**msgspec.structs.asdict(one), "deed": one.deed.value} for one in controls),
        )


def put_code(*, code: BindingCode) -> Work[None]:
    """Store a code that binds a person to a key."""
    yield "put_operator_code", msgspec.structs.asdict(code)


def spend_code(*, hash: bytes, transport: str) -> Work[None]:
    """Delete a code that others may have read."""
    yield "take_operator_code", {"hash": hash, "transport": transport}


def bind_person(*, person: BoundPerson, by: Auditor) -> Work[bool]:
    """Bind a person to a key with a code, which is spent by that.

    Parameters:
        by: the holder of the key.

    Returns:
        Whether the code was still there.
    """
    taken = yield "take_operator_code", {"hash": person.code, "transport": person.transport}
    if not taken:
        return False
    yield (
        "bind_operator",
        {
            "transport": person.transport,
            "person": person.person,
            "key_id": person.key_id,
            "version": person.version,
            "code": person.code,
            "now": person.bound_at,
        },
    )
    name = f"{person.transport}:{person.person}"
    yield from note_audit(by, AuditAction.ACTOR_BOUND, ObjectKind.ACTOR, name)
    return True


def unbind_person(*, transport: str, person: str, by: Auditor) -> Work[bool]:
    """End the binding of a person.

    Returns:
        Whether there was one.
    """
    if not (yield "unbind_operator", {"transport": transport, "person": person}):
        return False
    name = f"{transport}:{person}"
    yield from note_audit(by, AuditAction.ACTOR_UNBOUND, ObjectKind.ACTOR, name)
    return True


def drop_old(*, now: int, before: int) -> Work[int]:
    """Delete expired buttons and codes, and tickets that ended long ago.

    Parameters:
        now: Unix seconds.
        before: Unix seconds; tickets whose end was sent before then go.

    Returns:
        How many were deleted; the caller repeats it until none are.
    """
    expired = {"now": now, "limit": AT_ONCE}
    controls = yield "drop_expired_operator_controls", expired
    codes = yield "drop_expired_operator_codes", expired
    tickets = yield "drop_old_operator_tickets", {"before": before, "limit": AT_ONCE}
    for ticket, transport in tickets:
        yield "drop_operator_messages", {"ticket": ticket, "transport": transport}
    return len(controls) + len(codes) + len(tickets)
