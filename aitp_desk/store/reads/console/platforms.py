"""Reads which tickets operators see on other platforms, and which people are operators there."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aitp_desk.store.base import Row, Store
from aitp_desk.store.records.operators import (
    BindingCode,
    BoundPerson,
    Deed,
    OperatorTicket,
    TicketControl,
)
from aitp_desk.store.records.threads import IdempotencyRecord, PostResult
from aitp_desk.store.units.tickets.platforms import SHOWN_KIND

PAGE_ROWS = 200


async def shown_ticket(store: Store, ticket_id: str, transport: str) -> OperatorTicket | None:
    """Read a ticket as operators on a platform know it."""
    rows = await store.read("operator_ticket", {"ticket": ticket_id, "transport": transport})
    if not rows:
        return None
    values = dict(zip(OperatorTicket.__struct_fields__, rows[0], strict=True))
    return OperatorTicket(**{**values, "is_over": bool(values["is_over"])})


async def ticket_at(store: Store, transport: str, address: str) -> str | None:
    """Find the ticket that a conversation on a platform is about."""
    rows = await store.read("operator_ticket_at", {"transport": transport, "address": address})
    return rows[0][0] if rows else None


async def ticket_of_message(store: Store, transport: str, address: str, ref: str) -> str | None:
    """Find the ticket that a message on a platform is about."""
    named = {"transport": transport, "address": address, "ref": ref}
    rows = await store.read("operator_ticket_of_message", named)
    return rows[0][0] if rows else None


async def is_telling(store: Store, transport: str) -> bool:
    """Return whether messages to operators are being sent, whose names are not known yet."""
    sending = {"kind": SHOWN_KIND, "ending": f"% {transport}"}
    return bool(await store.read("operator_messages_under_way", sending))


async def messages_about(
    store: Store, ticket_id: str, transport: str, limit: int
) -> tuple[str, ...]:
    """Read what a platform calls the newest messages about a ticket, oldest first."""
    named = {"ticket": ticket_id, "transport": transport, "limit": limit}
    rows = await store.read("operator_messages", named)
    return tuple(row[0] for row in reversed(rows))


async def tickets_behind(store: Store, limit: int) -> AsyncIterator[tuple[str, str]]:
    """Find shown tickets whose changes have no job yet, with their transports."""
    ticket, transport = "", ""
    while True:
        after = {"ticket": ticket, "transport": transport, "limit": limit}
        rows = await store.read("operator_tickets_behind", after)
        for ticket, transport, *_ in rows:
            yield ticket, transport
        if len(rows) < limit:
            return


async def said_reply(store: Store, idempotency: IdempotencyRecord) -> PostResult | None:
    """Read what an operator has said with an idempotency key, whatever its fingerprint."""
    rows = await store.read("look_up_once", idempotency.asked)
    return PostResult(*rows[0][1:]) if rows else None


async def ticket_control(store: Store, token: str) -> TicketControl | None:
    """Read what a button does."""
    rows = await store.read("operator_control", {"token": token})
    if not rows:
        return None
    found, ticket, transport, deed, person, expires_at = rows[0]
    return TicketControl(
        token=found,
        ticket=ticket,
        transport=transport,
        deed=Deed(deed),
        person=person,
        expires_at=expires_at,
    )


async def binding_code(store: Store, hash: bytes, transport: str) -> BindingCode | None:
    """Read what a code stands for."""
    rows = await store.read("operator_code", {"hash": hash, "transport": transport})
    if not rows:
        return None
    key_id, version, expires_at = rows[0]
    return BindingCode(
        hash=hash, transport=transport, key_id=key_id, version=version, expires_at=expires_at
    )


async def bound_person(store: Store, transport: str, person: str) -> BoundPerson | None:
    """Read the binding of a person."""
    rows = await store.read("bound_operator", {"transport": transport, "person": person})
    return _bound(rows[0]) if rows else None


async def bound_people(store: Store) -> AsyncIterator[BoundPerson]:
    """Read all bindings."""
    transport, person = "", ""
    after = {"transport": transport, "person": person, "limit": PAGE_ROWS}
    while rows := await store.read("bound_operators", after):
        for row in rows:
            yield _bound(row)
        after = {"transport": rows[-1][0], "person": rows[-1][1], "limit": PAGE_ROWS}


async def people_of_key(store: Store, key_id: str) -> tuple[BoundPerson, ...]:
    """Read the people who act as the holder of a key."""
    rows = await store.read("bound_operators_of_key", {"key_id": key_id, "limit": PAGE_ROWS})
    return tuple(map(_bound, rows))


def _bound(row: Row) -> BoundPerson:
    transport, person, key_id, version, code, bound_at = row
    return BoundPerson(transport, person, key_id, version, bytes(code), bound_at)
