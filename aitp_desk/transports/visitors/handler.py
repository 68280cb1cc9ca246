"""Handles the events of platforms, one person's after another.

A handler may be called twice for the same event, so everything it does is named by the event: a
message is posted once, and what is stored with it goes into the same commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import msgspec

from aitp_desk.capability import Unanswered
from aitp_desk.desk.jobs.kinds import Finish, GiveUp, JobKind, Retry
from aitp_desk.model.errors import (
    DeskError,
    IdempotencyInFlight,
    RateLimited,
    StoreBusy,
    Unavailable,
)
from aitp_desk.store.reads.transports import has_stop_before
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.transport_bytes import drop_bytes
from aitp_desk.store.units.transport_events import EVENT_KIND, STOP_KIND
from aitp_desk.transports.base import Failed
from aitp_desk.transports.events import (
    Incoming,
    TextMessage,
)
from aitp_desk.transports.host.failures import job_failure
from aitp_desk.transports.host.operator_notes import HandleOperator
from aitp_desk.transports.host.people import (
    is_blocked,
)
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.visitors.event import VisitorEvent
from aitp_desk.transports.visitors.services import VisitorServices

DELAYS = (1, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800)
"""Seconds after each failure; many, as a desk that is killed fails with all it has at work."""
SECONDS = 120
AT_ONCE = 64


class EventHandler:
    """Posts what people say, and does what they choose.

    Parameters:
        transports: those of the site, by name.
    """

    def __init__(
        self, transports: Mapping[str, EnabledTransport], services: VisitorServices
    ) -> None:
        self._transports = transports
        self._services = services

    def make_kinds(self, handle_operator: HandleOperator) -> Iterator[JobKind]:
        """Create the kinds of jobs that handle events: opt-outs, and all others."""
        handle = partial(self.handle, handle_operator)
        for kind in (STOP_KIND, EVENT_KIND):
            yield JobKind(kind, handle, SECONDS, DELAYS, AT_ONCE, in_order=True)

    async def handle(self, handle_operator: HandleOperator, claim: ClaimedJob) -> Finish | None:
        """Handle one event.

        Raises:
            Retry: the store or the platform does not answer.
            GiveUp: the transport is not enabled any more, or the desk refuses the event.
        """
        name = claim.ref.partition(" ")[0]
        enabled = self._transports.get(name)
        if enabled is None:
            raise GiveUp(f"The transport {name} is not enabled.")
        incoming = msgspec.json.decode(claim.payload, type=Incoming)
        if is_blocked(incoming.sender, enabled.common.blocked):
            return None
        if incoming.agent and incoming.agent not in self._services.desks:
            raise GiveUp("The event names an agent that the site does not have.")
        if claim.kind == EVENT_KIND and await has_stop_before(self._services.store, claim):
            raise Retry("The person's opt-out is handled first.", after=1)
        try:
            is_done = await handle_operator(enabled, incoming, claim)
            finish = None
            if not is_done:
                finish = await VisitorEvent(self._services, enabled, incoming, claim).run()
            if isinstance(incoming.event, TextMessage) and (files := incoming.event.files):
                keys = [file.ref for file in files]
                await self._services.store.run(drop_bytes, transport=name, keys=keys)
            return finish
        except (RateLimited, Unavailable, StoreBusy, IdempotencyInFlight) as error:
            raise Retry(str(error), after=error.retry_after or 1) from None
        except (Failed, Unanswered) as failure:
            raise job_failure(failure) from None
        except DeskError as error:
            raise GiveUp(str(error)) from None
