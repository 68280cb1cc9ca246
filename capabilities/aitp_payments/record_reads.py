"""The reading interface of records and counters, for messages, deliveries and jobs."""

from __future__ import annotations

from typing import Any, Protocol

from aitp_desk.capability import Record


class Books(Protocol):
    """Records and counters, by exact keys. Contexts and deliveries implement it."""

    @property
    def now(self) -> int:
        """Unix seconds."""

    def record(self, key: str) -> Record | None:
        """Return a record; None if there is none."""

    def counter(self, key: str) -> int:
        """Return a counter's value, 0 if nothing was added."""

    def has(self, key: str, least: int) -> bool:
        """Return whether a counter holds at least so much.

        Unlike :meth:`counter` this does not conflict with concurrent changes of the counter.
        """


class ListedRecord(Protocol):
    """A listed record."""

    @property
    def key(self) -> str:
        """Its key."""

    @property
    def value(self) -> Any:
        """Its JSON value."""
