"""Notes when subscribers' access has to be reviewed before they are sent more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aitp_desk.desk.events.events import ThreadEventPage


class AccessReview:
    """What may have changed the access of a thread's subscribers since it was reviewed.

    Attributes:
        is_due: whether access is reviewed before anything else is sent.
    """

    def __init__(self) -> None:
        self.is_due = False
        self._is_polled = False
        self._changes = 0

    def note_change(self) -> None:
        """Note that access has changed."""
        self.is_due = True
        self._changes += 1

    def note_poll(self) -> None:
        """Note a look for events of other processes: their notices of access may be lost, too."""
        self._is_polled = True
        self._changes += 1

    async def read(self, reading: Awaitable[ThreadEventPage]) -> ThreadEventPage:
        """Read events. A review is due if they may be later than a change of access."""
        was_polled, self._is_polled = self._is_polled, False
        page = await reading
        self.is_due |= bool(page.happenings) and (was_polled or self._is_polled)
        return page

    async def check(self, upto: Callable[[], Awaitable[int]]) -> int:
        """Check a subscriber's access; again, if it may have changed meanwhile."""
        while True:
            changes = self._changes
            last = await upto()
            if changes == self._changes:
                return last
