"""The two ways in which the desk asks other servers, and a site behind a name, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol

import pytest

from aitp_desk.egress import Egress, Fetched

SECONDS = 5.0

SOON = 0.2
"""How long is waited for what never comes, in seconds."""

MOST_BYTES = 4096

MEGABYTE = 1024 * 1024


class Way(Protocol):
    """A way in which the desk asks."""

    def __call__(
        self, egress: Egress, url: str, seconds: float = SECONDS
    ) -> Awaitable[Fetched]: ...


async def fetch(egress: Egress, url: str, seconds: float = SECONDS) -> Fetched:
    return await egress.fetch(url, max_bytes=MOST_BYTES, seconds=seconds, headers={"X-Own": "1"})


async def send(egress: Egress, url: str, seconds: float = SECONDS) -> Fetched:
    return await egress.send(
        url, b"{}", max_bytes=MOST_BYTES, seconds=seconds, headers={"X-Own": "1"}
    )


WAYS = (fetch, send)

each_way = pytest.mark.parametrize("way", WAYS)


@asynccontextmanager
async def canary(*, says_nothing: bool = False) -> AsyncIterator[tuple[int, list[str]]]:
    """A server on every loopback address that records its visitors.

    Parameters:
        says_nothing: whether it leaves each visitor waiting.
    """
    came: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(str(writer.get_extra_info("sockname")))
        if says_nothing:
            with suppress(ConnectionError):
                await reader.read()
        writer.close()

    async with await asyncio.start_server(note, "0.0.0.0", 0) as server:
        yield server.sockets[0].getsockname()[1], came


# --- Names: whatever the name service says, and whenever it says something else -----------------


PUBLIC = "127.0.0.2"
"""Stands for the public internet: the only address that is public in these tests."""


def only_one_is_public(address: IPv4Address | IPv6Address) -> bool:
    return str(address) == PUBLIC
