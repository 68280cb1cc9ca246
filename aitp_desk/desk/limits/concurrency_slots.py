"""Slots for long-running work, such as streams and uploads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import RateLimited, Unavailable
from aitp_desk.observability.figures import Figure, gauge

RETRY_SECONDS = 10
"""When a refused client may try again."""


class ConcurrencySlots:
    """The slots for one kind of work, of all desks of a process together.

    Parameters:
        what: the kind of work, in the plural.
        most: how many slots there are.
        most_per_caller: how many of them one caller may have; anonymous callers are counted by
            address.
    """

    def __init__(self, what: str, *, most: int, most_per_caller: int) -> None:
        self._what = what
        self._most = most
        self._most_per_caller = most_per_caller
        self._open: Counter[str] = Counter()

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures of slots in use."""
        name = f"aitp_desk_{self._what}"
        return (
            gauge(name, f"Open {self._what}.", self._open.total()),
            gauge(f"{name}_limit", "The limit.", self._most),
        )

    def acquire(self, principal: Principal) -> Callable[[], None]:
        """Take a slot; return a function to call once when the work is done.

        Raises:
            RateLimited, Unavailable: the caller has, or all callers have, too many.
        """
        caller = principal.limited_as
        if self._open.total() >= self._most:
            raise Unavailable(
                f"Too many {self._what} are open. Try again later.",
                retry_after=RETRY_SECONDS,
            )
        if self._open[caller] >= self._most_per_caller:
            raise RateLimited(
                f"At most {self._most_per_caller} {self._what} may be open at once. Close one"
                " first.",
                scope="ip" if principal.counts_by_address else "principal",
                retry_after=RETRY_SECONDS,
            )
        self._open[caller] += 1

        def leave() -> None:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

        return leave
