"""A connection to an MCP server, opened at its first use.

The connection has its own task, because the client must be opened and closed in the same one; calls
wait for it. After a failure further calls fail at once until a pause has passed, which grows with
each failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from aitp_desk.model.errors import Unavailable

if TYPE_CHECKING:
    from mcp import Client

CONNECT_SECONDS = 10
"""Timeout of connecting, in seconds."""
LONGEST_PAUSE = 60
"""Maximum pause between two attempts, in seconds."""

_LATER = "The tool cannot be reached now; try again later."
_log = structlog.get_logger()

Connect = Callable[[], AbstractAsyncContextManager["Client"]]


class McpConnection:
    """Holds one connection while it is open.

    Parameters:
        name: of the server.
        connect: makes a client, which is connected within its context.
    """

    def __init__(self, name: str, connect: Connect) -> None:
        self.name = name
        self._connect = connect
        self._client: asyncio.Future[Client] | None = None
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._not_before = 0.0

    @property
    def is_down(self) -> bool:
        """Whether the last attempt to connect failed."""
        return self._failures > 0

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Connect when needed, within the context."""
        try:
            yield
        finally:
            self._let_go()
            for task in tuple(self._tasks):
                await asyncio.wait([task], timeout=CONNECT_SECONDS)
                task.cancel()

    async def client(self) -> Client:
        """Return a connected client.

        Raises:
            Unavailable: the server cannot be reached.
        """
        loop = asyncio.get_running_loop()
        if self._client is None:
            if loop.time() < self._not_before:
                raise Unavailable(_LATER)
            self._client, self._ended = loop.create_future(), asyncio.Event()
            self._client.add_done_callback(lambda done: done.cancelled() or done.exception())
            task = asyncio.create_task(self._hold(self._client, self._ended))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(self._client)

    def drop(self, client: Client) -> None:
        """Drop a broken connection; the next call opens another.

        Parameters:
            client: of that connection; a newer connection stays.
        """
        held = self._client
        if held is not None and held.done() and not held.exception() and held.result() is client:
            self._let_go()

    def _let_go(self) -> None:
        self._ended.set()
        self._client = None

    async def _hold(self, client: asyncio.Future[Client], ended: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS) as bound, self._connect() as connected:
                bound.reschedule(None)
                self._failures, self._not_before = 0, 0.0
                client.set_result(connected)
                await ended.wait()
        except Exception as error:  # noqa: BLE001 -- another's program: whatever it is, it is down
            if client.done():
                _log.info("tools_lost", server=self.name, error=_kind(error))
            else:
                self._fail(error)
        finally:
            if not client.done():
                client.set_exception(Unavailable(_LATER))
            if self._client is client:
                self._client = None

    def _fail(self, error: Exception) -> None:
        pause = min(2**self._failures, LONGEST_PAUSE)
        self._failures += 1
        self._not_before = asyncio.get_running_loop().time() + pause
        _log.warning("tools_down", server=self.name, error=_kind(error), seconds=pause)


def _kind(error: BaseException) -> str:
    """Return the class of an error, of the first of a group; its message may be confidential."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__
