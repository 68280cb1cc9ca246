"""Reads the processes that serve a database, and the conditions of its components."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.store.base import Reader, Store
from aitp_desk.store.units.jobs.conditions import KeptCondition


async def beats(store: Store) -> Mapping[str, int]:
    """Read the beats of all processes, by their ids."""
    return dict(await store.read("processes", {}))


async def conditions(store: Reader) -> dict[str, KeptCondition]:
    """Read the last condition of every component, by name; there are few."""
    return {row[0]: KeptCondition(*row) for row in await store.read("conditions", {})}
