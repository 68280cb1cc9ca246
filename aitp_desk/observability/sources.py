"""The sources of a process's figures.

A *source* is a function that returns current figures. The composition root adds them; nothing else
knows of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from aitp_desk import own_version
from aitp_desk.observability.figures import NO_LABELS, Figure, Labels, gauges

Source = Callable[[], Iterable[Figure] | Awaitable[Iterable[Figure]]]


class MetricsCollector:
    """Collects the figures of all sources.

    Parameters:
        worker: the label of this process, for every sample; None for the only one of a desk.
    """

    def __init__(self, worker: str | None = None) -> None:
        self._sources: list[Source] = [_about_the_desk]
        self.labels: Labels = NO_LABELS if worker is None else {"worker": worker}

    def add(self, *sources: Source) -> None:
        """Add further sources."""
        self._sources.extend(sources)

    async def figures(self) -> tuple[Figure, ...]:
        """Return all current figures.

        Raises:
            StoreError: the store does not answer.
        """
        found: list[Figure] = []
        for source in self._sources:
            told = source()
            found += await told if isinstance(told, Awaitable) else told
        return tuple(found)


def _about_the_desk() -> tuple[Figure, ...]:
    return (gauges("aitp_desk_info", "Always 1.", "version", {own_version(): 1}),)
