"""Reads schedules."""

from __future__ import annotations

from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.store.base import Reader


async def schedules(store: Reader) -> tuple[StoredSchedule, ...]:
    """Read all schedules, by name; there are few."""
    return tuple(StoredSchedule(*row) for row in await store.read("schedules", {}))
