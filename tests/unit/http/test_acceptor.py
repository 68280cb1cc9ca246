"""Several acceptors on one socket, as processes have them."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest

from aitp_desk.http.acceptor import Acceptor, Listener


class Named(asyncio.Protocol):
    """Tells each connection who has accepted it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(self._name.encode())


class Address:
    """Where the acceptors listen; its connections stay open as long as it does."""

    def __init__(self, port: int, stack: AsyncExitStack) -> None:
        self._port = port
        self._stack = stack

    async def connect(self) -> str:
        """Return the name of the acceptor that has a new connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._stack.callback(writer.close)
        return (await reader.readexactly(1)).decode()


@asynccontextmanager
async def accepting(names: str, *, processes: int) -> AsyncIterator[Address]:
    async with AsyncExitStack() as stack:
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as bound:
            for name in names:
                acceptor = Acceptor(Listener(bound.dup(), processes), partial(Named, name))
                stack.push_async_callback(acceptor.close)
            yield Address(bound.getsockname()[1], stack)


@pytest.mark.parametrize("names", ["ab", "abcd"])
async def test_connections_are_accepted_in_turn(names: str) -> None:
    async with accepting(names, processes=len(names)) as address:
        got = [await address.connect() for _ in range(10 * len(names))]
    assert min(Counter(got)[name] for name in names) >= 5  # one alone would have them all


async def test_one_whose_others_are_dead_accepts_all() -> None:
    async with accepting("a", processes=4) as address:
        assert [await address.connect() for _ in range(20)] == ["a"] * 20


async def test_a_burst_is_shared() -> None:
    async with accepting("ab", processes=2) as address:
        got = Counter(await asyncio.gather(*(address.connect() for _ in range(200))))
    assert got.total() == 200
    assert min(got["a"], got["b"]) >= 50


async def test_nobody_is_accepted_after_the_end() -> None:
    async with accepting("ab", processes=2) as address:
        await address.connect()
    with pytest.raises(ConnectionError):
        await address.connect()
