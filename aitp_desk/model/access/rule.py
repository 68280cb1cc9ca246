"""Who may do what with a thread: the one rule, for what is written and for what is read.

An anonymous thread is open to whoever has its id. An owned one is open to its owner, to operators
and administrators, to those to whom one of its actors is bound, and to those with whom it is
shared. Who has left reads what was said up to then and no further, and says nothing.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.access.principal import Principal, may_join_threads, may_operate_threads
from aitp_desk.model.errors import Forbidden


class AccessNeed(Enum):
    """What a caller wants of a thread."""

    READ = "read"
    WRITE = "write"
    MANAGE = "manage"


class Attendance(msgspec.Struct, frozen=True):
    """How a known caller takes part in a thread, by the actors that are bound to it.

    Parameters:
        speaker: id of the first of these that is there; None when all have left.
        left_seq: the newest message when the last of them left.
        left_event: number of the event that it left.
    """

    speaker: str | None
    left_seq: int = 0
    left_event: int = 0


class Access(msgspec.Struct, frozen=True):
    """What a caller may do with a thread that it may know.

    Parameters:
        upto_seq: number of the newest message that it may read; None for all, present and to come.
        upto_event: the same as the number of an event.
        may_write: whether it may post, and have its posts answered.
        may_manage: whether it may change the thread and who takes part.
        may_join: whether it may join as an actor bound to itself.
        sees_notes: whether it is shown the thread's own metadata.
        ends_at: Unix seconds at which this access ends; None where no end is known.
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
        """Whether the caller took part once and does no more."""
        return self.upto_seq is not None

    def shows(self, seq: int) -> bool:
        """Whether the message with this number may be read."""
        return self.upto_seq is None or seq <= self.upto_seq

    def check(self, need: AccessNeed) -> None:
        """Refuse what the caller may not do.

        Raises:
            Forbidden: the message says why.
        """
        if need is AccessNeed.READ or (
            self.may_manage if need is AccessNeed.MANAGE else self.may_write
        ):
            return
        if self.has_left:
            raise Forbidden("You have left this thread; you may read what was said up to then.")
        if need is AccessNeed.WRITE:
            raise Forbidden("This thread was shared with you to be read, and no more.")
        raise Forbidden("Only the thread's owner or an operator may do this.")


def needs_attendance(principal: Principal, owner: str | None) -> bool:
    """Whether it matters to a caller's access, or to its name, which actors are bound to it."""
    return not principal.is_anonymous and principal.id != owner


def needs_grant(principal: Principal, owner: str | None, attendance: Attendance | None) -> bool:
    """Whether it matters to a caller's access what was shared with it."""
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
    """Decide what a caller may do with a thread; None: to this caller there is no such thread.

    Parameters:
        owner: id of the principal that owns the thread; None for an anonymous visitor's.
        attendance: the caller's; None where no actor was ever bound to it, and where
            :func:`needs_attendance` says no.
        granted: the caller's grant, if it holds; None where there is none, and where
            :func:`needs_grant` says no.
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
    """Whether a reader of a fork may be told its parent's id, being allowed to read that parent.

    The id of an anonymous parent is a secret that opens it. Whoever owns the fork since they opened
    it has shown that they hold it; whoever else reads the fork has not, and is not given it.

    Parameters:
        is_claimed: whether the fork was anonymous before it was its owner's.
    """
    if parent_owner is not None or may_operate_threads(principal):
        return True
    return fork_owner is not None and fork_owner == principal.id and not is_claimed
