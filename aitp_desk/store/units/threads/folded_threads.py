"""Stores an AHP session's first turn and its new thread in one row.

Most such sessions end with their first turn, and one row costs a fraction of what the turn costs in
full: a thread, an actor, two linked messages, a session. Any access to the thread or the session
unfolds it first: units in ``access.py`` and ``sessions.py``, reads in ``reads/threads.py``. The
result is the same as if it had been written in full at once: ids, salts, times and the chain are
derived from the stored row.
"""

from __future__ import annotations

import hashlib

import msgspec

from aitp_desk.model.conversation.chain import SALT_BYTES
from aitp_desk.model.conversation.thread import Actor, Origin, Thread
from aitp_desk.model.ids import ID_BYTES, id_from
from aitp_desk.store.base import Row, Work
from aitp_desk.store.records.threads import FoldedTurn, NewMessage
from aitp_desk.store.units.threads.creation import add_thread
from aitp_desk.store.units.threads.tail import ThreadTail

write_turn = msgspec.msgpack.Encoder().encode
"""Encodes a turn for its column."""
read_turn = msgspec.msgpack.Decoder(FoldedTurn).decode
"""Decodes what :func:`write_turn` encoded."""


def fold_turn(*, thread_id: str, session_id: str, last_at: int, turn: bytes) -> Work[None]:
    """Insert a session's first turn, which opens its thread, in one row.

    Parameters:
        last_at: Unix seconds of the turn.
        turn: as :func:`write_turn` returns it.
    """
    yield (
        "fold_turn",
        {"thread_id": thread_id, "session_id": session_id, "last_at": last_at, "turn": turn},
    )


def unfold_thread(*, thread_id: str) -> Work[bool]:
    """Write a folded thread in full.

    Returns:
        Whether there was one.
    """
    rows = yield "folded_turn", {"thread_id": thread_id}
    if rows:
        yield from _unfold(thread_id, rows[0])
    return bool(rows)


def find_tail(thread_id: str, desk: str) -> Work[list[Row]]:
    """Run the statement ``thread_tail``; a folded thread is unfolded first.

    Parameters:
        desk: at which it was opened.
    """
    asked_for = {"thread_id": thread_id, "desk": desk}
    rows = yield "thread_tail", asked_for
    if not rows and (yield from unfold_thread(thread_id=thread_id)):
        rows = yield "thread_tail", asked_for
    return rows


def _unfold(thread_id: str, row: Row) -> Work[None]:
    session_id, packed = row
    turn = read_turn(packed)
    made = hashlib.shake_256(turn.seed).digest(2 * (ID_BYTES + SALT_BYTES))
    asked_id, said_id = made[:ID_BYTES], made[ID_BYTES : 2 * ID_BYTES]
    asked_salt, said_salt = made[-2 * SALT_BYTES : -SALT_BYTES], made[-SALT_BYTES:]
    messages = (
        NewMessage(
            id_from("msg", turn.recorded_at, asked_id),
            asked_salt,
            "user",
            turn.visitor,
            Origin.VISITOR,
            (turn.question,),
        ),
        NewMessage(
            id_from("msg", turn.recorded_at, said_id),
            said_salt,
            "assistant",
            turn.desk,
            Origin.DESK,
            turn.reply,
            metadata=turn.notes,
        ),
    )
    now = int(turn.recorded_at)
    tail = ThreadTail(thread_id, now)
    for message in messages:
        tail.add_message(message)
    desk = Actor(turn.desk, turn.capabilities)
    thread = Thread(thread_id, turn.owner, now, {}, (desk,), desk=turn.opened_at_desk)
    yield from add_thread(thread, turn.visitor, tail)
    yield from tail.write_additions()
    yield "set_answered", {"thread_id": thread_id, "seq": tail.seq}
    if session_id is not None:
        yield (
            "add_session",
            {
                "id": session_id,
                "thread_id": thread_id,
                "owner": turn.owner,
                "turns": 1,
                "created_at": turn.opened_at,
                "last_at": turn.last_at,
                "pending": turn.pending,
                "tokens": turn.tokens,
                "heard": 0,
                "kept_until": 0,
            },
        )
    yield "drop_folded_turn", {"thread_id": thread_id}
