"""Faults that a check has found: how many of each kind, and what they are."""

from __future__ import annotations

from collections import Counter

MOST_NAMED = 10
"""How many faults of a kind are named."""


class Faults:
    """Counts faults, and names them.

    Attributes:
        counts: by kind.
    """

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._named: list[str] = []

    def add(self, kind: str, what: object, count: int = 1) -> None:
        """Count faults of a kind, and name them; none for a count of 0."""
        if count and self.counts[kind] < MOST_NAMED:
            self._named.append(f"{kind}: {what}")
        self.counts[kind] += count

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(self._named)
