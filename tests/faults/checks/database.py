"""What a database holds, against what clients were promised.

It is read as it lies, past the desk: the digests and links are computed again from the rows.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from aitp_desk.model.conversation.chain import FIRST_LINK, canonical, digest_message, next_link
from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.store.units.threads.folded_threads import read_turn
from tests.faults.checks.ledger import MARK, QUESTIONS, Ledger
from tests.faults.databases import FaultDatabase, count_open, open_database

IDLE_SECONDS, AT_LAST_SECONDS = 120, 600
"""How long a desk may take to answer what it left unanswered, and to end what it left at work.

At last it may also wait for the next attempts of what has failed.
"""
SOLD = ("sell", "deliver")
"""Actions that are paid for; their calls and threads are examined as payments."""
_texts = msgspec.json.Decoder(list[str]).decode
_attachments = msgspec.json.Decoder(list[Attachment]).decode


class Findings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        missing: messages and replies that were acknowledged and are not there as they were.
        doubled: posts that stand on a thread more than once.
        gaps: threads whose messages or events are not numbered 1, 2, 3 …
        broken: threads whose digests or links do not follow from what was said.
        unanswered: posts without a completed run that has replied.
        answered_twice: runs with more than one reply.
        halved: AHP turns of which only a part was kept.
        corrupt: complaints of the database's own check.
        refused: requests that were answered, but not with 200.
    """

    missing: int = 0
    doubled: int = 0
    gaps: int = 0
    broken: int = 0
    unanswered: int = 0
    answered_twice: int = 0
    halved: int = 0
    corrupt: int = 0
    refused: int = 0


async def wait_until_idle(database: FaultDatabase, *, at_last: bool = False) -> None:
    """Return when nothing is at work or due, or after a while: then it is found.

    Parameters:
        at_last: whether what waits for another attempt is waited for as well.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(AT_LAST_SECONDS if at_last else IDLE_SECONDS):
            while await count_open(database, at_last=at_last):  # noqa: ASYNC110 - it is a process
                await asyncio.sleep(0.02)


def last_events(database: Path) -> dict[str, int]:
    """Return the number of the last event of each thread."""
    with closing(open_database(database)) as connection:
        return dict(connection.execute("SELECT id, last_event FROM threads"))


def examine(database: Path, ledger: Ledger) -> Findings:
    """Count the faults of a database while its desk is idle."""
    with closing(open_database(database)) as connection:
        connection.execute("BEGIN")  # so that all that is read is of one moment
        posts = Counter[str]()
        kept: dict[str, tuple[str, str]] = {}
        replies = Counter[str]()
        answered_by: list[str | None] = []
        sides: dict[str, Counter[str]] = defaultdict(Counter)
        for id_, thread_id, origin, content, run_id in connection.execute(
            "SELECT id, thread_id, origin, content, run_id FROM messages WHERE thread_id NOT IN"
            f" (SELECT thread_id FROM calls WHERE action IN {SOLD} AND thread_id IS NOT NULL)"
        ):
            text = _texts(content)[0]
            kept[id_] = (thread_id, text)
            sides[thread_id][origin] += 1
            if origin == "visitor" and text.startswith(MARK):
                posts[text] += 1
                answered_by.append(run_id)
            elif run_id is not None:
                replies[run_id] += 1
        posted_on = {thread_id for thread_id, text in kept.values() if text.startswith(MARK)}
        called_on = {  # by A2A nothing is said there but what came of the call
            thread_id for (thread_id,) in connection.execute("SELECT thread_id FROM calls")
        }
        completed = {
            run_id
            for (run_id,) in connection.execute("SELECT id FROM runs WHERE state = 'completed'")
        }
        complaints = [row for (row,) in connection.execute("PRAGMA integrity_check")]
        complaints += connection.execute("PRAGMA foreign_key_check").fetchall()
        gaps, broken = _examine_threads(connection)
        split = _count_split_turns(connection)
    return Findings(
        missing=sum(kept.get(id_) != said for id_, said in ledger.said.items())
        + sum(kept.get(id_, ("",))[0] != thread for id_, thread in ledger.replies.items()),
        doubled=sum(count > 1 for count in posts.values()),
        gaps=gaps,
        broken=broken,
        unanswered=sum(run not in completed or not replies[run] for run in answered_by if run)
        + answered_by.count(None),
        answered_twice=sum(count > 1 for count in replies.values()),
        halved=split
        + sum(
            side["visitor"] != side["desk"]
            for thread_id, side in sides.items()
            if thread_id not in posted_on and (side["visitor"] or thread_id not in called_on)
        ),
        corrupt=sum(complaint != "ok" for complaint in complaints),
        refused=ledger.refused,
    )


def _examine_threads(connection: sqlite3.Connection) -> tuple[int, int]:
    """Count the threads with gaps, and those whose chain does not hold."""
    gaps = broken = 0
    for thread_id, last_seq, last_link, last_event, is_pruned in connection.execute(
        "SELECT id, last_seq, last_link, last_event, pruned_at IS NOT NULL FROM threads"
    ):
        link, seqs, is_broken = FIRST_LINK, [], False
        for seq, role, actor, created_at, content, files, salt, digest, kept in connection.execute(
            "SELECT seq, role, actor, created_at, content, attachments, salt, digest, link"
            " FROM messages WHERE thread_id = ? ORDER BY seq",
            (thread_id,),
        ):
            said = canonical(
                thread=thread_id,
                seq=seq,
                role=role,
                actor=actor,
                created_at=created_at,
                content=_texts(content),
                attachments=_attachments(files),
            )
            link = next_link(link, digest_message(salt, said))
            is_broken |= digest != digest_message(salt, said) or kept != link
            seqs.append(seq)
        events = connection.execute(  # a message is its own event
            "SELECT event FROM messages WHERE thread_id = :thread UNION ALL"
            " SELECT n FROM events WHERE thread_id = :thread ORDER BY 1",
            {"thread": thread_id},
        )
        numbers = [number for (number,) in events]
        gaps += seqs != list(range(1, last_seq + 1)) or (
            not is_pruned and numbers != list(range(1, last_event + 1))
        )
        broken += is_broken or link != last_link
    return gaps, broken


def _count_split_turns(connection: sqlite3.Connection) -> int:
    """Count the folded turns that are not whole, or stand at length as well."""
    split = 0
    for packed, stands_twice in connection.execute(
        "SELECT turn, EXISTS (SELECT 1 FROM threads WHERE id = thread_id)"
        " OR EXISTS (SELECT 1 FROM sessions WHERE id = session_id) FROM folded_turns"
    ):
        turn = read_turn(packed)
        is_whole = turn.question in QUESTIONS and any(turn.reply) and len(turn.seed) == 32
        split += bool(stands_twice) or not is_whole
    return split
