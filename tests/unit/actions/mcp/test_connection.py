"""When a connection to an MCP server is made, shared, given up and made again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from aitp_desk.actions.mcp import connection
from aitp_desk.actions.mcp.connection import McpConnection
from aitp_desk.model.errors import Unavailable


class Server:
    """Can be connected to, or not.

    Attributes:
        tried, closed: how often it was.
    """

    def __init__(self) -> None:
        self.is_up = True
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.tried = self.closed = 0
        self.connection = McpConnection("shop", self._connect)

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Any]:
        self.tried += 1
        await self.may_answer.wait()
        if not self.is_up:
            raise ExceptionGroup("several", [OSError("s3cret")])
        try:
            yield object()
        finally:
            self.closed += 1


async def test_all_calls_share_one_connection_that_is_made_at_the_first() -> None:
    server = Server()
    server.may_answer.clear()
    async with server.connection.run():
        assert server.tried == 0
        calls = [asyncio.create_task(server.connection.client()) for _ in range(3)]
        await asyncio.sleep(0)
        calls[0].cancel()
        server.may_answer.set()
        first, *others = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(first, asyncio.CancelledError)
        assert others == [await server.connection.client()] * 2
        assert (server.tried, server.closed) == (1, 0)
    assert server.closed == 1


async def test_a_lost_connection_is_opened_again() -> None:
    server = Server()
    async with server.connection.run():
        before = await server.connection.client()
        server.connection.drop(before)
        after = await server.connection.client()
        assert after is not before
        server.connection.drop(before)
        assert await server.connection.client() is after, "it was lost before, and is another now"
    assert (server.tried, server.closed) == (2, 2)


async def test_nobody_waits_for_a_server_that_has_just_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    server.is_up = False
    async with server.connection.run():
        with capture_logs() as logs:
            for _ in range(3):
                with pytest.raises(Unavailable, match="cannot be reached now"):
                    await server.connection.client()
        assert (server.tried, server.connection.is_down) == (1, True)
        assert logs == [
            {
                "event": "tools_down",
                "log_level": "warning",
                "server": "shop",
                "error": "OSError",
                "seconds": 1,
            }
        ]
    monkeypatch.setattr(connection, "LONGEST_PAUSE", 0)
    server = Server()
    server.is_up = False
    async with server.connection.run():
        for _ in range(2):
            with pytest.raises(Unavailable):
                await server.connection.client()
        server.is_up = True
        await server.connection.client()
        assert (server.tried, server.connection.is_down) == (3, False)


async def test_a_server_that_never_answers_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.01)
    server = Server()
    server.may_answer.clear()
    async with server.connection.run():
        with pytest.raises(Unavailable):
            await server.connection.client()
        assert server.connection.is_down
