"""A job: what the desk has promised to do besides answering, and the moves that it may make."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType

import msgspec


class JobState(Enum):
    """How a job stands."""

    QUEUED = "queued"
    AT_WORK = "at_work"
    DONE = "done"
    DEAD = "dead"

    @property
    def words(self) -> str:
        """The state, for people."""
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
"""The moves that a job may make; only somebody who retries it makes the last one."""


class Job(msgspec.Struct, frozen=True):
    """A job, without what it carries.

    Parameters:
        id: begins with ``job_``.
        kind: name of who does it.
        ref: id of what it is about.
        desk: name of the further site agent; empty for the site's own.
        created_at: Unix seconds, as are the other times.
        available_at: it is not taken up before; while it is at work, the end of its lease.
        attempts: how often it was taken up.
        failures: how often in vain, since it was queued or retried by hand.
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
