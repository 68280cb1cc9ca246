"""Stores the events of platforms, before these get their acknowledgement.

Each is a job, named by the platform's id of the event: a repetition changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import msgspec
import structlog

from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.units.transports import enqueue_jobs
from aitp_desk.transports.events import Incoming, TextMessage
from aitp_desk.transports.host.people import find_principal

EVENT_KIND = "transport_event"
"""The kind of job that handles an event."""
LONGEST_TEXT = 60_000
"""How much of a message is read, in characters; the rest counts as trimmed."""
LONGEST_NAME = 400
"""The longest name of a person or a conversation, in characters."""

_log = structlog.get_logger()


class EventIntake:
    """Stores events.

    Parameters:
        clock: Unix seconds.
        wake: called after a commit that queued jobs; None in another process than the desk.
    """

    def __init__(
        self, store: Store, clock: Callable[[], float], wake: Callable[[], object] | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._wake = wake
        self._last = 0.0

    async def receive(self, transport: str, events: Sequence[Incoming]) -> None:
        """Store events; they are on disk when this returns.

        An event without an id, a person or a conversation is dropped: nobody could be answered.

        Raises:
            StoreBusy: nothing was stored; the platform should deliver it again.
        """
        jobs = [
            self._job(transport, bounded(event))
            for event in events
            if event.event_id
            and 0 < len(event.sender) <= LONGEST_NAME
            and 0 < len(event.conversation) <= LONGEST_NAME
        ]
        if len(jobs) < len(events):
            _log.warning("events_dropped", transport=transport, count=len(events) - len(jobs))
        if not jobs:
            return
        await self._store.run(enqueue_jobs, jobs=jobs, is_outside=self._wake is None)
        if self._wake is not None:
            self._wake()

    def _job(self, transport: str, event: Incoming) -> NewJob:
        # one after the other, also within a millisecond: jobs of a person go by their ids
        self._last = max(self._clock(), self._last + 0.001)
        digest = hashlib.sha256(event.event_id.encode()).hexdigest()[:40]
        return NewJob(
            id=new_id("job", self._last),
            kind=EVENT_KIND,
            ref=f"{transport} {digest}",
            payload=msgspec.to_builtins(event),
            created_at=int(self._last),
            principal=find_principal(transport, event, "").id,
        )


def bounded(event: Incoming) -> Incoming:
    """Return an event whose text has at most :data:`LONGEST_TEXT` characters."""
    message = event.event
    if not isinstance(message, TextMessage) or len(message.text) <= LONGEST_TEXT:
        return event
    text, rest = message.text[:LONGEST_TEXT], message.text[LONGEST_TEXT:]
    trimmed = f"{rest}\n{message.trimmed}"[:LONGEST_TEXT]
    kept = msgspec.structs.replace(message, text=text, trimmed=trimmed)
    return msgspec.structs.replace(event, event=kept)
