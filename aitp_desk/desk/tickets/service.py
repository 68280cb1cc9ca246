"""Ticket operations: operators answer, close, approve, decline, take and release tickets.

The command line uses them next to a serving desk as well. Each change raises epochs, by which
the serving desk wakes waiting callers (:mod:`aitp_desk.desk.jobs.epoch_watcher`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import structlog

from aitp_desk.desk.jobs.background_task import keep_running, repeat
from aitp_desk.desk.jobs.call_kinds import make_call_job
from aitp_desk.desk.jobs.callbacks import make_callback_writes
from aitp_desk.desk.tickets.operators import check_length, check_name, check_words
from aitp_desk.model.access.audit import AuditKeys, Auditor, make_own_auditor
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.model.conversation.ticket import StoredTicket, TicketState
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.records.operators import PressedButton
from aitp_desk.store.units.calls.approval import approve_call, check_asks_approval
from aitp_desk.store.units.tickets.answers import (
    TicketMessage,
    end_ticket,
    release_ticket,
    speak_for_ticket,
    take_ticket,
)

GOES_ON = "The call was approved and is running now."
"""Message on the thread of a call when an operator approves it."""
LOOK_SECONDS = 1.0
"""Interval between checks for expired tickets."""
AT_ONCE = 100

_log = structlog.get_logger()


class EscalationService:
    """Assigns, answers and ends tickets.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    async def answer(
        self,
        ticket_id: str,
        words: str,
        operator: str,
        by: Auditor,
        attachments: tuple[Attachment, ...] = (),
    ) -> StoredTicket | None:
        """Answer a ticket; its waiting caller receives the text.

        Parameters:
            operator: the name of the answering operator, which visitors see.
            by: the operator for the audit log.
            attachments: files that go with the text on its thread.

        Returns:
            The ticket after it ended; None if it does not exist.

        Raises:
            InvalidRequest: the text is empty or too long, or the name is invalid.
            PreconditionFailed: the ticket is over, or asks for approval.
        """
        check_words(words)
        check_length(words)
        check_name(operator)
        answered = TicketState.ANSWERED
        return await self._write(ticket_id, answered, words.strip(), operator, by, attachments)

    async def close(
        self, ticket_id: str, reason: str, operator: str, by: Auditor
    ) -> StoredTicket | None:
        """Close a ticket without an answer; a call that waits for it fails.

        Parameters:
            reason: shown to the waiting caller; may be empty.
            operator, by: as in :meth:`answer`.
        Returns, raises:
            as :meth:`answer`.
        """
        return await self._end(ticket_id, TicketState.CLOSED, reason, operator, by)

    async def approve(self, ticket_id: str, operator: str, by: Auditor) -> StoredTicket | None:
        """Approve the call of a ticket; it runs if its preconditions are met then.

        Parameters:
            operator, by: as in :meth:`answer`.

        Returns:
            as :meth:`answer`.

        Raises:
            InvalidRequest: the name is invalid.
            PreconditionFailed: the ticket is over, or asks for no approval.
            Forbidden: the call is the approver's own.
        """
        check_name(operator)
        now = self._clock()
        return await self._store.run(
            approve_call,
            ticket_id=ticket_id,
            said=TicketMessage(new_id("msg", now), new_salt(), GOES_ON, operator),
            now=int(now),
            by=by,
            job=partial(make_call_job, now=now, is_approved=True),
        )

    async def decline(
        self, ticket_id: str, reason: str, operator: str, by: Auditor
    ) -> StoredTicket | None:
        """Decline the call of a ticket; the call fails.

        Parameters, returns:
            as :meth:`close`, which does the same for such a ticket.

        Raises:
            InvalidRequest: the reason is too long, or the name is invalid.
            PreconditionFailed: the ticket is over, or asks for no approval.
        """
        found = await ticket_reads.ticket(self._store, ticket_id)
        if found is not None:
            check_asks_approval(found)
        return await self._end(ticket_id, TicketState.CLOSED, reason, operator, by)

    async def take_ticket(
        self, ticket_id: str, operator: str, by: Auditor, pressed: PressedButton | None = None
    ) -> StoredTicket | None:
        """Assign a ticket and its thread to an operator.

        No run starts on the thread any more.

        Parameters:
            operator, by: as in :meth:`answer`.
            pressed: the press of a button, if it was one; a repeated one changes nothing.

        Returns:
            The ticket in its new state; None if it does not exist.

        Raises:
            InvalidRequest: the name is invalid.
            PreconditionFailed: the ticket is over, or another operator has it or its thread.
        """
        check_name(operator)
        return await self._store.run(
            take_ticket,
            ticket_id=ticket_id,
            operator=operator,
            now=int(self._clock()),
            by=by,
            pressed=pressed,
        )

    async def say(
        self, ticket_id: str, words: str, operator: str, by: Auditor
    ) -> StoredTicket | None:
        """Post an operator's message to the thread of a taken ticket, which stays open.

        Parameters:
            operator, by: as in :meth:`answer`.

        Returns:
            as :meth:`take_ticket`.

        Raises:
            InvalidRequest: as :meth:`answer`.
            PreconditionFailed: this operator has not taken it, or it has no thread.
        """
        check_words(words)
        check_name(operator)
        now = self._clock()
        return await self._store.run(
            speak_for_ticket,
            ticket_id=ticket_id,
            said=TicketMessage(new_id("msg", now), new_salt(), words.strip(), operator),
            now=int(now),
            by=by,
        )

    async def release_ticket(
        self, ticket_id: str, by: Auditor, pressed: PressedButton | None = None
    ) -> StoredTicket | None:
        """Release a taken ticket, and return its thread to the agent.

        Parameters:
            pressed: as of :meth:`take_ticket`.

        Returns:
            as :meth:`take_ticket`.

        Raises:
            PreconditionFailed: no operator has taken it.
        """
        return await self._store.run(
            release_ticket,
            ticket_id=ticket_id,
            now=int(self._clock()),
            by=by,
            pressed=pressed,
        )

    def run_expiry(self, audit: AuditKeys) -> AbstractAsyncContextManager[None]:
        """Run a background task that ends expired tickets, while the context lasts.

        Parameters:
            audit: the keys of the audit log.
        """
        return keep_running(
            partial(repeat, partial(self._expire, audit), LOOK_SECONDS, "tickets_not_ended")
        )

    async def _expire(self, audit: AuditKeys) -> None:
        now = int(self._clock())
        by = make_own_auditor(audit, now)
        for ticket_id in await ticket_reads.due_tickets(self._store, now, AT_ONCE):
            try:
                await self._write(ticket_id, TicketState.EXPIRED, "", None, by)
            except PreconditionFailed:
                _log.info("ticket_was_over", ticket=ticket_id)

    async def _end(
        self, ticket_id: str, state: TicketState, words: str, operator: str, by: Auditor
    ) -> StoredTicket | None:
        check_length(words)
        check_name(operator)
        return await self._write(ticket_id, state, words.strip(), operator, by)

    async def _write(
        self,
        ticket_id: str,
        state: TicketState,
        words: str,
        operator: str | None,
        by: Auditor,
        attachments: tuple[Attachment, ...] = (),
    ) -> StoredTicket | None:
        now = self._clock()
        said = TicketMessage(
            new_id("msg", now), new_salt(), words, operator, attachments=attachments
        )
        return await self._store.run(
            end_ticket,
            ticket_id=ticket_id,
            state=state,
            said=said,
            now=int(now),
            by=by,
            extra_statements=partial(make_callback_writes, self._clock),
        )
