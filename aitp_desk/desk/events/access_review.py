"""Notes when subscribers' access has to be reviewed before they are sent more.

Changes of access by this process are noted at once. The notice of another process may come after
that of what a third one has written since, or never. So each page of events says how
often access to the thread had changed when it was read.
"""

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
        self._epoch: int | None = None
        self._changes = 0

    def note_change(self) -> None:
        """Note that access has changed."""
        self.is_due = True
        self._changes += 1

    async def read(self, reading: Awaitable[ThreadEventPage]) -> ThreadEventPage:
        """Read events. A review is due if they may be later than a change of access."""
        page = await reading
        if page.access_epoch != self._epoch:
            self._epoch = page.access_epoch
            self.note_change()
        return page

    async def check(self, upto: Callable[[], Awaitable[int]]) -> int:
        """Check a subscriber's access; again, if it may have changed meanwhile."""
        while True:
            changes = self._changes
            last = await upto()
            if changes == self._changes:
                return last
