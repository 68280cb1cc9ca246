"""Whose runs are at work: so that one caller's, however many, leave room for the others'.

Known are the runs that callers have asked this process for since it was started. Of others nobody
knows who asked, so they count for nobody.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

MAX_EXPECTED = 10_000
"""Of how many runs it is remembered who asked, until they are taken up."""


class WakeWorker(Protocol):
    """Called after a commit that queued a run, or made way for one."""

    def __call__(self, run_id: str = "", caller: str = "") -> None:
        """Look for work now.

        Parameters:
            run_id: the run that was queued.
            caller: who asked for it, as limits count them.
        """


class FairShare:
    """Counts the runs at work by who asked for them.

    Parameters:
        most: how many of one caller's may be at work.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._expected: dict[str, str] = {}
        self._at_work: dict[str, str | None] = {}

    def add_run(self, run_id: str, caller: str) -> None:
        """Note who asked for a run, whether it waits or was taken up already."""
        if run_id in self._at_work:
            self._at_work[run_id] = caller
            return
        if len(self._expected) >= MAX_EXPECTED:
            del self._expected[next(iter(self._expected))]
        self._expected[run_id] = caller

    def begin(self, run_id: str) -> None:
        """Count a run that was taken up."""
        self._at_work[run_id] = self._expected.pop(run_id, None)

    def end(self, run_id: str) -> None:
        """Count it no more."""
        self._at_work.pop(run_id, None)

    def caller(self, run_id: str) -> str | None:
        """Who asked for a run that waits or is at work; None where that is not known."""
        return self._at_work.get(run_id) or self._expected.get(run_id)

    def list_waiting(self) -> tuple[str, ...]:
        """The runs that have to wait until others of their callers have ended."""
        if len(self._at_work) < self._most:
            return ()
        full = {
            caller
            for caller, count in Counter(self._at_work.values()).items()
            if caller is not None and count >= self._most
        }
        return tuple(run_id for run_id, caller in self._expected.items() if caller in full)
