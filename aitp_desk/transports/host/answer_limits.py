"""Decides whether a person gets an answer: by their own limit, and by that of all strangers.

Whom a platform has not proven may be another person, who would get the answers: mails in the names
of many could let the desk send mails to all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import structlog

from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.desk.limits.shared_counts import SharedCounts
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.counters import Counters, make_end
from aitp_desk.model.errors import RateLimited
from aitp_desk.transports.host.registry import EnabledTransport

HOUR = 60 * 60

_log = structlog.get_logger()


class AnswerLimits:
    """Counts what is to be answered.

    Parameters:
        shared: counts strangers together with the other processes.
        clock: Unix seconds.
    """

    def __init__(self, shared: SharedCounts, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._strangers = Counters(make_end(HOUR), clock)
        shared.add("transport strangers", self._strangers, HOUR)

    def count(
        self,
        limiter: RateLimiter,
        principal: Principal,
        enabled: EnabledTransport,
        *,
        is_stranger: bool = False,
    ) -> RateLimited | None:
        """Count an event, and return the refusal if it may not be answered.

        Parameters:
            is_stranger: whether nothing shows that the person gets what is sent to them.
        """
        left = limiter.count(principal, "converse")
        if left is not None and left.refused is not None:
            return left.refused
        if not is_stranger:
            return None
        most = enabled.common.strangers_per_hour
        window = self._strangers.count(enabled.name, most)
        if window.counted <= most:
            return None
        _log.warning("stranger_not_answered", transport=enabled.name)
        return RateLimited(
            f"More than {most} people whom nothing proves have written within an hour.",
            scope="principal",
            retry_after=max(1, math.ceil(window.ends - self._clock())),
        )
