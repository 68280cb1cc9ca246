"""What must be true of every database, whatever was done to it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from aitp_desk.model.conversation.chain import FIRST_LINK, canonical, digest_message, next_link
from aitp_desk.model.conversation.thread import Attachment


def check_whole(path: Path) -> None:
    """Fail unless references, numbers and chains are whole."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        for thread_id, last_seq, last_link, last_event, pruned_at in database.execute(
            "SELECT id, last_seq, last_link, last_event, pruned_at FROM threads"
        ):
            if pruned_at is None:  # else they went a day after the thread
                _check_events(database, thread_id, last_event)
            assert _check_chain(database, thread_id) == (last_seq, last_link)


def _check_events(database: sqlite3.Connection, thread_id: str, last_event: int) -> None:
    happened = database.execute(
        "SELECT event, seq FROM messages WHERE thread_id = ?1"
        " UNION ALL SELECT n, after_seq FROM events WHERE thread_id = ?1 ORDER BY 1",
        (thread_id,),
    ).fetchall()
    assert [number for number, _ in happened] == list(range(1, last_event + 1))
    assert all(earlier <= later for (_, earlier), (_, later) in pairwise(happened))


def _check_chain(database: sqlite3.Connection, thread_id: str) -> tuple[int, bytes]:
    """Compute every digest and link again; return the last number and link."""
    place, link = 0, FIRST_LINK
    for seq, role, actor, created_at, content, attachments, salt, digest, kept in database.execute(
        "SELECT seq, role, actor, created_at, content, attachments, salt, digest, link"
        " FROM messages WHERE thread_id = ? ORDER BY seq",
        (thread_id,),
    ):
        place += 1
        assert seq == place
        link = next_link(link, digest)
        assert kept == link
        assert (content is None) == (attachments is None) == (salt is None)
        if content is not None:
            said = canonical(
                thread=thread_id,
                seq=seq,
                role=role,
                actor=actor,
                created_at=created_at,
                content=json.loads(content),
                attachments=[
                    Attachment(file["file_id"], tuple(file["tools"]))
                    for file in json.loads(attachments)
                ],
            )
            assert digest_message(salt, said) == digest
    return place, link
