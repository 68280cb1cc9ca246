"""How much is asked, and how long people wait (``/console/api/load``)."""

from __future__ import annotations

import re
from typing import Final

from aitp_desk.auth.console_sessions import Session
from aitp_desk.console.threads_wire import load_body
from aitp_desk.console.wire import encode
from aitp_desk.desk.overseeing import Overseeing
from aitp_desk.protocols.reply import Call, Reply
from aitp_desk.store.console_load import HOUR

DEFAULT_HOURS: Final = "24"

_HOURS: Final = re.compile(r"\d{1,3}", re.ASCII)


class Load:
    """Shows the figures."""

    def __init__(self, overseeing: Overseeing) -> None:
        self._overseeing = overseeing

    async def show(self, session: Session, call: Call) -> Reply:
        """``GET load``: by the hour, and now."""
        asked = call.query.get("hours", DEFAULT_HOURS)
        hours = await self._overseeing.load(int(asked) if _HOURS.fullmatch(asked) else 0)
        waiting = await self._overseeing.waiting(session.operator)
        now = {
            "open": waiting.open,
            "taken": waiting.taken,
            "oldest_open_seconds": waiting.oldest_open_seconds,
        }
        data = [load_body(hour) for hour in hours]
        return Reply(200, encode({"bucket_seconds": HOUR, "data": data, "now": now}))
