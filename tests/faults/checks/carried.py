"""What a database holds of conversations on a platform, against what people were promised there."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from aitp_desk.agent.history.message_codec import list_sources
from aitp_desk.store.units.tickets.handover import TAKEN_OVER
from tests.faults.checks.faults import Faults
from tests.faults.databases import FaultDatabase, open_database
from tests.faults.processes.operators import NAMES
from tests.faults.processes.writers import FailingPlatform, Writer

HANDLED_SECONDS = 60
"""How long a desk that has lost events may take for those that it has."""
_LEFT = {
    "unanswered": "SELECT r.id, r.state, r.error FROM runs r WHERE state <> 'completed'"
    f" AND NOT ((state = 'cancelled' OR error = '{TAKEN_OVER}')"
    " AND EXISTS (SELECT 1 FROM tickets t WHERE t.thread_id = r.thread_id))",
    "dead": "SELECT id, kind, last_error FROM jobs WHERE state = 'dead'",
    "behind": "SELECT c.address, c.state, c.queued_seq, c.sent_seq, t.last_seq"
    " FROM transport_conversations c JOIN threads t ON t.id = c.thread_id"
    " WHERE c.state <> 'open' OR c.queued_seq <> t.last_seq"
    " OR NOT EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND m.seq <= c.sent_seq)",
}
_WAITING = (
    "SELECT 1 FROM jobs WHERE kind IN ('transport_event', 'transport_stop')"
    " AND state IN ('queued', 'at_work') LIMIT 1"
)
_texts = msgspec.json.Decoder(list[str]).decode
_files = msgspec.json.Decoder(list[object]).decode


class CarriedFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        missing: acknowledged messages that are not on their person's thread.
        doubled: messages that are there more than once.
        foreign: messages on a thread that nobody has sent there.
        disordered: conversations whose messages are not in the order of acknowledgement.
        unremoved: deleted messages that are kept, or others that are not.
        unattached: messages without their files.
        unnoted: notes for operators that are missing.
        noted_twice: such notes that are there more than once.
        threads: people with more or fewer threads than one.
        unanswered: runs that are not completed, and did not end as an operator took the thread.
        unsent: replies of which the platform has not seen every part, as they were written.
        resent: parts that it has seen under two ids.
        shuffled: conversations whose replies it has not seen in their order.
        untold: sentences about the conversation itself that it has not seen, or too many; one may
            be left out that the person has stopped before it was sent.
        dead: jobs that were given up.
        behind: conversations with messages that were not queued or sent.
        corrupt: complaints of the database's own check.
        named: what the faults are.
    """

    missing: int = 0
    doubled: int = 0
    foreign: int = 0
    disordered: int = 0
    unremoved: int = 0
    unattached: int = 0
    unnoted: int = 0
    noted_twice: int = 0
    threads: int = 0
    unanswered: int = 0
    unsent: int = 0
    resent: int = 0
    shuffled: int = 0
    untold: int = 0
    dead: int = 0
    behind: int = 0
    corrupt: int = 0
    named: tuple[str, ...] = ()


