"""The console's view of load and waiting times (``/console/api/load``)."""

from __future__ import annotations

from typing import Final

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.tickets.inbox import MAX_HOURS, OperatorInbox
from aitp_desk.protocols.base.protocol import Call, Reply
from aitp_desk.store.reads.console.load import HOUR
from aitp_desk.store.records.console import LoadHour
from aitp_desk.web.console.objects import ConsoleHour, ConsoleLoad, ConsoleWaiting
from aitp_desk.web.console.wire import decode_count, encode, write_timestamp

DEFAULT_HOURS: Final = 24


class LoadRoutes:
    """Serves the figures."""

    def __init__(self, inbox: OperatorInbox) -> None:
        self._inbox = inbox

    async def show(self, session: Session, call: Call) -> Reply:
        """``GET load``: by the hour, and now."""
        asked = decode_count(call.query, "hours", DEFAULT_HOURS, MAX_HOURS)
        hours = await self._inbox.read_load(asked)
        waiting = await self._inbox.count_waiting(session.operator)
        now = ConsoleWaiting(waiting.open, waiting.taken, waiting.oldest_open_seconds)
        return Reply(200, encode(ConsoleLoad(HOUR, [_write_hour(hour) for hour in hours], now)))


def _write_hour(hour: LoadHour) -> ConsoleHour:
    """Write the figures of an hour."""
    return ConsoleHour(
        at=write_timestamp(hour.at),
        messages=hour.messages,
        visitors_messages=hour.visitors_messages,
        tickets=hour.tickets,
        ended=hour.ended,
        waited_seconds=hour.waited_seconds,
    )
