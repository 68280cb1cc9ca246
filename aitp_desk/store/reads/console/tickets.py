"""What the desk reads of tickets: one bounded, indexed look each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from aitp_desk.model.conversation.ticket import KeptTicket
from aitp_desk.store.base import Store
from aitp_desk.store.rows.threads import read_texts
from aitp_desk.store.rows.tickets import read_ticket

PAGE_ROWS = 200


async def ticket(store: Store, ticket_id: str) -> KeptTicket | None:
    """Read a ticket."""
    rows = await store.read("ticket", {"id": ticket_id})
    return read_ticket(rows[0]) if rows else None


async def tickets(store: Store, *, open_only: bool) -> AsyncIterator[KeptTicket]:
    """Read the tickets that are kept, the oldest first."""
    statement, after = "open_tickets_after" if open_only else "tickets_after", ""
    while rows := await store.read(statement, {"after": after, "limit": PAGE_ROWS}):
        for row in rows:
            yield read_ticket(row)
        after = rows[-1][0]


async def tickets_before(store: Store, before: str, limit: int) -> list[KeptTicket]:
    """Read tickets that were made before one, the newest first.

    Parameters:
        before: the id of that one.
        limit: how many at most.
    """
    found: list[KeptTicket] = []
    while len(found) < limit:
        most = min(PAGE_ROWS, limit - len(found))
        rows = await store.read("tickets_before", {"before": before, "limit": most})
        found += map(read_ticket, rows)
        if len(rows) < most:
            break
        before = rows[-1][0]
    return found


async def thread_operator(store: Store, thread_id: str) -> str | None:
    """Read the actor of the operator who has a thread; None where the agent has it."""
    rows = await store.read("thread_operator", {"thread_id": thread_id})
    return rows[0][0] if rows else None


async def said_by_people(
    store: Store, thread_id: str, above: int, limit: int
) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Read what was said on a thread in its own time: by operators, of tickets, by capabilities.

    Parameters:
        above: only what was said after this place.

    Returns:
        The places of the messages, in order, with who says each, and its parts.
    """
    given = {"thread_id": thread_id, "above": above, "limit": limit}
    rows = await store.read("said_by_people", given)
    return tuple((seq, actor, tuple(read_texts(content))) for seq, actor, content in rows)


async def due_tickets(store: Store, now: int, limit: int) -> tuple[str, ...]:
    """Find tickets that were waited for long enough.

    Parameters:
        now: Unix seconds.
    """
    rows = await store.read("due_tickets", {"now": now, "limit": limit})
    return tuple(row[0] for row in rows)


class Tally(msgspec.Struct, frozen=True):
    """Tickets of a kind that were made, or that ended alike.

    Parameters:
        how: ``made``, or the state in which they ended.
        within: seconds that each of them waited at most; 0 for longer than any other row has, and
            for those that were made.
        seconds: that they waited together.
    """

    kind: str
    how: str
    within: int
    tickets: int
    seconds: int


async def tallies(store: Store) -> tuple[Tally, ...]:
    """Read how many tickets were made and how they ended, since the database counts them."""
    return tuple(Tally(*row) for row in await store.read("ticket_tallies", {}))


async def tickets_waiting(store: Store, limit: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Count the tickets that wait for a person, up to so many.

    Returns:
        By kind and state how many, and Unix seconds when the first of them was made.
    """
    rows = await store.read("tickets_waiting", {"limit": limit})
    return {(kind, state): (count, since) for kind, state, count, since in rows}
