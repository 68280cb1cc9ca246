"""How much is asked, and how long people wait (``/console/api/load``)."""

from __future__ import annotations

import re
from typing import Final

from aitp_desk.auth.console_sessions import Session
from aitp_desk.console.threads_wire import load_body
from aitp_desk.console.wire import encode
from aitp_desk.desk.overseeing import Overseeing
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.reply import Call, Reply

BUCKET_SECONDS: Final = 3600
DEFAULT_HOURS: Final = 24
MOST_HOURS: Final = 7 * 24

_HOURS: Final = re.compile(r"\d{1,3}", re.ASCII)


class Load:
    """Shows the figures."""

    def __init__(self, overseeing: Overseeing) -> None:
        self._overseeing = overseeing

    async def show(self, session: Session, call: Call) -> Reply:
        """``GET load``: by the hour, and now.

        Raises:
            InvalidRequest: more hours are asked for than are counted.
        """
        asked = call.query.get("hours", str(DEFAULT_HOURS))
        if not (_HOURS.fullmatch(asked) and 1 <= int(asked) <= MOST_HOURS):
            raise InvalidRequest(f"hours is a whole number from 1 to {MOST_HOURS}.", param="hours")
        hours = await self._overseeing.load(int(asked))
        waiting = await self._overseeing.waiting(session.operator)
        now = {
            "open": waiting.open,
            "taken": waiting.taken,
            "oldest_open_seconds": waiting.oldest_open_seconds,
        }
        data = [load_body(hour) for hour in hours]
        return Reply(200, encode({"bucket_seconds": BUCKET_SECONDS, "data": data, "now": now}))
