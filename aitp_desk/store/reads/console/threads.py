"""Reads tickets and single threads for operators.

Reads block the desk's event loop, so a list reads its rows a slice at a time and yields between two
slices. A page that has read its share of rows ends there, even if it is short or empty, and says
where it continues.
"""

from __future__ import annotations

import asyncio
import re
from typing import Literal

from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.ticket import TICKET_PREFIX, StoredTicket
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import PAGE_BYTES, Row, Store
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.console import (
    CarriedThread,
    ShownMessageRow,
    ThreadAtAGlance,
    ThreadLine,
    TicketFilter,
    WaitingCount,
)
from aitp_desk.store.records.pages import Listing
from aitp_desk.store.records.transports import ConversationState
from aitp_desk.store.rows.console import (
    list_attached,
    read_actor,
    read_folded_line,
    read_line,
    read_message,
)
from aitp_desk.store.rows.notes import read_note
from aitp_desk.store.rows.pages import size_of
from aitp_desk.store.rows.tickets import read_ticket
from aitp_desk.store.units.threads.folded_threads import read_turn
from aitp_desk.store.units.transports import MESSAGE_KIND

MOST_NOTES = 200
"""How many notes of a thread are read at once."""
MOST_ENDED = 100
"""How many ended tickets of a thread are read."""
MOST_WAITING = 5_000
"""How many waiting tickets are counted, the oldest."""
TICKETS_LOOKED_AT = 2_000
"""How many tickets a page reads."""
SLICE = 100

_AFTER_ALL = "~"
_CURSOR = re.compile(rf"(open|over)\.({TICKET_PREFIX}_[0-9a-z_]{{1,64}})")


async def tickets(
    store: Store, asked: TicketFilter, after: str | None, limit: int
) -> Listing[StoredTicket]:
    """List tickets: waiting ones oldest first, ended ones newest first.

    A page reads ``TICKETS_LOOKED_AT`` tickets at most, and has ``PAGE_BYTES`` of them.

    Parameters:
        after: the ``next`` of the page before; None for the first.
        limit: maximum number of tickets of a page.

    Raises:
        InvalidRequest: ``after`` is no such value.
    """
    phase, place = _begin(asked, after)
    found: list[tuple[str, StoredTicket]] = []
    looked, room = 0, PAGE_BYTES
    while True:
        rows = await _slice(store, phase, place)
        for row in rows:
            place, ticket = row[0], read_ticket(row)
            if ticket.is_over is not (phase == "over") or not asked.takes(ticket):
                continue
            room -= size_of(row)
            if len(found) == limit or (found and room < 0):
                return Listing(tuple(one for _, one in found), found[-1][0])
            found.append((f"{phase}.{place}", ticket))
        looked += len(rows)
        is_through = len(rows) < SLICE
        if is_through and phase == "open" and asked.state == "all":
            phase, place, is_through = "over", _AFTER_ALL, False
        if is_through or looked >= TICKETS_LOOKED_AT:
            further = None if is_through else f"{phase}.{place}"
            return Listing(tuple(one for _, one in found), further)
        await asyncio.sleep(0)


async def tickets_of_thread(store: Store, thread_id: str) -> tuple[StoredTicket, ...]:
    """Read the waiting tickets of a thread, the oldest first."""
    rows = await store.read("waiting_tickets_of_thread", {"thread_id": thread_id})
    return tuple(map(read_ticket, rows))


async def waiting(store: Store, operator: str, now: int) -> WaitingCount:
    """Count the waiting tickets, the oldest ``MOST_WAITING`` of them.

    Parameters:
        operator: whose tickets are also counted separately, by name.
        now: Unix seconds.
    """
    rows = await store.read("tickets_waiting_now", {"limit": MOST_WAITING})
    opened = [(count, oldest) for state, _, count, oldest in rows if state == "open"]
    taken = {name: count for state, name, count, _ in rows if state == "taken"}
    return WaitingCount(
        sum(count for count, _ in opened),
        sum(taken.values()),
        taken.get(operator, 0),
        max((now - oldest for _, oldest in opened), default=None),
    )


