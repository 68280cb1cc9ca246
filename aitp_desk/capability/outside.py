"""What capabilities do beside messages: jobs, hooks, and telling how they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from aitp_desk.capability.effects import Effect, Refuse
from aitp_desk.capability.messages import NOTHING, Record


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job at work.

    Parameters:
        ref, payload: as of :class:`Start`.
        now: Unix seconds.
        thread_id: the thread of the message that started it.
        read: reads one of the capability's records.
    """

    ref: str
    payload: Any
    now: int
    thread_id: str | None
    read: Callable[[str], Awaitable[Record | None]]


class Retry(Exception):
    """A job has failed; another attempt may succeed.

    Parameters:
        reason: a sentence for the site's operators, without what callers said.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Work(msgspec.Struct, frozen=True):
    """How jobs of one name are done.

    Parameters:
        do: does one, and returns what is to become of it: effects but for :class:`Replace`, applied
            in the commit of the job's end. It raises :class:`Retry` where it may succeed later.
        deadline: seconds that an attempt may take.
        delays: seconds to wait after the first failure, the second and so on; then it is given up.
    """

    do: Callable[[Job], Awaitable[Sequence[Effect]]]
    deadline: float = 30.0
    delays: tuple[int, ...] = (5, 60, 600)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What another server sends to a hook. Who it is the capability finds out by itself.

    Parameters:
        body: as it came, so that a signature over it can be checked.
        headers: their names in small letters.
        now: Unix seconds.
        records, counters: as of :class:`Context`.
    """

    body: bytes
    headers: Mapping[str, str]
    now: int
    records: Mapping[str, Record] = NOTHING
    counters: Mapping[str, int] = NOTHING

    def record(self, key: str) -> Record | None:
        """Return a record as it is."""
        return self.records.get(key)

    def counter(self, key: str) -> int:
        """Return what a counter holds, 0 where nothing was added."""
        return self.counters.get(key, 0)


class Accept(msgspec.Struct, frozen=True):
    """A delivery is taken; its sender is told so once the effects are on disk.

    Parameters:
        effects: all but :class:`Replace`. The same delivery may come again: a record of its id says
            that it was there.
        thread_id: the thread that it is about, on which the desk says something; None for none.
    """

    effects: tuple[Effect, ...] = ()
    thread_id: str | None = None


Hook = Callable[[Delivery], Accept | Refuse]
"""Judges a delivery; it is pure, as :meth:`Capability.judge` is, and promised the same."""


class Health(msgspec.Struct, frozen=True):
    """How a capability is, where it is not well.

    Parameters:
        reason: a sentence that everybody may read.
    """

    state: Literal["degraded", "down"]
    reason: str
