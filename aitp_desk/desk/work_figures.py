"""The figures of what the desk does besides answering: its schedules."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.model.figures import Figure, gauges
from aitp_desk.store import schedule_reads
from aitp_desk.store.base import Store


async def schedule_figures(store: Store, clock: Callable[[], float]) -> tuple[Figure, ...]:
    """How what is done again and again goes.

    Parameters:
        clock: Unix seconds.
    """
    kept, now = await schedule_reads.schedules(store), clock()
    return (
        gauges(
            "aitp_desk_schedule_done_seconds",
            "How long ago a schedule last did well; 0 before it first has.",
            "schedule",
            {one.name: 0.0 if one.done_at is None else max(0.0, now - one.done_at) for one in kept},
        ),
        gauges(
            "aitp_desk_schedule_failures",
            "How often a schedule has failed since it last did well.",
            "schedule",
            {one.name: one.failures for one in kept},
        ),
    )
