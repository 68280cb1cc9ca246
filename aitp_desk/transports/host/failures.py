"""What a platform's refusal means for the job that met it."""

from __future__ import annotations

from aitp_desk.capability import Unanswered
from aitp_desk.desk.jobs.kinds import GiveUp, Retry
from aitp_desk.transports.base import Failed, TryLater


def job_failure(failure: Failed | Unanswered) -> Retry | GiveUp:
    """Return how a job ends its attempt after a failure of the platform.

    A platform that does not answer may have taken the message: it is sent again with the same id.
    """
    if isinstance(failure, Unanswered):
        return Retry(failure.reason)
    if isinstance(failure, TryLater):
        return Retry(failure.reason, after=failure.after)
    return GiveUp(failure.reason)
