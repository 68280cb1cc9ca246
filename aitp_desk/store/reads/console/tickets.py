"""Reads tickets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.store.base import Store
from aitp_desk.store.rows.threads import read_texts
from aitp_desk.store.rows.tickets import read_ticket

PAGE_ROWS = 200


async def ticket(store: Store, ticket_id: str) -> StoredTicket | None:
    """Read a ticket."""
    rows = await store.read("ticket", {"id": ticket_id})
    return read_ticket(rows[0]) if rows else None


async def tickets(store: Store, *, open_only: bool) -> AsyncIterator[StoredTicket]:
    """Read all stored tickets, the oldest first."""
    statement, after = "open_tickets_after" if open_only else "tickets_after", ""
    while rows := await store.read(statement, {"after": after, "limit": PAGE_ROWS}):
        for row in rows:
            yield read_ticket(row)
        after = rows[-1][0]


async def tickets_before(store: Store, before: str, limit: int) -> list[StoredTicket]:
    """Read tickets created before one, the newest first.

    Parameters:
        before: the id of that one.
        limit: maximum number of tickets.
    """
    found: list[StoredTicket] = []
    while len(found) < limit:
        most = min(PAGE_ROWS, limit - len(found))
        rows = await store.read("tickets_before", {"before": before, "limit": most})
        found += map(read_ticket, rows)
        if len(rows) < most:
            break
        before = rows[-1][0]
    return found


async def thread_operator(store: Store, thread_id: str) -> str | None:
    """Read the actor of a thread's operator; None if the agent has it."""
    rows = await store.read("thread_operator", {"thread_id": thread_id})
    return rows[0][0] if rows else None


async def said_by_people(
    store: Store, thread_id: str, above: int, limit: int
) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Read unprompted messages on a thread: by operators, about tickets, by capabilities.

    Parameters:
        above: only messages after this position.

    Returns:
        The positions of the messages, in order, with the sender of each and its parts.
    """
    given = {"thread_id": thread_id, "above": above, "limit": limit}
    rows = await store.read("said_by_people", given)
    return tuple((seq, actor, tuple(read_texts(content))) for seq, actor, content in rows)


async def due_tickets(store: Store, now: int, limit: int) -> tuple[str, ...]:
    """Find tickets whose waiting time is over.

    Parameters:
        now: Unix seconds.
    """
    rows = await store.read("due_tickets", {"now": now, "limit": limit})
    return tuple(row[0] for row in rows)


class Tally(msgspec.Struct, frozen=True):
    """Tickets of a kind that were created, or that ended in the same state.

    Parameters:
        how: ``made``, or the state in which they ended.
        within: seconds that each of them waited at most; 0 for longer than any other row has, and
            for created ones.
        seconds: their waiting times together.
    """

    kind: str
    how: str
    within: int
    tickets: int
    seconds: int


async def tallies(store: Store) -> tuple[Tally, ...]:
    """Read how many tickets were created, and how they ended.

    The counts begin when the database began to count.
    """
    return tuple(Tally(*row) for row in await store.read("ticket_tallies", {}))


async def tickets_waiting(store: Store, limit: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Count waiting tickets, up to a bound.

    Returns:
        By kind and state how many, and Unix seconds when the first of them was created.
    """
    rows = await store.read("tickets_waiting", {"limit": limit})
    return {(kind, state): (count, since) for kind, state, count, since in rows}
