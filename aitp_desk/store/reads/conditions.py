"""Reads the conditions of the desk's components."""

from __future__ import annotations

from aitp_desk.store.base import Reader
from aitp_desk.store.units.jobs.conditions import StoredCondition


async def conditions(store: Reader) -> dict[str, StoredCondition]:
    """Read the last condition of every component, by name; there are few."""
    return {row[0]: StoredCondition(*row) for row in await store.read("conditions", {})}
