"""Takes the addresses of visitors who wait for a person."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.units.tickets.contacts import CONTACT_KIND, keep_contact


class ContactService:
    """Stores addresses on tickets.

    Parameters:
        wake: called after a commit that queued a job.
        has_mail: whether the desk can write to the addresses.
    """

    def __init__(
        self, context: DeskContext, wake: Callable[[], object], *, has_mail: bool = False
    ) -> None:
        self._context = context
        self._wake = wake
        self._has_mail = has_mail

    async def keep(self, principal: Principal, thread_id: str, contact: str) -> None:
        """Store an email address on the ticket of the caller's thread, durably.

        See :func:`aitp_desk.store.units.tickets.contacts.keep_contact`.

        Raises:
            ThreadNotFound: it does not exist, or not for this caller.
            Forbidden: the caller may not write on the thread.
            PreconditionFailed: no request for a person waits on the thread.
        """
        check_scope(principal)
        job = self._make_job(thread_id, contact) if self._has_mail else None
        await self._context.store.run(
            keep_contact,
            thread_id=thread_id,
            principal=principal,
            contact=contact,
            now=int(self._context.clock()),
            idle_before=self._context.idle_before,
            job=job,
        )
        if job is not None:
            self._wake()

    def _make_job(self, thread_id: str, contact: str) -> NewJob:
        now = self._context.clock()
        return NewJob(
            id=new_id("job", now),
            kind=CONTACT_KIND,
            ref=hashlib.sha256(contact.casefold().encode()).hexdigest()[:32],
            payload={},
            created_at=int(now),
            desk=self._context.name,
            thread_id=thread_id,
        )
