"""Makes notes for operators on the threads of conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from aitp_desk.desk.jobs.kinds import Finish
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.conversation.note import NOTE_PREFIX, Note
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.tickets.takeover import add_note
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.registry import EnabledTransport

LONGEST = 2000
HandleOperator = Callable[[EnabledTransport, Incoming, ClaimedJob], Awaitable[bool]]
"""Handles an event of an operator; returns False for one that is a visitor's."""

_log = structlog.get_logger()


class OperatorNotes:
    """Makes notes in the name of a transport."""

    def __init__(self, audit: AuditKeys) -> None:
        self._audit = audit

    def make(self, thread_id: str, words: str, transport: str, now: int) -> Finish:
        """Return the end of a job that writes a note once; on a deleted thread, nothing."""
        note = Note(new_id(NOTE_PREFIX, now), thread_id, transport, words[:LONGEST].strip(), now)
        by = make_own_auditor(self._audit, now)

        def write() -> Work[None]:
            try:
                yield from add_note(note=note, by=by)
            except ThreadNotFound:
                _log.info("note_without_thread", transport=transport)

        return Finish(write)
