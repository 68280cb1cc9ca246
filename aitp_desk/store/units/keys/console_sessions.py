"""Stores sessions of the operator console, opened with an API key."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.store.base import Work
from aitp_desk.store.records.keys import ConsoleSession
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH


def begin_session(*, session: ConsoleSession, most: int, by: Auditor) -> Work[None]:
    """Insert the session of an operator who signed in.

    Parameters:
        most: how many sessions one key may have; the oldest are deleted.
        by: who signs in.
    """
    room = {"key_id": session.key_id, "kept": most - 1}
    if (yield "make_room_for_session", room):
        yield "raise_epoch", {"name": TOKENS_EPOCH}
    yield "add_console_session", msgspec.structs.asdict(session)
    yield "note_token_use", {"id": session.key_id, "used_at": session.created_at}
    yield from note_audit(by, AuditAction.SIGNED_IN, ObjectKind.KEY, session.key_id)


def end_session(*, hash: bytes, by: Auditor) -> Work[None]:
    """End a session; does nothing if it has ended.

    Parameters:
        hash: the keyed hash of its secret.
        by: who signs out.
    """
    for (key_id,) in (yield "end_console_session", {"hash": hash}):
        yield "raise_epoch", {"name": TOKENS_EPOCH}
        yield from note_audit(by, AuditAction.SIGNED_OUT, ObjectKind.KEY, key_id)


def forget_sessions(*, now: int, limit: int) -> Work[int]:
    """Delete expired sessions. Repeat while it returns as many as ``limit``.

    Parameters:
        now: Unix seconds.
        limit: maximum number of sessions.

    Returns:
        How many were deleted.
    """
    return len((yield "forget_console_sessions", {"now": now, "limit": limit}))
