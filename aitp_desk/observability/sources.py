"""The sources of a process's figures.

What has figures is a *source*: a function that returns them as they are now. The composition root
adds it; nothing else knows of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from aitp_desk import own_version
from aitp_desk.observability.figures import Figure, gauges

Source = Callable[[], Iterable[Figure] | Awaitable[Iterable[Figure]]]


class MetricsCollector:
    """Gives the figures of all sources."""

    def __init__(self) -> None:
        self._sources: list[Source] = [_about_the_desk]

    def add(self, *sources: Source) -> None:
        """Have further sources asked from now on."""
        self._sources.extend(sources)

    async def figures(self) -> tuple[Figure, ...]:
        """All figures as they are now.

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
