"""AHP sessions: the record of later turns, and the end of what has had its time."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.errors import UnknownSession
from aitp_desk.model.ids import first_id
from aitp_desk.store.base import Work
from aitp_desk.store.records import Expired, NewMessage, Session
from aitp_desk.store.work.folding import find_tail
from aitp_desk.store.work.tail import Tail

SESSION_PREFIX = "session"
"""What sessions' ids begin with (``model.ids.new_id``); their age is read off them."""


def record_exchange(*, session: Session, messages: Sequence[NewMessage], now: int) -> Work[None]:
    """Write down a later query turn that was answered: what was asked, and the answer.

    Parameters:
        session: how it stands after this turn.
        messages: the visitor's message, then the desk's.

    Raises:
        UnknownSession: as :func:`say_in_session`.
    """
    yield from say_in_session(session, messages, now)


def say_in_session(session: Session, messages: Sequence[NewMessage], now: int) -> Work[None]:
    """Place messages on a session's thread, and write where the session stands: a part of a unit.

    Raises:
        UnknownSession: the thread is not there: it was deleted, or the record of its first turn was
            lost; or it has become somebody else's meanwhile.
    """
    thread_id = session.thread_id
    rows = yield from find_tail(thread_id, desk="")
    if not rows:
        raise UnknownSession(
            "What was said in this session is not kept any more."
            " Leave session_id out to begin a new one.",
            param="session_id",
        )
    owner, _updated_at, _speaker, *end = rows[0]
    if owner != session.owner:
        raise UnknownSession(
            "Somebody has claimed what was said in this session."
            " Leave session_id out to begin a new one.",
            param="session_id",
        )
    tail = Tail(thread_id, now, *end)
    for message in messages:
        tail.say(message)
    yield from tail.write()
    yield (
        "move_session",
        {
            "id": session.id,
            "turns": session.turns,
            "last_at": session.last_at,
            "pending": session.pending,
            "tokens": session.tokens,
            "heard": session.heard,
            "kept_until": session.kept_until,
        },
    )


def delete_expired(
    *, once_before: int, sessions_before: int, files_until: int, limit: int, files: int
) -> Work[Expired]:
    """Forget idempotency keys, sessions and files that have had their time; their threads stay.

    Call it again while it returns as many as ``limit``, or ``files``.

    Parameters:
        once_before: Unix seconds; keys used first before then are forgotten.
        sessions_before: Unix seconds; sessions without a turn since then are.
        files_until: files that expire then or before are dropped.
        limit: at most so many keys and sessions.
        files: at most so many files.
    """
    keys = yield "delete_old_once", {"before": once_before, "limit": limit}
    idle = {
        "opened_before": first_id(SESSION_PREFIX, sessions_before),
        "before": sessions_before,
        "limit": limit,
    }
    sessions = yield "delete_idle_sessions", idle
    folded = yield "forget_folded_sessions", {**idle, "limit": limit - len(sessions)}
    expiring = {"now": files_until, "limit": files}
    yield "delete_expired_file_parts", expiring
    dropped = yield "delete_expired_files", expiring
    return Expired(len(keys), len(sessions) + len(folded), len(dropped))
