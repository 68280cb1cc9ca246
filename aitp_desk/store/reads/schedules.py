"""Reads schedules."""

from __future__ import annotations

from aitp_desk.model.calls.schedule import KeptSchedule
from aitp_desk.store.base import Reader


async def schedules(store: Reader) -> tuple[KeptSchedule, ...]:
    """Read all schedules, by name; there are few."""
    return tuple(KeptSchedule(*row) for row in await store.read("schedules", {}))
