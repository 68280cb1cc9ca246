"""Decides whether a person gets an answer: by their own limit, and by that of all strangers.

Whom a platform has not proven may be another person, who would get the answers: mails in the names
of many could let the desk send mails to all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.counters import Counters
from aitp_desk.transports.host.registry import EnabledTransport

HOUR = 60 * 60

_log = structlog.get_logger()


class AnswerLimits:
    """Counts what is to be answered.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._strangers = Counters(lambda now: now + HOUR, clock)

    def allow(
        self,
        limiter: RateLimiter,
        principal: Principal,
        enabled: EnabledTransport,
        *,
        is_stranger: bool,
    ) -> bool:
        """Count an event, and return whether it may be answered.

        Parameters:
            is_stranger: whether nothing shows that the person gets what is sent to them.
        """
        left = limiter.count(principal, "converse")
        if left is not None and left.refused is not None:
            return False
        if not is_stranger:
            return True
        most = enabled.common.strangers_per_hour
        is_allowed = self._strangers.count(enabled.name, most).counted <= most
        if not is_allowed:
            _log.warning("stranger_not_answered", transport=enabled.name)
        return is_allowed
