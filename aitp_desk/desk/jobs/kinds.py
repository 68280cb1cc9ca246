"""Kinds of jobs: who does them, how long that may take, and how often it is tried.

A handler may be asked twice for the same job: its process may die, or lose the lease, after it has
done its work and before that is written down. What must not be done twice has to find that out by
the job's ``ref``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.jobs.jobs import ExtraStatements

JITTER = 0.25
"""A wait is longer by up to this part of it, so that what failed together is not retried so."""


class Finish(msgspec.Struct, frozen=True):
    """How a job ends that was done.

    Parameters:
        also: a unit of work that is committed together with the end.
        committed: called after that.
        anew: decides it again, where what it follows from was changed before the commit; None for
            what has to be done again as a whole.
    """

    also: ExtraStatements | None = None
    committed: Callable[[], object] | None = None
    anew: Callable[[], Awaitable[Finish]] | None = None


class Retry(Exception):
    """The attempt failed; another may succeed.

    Parameters:
        reason: a sentence for the site's operators, without what callers said.
        after: at least so many seconds pass before the next attempt, but never more than the
            longest wait of its kind.
    """

    def __init__(self, reason: str, *, after: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


class GiveUp(Exception):
    """The attempt failed, and no other will succeed.

    Parameters:
        reason: as of :class:`Retry`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JobKind(msgspec.Struct, frozen=True):
    """A kind of job, and who does it.

    Parameters:
        name: as jobs name it.
        handler: does one; it raises :class:`Retry` or :class:`GiveUp`, and whatever else it raises
            is a fault, of which the log is told. What it returns says how the job ends.
        deadline: seconds that an attempt may take.
        delays: seconds to wait after the first failure, the second and so on; after one more the
            job is given up.
        at_once: how many are done at a time.
        of_one: how many of these are for one who asked; None for any number.
        given_up: makes what is committed together with a job's being given up.
    """

    name: str
    handler: Callable[[ClaimedJob], Awaitable[Finish | None]]
    deadline: float
    delays: tuple[int, ...]
    at_once: int
    of_one: int | None = None
    given_up: Callable[[ClaimedJob], Finish] | None = None

    @property
    def max_delay(self) -> int:
        """Seconds that a job of this kind waits at most."""
        return int(max(self.delays, default=0) * (1 + JITTER))

    def delay(self, failures: int, after: int, chance: float) -> int:
        """Seconds until the next attempt.

        Parameters:
            failures: how often it had failed before.
            after: seconds that are to pass at least; no more than :attr:`max_delay`.
            chance: from 0 to 1.
        """
        delay = self.delays[failures] * (1 + JITTER * chance)
        return min(int(max(delay, after)), self.max_delay)
