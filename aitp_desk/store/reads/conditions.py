"""What the desk reads of how its parts were."""

from __future__ import annotations

from aitp_desk.store.base import Reader
from aitp_desk.store.units.jobs.conditions import KeptCondition


async def conditions(store: Reader) -> dict[str, KeptCondition]:
    """Read how all parts were last, by their names; they are few."""
    return {row[0]: KeptCondition(*row) for row in await store.read("conditions", {})}
