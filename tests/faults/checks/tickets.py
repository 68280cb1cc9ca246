"""What a database holds of tickets, against what its people were promised."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec

from tests.faults.databases import open_database

_TICKETS = """
SELECT t.id, t.kind, t.state, t.answer, t.thread_id, c.state, c.result ->> 'answer'
FROM tickets t JOIN calls c ON c.id = t.call_id
"""
_SAID = """
SELECT m.thread_id, m.content FROM messages m
WHERE m.actor LIKE '%/operators/%' AND m.origin = 'desk'
"""
_HELD = """
SELECT count(*) FROM thread_operators h
WHERE NOT EXISTS (SELECT 1 FROM tickets t WHERE t.thread_id = h.thread_id AND t.state = 'taken')
"""
_texts = msgspec.json.Decoder(list[str]).decode


class TicketFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        answers_lost: ends of tickets that were acknowledged and are not there as they were.
        ended_twice: tickets of which more than one end was acknowledged.
        unsaid: answers that are not there once on their thread, or are not their call's result.
        kept_from_agent: threads that an operator has still, without a ticket.
    """

    answers_lost: int = 0
    ended_twice: int = 0
    unsaid: int = 0
    kept_from_agent: int = 0


class TicketCounts(msgspec.Struct, frozen=True):
    """What there was.

    Parameters:
        tickets: that were made.
        ends: how many ends of tickets were acknowledged.
    """

    tickets: int
    ends: int


def examine_tickets(database: Path, log: Path) -> tuple[TicketFindings, TicketCounts]:
    """Count the faults of tickets while their desk is idle."""
    told = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    with closing(open_database(database)) as connection:
        kept = {row[0]: row[1:] for row in connection.execute(_TICKETS)}
        said: dict[str, list[str]] = {}
        for thread_id, content in connection.execute(_SAID):
            said.setdefault(thread_id, []).append(_texts(content)[0])
        ((held,),) = connection.execute(_HELD)
    ends = Counter(id_ for id_, _, _ in told)
    answered = [row for row in kept.values() if row[:2] == ("action", "answered")]
    words = {
        id_: (state, answer if state == "answered" else "-")
        for id_, (_, state, answer, *_) in kept.items()
    }
    return TicketFindings(
        answers_lost=sum(words.get(id_) != (state, answer) for id_, state, answer in told),
        ended_twice=sum(count > 1 for count in ends.values()),
        unsaid=sum(
            (call, result, said.get(thread)) != ("succeeded", answer, thread and [answer])
            for _, _, answer, thread, call, result in answered
        ),
        kept_from_agent=held,
    ), TicketCounts(len(kept), len(told))
