"""Stores the email address of a visitor who waits for a person."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.threads.access import reach_thread
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH

CONTACT_KIND = "contact_mail"
"""The kind of job that asks the owner of an address whether they want mail."""


def keep_contact(
    *,
    thread_id: str,
    principal: Principal,
    contact: str,
    now: int,
    idle_before: int,
    job: NewJob | None = None,
) -> Work[None]:
    """Store an email address on the ticket that waits on a thread.

    Parameters:
        contact: empty to delete the address.
        now: Unix seconds.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        job: asks the owner of the address whether they want mail; the ticket is added to its
            ``ref``, and there is one for each address. None asks nobody.

    Raises:
        ThreadNotFound: it does not exist, or not for this caller.
        Forbidden: the caller may not write on the thread.
        PreconditionFailed: no request for a person waits on the thread.
    """
    yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    waiting = yield "asked_for_ticket", {"thread_id": thread_id}
    if not waiting:
        raise PreconditionFailed("Nobody is asked here now. Ask for a person first.")
    yield "set_ticket_contact", {"id": waiting[0][0], "contact": contact}
    yield "raise_epoch", {"name": TICKETS_EPOCH}
    if job is not None and contact:
        yield from enqueue_job(msgspec.structs.replace(job, ref=f"{waiting[0][0]} {job.ref}"))
