"""Limits concurrent requests, per caller and in total; the others wait in a queue.

A request takes a free slot at once. Otherwise it waits, first come, first served, but never behind
a caller that has used all its own slots. If too many wait, the next is refused. A request that only
waits for something else (``Prefer: wait``) releases its slot meanwhile, and long-running work has
separate slots (``concurrency_slots.py``).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import msgspec

from aitp_desk.config import Concurrency as Settings
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import Unavailable
from aitp_desk.model.text import write_count
from aitp_desk.observability.figures import Figure, gauge

RETRY_SECONDS = 5
"""When a refused client may try again."""


class ConcurrencySlot(msgspec.Struct, eq=False):
    """A request's slot among those in progress.

    Parameters:
        caller: the key of its caller.
        free: called with the caller when the slot is released.
    """

    caller: str
    free: Callable[[str], None]
    is_held: bool = True

    def release(self) -> None:
        """Release the slot. Repeating it does no harm."""
        if self.is_held:
            self.is_held = False
            self.free(self.caller)


class ConcurrencyLimiter:
    """The request slots of all desks of a process together.

    Parameters:
        tiers: callers with more or fewer slots than others.
    """

    def __init__(self, settings: Settings, tiers: Tiers) -> None:
        self._settings = settings
        self._tiers = tiers
        self._most = settings.at_once
        self._least = min([settings.at_once_per_caller, *tiers.at_once])  # every caller has these
        self._free = self.free
        self._taken = 0
        self._taken_by: dict[str, int] = {}
        self._queue: dict[_QueuedRequest, None] = {}

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures of requests in progress and waiting."""
        return (
            gauge("aitp_desk_places_taken", "Running requests.", self._taken),
            gauge(
                "aitp_desk_places_limit",
                "The limit of running requests (concurrency.at_once).",
                self._most,
            ),
            gauge("aitp_desk_places_waiting", "Waiting requests.", len(self._queue)),
        )

    def try_acquire(self, principal: Principal) -> ConcurrencySlot | None:
        """Take a slot if one is free, in total and for the caller."""
        if self._taken < self._most:
            caller = principal.limited_as
            taken = self._taken_by.get(caller, 0)
            if taken < self._least or taken < self._places_of(principal):
                self._taken += 1
                self._taken_by[caller] = taken + 1
                return ConcurrencySlot(caller, self._free)
        return None

    async def wait(self, principal: Principal, is_gone: Callable[[], bool]) -> ConcurrencySlot:
        """Wait for a slot.

        Parameters:
            is_gone: whether the client has disconnected: then its place in the queue is free.

        Raises:
            Unavailable: too many wait, or it took too long.
        """
        waiting = _QueuedRequest(principal.limited_as, self._places_of(principal), is_gone)
        if not self._may_wait(waiting):
            self._drop_gone()
            if not self._may_wait(waiting):
                raise Unavailable(
                    "Too many requests are in progress, and too many wait. Try again in"
                    f" {RETRY_SECONDS} seconds.",
                    retry_after=RETRY_SECONDS,
                )
        self._queue[waiting] = None
        try:
            async with asyncio.timeout(self._settings.wait_seconds):
                return await waiting.place
        except TimeoutError:
            waiting.give_back()
            raise Unavailable(
                "Too many requests are in progress; yours has waited"
                f" {write_count(self._settings.wait_seconds, 'second')}. Try again in"
                f" {RETRY_SECONDS} seconds.",
                retry_after=RETRY_SECONDS,
            ) from None
        except asyncio.CancelledError:
            waiting.give_back()
            raise
        finally:
            self._queue.pop(waiting, None)

    def free(self, caller: str) -> None:
        """Free a slot of a caller's, and let the first eligible request proceed."""
        self._taken -= 1
        left = self._taken_by[caller] - 1
        if left:
            self._taken_by[caller] = left
        else:
            del self._taken_by[caller]
        if self._queue:
            self._call_next()

    def _places_of(self, principal: Principal) -> int:
        tier = self._tiers.find_tier(principal)
        own = 0 if tier is None else tier.at_once
        return own or self._settings.at_once_per_caller

    def _may_wait(self, newcomer: _QueuedRequest) -> bool:
        """Return whether the queue has space; per caller, no more wait than may run."""
        if len(self._queue) >= self._settings.waiting:
            return False
        callers = Counter(waiting.caller for waiting in self._queue)
        return callers[newcomer.caller] < newcomer.most

    def _drop_gone(self) -> None:
        for waiting in [one for one in self._queue if not one.place.done() and one.is_gone()]:
            del self._queue[waiting]
            waiting.let_go()

    def _call_next(self) -> None:
        for waiting in self._queue:
            taken = self._taken_by.get(waiting.caller, 0)
            if taken < waiting.most and not waiting.place.done():
                if waiting.is_gone():
                    waiting.let_go()
                    continue
                self._taken += 1
                self._taken_by[waiting.caller] = taken + 1
                waiting.place.set_result(ConcurrencySlot(waiting.caller, self._free))
                return


class _QueuedRequest:
    """A request in the queue.

    Parameters:
        most: how many slots its caller may have.
    """

    __slots__ = ("caller", "is_gone", "most", "place")

    def __init__(self, caller: str, most: int, is_gone: Callable[[], bool]) -> None:
        self.caller = caller
        self.most = most
        self.is_gone = is_gone
        self.place: asyncio.Future[ConcurrencySlot] = asyncio.get_running_loop().create_future()

    def give_back(self) -> None:
        """Release a slot that was granted a moment too late."""
        if self.place.done() and not self.place.cancelled() and self.place.exception() is None:
            self.place.result().release()

    def let_go(self) -> None:
        """End the wait of a request whose client is gone."""
        self.place.set_exception(Unavailable("The caller has disconnected."))
