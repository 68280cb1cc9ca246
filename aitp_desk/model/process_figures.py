"""What one process of a desk has done, and is at."""

from __future__ import annotations

import msgspec


class ProcessFigures(msgspec.Struct, frozen=True):
    """The figures of a process, or of all together.

    Parameters:
        requests, errors: answered since its start, and those of them with a status of 500 or more.
        questions: first questions of conversations, since its start.
        runs: ended since its start.
        streams: open now.
        memory: bytes that are resident now; 0 where the system does not say.
    """

    requests: int = 0
    errors: int = 0
    questions: int = 0
    runs: int = 0
    streams: int = 0
    memory: int = 0

    def __add__(self, other: ProcessFigures) -> ProcessFigures:
        """Return the figures of both together."""
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return ProcessFigures(*(a + b for a, b in pairs))
