"""Makes notes for operators on the threads of conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import structlog

from aitp_desk.desk.jobs.kinds import Finish
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.conversation.note import NOTE_PREFIX, Note
from aitp_desk.model.conversation.ticket import LONGEST_ANSWER
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.threads import PostResult
from aitp_desk.store.units.threads.threads import AlsoWritten
from aitp_desk.store.units.tickets.takeover import add_note
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.registry import EnabledTransport

HandleOperator = Callable[[EnabledTransport, Incoming, ClaimedJob], Awaitable[bool]]
"""Handles an event of an operator; returns False for one that is a visitor's."""

_log = structlog.get_logger()


class OperatorNotes:
    """Makes notes in the name of a transport.

    Parameters:
        clock: Unix seconds; notes are listed in the order of their ids, also within a second.
    """

    def __init__(self, audit: AuditKeys, clock: Callable[[], float]) -> None:
        self._audit = audit
        self._clock = clock

    def make(self, thread_id: str, words: str, transport: str, now: int) -> Finish:
        """Return the end of a job that writes a note once; on a deleted thread, nothing."""
        return Finish(partial(self.write(words, transport, now), thread_id))

    def add_trimmed(self, also: AlsoWritten, trimmed: str, transport: str, now: int) -> AlsoWritten:
        """Add a note of what was cut off from a message to its commit.

        Parameters:
            also: what is committed besides.
            trimmed: quotations and signatures; empty for none.
        """
        if not trimmed.strip():
            return also
        write = self.write(f"Cut off from the message:\n\n{trimmed}", transport, now)

        def add(placed: PostResult) -> Work[None]:
            yield from also(placed)
            yield from write(placed.thread_id)

        return add

    def write(self, words: str, transport: str, now: int) -> Callable[[str], Work[None]]:
        """Return what writes a note on a thread, as a part of a unit."""
        id_, by = new_id(NOTE_PREFIX, self._clock()), make_own_auditor(self._audit, now)

        def write(thread_id: str) -> Work[None]:
            note = Note(id_, thread_id, transport, words[:LONGEST_ANSWER].strip(), now)
            try:
                yield from add_note(note=note, by=by)
            except ThreadNotFound:
                _log.info("note_without_thread", transport=transport)

        return write
