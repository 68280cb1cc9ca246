"""Access to threads: the one rule, for writes and for reads.

An anonymous thread is open to every caller with its id. An owned one is open to its owner, to
operators and administrators, to callers to which one of its actors is bound, and to those with whom
it is shared. A caller that has left reads the messages up to then, and cannot write.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.access.principal import Principal, may_join_threads, may_operate_threads
from aitp_desk.model.errors import Forbidden


class AccessNeed(Enum):
    """The access that an operation needs."""

    READ = "read"
    WRITE = "write"
    MANAGE = "manage"


class Attendance(msgspec.Struct, frozen=True):
    """A known caller's participation in a thread, by its bound actors.

    Parameters:
        speaker: id of the first of these that takes part; None if all have left.
        left_seq: the newest message when the last of them left.
        left_event: number of the event that it left.
    """

    speaker: str | None
    left_seq: int = 0
    left_event: int = 0


class Access(msgspec.Struct, frozen=True):
    """A caller's access to a thread that it may see.

    Parameters:
        upto_seq: number of the newest message that it may read; None for all, present and future.
        upto_event: the same as the number of an event.
        may_write: whether it may post, and have its posts answered.
        may_manage: whether it may change the thread and its participants.
        may_join: whether it may join as an actor bound to itself.
        sees_notes: whether it sees the thread's metadata.
        ends_at: Unix seconds at which this access ends; None if no end is known.
    """

    upto_seq: int | None = None
    upto_event: int | None = None
    may_write: bool = True
    may_manage: bool = True
    may_join: bool = True
    sees_notes: bool = True
    ends_at: int | None = None

    @property
    def has_left(self) -> bool:
        """Whether the caller took part once and has left."""
        return self.upto_seq is not None

    def shows(self, seq: int) -> bool:
        """Return whether the message with this number may be read."""
        return self.upto_seq is None or seq <= self.upto_seq

    def check(self, need: AccessNeed) -> None:
        """Refuse an operation that the caller may not do.

        Raises:
            Forbidden: the message says why.
        """
        if need is AccessNeed.READ or (
            self.may_manage if need is AccessNeed.MANAGE else self.may_write
        ):
            return
        if self.has_left:
            raise Forbidden("You have left this thread. You may read its messages up to that time.")
        if need is AccessNeed.WRITE:
            raise Forbidden("This thread was shared with you for reading only.")
        raise Forbidden("Only the thread's owner or an operator may do this.")


def needs_attendance(principal: Principal, owner: str | None) -> bool:
    """Return whether the bound actors matter to a caller's access, or to its name."""
    return not principal.is_anonymous and principal.id != owner


def needs_grant(principal: Principal, owner: str | None, attendance: Attendance | None) -> bool:
    """Return whether grants matter to a caller's access."""
    if owner is None or owner == principal.id or may_operate_threads(principal):
        return False
    takes_part = attendance is not None and attendance.speaker is not None
    return principal.party is not None and not takes_part


def decide_access(
    principal: Principal,
    owner: str | None,
    attendance: Attendance | None,
    granted: Grant | None = None,
) -> Access | None:
    """Return a caller's access to a thread; None hides the thread from it.

    Parameters:
        owner: id of the principal that owns the thread; None for an anonymous visitor's.
        attendance: the caller's; None if no actor was ever bound to it, and if
            :func:`needs_attendance` is false.
        granted: the caller's grant, if it is valid; None if there is none, and if
            :func:`needs_grant` is false.
    """
    if owner == principal.owner or may_operate_threads(principal):
        return Access()
    if not may_join_threads(principal):
        return Access() if owner is None else None
    if attendance is not None and attendance.speaker is not None:
        return Access(may_manage=owner is None, may_join=owner is None)
    if granted is not None:
        return Access(
            may_write=granted.may is GrantLevel.WRITE,
            may_manage=False,
            may_join=False,
            sees_notes=not principal.is_guest,
            ends_at=granted.expires_at,
        )
    if attendance is None:
        return Access() if owner is None else None
    return Access(
        upto_seq=attendance.left_seq,
        upto_event=attendance.left_event,
        may_write=False,
        may_manage=False,
        may_join=owner is None,
        sees_notes=False,
    )


def may_know_parent(
    principal: Principal, fork_owner: str | None, parent_owner: str | None, *, is_claimed: bool
) -> bool:
    """Return whether a reader of a fork may see its parent's id.

    The reader has access to that parent.

    The id of an anonymous parent is a secret that opens it. A caller that has owned the fork since
    its creation has shown that it holds this secret; other readers of the fork have not, and do not
    receive it.

    Parameters:
        is_claimed: whether the fork was anonymous before it was its owner's.
    """
    if parent_owner is not None or may_operate_threads(principal):
        return True
    return fork_owner is not None and fork_owner == principal.id and not is_claimed
