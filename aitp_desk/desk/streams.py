"""Opening a stream of what happens on a thread: who may, from where on, and how many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from aitp_desk.config import Events
from aitp_desk.desk.channel import EVERYTHING, NOTHING, Outlet, Wording
from aitp_desk.desk.following import Following
from aitp_desk.desk.reading import Reading
from aitp_desk.model.errors import (
    EventsGone,
    InvalidRequest,
    RateLimited,
    ThreadNotFound,
    Unavailable,
)
from aitp_desk.model.principal import Principal

RETRY_SECONDS = 10
"""When somebody who was turned away may try again."""

Stream = Callable[[Outlet], Awaitable[None]]
"""Writes to an outlet until nobody reads any more. It is called once."""


class Streams:
    """Opens streams, and counts them.

    Parameters:
        idle_before: Unix seconds: an anonymous thread last used before then is closed.
    """

    def __init__(
        self,
        *,
        reading: Reading,
        following: Following,
        settings: Events,
        idle_before: Callable[[], int],
    ) -> None:
        self._reading = reading
        self._following = following
        self._settings = settings
        self._idle_before = idle_before
        self._open: Counter[str] = Counter()

    async def open(
        self, principal: Principal, thread_id: str, after: int | None, wording: Wording
    ) -> Stream:
        """Open a stream of a thread's events. It counts until it has been called and has ended.

        Parameters:
            after: number of the last event that the caller knows; None for the newest.
            wording: how the caller is told.

        Raises:
            ThreadNotFound: there is none, it is closed, or it is not the caller's.
            InvalidRequest: the thread has had no such event yet.
            EventsGone: too much has happened since.
            RateLimited, Unavailable: the caller, or all together, have too many streams open.
        """
        kept, access = await self._reading.reach(principal, thread_id, self._idle_before())
        last = kept.last_event if access.upto_event is None else access.upto_event
        begin = last if after is None else after
        if begin > last:
            raise InvalidRequest(
                f"This thread's last event has the number {last}.", param="Last-Event-ID"
            )
        if last - begin > self._settings.max_behind:
            raise EventsGone(
                f"More than {self._settings.max_behind} events have happened since. Follow the"
                " thread without a number, from its last event on, then read its messages.",
                param="Last-Event-ID",
            )
        caller = principal.address if principal.is_anonymous else principal.id
        self._count(principal, caller)

        async def stream(outlet: Outlet) -> None:
            async def upto() -> int:
                if not await outlet.is_welcome():
                    return NOTHING
                try:
                    access = await self._reading.access(principal, thread_id, self._idle_before())
                except ThreadNotFound:
                    return NOTHING
                return EVERYTHING if access.upto_event is None else access.upto_event

            try:
                with self._following.channel(thread_id, wording, last) as channel:
                    await channel.follow(outlet, begin, upto)
            finally:
                self._open[caller] -= 1
                if not self._open[caller]:
                    del self._open[caller]

        return stream

    def _count(self, principal: Principal, caller: str) -> None:
        if self._open.total() >= self._settings.max_streams:
            raise Unavailable(
                "Too many streams are open at this desk. Try again later.",
                retry_after=RETRY_SECONDS,
            )
        most = self._settings.max_streams_per_caller
        if self._open[caller] >= most:
            raise RateLimited(
                f"At most {most} streams may be open at once. Close one, then open another.",
                scope="ip" if principal.is_anonymous else "principal",
                retry_after=RETRY_SECONDS,
            )
        self._open[caller] += 1
