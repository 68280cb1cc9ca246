"""Settles payments: makes paid calls, and refunds calls that are not made.

Each decision is made in the commit that stores it, so that of two concurrent payments one counts,
and what a crash interrupts is a job that is resumed. Parts of units.
"""

from __future__ import annotations

import hashlib

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.calls.call import ActionCall, CallState, StartedThen
from aitp_desk.model.conversation.ticket import Ticket, TicketKind
from aitp_desk.model.ids import id_from
from aitp_desk.store.base import Params, Work
from aitp_desk.store.records.capabilities import NewPaid, NewQuote
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.rows.calls import read_call, write_call
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job
from aitp_desk.store.units.tickets.tickets import add_ticket, ticket_of_call

PAYING_SECONDS = 60 * 60
"""How long after a call's end a payment that was started before may still settle."""


def note_quote(quote: NewQuote) -> Work[None]:
    """Store the quote id and the expiry of a call that waits for payment."""
    rows = yield "call", {"id": quote.call_id}
    call = read_call(rows[0]) if rows else None
    if call is None or call.payment is None:
        return
    payment = msgspec.structs.replace(call.payment, quote_id=quote.quote_id)
    yield (
        "quote_call",
        {
            "id": quote.call_id,
            "payment": to_json(payment),
            "quote_id": quote.quote_id,
            "expires_at": min(call.expires_at, quote.expires_at),
        },
    )


def settle_payment(paid: NewPaid, by: Auditor | None, now: int) -> Work[None]:
    """Queue a paid call, or refund it if it no longer waits for payment.

    Parameters:
        by: in whose name the call is recorded.
        now: Unix seconds.
    """
    rows = yield "call", {"id": paid.call_id}
    call = read_call(rows[0]) if rows else None
    if call is None or call.payment is None:
        yield from enqueue_job(paid.failing)
        return
    if call.payment.payment_id == paid.payment_id:
        return
    is_late = call.expires_at + PAYING_SECONDS < now
    if paid.call_job is None or is_late or call.state is not CallState.WAITING_PAYMENT:
        yield from enqueue_job(paid.failing)
        return
    job = paid.failing
    after = max(0, job.available_at - job.created_at) if job.available_at else 0
    payment = msgspec.structs.replace(
        call.payment,
        payment_id=paid.payment_id,
        failing=StartedThen(job.kind, job.ref, job.payload, after),
        receipt=paid.receipt,
        message_id=paid.message_id,
    )
    made = call.move(
        CallState.STARTED,
        payment=payment,
        answer=None,
        accepted_at=now,
        expires_at=now + payment.lasts,
    )
    yield "move_call", {**write_call(made), "before": CallState.WAITING_PAYMENT.value}
    yield from enqueue_job(paid.call_job)
    yield from note_audit(by, AuditAction.ACTION_CALLED, ObjectKind.CALL, call.id)


def give_back(call: ActionCall, now: int) -> Work[None]:
    """Queue the refund of a paid call that is not made.

    It does nothing for an unpaid call.

    Parameters:
        now: Unix seconds.
    """
    if call.payment is None or (failing := call.payment.failing) is None:
        return
    digest = hashlib.sha256(f"{failing.kind} {failing.ref}".encode()).digest()
    yield from enqueue_job(
        NewJob(
            id=id_from("job", now, digest),
            kind=failing.kind,
            ref=failing.ref,
            payload=failing.payload,
            created_at=now,
            desk=call.desk,
            available_at=now + failing.after if failing.after else 0,
        )
    )


def give_back_unbegun(statement: str, found: Params, now: int) -> Work[None]:
    """Queue refunds for calls that are erased before they started.

    Parameters:
        statement: which lists them, given ``found``.
        now: Unix seconds.
    """
    rows = yield statement, found
    for row in rows:
        yield from give_back(read_call(row), now)
    if rows:
        yield "raise_epoch", {"name": JOBS_EPOCH}


def leave_at_work(statement: str, found: Params, now: int) -> Work[None]:
    """Hand the payments of running calls that are erased to operators.

    Their progress is unknown: they end as such calls do, and a ticket asks for the outcome. It
    holds nothing of the payer.

    Parameters:
        statement: which lists them, given ``found``.
        now: Unix seconds.
    """
    rows = yield statement, found
    for row in rows:
        call = read_call(row)
        if call.payment is None or not call.payment.payment_id:
            continue
        yield "leave_call_at_work", {"id": call.id, "now": now}
        asked = Ticket(
            f"Was {call.action} done? The paid call was erased while it was running.",
            f"The payment is {call.payment.payment_id}: refund it if nothing was done.",
        )
        ticket = ticket_of_call(call, TicketKind.UNKNOWN, asked, now)
        yield from add_ticket(msgspec.structs.replace(ticket, thread_id=None, principal=None))
