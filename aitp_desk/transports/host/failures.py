"""What a platform's refusal means for the job that met it."""

from __future__ import annotations

from aitp_desk.capability import Unanswered
from aitp_desk.desk.jobs.kinds import GiveUp, Retry
from aitp_desk.transports.base import Failed, TryLater


def job_failure(failure: Failed | Unanswered, *, has_progressed: bool = False) -> Retry | GiveUp:
    """Return how a job ends its attempt after a failure of the platform.

    A platform that does not answer may have taken the message: it is sent again with the same id.

    Parameters:
        has_progressed: as of :class:`~aitp_desk.desk.jobs.kinds.Retry`.
    """
    if isinstance(failure, Unanswered):
        return Retry(failure.reason, has_progressed=has_progressed)
    if isinstance(failure, TryLater):
        return Retry(failure.reason, after=failure.after, has_progressed=has_progressed)
    return GiveUp(failure.reason)
