"""Kinds of jobs: their handlers, deadlines and retries.

A handler may be called twice for the same job: its process may die, or lose the lease, after the
work is done and before that is stored. A handler whose work must not be repeated has to detect that
by the job's ``ref``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.jobs.jobs import ExtraStatements, finish_job

JITTER = 0.25
"""A delay is longer by up to this fraction of it, so that jobs that failed together are not retried
together.
"""


class Finish(msgspec.Struct, frozen=True):
    """The end of a job that succeeded.

    Parameters:
        also: a unit of work that is committed together with the end.
        committed: called after the commit.
        recompute: computes the end again, if its inputs were changed before the commit; None if the
            whole job has to be repeated.
        is_written: whether the handler has committed the end already, by :class:`EarlyEnd`.
    """

    also: ExtraStatements | None = None
    committed: Callable[[], object] | None = None
    recompute: Callable[[], Awaitable[Finish]] | None = None
    is_written: bool = False


class EarlyEnd:
    """The end of a job, committed together with what its handler writes.

    Parameters:
        now: Unix seconds.
    """

    def __init__(self, claim: ClaimedJob, now: int) -> None:
        self._claim = claim
        self._now = now
        self._is_written = False

    def write(self) -> Work[None]:
        """Write the end: a part of the handler's unit. A lost lease writes nothing."""
        self._is_written = yield from finish_job(claim=self._claim, now=self._now)

    @property
    def finish(self) -> Finish:
        """What the handler returns: the queue writes the end if the unit did not."""
        return Finish(is_written=self._is_written)


class Retry(Exception):
    """The attempt failed; another may succeed.

    Parameters:
        reason: a sentence for the site's operators, without callers' content.
        after: minimum seconds before the next attempt, limited to the longest delay of its kind.
        has_progressed: whether the attempt has done a part of the work: earlier failures do not
            count any more.
    """

    def __init__(self, reason: str, *, after: int = 0, has_progressed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after
        self.has_progressed = has_progressed


class Unfinished(Retry):
    """The work goes on elsewhere and is looked at again; nothing has failed.

    Parameters:
        reason, after: as in :class:`Retry`.
    """

    def __init__(self, reason: str, *, after: int) -> None:
        super().__init__(reason, after=after, has_progressed=True)


class GiveUp(Exception):
    """The attempt failed, and no other will succeed.

    Parameters:
        reason: as in :class:`Retry`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JobKind(msgspec.Struct, frozen=True):
    """A kind of job, and its handler.

    Parameters:
        name: as jobs name it.
        handler: does one; it raises :class:`Retry` or :class:`GiveUp`. Any other exception is a
            fault, which is logged. Its result says how the job ends.
        deadline: seconds that an attempt may take.
        delays: seconds to wait after the first failure, the second and so on; after one more the
            job is given up.
        at_once: how many run concurrently.
        of_one: how many of these may be one principal's; None for any number.
        given_up: returns what is committed when a job is given up, by the job and the reason.
        in_order: whether a principal's jobs are done one after the other, in the order of their
            ids: the next one waits while the one before it is retried. It implies that one is at
            work at a time, also where several processes take them.
        longest_wait: seconds that a job may be queued ahead of its time.
    """

    name: str
    handler: Callable[[ClaimedJob], Awaitable[Finish | None]]
    deadline: float
    delays: tuple[int, ...]
    at_once: int
    of_one: int | None = None
    given_up: Callable[[ClaimedJob, str], Finish] | None = None
    in_order: bool = False
    longest_wait: int = 0

    @property
    def max_delay(self) -> int:
        """The longest delay of a job of this kind, in seconds."""
        return int(max(self.delays, default=0) * (1 + JITTER))

    def delay(self, failures: int, after: int, chance: float) -> int:
        """Return the seconds until the next attempt.

        Parameters:
            failures: number of earlier failures.
            after: minimum seconds; limited to :attr:`max_delay`.
            chance: from 0 to 1.
        """
        delay = self.delays[failures] * (1 + JITTER * chance)
        return min(int(max(delay, after)), self.max_delay)
