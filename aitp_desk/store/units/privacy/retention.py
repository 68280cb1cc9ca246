"""Deletes expired threads, files, calls and audit rows, a piece at a time."""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.ids import first_id
from aitp_desk.store.base import Work
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.threads.deletion import drop_thread
from aitp_desk.store.units.threads.tail import ThreadTail

_ANY_TIME = 2**62


def drop_old_thread(*, thread_id: str, before: int, now: int) -> Work[tuple[str, ...] | None]:
    """Delete a thread, as ``delete_thread`` does, if it was not used since a time.

    Parameters:
        before: Unix seconds.

    Returns:
        The ids of the runs that ended; None if nothing was deleted.
    """
    end = yield "old_thread", {"thread_id": thread_id, "before": before}
    if not end:
        return None
    return (yield from drop_thread(ThreadTail(thread_id, now, *end[0])))


def drop_unkept_thread(*, thread_id: str, now: int) -> Work[tuple[str, ...] | None]:
    """Delete an unkept thread, unless work on it is not over.

    Returns:
        The ids of the runs that ended; None if the thread stays for now.
    """
    if (yield "open_work_on_thread", {"thread_id": thread_id}):
        return None
    end = yield "old_thread", {"thread_id": thread_id, "before": _ANY_TIME}
    if not end:
        return ()
    return (yield from drop_thread(ThreadTail(thread_id, now, *end[0])))


def drop_old_events(*, before: int, now: int, limit: int) -> Work[int]:
    """Delete the events of threads that were deleted before a time.

    The rows of their messages stay, so that chains stay valid.

    Returns:
        Of how many threads; if these are ``limit`` there may be more.
    """
    old = {"before": before, "limit": limit}
    yield "delete_old_events", old
    return len((yield "mark_pruned_threads", {**old, "now": now}))


def drop_old_folded(*, before: int, limit: int) -> Work[int]:
    """Delete folded threads completely that were not used since a time.

    No one knows their ids.

    Returns:
        How many; if these are ``limit`` or more there may be more.
    """
    rows = yield (
        "delete_old_folded",
        {"opened_before": first_id("thread", before), "before": before, "limit": limit},
    )
    return sum(number for (number,) in rows)


def drop_old_files(*, before: int, limit: int) -> Work[int]:
    """Delete files that were uploaded before a time.

    Returns:
        How many; if these are ``limit`` there may be more.
    """
    old = {"uploaded_before": first_id("file", before), "limit": limit}
    yield "delete_old_file_parts", old
    return len((yield "delete_old_files", old))


def drop_old_calls(*, before: int, limit: int) -> Work[int]:
    """Delete calls without a thread that ended before a time, and their tickets.

    Those stay that an operator has yet to handle, or whose caller has yet to be notified.

    Returns:
        How many; if these are ``limit`` there may be more.
    """
    old = {"before": before, "limit": limit}
    yield "delete_old_tickets", old
    calls = yield "delete_old_calls", old
    yield "delete_sealed_without_call", {}
    return len(calls)


def note_retention(*, by: Auditor, what: str, count: int) -> Work[None]:
    """Record how many rows of a kind retention deleted."""
    yield from note_audit(by, AuditAction.RETENTION, ObjectKind.DESK, what, count=count)


def trim_audit(*, by: Auditor, before: int, limit: int) -> Work[int]:
    """Delete the oldest rows of the audit log, before the first kept one.

    The chain continues: the last deleted row leaves its number and link, and a row records it.

    Parameters:
        before: Unix seconds.

    Returns:
        How many; if these are ``limit`` or more there may be more.
    """
    found = yield "old_audit", {"before": before, "limit": limit}
    if not found:
        return 0
    ((n, link, count),) = found
    yield "move_audit_anchor", {"n": n, "link": link}
    yield "drop_audit", {"n": n}
    yield from note_audit(by, AuditAction.LOG_TRIMMED, ObjectKind.LOG, str(n), count=count)
    return int(count)
