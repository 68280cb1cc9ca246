"""Counts requests of all processes together, where they share a Valkey server.

A request is counted in its own process, without waiting. Every fifth of a second what was counted
is added to common counts, and the sums are adopted: a caller that spreads its requests over
processes passes its limit by at most what they admit in that time. While the server is away each
process counts on its own.
"""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.model.counters import WINDOW_SECONDS, Counters
from aitp_desk.store.valkey import Increment, ValkeyAway, ValkeyServer


class SharedCounts:
    """Exchanges the counts of this process with those of the others.

    Parameters:
        server: None if the desk has none; then nothing is shared.
        digest: hashes a counted key, such as an address, so that the server holds none.
    """

    def __init__(self, server: ValkeyServer | None, digest: Callable[[bytes], bytes]) -> None:
        self._server = server
        self._digest = digest
        self._shared: dict[str, tuple[Counters, int]] = {}

    def add(self, name: str, counters: Counters, seconds: int = WINDOW_SECONDS) -> None:
        """Share counters under a name, which is the same in all processes.

        Parameters:
            seconds: of a window.
        """
        if self._server is not None:
            counters.share(seconds)
            self._shared[name] = (counters, seconds)

    async def exchange(self) -> None:
        """Exchange counts now."""
        if self._server is not None:
            for name, (counters, seconds) in self._shared.items():
                await self._exchange(self._server, name, counters, seconds)

    async def _exchange(
        self, server: ValkeyServer, name: str, counters: Counters, seconds: int
    ) -> None:
        counts = counters.take_unshared()
        if not counts:
            return
        try:
            totals = await server.add(
                [
                    Increment(self._key(name, count.key, count.ends), count.amount)
                    for count in counts
                ],
                seconds=2 * seconds,
            )
        except ValkeyAway:
            counters.return_unshared(counts)
            return
        for count, total in zip(counts, totals, strict=True):
            counters.adopt(count, total)

    def _key(self, name: str, key: object, ends: float) -> str:
        digest = self._digest(f"{name}\n{key!r}".encode()).hex()[:32]
        return f"aitp-desk:count:{digest}:{ends:.0f}"
