"""Obeys the rules of servers: ``robots.txt`` (RFC 9309), few concurrent requests, pauses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aitp_desk.egress import USER_AGENT, Egress, EgressError

if TYPE_CHECKING:
    from protego import Protego

AT_ONCE = 2
"""The most concurrent requests to a server; one if it requests pauses."""
MAX_PAUSE_SECONDS = 10.0
"""A longer ``Crawl-delay`` counts as this one: pages are to be read within the day."""
MAX_ROBOTS_BYTES = 512 * 1024
"""A larger ``robots.txt`` cannot be obeyed; RFC 9309, section 2.5 requires at least 500 KiB."""


class PageDisallowed(Exception):
    """The server's ``robots.txt`` disallows a page."""


class RobotsUnavailable(Exception):
    """The server's ``robots.txt`` cannot be read, so its rules are unknown."""


class RobotsRules:
    """The rules of servers during one round.

    Parameters:
        egress: the client.
        seconds: how long a ``robots.txt`` may take.
    """

    def __init__(self, egress: Egress, seconds: float) -> None:
        self._egress = egress
        self._seconds = seconds
        self._hosts: dict[str, asyncio.Task[_Host]] = {}

    async def check_allowed(self, url: str) -> None:
        """Check that a page may be requested.

        Raises:
            PageDisallowed: it may not.
            RobotsUnavailable: that is unknown.
        """
        host = await self._host(url)
        if not host.rules.can_fetch(url, USER_AGENT):
            raise PageDisallowed(f"robots.txt of {urlsplit(url).netloc} forbids to read it")

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """Wait until the server's next page may be read, within the block.

        Raises:
            AddressRefused, PageDisallowed, RobotsUnavailable: the page may not be requested.
        """
        self._egress.check(url)
        await self.check_allowed(url)
        host = await self._host(url)
        async with host.room:
            await host.pause()
            yield

    async def close(self) -> None:
        """Stop requesting."""
        for task in self._hosts.values():
            task.cancel()
        await asyncio.gather(*self._hosts.values(), return_exceptions=True)

    async def _host(self, url: str) -> _Host:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._hosts:
            self._hosts[origin] = asyncio.create_task(self._ask(origin))
        # a cancelled waiter must not end the wait of the others
        return await asyncio.shield(self._hosts[origin])

    async def _ask(self, origin: str) -> _Host:
        try:
            fetched = await self._egress.fetch(
                f"{origin}/robots.txt", max_bytes=MAX_ROBOTS_BYTES, seconds=self._seconds
            )
        except EgressError as error:
            raise RobotsUnavailable(
                f"Its robots.txt cannot be read ({str(error).rstrip('.')})"
            ) from None
        if fetched.status == 429 or fetched.status >= 500:
            raise RobotsUnavailable(f"Its robots.txt responds with status {fetched.status}")
        from protego import Protego

        # any other status means that there is none, and that everything is allowed
        text = fetched.body.decode("utf-8-sig", "replace")
        return _Host(await asyncio.to_thread(Protego.parse, text))


class _Host:
    """A server that may be requested: its rules, and when its next request may be."""

    def __init__(self, rules: Protego) -> None:
        self.rules = rules
        self._delay = min(rules.crawl_delay(USER_AGENT) or 0.0, MAX_PAUSE_SECONDS)
        self.room = asyncio.Semaphore(1 if self._delay else AT_ONCE)
        self._next = 0.0

    async def pause(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._delay and now < self._next:
            await asyncio.sleep(self._next - now)
        self._next = max(now, self._next) + self._delay
