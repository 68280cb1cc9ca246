"""Stores the state changes of calls, each in one commit with its messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.calls.invocation import WriteMessages, write_no_messages
from aitp_desk.model.access.audit import Auditor, make_auditor
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.errors import PreconditionFailed, StoreBusy, UnknownSession
from aitp_desk.store.base import StoreError, Work
from aitp_desk.store.units.calls.calls import ExtraStatements, begin_call, move_call

AGAIN_SECONDS = 1.0
"""Delay before storing the end of a call is retried."""

_log = structlog.get_logger()


class CallRepository:
    """Stores calls, which this process carries out."""

    def __init__(self, context: DeskContext) -> None:
        self._store = context.store
        self._process = context.process
        self._audit = context.audit
        self._clock = context.clock

    async def begin(
        self,
        call: ActionCall,
        before: ActionCall | None,
        say: WriteMessages,
        extra_statements: ExtraStatements | None = None,
    ) -> None:
        """Store that a call has begun, with an audit entry.

        Parameters:
            before: the same call while it waited for input; None if it did not.
            say: builds the messages about it.
            extra_statements: further statements of the same commit.
        """
        by = make_auditor(self._audit, call.asked_by, int(self._clock()))
        await self._write(call, before, say, by, extra_statements)

    async def move(self, call: ActionCall, before: ActionCall | None, say: WriteMessages) -> None:
        """Store a call of which nothing was executed; unlike :meth:`begin`, without audit entry."""
        await self._write(call, before, say, None)

    async def end(
        self,
        call: ActionCall,
        before: ActionCall,
        say: WriteMessages,
        extra_statements: ExtraStatements | None = None,
    ) -> None:
        """Store the end of a call, retrying until the store accepts it.

        The action's effects cannot be undone, so its end must not get lost.
        """
        by = make_auditor(self._audit, call.asked_by, int(self._clock()))
        while True:
            try:
                await self._write(call, before, say, by, extra_statements)
            except (StoreBusy, StoreError) as error:
                _log.warning("call_not_written_yet", call=call.id, reason=str(error))
                await asyncio.sleep(AGAIN_SECONDS)
            except UnknownSession:  # its thread was deleted or claimed meanwhile
                say = write_no_messages
            except PreconditionFailed:  # its data were erased meanwhile
                return
            else:
                return

    async def write_continuing(self, unit: Callable[[], Work[None]]) -> None:
        """Store that a call continues elsewhere, retrying until the store accepts it.

        Parameters:
            unit: stores it.
        """
        while True:
            try:
                return await self._store.run(unit)
            except (StoreBusy, StoreError) as error:
                _log.warning("call_not_written_yet", reason=str(error))
                await asyncio.sleep(AGAIN_SECONDS)

    async def _write(
        self,
        call: ActionCall,
        before: ActionCall | None,
        say: WriteMessages,
        by: Auditor | None,
        extra_statements: ExtraStatements | None = None,
    ) -> None:
        turn, now = say(call), int(self._clock())
        call = msgspec.structs.replace(call, held_by=self._process)
        if before is None:
            await self._store.run(
                begin_call, call=call, turn=turn, by=by, now=now, extra_statements=extra_statements
            )
        else:
            await self._store.run(
                move_call,
                call=call,
                before=before.state,
                turn=turn,
                by=by,
                now=now,
                extra_statements=extra_statements,
            )
