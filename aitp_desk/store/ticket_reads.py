"""How tickets stand in columns, and what is read of them: one bounded, indexed look each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from aitp_desk.model.ticket import KeptTicket, TicketKind, TicketState
from aitp_desk.store.base import Params, Row, Store

PAGE_ROWS = 200


def ticket_columns(ticket: KeptTicket) -> Params:
    """A ticket as the statement ``add_ticket`` takes it."""
    columns = msgspec.structs.asdict(ticket)
    return {**columns, "kind": ticket.kind.value, "state": ticket.state.value}


def ticket_of(row: Row) -> KeptTicket:
    """Read a ticket as the statement ``ticket`` and those like it give it."""
    id_, desk, kind, state, *rest = row
    return KeptTicket(id_, desk, TicketKind(kind), TicketState(state), *rest)


async def ticket(store: Store, ticket_id: str) -> KeptTicket | None:
    """Read a ticket."""
    rows = await store.read("ticket", {"id": ticket_id})
    return ticket_of(rows[0]) if rows else None


async def tickets(store: Store, *, open_only: bool) -> AsyncIterator[KeptTicket]:
    """Read the tickets that are kept, the oldest first."""
    statement, after = "open_tickets_after" if open_only else "tickets_after", ""
    while rows := await store.read(statement, {"after": after, "limit": PAGE_ROWS}):
        for row in rows:
            yield ticket_of(row)
        after = rows[-1][0]


async def thread_operator(store: Store, thread_id: str) -> str | None:
    """Read the actor of the operator who has a thread; None where the agent has it."""
    rows = await store.read("thread_operator", {"thread_id": thread_id})
    return rows[0][0] if rows else None


async def due_tickets(store: Store, now: int, limit: int) -> tuple[str, ...]:
    """Find tickets that were waited for long enough.

    Parameters:
        now: Unix seconds.
    """
    rows = await store.read("due_tickets", {"now": now, "limit": limit})
    return tuple(row[0] for row in rows)
