"""Slots for long-running work, such as streams and uploads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import TypeVar

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import RateLimited, Unavailable
from aitp_desk.observability.figures import Figure, gauge

RETRY_SECONDS = 10
"""When a refused client may try again."""
_Key = TypeVar("_Key", bound=Hashable)


class ConcurrencySlots:
    """The slots for one kind of work, of all desks of a process together.

    Parameters:
        what: the kind of work, in the plural.
        most: how many slots there are.
        most_per_caller: how many of them one caller may have; anonymous callers are counted by
            address.
        most_per_address: how many the anonymous callers of one address may have in all, who are
            then counted by address and subject; None: as many as one caller.
    """

    def __init__(
        self,
        what: str,
        *,
        most: int,
        most_per_caller: int,
        most_per_address: int | None = None,
    ) -> None:
        self._what = what
        self._most = most
        self._most_per_caller = most_per_caller
        self._most_per_address = most_per_address or most_per_caller
        self._open: Counter[str] = Counter()
        self._open_on: Counter[tuple[str, str]] = Counter()

    def count_open(self) -> int:
        """Return how many slots are in use."""
        return self._open.total()

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures of slots in use."""
        name = f"aitp_desk_{self._what}"
        return (
            gauge(name, f"Open {self._what}.", self.count_open()),
            gauge(f"{name}_limit", "The limit.", self._most),
        )

    def acquire(self, principal: Principal, subject: str = "") -> Callable[[], None]:
        """Take a slot; return a function to call once when the work is done.

        Parameters:
            subject: what the work is about, such as a thread. Visitors of one office share an
                address, and each has a thread.

        Raises:
            RateLimited, Unavailable: the caller has, or all callers have, too many.
        """
        caller = principal.limited_as
        if self.count_open() >= self._most:
            raise Unavailable(
                f"Too many {self._what} are open. Try again later.",
                retry_after=RETRY_SECONDS,
            )
        is_shared = principal.counts_by_address
        most = self._most_per_address if is_shared else self._most_per_caller
        on_subject = (caller, subject if is_shared else "")
        if self._open[caller] >= most or self._open_on[on_subject] >= self._most_per_caller:
            reached = most if self._open[caller] >= most else self._most_per_caller
            raise RateLimited(
                f"At most {reached} {self._what} may be open at once. Close one first.",
                scope="ip" if is_shared else "principal",
                retry_after=RETRY_SECONDS,
            )
        self._open[caller] += 1
        self._open_on[on_subject] += 1

        def leave() -> None:
            _count_down(self._open, caller)
            _count_down(self._open_on, on_subject)

        return leave


def _count_down(counter: Counter[_Key], key: _Key) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
