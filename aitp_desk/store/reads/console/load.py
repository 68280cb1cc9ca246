"""Counts messages and tickets by the hour, for operators.

Messages are counted by their ids, which grow with time, a slice at a time
(``reads/console/threads.py``).
"""

from __future__ import annotations

import asyncio
from statistics import median_low

from aitp_desk.model.ids import first_id
from aitp_desk.store.base import Store
from aitp_desk.store.records.console import LoadHour

HOUR = 60 * 60
MOST_COUNTED = 100_000
"""How many messages, and folded turns, of an hour are counted."""
MOST_TICKETS = 5_000
"""How many tickets of an hour are counted."""
SLICE = 4_000


async def load_of_hour(store: Store, at: int) -> LoadHour:
    """Count the messages and tickets of an hour.

    Parameters:
        at: Unix seconds when it began.
    """
    messages, by_visitors = await _count_said(store, at)
    folded = await _count_folded(store, at)
    time = {"since": at, "before": at + HOUR, "limit": MOST_TICKETS}
    made = await store.read("count_tickets_made", time)
    waited = sorted(row[0] for row in await store.read("tickets_waited", time))
    return LoadHour(
        at,
        messages + 2 * folded,
        by_visitors + folded,
        made[0][0],
        len(waited),
        median_low(waited) if waited else None,
    )


async def _count_said(store: Store, at: int) -> tuple[int, int]:
    """Count the messages of an hour, and those of visitors."""
    since, before = first_id("msg", at), first_id("msg", at + HOUR)
    counted = by_visitors = 0
    while counted < MOST_COUNTED:
        part = {"since": since, "before": before, "limit": SLICE}
        ((count, theirs, last),) = await store.read("count_said_between", part)
        counted += count
        by_visitors += theirs or 0
        if count < SLICE:
            break
        since = last
        await asyncio.sleep(0)
    return counted, by_visitors


async def _count_folded(store: Store, at: int) -> int:
    since, before = first_id("thread", at), first_id("thread", at + HOUR)
    counted = 0
    while counted < MOST_COUNTED:
        part = {"since": since, "before": before, "limit": SLICE}
        ((count, last),) = await store.read("count_folded_between", part)
        counted += count
        if count < SLICE:
            break
        since = last
        await asyncio.sleep(0)
    return counted
