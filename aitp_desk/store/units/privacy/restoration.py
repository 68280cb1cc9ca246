"""Settles open work after a database was restored, so that nothing is done twice.

The desk may have continued after the backup was made, and no record of that is left. So queued
calls count as started: repeatable ones are carried out, with the same id, and the others are
reported as having an unknown outcome. A confirmation is requested again, for it may have been
given. Runs, which may have called actions since, end. Operators are informed of open tickets that
date from before.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.ticket import LONGEST_NOTE
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_run
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.runs.workers import end_run
from aitp_desk.store.units.threads.tail import ThreadTail

CUT_SHORT = "The desk was restored to an earlier state. Send your message again."
"""The error of a run that was unfinished."""
FROM_BEFORE = (
    "This was open in a backup that has been restored since. It may have been answered or carried"
    " out after the backup: check before you do it again.\n"
)
"""Put before a ticket's note."""


def note_restored(*, now: int, call_kinds: Sequence[str], by: Auditor | None) -> Work[None]:
    """Record that a database was restored, and settle what was unfinished at its backup.

    Parameters:
        now: Unix seconds.
        call_kinds: of the jobs that carry out calls.
        by: who restored it; None writes no audit entry.
    """
    for kind in call_kinds:
        yield "begin_queued_jobs", {"kind": kind}
    yield "end_waiting_calls", {"now": now}
    yield "add_to_open_notes", {"words": FROM_BEFORE, "most": LONGEST_NOTE}
    after = ""
    while rows := (yield "next_unfinished_run", {"after": after}):
        (after, thread_id, *ends) = rows[0]
        run = read_run((yield "run", {"id": after})[0])
        is_cancelling = run.state is RunState.CANCELLING
        state = RunState.CANCELLED if is_cancelling else RunState.FAILED
        error = None if is_cancelling else CUT_SHORT
        yield from end_run(run, state, ThreadTail(thread_id, now, *ends), error)
    yield from note_audit(by, AuditAction.STORE_RESTORED, ObjectKind.DESK, "database")