async def wait_until_handled(database: FaultDatabase) -> None:
    """Return when no event waits that the desk still has, or after a while.

    An event that is about a lost one fails at each attempt, for hours, and holds up those after it.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(HANDLED_SECONDS):
            while await database.rows(_WAITING):  # noqa: ASYNC110 -- of another process
                await asyncio.sleep(0.02)


def examine_carried(
    database: Path, writers: Sequence[Writer], platform: FailingPlatform
) -> CarriedFindings:
    """Count the faults of a database while its desk is idle."""
    faults = Faults()
    with closing(open_database(database)) as connection:
        connection.execute("BEGIN")
        threads = defaultdict(list)
        for id_, owner in connection.execute("SELECT id, owner FROM threads"):
            threads[owner].append(id_)
        for one in writers:
            faults.add("threads", one.principal, len(threads.get(one.principal, ())) != 1)
        for owner in threads.keys() - {one.principal for one in writers}:
            faults.add("threads", owner)
        for writer in writers:
            for thread_id in threads.get(writer.principal, ())[:1]:
                _examine_thread(connection, thread_id, writer, faults)
                _examine_sent(connection, thread_id, writer, platform, faults)
        for kind, sql in _LEFT.items():
            for row in connection.execute(sql):
                faults.add(kind, row)
        complaints = connection.execute("PRAGMA integrity_check").fetchall()
        complaints += connection.execute("PRAGMA foreign_key_check").fetchall()
        for complaint in complaints:
            faults.add("corrupt", complaint, complaint != ("ok",))
    return CarriedFindings(**faults.counts, named=faults.named)


def _examine_thread(
    connection: sqlite3.Connection, thread_id: str, writer: Writer, faults: Faults
) -> None:
    def add(kind: str, texts: Mapping[str, int]) -> None:
        for text, count in texts.items():
            faults.add(kind, (writer.name, text), count)

    rows = connection.execute(
        "SELECT content, attachments, principal FROM messages"
        " WHERE thread_id = ? AND origin = 'visitor' ORDER BY seq",
        (thread_id,),
    ).fetchall()
    kept = [
        (None, 0, who) if content is None else (_texts(content)[0], len(_files(files or "[]")), who)
        for content, files, who in rows
    ]
    texts = Counter(text for text, _, _ in kept if text is not None)
    expected = [said for said in writer.said if not said.is_removed]
    wanted = Counter(said.text for said in expected)
    add("missing", wanted - texts)
    add("doubled", {text: n for text, n in (texts - wanted).items() if text in wanted})
    add("foreign", {text: n for text, n in texts.items() if text not in wanted})
    for there in (False, True):
        said_there = [said.text for said in expected if said.is_elsewhere == there]
        kept_there = [
            text for text, _, who in kept if text is not None and (who != writer.principal) == there
        ]
        if kept_there != said_there:
            faults.add("disordered", (writer.name, kept_there, said_there))
            break
    sent = Counter[str]()  # a button may say what a message with a file has said
    for said in expected:
        sent[said.text] += said.files
    attached = Counter(text for text, files, _ in kept for _ in range(files))
    add("unattached", {text: attached[text] != files for text, files in sent.items()})
    removed = sum(said.is_removed for said in writer.said)
    gone = sum(text is None for text, _, _ in kept)
    faults.add("unremoved", (writer.name, removed, gone), abs(removed - gone))
    notes = Counter(
        words
        for (words,) in connection.execute(
            "SELECT words FROM notes WHERE thread_id = ? AND operator NOT IN (?, ?)",
            (thread_id, *NAMES),
        )
    )
    promised = Counter(writer.notes)
    add("unnoted", promised - notes)
    add("noted_twice", notes - promised)


def _examine_sent(
    connection: sqlite3.Connection,
    thread_id: str,
    writer: Writer,
    platform: FailingPlatform,
    faults: Faults,
) -> None:
    shown = [*platform.seen[writer.conversation], *platform.seen[writer.other]]
    parts: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    order: dict[str, list[tuple[str, int]]] = defaultdict(list)
    notices = []
    for sent in shown:
        if sent.id.startswith("job_"):
            notices.append(sent.text)
            continue
        message_id, part, where = sent.id.split("-")
        faults.add("resent", sent, int(part) in parts[message_id, where])
        parts[message_id, where][int(part)] = sent.text
        order[where].append((message_id, int(part)))
    seqs: dict[str, int] = {}
    for id_, seq, content in connection.execute(
        "SELECT id, seq, content FROM messages WHERE thread_id = ? AND origin = 'desk'"
        " ORDER BY seq",
        (thread_id,),
    ):
        seqs[id_] = seq
        if content is None:
            continue
        text = "\n\n".join(one for one in _texts(content) if not list_sources(one))
        seen = [parts[key] for key in parts if key[0] == id_]
        words = {"".join("".join(one[part] for part in sorted(one)).split()) for one in seen}
        is_unsent = words != {"".join(text.split())}
        faults.add("unsent", (writer.name, id_, text, words), is_unsent)
    for sent_there in order.values():
        numbers = [(seqs[id_], part) for id_, part in sent_there if id_ in seqs]
        faults.add("shuffled", (writer.name, numbers), numbers != sorted(numbers))
    promised = range(writer.notices - writer.stopped_notices, writer.notices + 1)
    is_untold = len(notices) not in promised
    faults.add("untold", (writer.name, promised, notices), is_untold)
