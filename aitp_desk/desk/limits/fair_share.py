"""Shares the worker among callers: one caller's runs, however many, leave capacity for others.

It knows the runs that callers requested from this process since its start. The callers of other
runs are unknown, so those count for none.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

MAX_EXPECTED = 10_000
"""How many waiting runs have their caller remembered."""


class WakeWorker(Protocol):
    """Called after a commit that queued a run, or unblocked one."""

    def __call__(self, run_id: str = "", caller: str = "") -> None:
        """Look for work now.

        Parameters:
            run_id: the run that was queued.
            caller: its caller's key for limits.
        """


class FairShare:
    """Counts running runs by caller.

    Parameters:
        most: how many of one caller's may run at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._expected: dict[str, str] = {}
        self._at_work: dict[str, str | None] = {}

    def add_run(self, run_id: str, caller: str) -> None:
        """Record the caller of a run that waits or was claimed already."""
        if run_id in self._at_work:
            self._at_work[run_id] = caller
            return
        if len(self._expected) >= MAX_EXPECTED:
            del self._expected[next(iter(self._expected))]
        self._expected[run_id] = caller

    def begin(self, run_id: str) -> None:
        """Count a run that was claimed."""
        self._at_work[run_id] = self._expected.pop(run_id, None)

    def end(self, run_id: str) -> None:
        """Stop counting a run."""
        self._at_work.pop(run_id, None)

    def caller(self, run_id: str) -> str | None:
        """Return the caller of a waiting or running run, if known."""
        return self._at_work.get(run_id) or self._expected.get(run_id)

    def list_waiting(self) -> tuple[str, ...]:
        """Return the runs that must wait until others of their callers have ended."""
        if len(self._at_work) < self._most:
            return ()
        full = {
            caller
            for caller, count in Counter(self._at_work.values()).items()
            if caller is not None and count >= self._most
        }
        return tuple(run_id for run_id, caller in self._expected.items() if caller in full)
