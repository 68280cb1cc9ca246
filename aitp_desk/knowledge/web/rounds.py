"""Reading again and again: a round at the start, and one after each pause."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from aitp_desk.config import Web
from aitp_desk.egress import Egress
from aitp_desk.knowledge.web.copies import Copies
from aitp_desk.knowledge.web.gather import Tally, gather

_log = structlog.get_logger(__name__)


class Rounds:
    """The rounds of one desk.

    Parameters:
        settings: what the owner lists.
        egress: the client.
        data: the desk's data folder, where the copies are kept.

    Attributes:
        copies: what the last round has left.
    """

    def __init__(self, settings: Web, egress: Egress, data: Path) -> None:
        self._settings = settings
        self._egress = egress
        self.copies = Copies(data, {*settings.urls, *settings.sitemaps})

    async def gather(self) -> Tally:
        """Read everything once. See :func:`aitp_desk.knowledge.web.gather.gather`."""
        return await gather(self._settings, self._egress, self.copies)

    async def run(self, refresh: Callable[[], Awaitable[object]]) -> None:
        """Go on for ever.

        Parameters:
            refresh: called after each round; it reads the content again if that has changed.
        """
        while True:
            _log.info("content.web.asking")
            began = time.monotonic()
            try:
                tally = await self.gather()
                await refresh()
            except Exception as error:  # noqa: BLE001 -- the last copies go on answering
                _log.warning(
                    "content.web.not_read", reason=f"{type(error).__name__}: {error}", exc_info=True
                )
            else:
                _log.info(
                    "content.web.read",
                    seconds=round(time.monotonic() - began, 1),
                    listed=tally.listed,
                    changed=tally.changed,
                    kept=tally.kept,
                    problems=tally.problems,
                )
            await asyncio.sleep(self._settings.every_minutes * 60)
