"""A database that was put back from a backup: what was under way then is not done twice.

It may have gone on after the backup was made, and nobody knows any more. So calls that were not
begun count as begun: what may be repeated is carried out, with the same id, and of the rest it is
said that nobody knows. What waits for a yes is asked again, for it may have been given. Runs, which
may have called actions since, end. People are told of what waits for them that it is from before.
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

CUT_SHORT = "The desk was put back to an earlier state. Say it again, and it is answered."
"""What is told of a run that was under way."""
FROM_BEFORE = (
    "This was open when a backup was made that was put back since. It may have been answered or"
    " done after that: look before you do it again.\n"
)
"""What a ticket's note begins with."""


def note_restored(*, now: int, call_kinds: Sequence[str], by: Auditor | None) -> Work[None]:
    """Note that a database was put back, and settle what was under way at its backup.

    Parameters:
        now: Unix seconds.
        call_kinds: of the jobs that carry out calls.
        by: who put it back; None notes nothing in the audit log.
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
