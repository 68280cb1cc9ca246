"""Writes notes for operators on the threads of conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.registry import EnabledTransport

LONGEST = 2000
HandleOperator = Callable[[EnabledTransport, Incoming, ClaimedJob], Awaitable[bool]]
"""Handles an event of an operator; returns False for one that is a visitor's."""

_log = structlog.get_logger()


class OperatorNotes:
    """Writes notes in the name of a transport."""

    def __init__(self, takeover: Takeover, audit: AuditKeys) -> None:
        self._takeover = takeover
        self._audit = audit

    async def write(self, thread_id: str, words: str, transport: str, now: int) -> None:
        """Write a note; on a deleted thread nothing is written."""
        by = make_own_auditor(self._audit, now)
        try:
            await self._takeover.note(thread_id, words[:LONGEST], transport, by)
        except ThreadNotFound:
            _log.info("note_without_thread", transport=transport)