async def line(store: Store, thread_id: str) -> ThreadLine | None:
    """Read a thread as a line of a list. A folded one stays folded."""
    rows = await store.read("thread_line", {"thread_id": thread_id})
    folded = [] if rows else await store.read("folded_turn", {"thread_id": thread_id})
    if not rows and not folded:
        return None
    open_ones = await tickets_of_thread(store, thread_id)
    if rows:
        return read_line(rows[0], open_ones)
    return read_folded_line(thread_id, read_turn(folded[0][1]), open_ones)


async def thread(store: Store, thread_id: str) -> ThreadAtAGlance | None:
    """Read a thread without its messages; None if there is no such thread.

    It has the newest ``MOST_ENDED`` of its ended tickets and ``MOST_NOTES`` of its notes.
    """
    kept = await reads.thread(store, thread_id)
    found = None if kept is None else await line(store, thread_id)
    if kept is None or found is None:
        return None
    ended = await store.read(
        "ended_tickets_of_thread", {"thread_id": thread_id, "limit": MOST_ENDED}
    )
    return ThreadAtAGlance(
        found,
        tuple(map(read_actor, await store.read("actors_present", {"thread_id": thread_id}))),
        (*found.tickets, *map(read_ticket, ended)),
        await notes(store, thread_id),
        kept.last_event,
        await _carried(store, thread_id),
    )


async def _carried(store: Store, thread_id: str) -> tuple[CarriedThread, ...]:
    found = await store.read("conversations_shown", {"thread_id": thread_id, "kind": MESSAGE_KIND})
    return tuple(
        CarriedThread(transport, ConversationState(state), problem)
        for transport, state, problem in found
    )


async def messages(
    store: Store, thread_id: str, *, before: str | None, limit: int, now: int
) -> Listing[ShownMessageRow] | None:
    """Read the messages of a thread, the newest or those before a message.

    Parameters:
        before: id of a message of this thread; None for none.
        now: Unix seconds.

    Returns:
        The oldest first; ``next`` is the message before which the list continues. None if there is
        no such thread.

    Raises:
        InvalidRequest: ``before`` is not a message of this thread.
    """
    if await reads.thread(store, thread_id) is None:
        return None
    place = reads.BEYOND if before is None else await reads.place(store, thread_id, before)
    if not place:
        raise InvalidRequest("`before` must be the id of a message of this thread.", param="before")
    found = await store.read_page(
        "said_before", {"thread_id": thread_id, "before": place}, limit=limit
    )
    page = [await _said(store, row, now) for row in reversed(found.rows)]
    return Listing(tuple(page), page[0].id if found.has_more else None)


async def notes(store: Store, thread_id: str, after: str = "") -> tuple[Note, ...]:
    """Read the oldest notes of a thread after one, at most ``MOST_NOTES``."""
    place = {"thread_id": thread_id, "after": after, "limit": MOST_NOTES}
    return tuple(map(read_note, await store.read("notes_of_thread", place)))


async def _said(store: Store, row: Row, now: int) -> ShownMessageRow:
    names: dict[str, str] = {}
    for attached in list_attached(row):
        file = await file_reads.find(store, attached.file_id, now=now)
        if file is not None:
            names[file.id] = file.name
    return read_message(row, names)


async def _slice(store: Store, phase: str, place: str) -> list[Row]:
    if phase == "open":
        return await store.read("open_tickets_after", {"after": place, "limit": SLICE})
    return await store.read("tickets_before", {"before": place, "limit": SLICE})


def _begin(asked: TicketFilter, after: str | None) -> tuple[Literal["open", "over"], str]:
    """Return where a page begins."""
    if after is None:
        return ("over", _AFTER_ALL) if asked.state == "over" else ("open", "")
    cursor = _CURSOR.fullmatch(after)
    if cursor is None or asked.state not in ("all", cursor[1]):
        raise InvalidRequest("`after` must be the `next` of the previous page.", param="after")
    return ("open" if cursor[1] == "open" else "over"), cursor[2]
