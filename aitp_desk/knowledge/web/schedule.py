"""Defines one scheduled round of reading external pages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from aitp_desk.config import Web
from aitp_desk.egress import Egress
from aitp_desk.knowledge.web.copies import PageCopies
from aitp_desk.knowledge.web.round import RoundCounts, run_round

_log = structlog.get_logger(__name__)


class ReadingSchedule:
    """The rounds of one desk.

    Parameters:
        settings: the configured pages and sitemaps.
        egress: the client.
        data: the desk's data folder, with the copies.

    Attributes:
        copies: the result of the last round.
    """

    def __init__(self, settings: Web, egress: Egress, data: Path) -> None:
        self._settings = settings
        self._egress = egress
        self.copies = PageCopies(data, {*settings.urls, *settings.sitemaps})

    async def run_once(self) -> RoundCounts:
        """Run one round. See :func:`aitp_desk.knowledge.web.round.run_round`."""
        return await run_round(self._settings, self._egress, self.copies)

    @property
    def every_seconds(self) -> int:
        """The seconds between the end of one round and the next."""
        return self._settings.every_minutes * 60

    async def run_and_refresh(self, refresh: Callable[[], Awaitable[object]]) -> int:
        """Run one round, and then reload the content if it has changed.

        Parameters:
            refresh: reloads the content.

        Returns:
            How many pages have changed.

        Raises:
            Exception: the content could not be read; the last copies stay in use.
        """
        _log.info("content.web.asking")
        began = time.monotonic()
        tally = await self.run_once()
        await refresh()
        _log.info(
            "content.web.read",
            seconds=round(time.monotonic() - began, 1),
            listed=tally.listed,
            changed=tally.changed,
            kept=tally.kept,
            problems=tally.problems,
        )
        return tally.changed
