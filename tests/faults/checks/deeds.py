"""What a database holds of operators' deeds on a platform, against what they were told."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import msgspec

from aitp_desk.transports.messages import Outgoing
from aitp_desk.transports.operators.text import NOTED
from tests.faults.checks.faults import Faults
from tests.faults.databases import open_database
from tests.faults.processes.operators import ROOM, Operators, Reply
from tests.faults.processes.writers import FailingPlatform

_SAID = """
SELECT content, actor, thread_id FROM messages
WHERE actor LIKE '%/operators/%' AND origin = 'desk' AND content IS NOT NULL
"""
_HELD = """
SELECT h.thread_id FROM thread_operators h
WHERE NOT EXISTS (SELECT 1 FROM tickets t WHERE t.thread_id = h.thread_id AND t.state = 'taken')
"""
_MARK = re.compile(r"person-\d+ \d+")
_ASKED = "write the answer as a reply now"
_texts = msgspec.json.Decoder(list[str]).decode


class DeedFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        deeds_lost: acknowledged replies, notes and presses of which nothing came, and no refusal.
        deeds_doubled: replies and notes that are there more than once.
        deeds_denied: replies and notes that are there, and were refused.
        deeds_elsewhere: replies on another thread than that of their ticket.
        closed_otherwise: tickets that an operator was told to have closed, and has not.
        told_twice: messages of visitors that a ticket's operators were told twice.
        held: threads that an operator has still, without a ticket.
        named: what the faults are.
    """

    deeds_lost: int = 0
    deeds_doubled: int = 0
    deeds_denied: int = 0
    deeds_elsewhere: int = 0
    closed_otherwise: int = 0
    told_twice: int = 0
    held: int = 0
    named: tuple[str, ...] = ()


def examine_deeds(database: Path, operators: Operators, platform: FailingPlatform) -> DeedFindings:
    """Count the faults of operators' deeds while their desk is idle."""
    room = platform.seen[ROOM]
    answers: dict[str, list[Outgoing]] = defaultdict(list)
    for one in room:
        answers[one.answers_ref].append(one)
    faults = Faults()
    with closing(open_database(database)) as connection:
        connection.execute("BEGIN")
        said = defaultdict(list)
        for content, actor, thread in connection.execute(_SAID):
            said[_texts(content)[0], actor.rpartition("/")[2]].append(thread)
        notes = Counter(connection.execute("SELECT words, operator FROM notes").fetchall())
        of = dict(
            connection.execute(
                "SELECT m.ref, t.thread_id FROM operator_messages m JOIN tickets t"
                " ON t.id = m.ticket WHERE m.address = ?",
                (ROOM,),
            )
        )
        for reply in operators.replies:
            there = said[reply.text, reply.name]
            count = notes[reply.text, reply.name] if reply.is_note else len(there)
            is_refused = any(_is_refusal(one, reply) for one in answers[reply.ref])
            faults.add("deeds_lost", reply, not count and not is_refused)
            faults.add("deeds_doubled", reply, count > 1)
            faults.add("deeds_denied", (reply, answers[reply.ref]), bool(count) and is_refused)
            faults.add("deeds_elsewhere", reply, any(one != of.get(reply.of) for one in there))
        _examine_presses(connection, operators, platform, answers, faults)
        for (thread,) in connection.execute(_HELD):
            faults.add("held", thread)
    told = Counter((one.answers_ref, one.text) for one in room if _is_told(one))
    for message, count in told.items():
        faults.add("told_twice", message, count - 1)
    return DeedFindings(**faults.counts, named=faults.named)


def _is_refusal(answer: Outgoing, reply: Reply) -> bool:
    return answer.id.startswith("job_") and not (reply.is_note and answer.text == NOTED)


def _is_told(one: Outgoing) -> bool:
    """Whether a message passes on one that a visitor has written."""
    return not one.buttons and one.text.startswith("Visitor:") and bool(_MARK.search(one.text))


def _examine_presses(
    connection: sqlite3.Connection,
    operators: Operators,
    platform: FailingPlatform,
    answers: dict[str, list[Outgoing]],
    faults: Faults,
) -> None:
    tickets = {
        token: (state, ended_by)
        for token, state, ended_by in connection.execute(
            "SELECT c.token, t.state, t.ended_by FROM operator_controls c"
            " JOIN tickets t ON t.id = c.ticket"
        )
    }
    for press in operators.presses:
        notice = platform.notices.get(press.event_id)
        is_asked = any(_ASKED in one.text for one in answers[press.ref])
        is_silent = notice == "" and press.label == "Answer" and not is_asked
        faults.add("deeds_lost", (press, notice), notice is None or is_silent)
        if notice == "Closed." and press.label == "Close":
            ended = tickets[press.token]
            faults.add("closed_otherwise", (press, ended), ended != ("closed", press.name))
