"""Jobs: background work that the desk has promised, and their state transitions."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType

import msgspec


class JobState(Enum):
    """The state of a job."""

    QUEUED = "queued"
    AT_WORK = "at_work"
    DONE = "done"
    DEAD = "dead"

    @property
    def words(self) -> str:
        """The state as text."""
        return self.value.replace("_", " ")


MOVES: MappingProxyType[JobState, frozenset[JobState]] = MappingProxyType(
    {
        JobState.QUEUED: frozenset({JobState.AT_WORK}),
        # a job whose worker died stays at work; the next worker takes over its lease
        JobState.AT_WORK: frozenset({JobState.QUEUED, JobState.DONE, JobState.DEAD}),
        JobState.DONE: frozenset(),
        JobState.DEAD: frozenset({JobState.QUEUED}),
    }
)
"""The legal transitions; only an operator's retry makes the last one."""


class Job(msgspec.Struct, frozen=True):
    """A job, without its payload.

    Parameters:
        id: begins with ``job_``.
        kind: name of its handler's kind.
        ref: id of its subject.
        desk: name of the further site agent; empty for the site's own.
        created_at: Unix seconds, as are the other times.
        available_at: the earliest start; while it is at work, the end of its lease.
        attempts: how often it was claimed.
        failures: how often it failed since it was queued or retried by an operator.
        last_error: why it failed last, in a sentence.
        finished_at: when it was done or given up.
    """

    id: str
    kind: str
    ref: str
    desk: str
    state: JobState
    created_at: int
    available_at: int
    attempts: int
    failures: int
    last_error: str | None
    finished_at: int | None
