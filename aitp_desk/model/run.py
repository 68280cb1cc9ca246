"""Runs: the site agent's work on a thread, and the moves that a run may make."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType

import msgspec


class RunState(Enum):
    """Where a run stands; the names are those of the OpenAI Runs API, and ``capped``.

    ``capped`` is a run that was never started because the thread has had its hourly share of
    automatic replies.
    """

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CAPPED = "capped"


MOVES: MappingProxyType[RunState, frozenset[RunState]] = MappingProxyType(
    {
        RunState.QUEUED: frozenset({RunState.IN_PROGRESS}),
        # a run whose worker died stays in progress; the next worker takes over its lease
        RunState.IN_PROGRESS: frozenset({RunState.COMPLETED, RunState.FAILED}),
        RunState.COMPLETED: frozenset(),
        RunState.FAILED: frozenset(),
        RunState.CAPPED: frozenset(),
    }
)
"""The legal moves; everything else is a fault of the program."""


class Run(msgspec.Struct, frozen=True):
    """One piece of work for the site agent on one thread.

    Parameters:
        id: ``run_…``.
        thread_id: the thread that it answers on.
        state: where it stands.
        created_at: Unix seconds.
        attempts: how often a worker has taken it up.
        error: for a failed run, what a caller may read.
    """

    id: str
    thread_id: str
    state: RunState
    created_at: int
    attempts: int = 0
    error: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether the run can move no more."""
        return not MOVES[self.state]
