"""Work of capabilities outside messages: jobs, rounds, hooks, redirects and health."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from aitp_desk.capability.effects import Effect, Refuse
from aitp_desk.capability.http import Send, ask_nobody
from aitp_desk.capability.messages import NOTHING, Context, Record, has_at_least

MOST_REF = 200
"""Maximum length of the last segment of a link, in characters."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A running job.

    Parameters:
        ref, payload: as of :class:`Start`.
        now: Unix seconds.
        thread_id: the thread of the message that started it.
        read: reads one of the capability's records.
        attempt: the number of this attempt, from 1. An earlier attempt may have stopped at any
            point, even after another server had carried out its request.
        send: calls another server. Tests pass a plain function.
    """

    ref: str
    payload: Any
    now: int
    thread_id: str | None
    read: Callable[[str], Awaitable[Record | None]]
    attempt: int = 1
    send: Send = ask_nobody


Wanted = Sequence[Effect] | Callable[[Context], Sequence[Effect]]
"""The result of a job: effects, or a function that decides them from the current records and
counters. Such a function is pure and has the guarantees of :meth:`Capability.judge`."""


class Work(msgspec.Struct, frozen=True):
    """How jobs of one name run.

    Parameters:
        do: runs one job and returns its effects, except :class:`Replace` and :class:`Seal`. They
            are applied in the commit that ends the job. It raises
            :class:`~aitp_desk.capability.Retry` if a later attempt may succeed.
        deadline: timeout of an attempt in seconds.
        delays: seconds to wait after the first failure, the second and so on; then the job is given
            up.
    """

    do: Callable[[Job], Awaitable[Wanted]]
    deadline: float = 30.0
    delays: tuple[int, ...] = (5, 60, 600)


class Round(msgspec.Struct, frozen=True):
    """Periodic work, first done when the desk starts.

    Parameters:
        do: does it, given the function that calls other servers. The capability remembers the
            result. After a failure it is retried with growing delays.
        every: seconds from the end of one run to the start of the next.
    """

    do: Callable[[Send], Awaitable[None]]
    every: int


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A request of another server to a hook. The capability verifies the sender itself.

    Parameters:
        body: the raw bytes, so that a signature over them can be checked.
        headers: with lowercase names.
        now: Unix seconds.
        records, counters: as of :class:`Context`.
    """

    body: bytes
    headers: Mapping[str, str]
    now: int
    records: Mapping[str, Record] = NOTHING
    counters: Mapping[str, int] = NOTHING

    def record(self, key: str) -> Record | None:
        """Return a record; None if there is none."""
        return self.records.get(key)

    def counter(self, key: str) -> int:
        """Return a counter's value, 0 if nothing was added."""
        return self.counters.get(key, 0)

    def has(self, key: str, least: int) -> bool:
        """Return whether a counter holds at least so much; as of :class:`Context`."""
        return has_at_least(self.counters, key, least)


class Accept(msgspec.Struct, frozen=True):
    """Accepts a delivery; the response is sent once the effects are on disk.

    Parameters:
        effects: all but :class:`Replace` and :class:`Seal`. The same delivery may come again: keep
            a record of its id to detect that.
        thread_id: the thread on which the desk sends messages; None for none. If the thread has
            been deleted, the delivery counts as older than the deletion: nothing is sent, no job
            runs, and only records that outlive threads keep a value.
    """

    effects: tuple[Effect, ...] = ()
    thread_id: str | None = None


Hook = Callable[[Delivery], Accept | Refuse]
"""Judges a delivery. It is pure and has the guarantees of :meth:`Capability.judge`."""


class Webhook(msgspec.Struct, frozen=True):
    """A hook that accepts a media type other than JSON.

    Parameters:
        judge: judges a delivery.
        media_type: the required media type, lowercase and without parameters, such as
            ``application/x-www-form-urlencoded``.
    """

    judge: Hook
    media_type: str = "application/json"


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A visit of a capability's link, by an unknown visitor or program.

    Parameters:
        ref: the last segment of the URL as received, of at most :data:`MOST_REF` characters.
        now: Unix seconds.
        read, send: as of :class:`Job`.
    """

    ref: str
    now: int
    read: Callable[[str], Awaitable[Record | None]]
    send: Send = ask_nobody


class Onward(msgspec.Struct, frozen=True):
    """The target of a redirect.

    Parameters:
        url: the URL for the visitor's browser.
        effects: as of :class:`Accept`; they are on disk before the redirect is sent.
        thread_id: as of :class:`Accept`.
    """

    url: str
    effects: tuple[Effect, ...] = ()
    thread_id: str | None = None


Redirect = Callable[[Visit], Awaitable[Onward | Refuse]]
"""Returns the target of a visit. It may be called again for the same visit."""


class Health(msgspec.Struct, frozen=True):
    """The health of a degraded capability, or of something that it monitors elsewhere.

    Parameters:
        reason: a sentence that everybody may read.
    """

    state: Literal["degraded", "down"]
    reason: str
