"""Stores sessions, which name threads; records later turns, and deletes expired rows.

A session is a conversation of a protocol that has no threads (AHP 0.1, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.conversation.thread import Thread
from aitp_desk.model.errors import SessionLimit, UnknownSession
from aitp_desk.model.ids import first_id
from aitp_desk.store.base import Work
from aitp_desk.store.records.threads import Expired, NewMessage, Session
from aitp_desk.store.units.threads.creation import add_thread
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.tail import ThreadTail

FOR_GOOD = 1 << 52
"""The end of a session that lives as long as its thread, in Unix seconds."""
SESSION_PREFIX = "session"
"""The prefix of sessions' ids (``model.ids.new_id``), from which their age is read."""


def record_exchange(*, session: Session, messages: Sequence[NewMessage], now: int) -> Work[None]:
    """Record a later query turn that was answered: the question and the answer.

    Parameters:
        session: its state after this turn.
        messages: the visitor's message, then the desk's.

    Raises:
        SessionLimit, UnknownSession: as :func:`say_in_session`.
    """
    yield from say_in_session(session, messages, now)


def name_thread(
    *, thread_id: str, desk: str, owner: str | None, session_id: str, now: int, idle_before: int
) -> Work[str]:
    """Find or create the session of a thread.

    It then lives as long as the thread.

    Parameters:
        desk: at which the thread has to be opened; empty for the site's own.
        owner: id of the principal that has to own the thread; None for an anonymous one.
        session_id: the id of a new session.
        now: Unix seconds.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.

    Returns:
        The session's id.

    Raises:
        UnknownSession: there is no such thread.
    """
    rows = yield from find_tail(thread_id, desk)
    if not rows or rows[0][0] != owner or (owner is None and rows[0][1] < idle_before):
        raise UnknownSession("There is no thread with this id.", param="session_id")
    sessions = yield "session_of_thread", {"thread_id": thread_id}
    if sessions:
        yield "keep_sessions", {"thread_id": thread_id, "until": FOR_GOOD}
        return str(sessions[0][0])
    yield from _add_name(thread_id, desk, owner, session_id, now)
    return session_id


def open_named(thread: Thread, speaker: str, session_id: str, now: int) -> Work[None]:
    """Open an empty thread with its session: a part of a unit.

    Parameters:
        speaker: the actor stamped on the opener's messages that name none.
        now: Unix seconds.
    """
    yield from add_thread(thread, speaker, ThreadTail(thread.id, now))
    yield from _add_name(thread.id, thread.desk, thread.owner, session_id, now)


def say_in_session(session: Session, messages: Sequence[NewMessage], now: int) -> Work[None]:
    """Add messages to a session's thread, and update the session.

    A part of a unit.

    Raises:
        SessionLimit: other processes have stored the session's last turns meanwhile.
        UnknownSession: the thread does not exist: it was deleted, or the record of its first turn
            was lost; or it has another owner by now.
    """
    thread_id = session.thread_id
    rows = yield from find_tail(thread_id, session.desk)
    if not rows:
        raise UnknownSession(
            "The messages of this session are no longer stored. Leave session_id out to"
            " start a new session.",
            param="session_id",
        )
    owner, _updated_at, _speaker, *end = rows[0]
    if owner != session.owner:
        raise UnknownSession(
            "Another caller has claimed the thread of this session. Leave session_id out"
            " to start a new session.",
            param="session_id",
        )
    tail = ThreadTail(thread_id, now, *end)
    before = tail.seq
    for message in messages:
        tail.add_message(message)
    yield from tail.write()
    # the session answers its messages; a run of the thread would answer them again
    yield "pass_over", {"thread_id": thread_id, "seq": tail.seq, "before": before}
    counted = yield (
        "move_session",
        {
            "id": session.id,
            "thread_id": session.thread_id,
            "turns": session.turns,
            "last_at": session.last_at,
            "pending": session.pending,
            "tokens": session.tokens,
            "heard": session.heard,
            "kept_until": session.kept_until,
            "more_turns": session.more_turns,
            "more_tokens": session.more_tokens,
        },
    )
    if session.more_turns and session.most_turns and counted[0][0] > session.most_turns:
        raise make_session_limit(session.most_turns)


def make_session_limit(most: int) -> SessionLimit:
    """Create the error of a session that has used all its turns."""
    return SessionLimit(
        f"This session has used its {most} turns. Leave session_id out to start a new session.",
        param="session_id",
    )


def delete_expired(
    *, once_before: int, sessions_before: int, files_until: int, limit: int, files: int
) -> Work[Expired]:
    """Delete expired idempotency keys, sessions and files; their threads stay.

    Repeat while it returns as many as ``limit``, or ``files``.

    Parameters:
        once_before: Unix seconds; keys first used before then are deleted.
        sessions_before: Unix seconds; sessions without a turn since then are.
        files_until: files that expire by then are deleted.
        limit: maximum number of keys and sessions.
        files: maximum number of files.
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


def _add_name(
    thread_id: str, desk: str, owner: str | None, session_id: str, now: int
) -> Work[None]:
    """Insert a session that lives as long as its thread and has no turns."""
    opened = Session(session_id, thread_id, owner, 0, now, now, kept_until=FOR_GOOD, desk=desk)
    yield "add_session", msgspec.structs.asdict(opened)
