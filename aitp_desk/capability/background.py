"""What capabilities do beside messages: jobs, rounds, hooks, redirects, telling how they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from aitp_desk.capability.effects import Effect, Refuse
from aitp_desk.capability.http import Send, ask_nobody
from aitp_desk.capability.messages import NOTHING, Context, Record, has_at_least

MOST_REF = 200
"""How many characters the end of a link has at most."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job at work.

    Parameters:
        ref, payload: as of :class:`Start`.
        now: Unix seconds.
        thread_id: the thread of the message that started it.
        read: reads one of the capability's records.
        attempt: which attempt this is, from 1. Where it is not the first, one before may have been
            broken off at any place, also after another server had done what it was asked.
        send: asks another server. In tests it is a plain function.
    """

    ref: str
    payload: Any
    now: int
    thread_id: str | None
    read: Callable[[str], Awaitable[Record | None]]
    attempt: int = 1
    send: Send = ask_nobody


Wanted = Sequence[Effect] | Callable[[Context], Sequence[Effect]]
"""What a job wants: effects, or what decides them by records and counters as they are then. That is
pure, as :meth:`Capability.judge` is, and promised the same."""


class Work(msgspec.Struct, frozen=True):
    """How jobs of one name are done.

    Parameters:
        do: does one, and returns what is to become of it: effects but for :class:`Replace` and
            :class:`Seal`, applied in the commit of the job's end. It raises
            :class:`~aitp_desk.capability.Retry` where it may succeed later.
        deadline: seconds that an attempt may take.
        delays: seconds to wait after the first failure, the second and so on; then it is given up.
    """

    do: Callable[[Job], Awaitable[Wanted]]
    deadline: float = 30.0
    delays: tuple[int, ...] = (5, 60, 600)


class Round(msgspec.Struct, frozen=True):
    """What is done again and again, first when the desk starts.

    Parameters:
        do: does it, given what asks other servers. What it finds out the capability remembers. One
            that fails is tried again, each time after a longer while.
        every: seconds from the end of one to the begin of the next.
    """

    do: Callable[[Send], Awaitable[None]]
    every: int


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

    def has(self, key: str, least: int) -> bool:
        """Whether a counter holds so much; as of :class:`Context`."""
        return has_at_least(self.counters, key, least)


class Accept(msgspec.Struct, frozen=True):
    """A delivery is taken; its sender is told so once the effects are on disk.

    Parameters:
        effects: all but :class:`Replace` and :class:`Seal`. The same delivery may come again: a
            record of its id says that it was there.
        thread_id: the thread that it is about, on which the desk says something; None for none.
            Where it was deleted meanwhile it is as if the delivery had come before that: nothing is
            said, no job is done, and of what is kept only what outlives threads holds something.
    """

    effects: tuple[Effect, ...] = ()
    thread_id: str | None = None


Hook = Callable[[Delivery], Accept | Refuse]
"""Judges a delivery; it is pure, as :meth:`Capability.judge` is, and promised the same."""


class Webhook(msgspec.Struct, frozen=True):
    """A hook that takes something else than JSON.

    Parameters:
        judge: judges a delivery.
        media_type: what bodies have to be, in small letters and without parameters, such as
            ``application/x-www-form-urlencoded``.
    """

    judge: Hook
    media_type: str = "application/json"


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody follows a link of the capability's: nobody known, and maybe a program that looks.

    Parameters:
        ref: the last segment of the address, as it came: of at most :data:`MOST_REF` characters.
        now: Unix seconds.
        read, send: as of :class:`Job`.
    """

    ref: str
    now: int
    read: Callable[[str], Awaitable[Record | None]]
    send: Send = ask_nobody


class Onward(msgspec.Struct, frozen=True):
    """Where somebody is led who follows a link.

    Parameters:
        url: an address for their browser.
        effects: as of :class:`Accept`; they are on disk before anybody is led on.
        thread_id: as of :class:`Accept`.
    """

    url: str
    effects: tuple[Effect, ...] = ()
    thread_id: str | None = None


Redirect = Callable[[Visit], Awaitable[Onward | Refuse]]
"""Finds out where somebody is led. It may be asked again for the same visit."""


class Health(msgspec.Struct, frozen=True):
    """How a capability is that is not well, or something that it watches elsewhere.

    Parameters:
        reason: a sentence that everybody may read.
    """

    state: Literal["degraded", "down"]
    reason: str
