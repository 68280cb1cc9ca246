"""What the connections of one server share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aitp_desk.config import Server
from aitp_desk.http.connection.head_cache import HeadCache
from aitp_desk.http.dispatcher import Dispatcher
from aitp_desk.http.limits.bodies import BodyBudget
from aitp_desk.http.limits.connections import ConnectionLimiter

if TYPE_CHECKING:
    from aitp_desk.http.connection.http_connection import HttpConnection


class SharedState:
    """What the connections of one server share.

    Parameters:
        front: answers requests.
        settings: how long a body may pause, how slowly it may come, and how much of all bodies
            may be in memory.
        limiter: counts connections, and bounds their unsent responses.
        heads: caches parsed heads.
        linger_seconds: how long the rest of an unwanted body is read and dropped.

    Attributes:
        connections: those that are open.
        active: the number of active requests.
        is_ending: whether no connection may carry a further request.
    """

    def __init__(
        self,
        front: Dispatcher,
        settings: Server,
        limiter: ConnectionLimiter,
        heads: HeadCache,
        linger_seconds: float,
    ) -> None:
        self.front = front
        self.settings = settings
        self.limiter = limiter
        self.heads = heads
        self.linger_seconds = linger_seconds
        self.bodies = BodyBudget(settings.max_body_bytes_under_way)
        self.loop = asyncio.get_running_loop()
        self.connections: set[HttpConnection] = set()
        self.active = 0
        self.is_ending = False
        self._ended = asyncio.Event()
        self._closed = asyncio.Event()

    def remove(self, connection: HttpConnection) -> None:
        """Remove a connection that has ended."""
        self.connections.discard(connection)
        if self.is_ending and not self.connections:
            self._closed.set()

    def note_end(self) -> None:
        """Wake the task that waits for the last active request."""
        if not self.active:
            self._ended.set()

    async def wait_ended(self) -> None:
        """Return when no request is active."""
        self._ended.clear()
        if self.active:
            await self._ended.wait()

    async def wait_closed(self) -> None:
        """Return when no connection is open."""
        if self.connections:
            await self._closed.wait()
