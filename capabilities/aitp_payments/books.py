"""What is read of what is kept: by whoever judges a message, a delivery or what a job has done."""

from __future__ import annotations

from typing import Protocol

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
