"""What is read of what is kept: by whoever judges a message, a delivery or what a job has done."""

from __future__ import annotations

from typing import Any, Protocol

from aitp_desk.capability import Record


class Books(Protocol):
    """Records and counters as they are, by exact keys. Contexts and deliveries are books."""

    @property
    def now(self) -> int:
        """Unix seconds."""

    def record(self, key: str) -> Record | None:
        """Return a record; None where there is none."""

    def counter(self, key: str) -> int:
        """Return what a counter holds, 0 where nothing was added."""

    def has(self, key: str, least: int) -> bool:
        """Whether a counter holds so much.

        Who asks this is not in the way of others who add to it and take from it meanwhile.
        """


class ListedRecord(Protocol):
    """A record as it is listed."""

    @property
    def key(self) -> str:
        """What it is called."""

    @property
    def value(self) -> Any:
        """What JSON can hold."""
