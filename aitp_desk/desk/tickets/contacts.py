"""Takes the addresses of visitors who wait for a person."""

from __future__ import annotations

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.model.access.principal import Principal
from aitp_desk.store.units.tickets.contacts import keep_contact


class ContactService:
    """Stores addresses on tickets."""

    def __init__(self, context: DeskContext) -> None:
        self._context = context

    async def keep(self, principal: Principal, thread_id: str, contact: str) -> None:
        """Store an email address on the ticket of the caller's thread, durably.

        See :func:`aitp_desk.store.units.tickets.contacts.keep_contact`.

        Raises:
            ThreadNotFound: it does not exist, or not for this caller.
            Forbidden: the caller may not write on the thread.
            PreconditionFailed: no request for a person waits on the thread.
        """
        check_scope(principal)
        await self._context.store.run(
            keep_contact,
            thread_id=thread_id,
            principal=principal,
            contact=contact,
            now=int(self._context.clock()),
            idle_before=self._context.idle_before,
        )
