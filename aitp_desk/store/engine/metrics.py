"""Counts the work of an engine and returns it as figures."""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec

from aitp_desk.observability.figures import Figure, Histogram, counter, gauge, histogram

SIZES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 512, 1000, 5000)
SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class CommitMetrics:
    """Counts commits. One thread counts; any thread may read.

    Attributes:
        sizes: number of units of each commit.
        seconds: duration of each commit, from its beginning.
        failed: units that the database did not take, each try: it was locked, full or broken. A
            refusal by a rule is no failure.
    """

    def __init__(self) -> None:
        self.sizes = Histogram(SIZES)
        self.seconds = Histogram(SECONDS)
        self.failed = 0

    def note(self, units: int, seconds: float) -> None:
        """Count a commit."""
        self.sizes.observe(units)
        self.seconds.observe(seconds)


class QueueMetrics:
    """Counts waiting units, and since when the first of them waits.

    It counts submitted and settled units, a group at a time: units are settled in the order in
    which they were submitted, except records that the queue had no space for.
    """

    def __init__(self) -> None:
        self._handed = 0
        self._settled = 0
        self._groups: deque[tuple[int, float]] = deque()

    def hand_over(self, units: int, now: float) -> None:
        """Record that units were submitted."""
        self._handed += units
        self._groups.append((self._handed, now))

    def settle(self, units: int) -> None:
        """Record that units were settled."""
        self._settled += units
        while self._groups and self._groups[0][0] <= self._settled:
            self._groups.popleft()

    def seconds(self, now: float) -> float:
        """Return how long the first unit has waited; 0 if none waits."""
        return now - self._groups[0][1] if self._groups else 0.0


class FileMetrics(msgspec.Struct, frozen=True):
    """The measured files of a store.

    Parameters:
        bytes: size of the database.
        log_bytes: size of the write-ahead log.
        free_bytes: free space on their file system.
    """

    bytes: int
    log_bytes: int
    free_bytes: int

    def figures(self) -> tuple[Figure, ...]:
        """Return the sizes as figures."""
        return (
            gauge("aitp_desk_store_bytes", "Size of the database file.", self.bytes),
            gauge("aitp_desk_store_log_bytes", "Size of the write-ahead log.", self.log_bytes),
            gauge(
                "aitp_desk_store_free_bytes",
                "Free space on the disk of the database.",
                self.free_bytes,
            ),
        )


class StoreMetrics(msgspec.Struct, frozen=True):
    """The measured state of a store.

    Parameters:
        waiting: units that wait for their commit.
        most_waiting: from this number on callers are turned away.
        waiting_seconds: how long the first of them has waited since it was submitted.
        files: those of the database; None where it is on a server.
    """

    waiting: int
    most_waiting: int
    waiting_seconds: float
    commits: CommitMetrics
    files: FileMetrics | None = None

    def figures(self) -> tuple[Figure, ...]:
        """Return the state as figures."""
        return (
            gauge("aitp_desk_store_queue_units", "Writes waiting for their commit.", self.waiting),
            gauge(
                "aitp_desk_store_queue_limit_units",
                "The limit of waiting writes; at the limit callers are refused (store.queue).",
                self.most_waiting,
            ),
            gauge(
                "aitp_desk_store_queue_seconds",
                "The age of the oldest waiting write.",
                self.waiting_seconds,
            ),
            histogram(
                "aitp_desk_store_commit_units",
                "Writes per commit.",
                self.commits.sizes,
            ),
            histogram(
                "aitp_desk_store_commit_seconds", "Duration of a commit.", self.commits.seconds
            ),
            counter(
                "aitp_desk_store_units_failed_total",
                "Writes that the database rejected, counting each attempt.",
                self.commits.failed,
            ),
            *([] if self.files is None else self.files.figures()),
        )
