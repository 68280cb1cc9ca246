"""All steps of histories by name, and histories that are made of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from aitp_desk.model.errors import DeskError
from aitp_desk.store.records.capabilities import RecordsMoved
from tests.unit.store.histories import (
    calls,
    files,
    jobs,
    keys,
    privacy,
    runs,
    threads,
    tickets,
    transports,
)
from tests.unit.store.histories.history import Draw, History, NothingThereError, Step

FAMILIES = (threads, runs, calls, tickets, jobs, keys, files, privacy, transports)
STEPS: dict[str, Step] = {
    f"{family.__name__.rpartition('.')[2]}.{step.__name__}": step
    for family in FAMILIES
    for step in family.STEPS
}
EVERY_UNIT = [
    (what, Draw(n, f"Text {n}", "aA"[n % 2], number))
    for number in range(6)
    for n in range(4)
    for what in STEPS
]
"""A history in which every unit of work is run."""


async def live(past: History, steps: Iterable[tuple[str, Draw]]) -> None:
    """Have a history happen."""
    await threads.open_one(past, Draw(3, "Hello", "a", 0))  # Aya's
    await threads.post_one(past, Draw(0, "Hello again", "a", 0))
    for what, drawn in steps:
        # a refusal, of both, is one of the things that may happen
        with suppress(DeskError, RecordsMoved, NothingThereError):
            await STEPS[what](past, drawn)
