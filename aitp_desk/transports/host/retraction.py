"""Deletes messages on platforms that were deleted on their thread."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk.capability import Unanswered
from aitp_desk.desk.jobs.kinds import JobKind
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.transports import platform_address
from aitp_desk.store.units.transports import RETRACTION_KIND
from aitp_desk.transports.base import Failed, TryLater
from aitp_desk.transports.host.failures import job_failure
from aitp_desk.transports.host.registry import EnabledTransport

DELAYS = (5, 60, 600, 3600)
"""Seconds after each failure."""
SECONDS = 60
AT_ONCE = 4

_sent = msgspec.json.Decoder(tuple[tuple[str, str, str], ...])


class Retractions:
    """Deletes messages, as far as their platforms can.

    Parameters:
        transports: those of the site, by name.
    """

    def __init__(self, transports: Mapping[str, EnabledTransport]) -> None:
        self._transports = transports

    def make_kind(self) -> JobKind:
        """Create the kind of job that deletes a message."""
        return JobKind(RETRACTION_KIND, self.retract, SECONDS, DELAYS, AT_ONCE)

    async def retract(self, claim: ClaimedJob) -> None:
        """Delete every part of a message in a conversation; a repeated job deletes it again.

        A platform that deletes none, or not any more, keeps its copy.

        Raises:
            Retry: a platform does not do it now.
        """
        for name, address, ref in _sent.decode(claim.payload):
            enabled = self._transports.get(name)
            if enabled is None:
                continue
            try:
                await enabled.retract(platform_address(address), ref)
            except (TryLater, Unanswered) as failure:
                raise job_failure(failure) from None
            except Failed:
                continue
