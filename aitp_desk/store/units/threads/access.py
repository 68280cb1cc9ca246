"""Checks whether a caller may use a thread, and as which actor it speaks."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.grant import Grant
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import (
    Access,
    AccessNeed,
    Attendance,
    decide_access,
    needs_attendance,
    needs_grant,
)
from aitp_desk.model.conversation.thread import (
    ROLES,
    VISITOR,
    Draft,
    Message,
    Origin,
    Role,
    resolve_speaker,
)
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_attendance, read_grant, read_presence
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.tail import ThreadTail


class ReachedThread(msgspec.Struct, frozen=True):
    """A thread that the caller may use.

    Parameters:
        id: the thread's.
        owner: id of the principal that owns it; None for an anonymous visitor's.
        opener_speaks_as: the actor stamped on its opener's messages that name none.
        speaker: the same for this caller.
        seq, link, event: where the thread ends.
        access: what the caller may do.
    """

    id: str
    owner: str | None
    opener_speaks_as: str
    speaker: str
    seq: int
    link: bytes
    event: int
    access: Access

    def tail(self, now: int) -> ThreadTail:
        """The thread's end, to add to."""
        return ThreadTail(self.id, now, self.seq, self.link, self.event)


def reach_thread(
    thread_id: str,
    principal: Principal,
    idle_before: int,
    need: AccessNeed,
    *,
    now: int,
    param: str = "thread_id",
) -> Work[ReachedThread]:
    """Return a thread that the caller may use.

    Parameters:
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        now: Unix seconds; grants that ended by then do not count.
        param: the parameter that names the thread.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's; with the same
            message.
        Forbidden: the caller may know the thread, and may not do this with it.
    """
    rows = yield from find_tail(thread_id, principal.desk)
    if rows:
        owner, updated_at, speaker, seq, link, event = rows[0]
        found = yield from find_access(
            thread_id, principal, owner, updated_at, now=now, idle_before=idle_before
        )
        if found is not None:
            access, attendance = found
            access.check(need)
            own = speaker
            if principal.owner != owner:
                own = (attendance and attendance.speaker) or principal.name
            return ReachedThread(thread_id, owner, speaker, own, seq, link, event, access)
    raise ThreadNotFound("There is no thread with this id.", param=param)


def find_access(
    thread_id: str,
    principal: Principal,
    owner: str | None,
    updated_at: int,
    *,
    now: int,
    idle_before: int,
) -> Work[tuple[Access, Attendance | None] | None]:
    """Read what the access rule needs (``model/access/rule.py``), and apply it.

    It only reads: :func:`aitp_desk.store.reads.threads.access` runs it outside the writer.

    Parameters:
        owner: id of the principal that owns the thread; None for an anonymous visitor's.
        updated_at: Unix seconds of the thread's last message or change.
        now, idle_before: as in :func:`reach_thread`.

    Returns:
        What the caller may do, and how it participates; None if the thread does not exist for it.
    """
    if owner is None and updated_at < idle_before:
        return None
    attendance: Attendance | None = None
    if needs_attendance(principal, owner):
        bound = {"thread_id": thread_id, "principal": principal.id}
        attendance = read_attendance((yield "attendance", bound))
    granted: Grant | None = None
    if needs_grant(principal, owner, attendance):
        rows = yield "granted", {"thread_id": thread_id, "principal": principal.id}
        granted = next((g for g in map(read_grant, rows) if g.holds(now)), None)
    access = decide_access(principal, owner, attendance, granted)
    return None if access is None else (access, attendance)


def settle_speaker(
    thread_id: str, principal: Principal, draft: Draft, default: str, at: str = ""
) -> Work[tuple[Role, str]]:
    """Return the role and the actor under which a draft is stored.

    Parameters:
        default: the actor that is stamped if the draft names none.
        at: the draft's path in its request, such as ``messages[0].``.

    Raises:
        InvalidRequest, Forbidden: as ``thread.resolve_speaker``.
    """
    brought: list[str] = []
    others: list[str] = []
    if draft.role not in ROLES or draft.actor not in (None, default):
        for row in (yield "actors_present", {"thread_id": thread_id}):
            present = read_presence(row)
            (brought if present.is_of(principal) else others).append(present.actor.id)
    return resolve_speaker(draft, brought=brought, default=default, others=others, at=at)


def is_callers(message: Message, principal: Principal, reached: ReachedThread) -> Work[bool]:
    """Return whether the caller sent a message.

    It sent it as an actor that was its own then, or without an actor.
    """
    if message.origin is not Origin.VISITOR:
        return False
    if principal.is_guest and reached.owner is not None:
        return message.principal == principal.id
    said = {"thread_id": message.thread_id, "id": message.id}
    if rows := (yield "bound_when_said", said):
        return bool(rows[0][0] == principal.owner)
    return message.actor in (reached.speaker, principal.owner or VISITOR)
