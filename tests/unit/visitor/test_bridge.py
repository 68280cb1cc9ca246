"""The bridge keeps nothing of sites that an assistant has invented."""

from __future__ import annotations

import asyncio
import gc
import json

import mcp

from aitp_desk.visitor.bridge import Bridge
from tests.support.clients.mcp import words


def count_locks() -> int:
    gc.collect()
    return sum(isinstance(one, asyncio.Lock) for one in gc.get_objects())


async def test_invented_sites_are_refused_and_take_no_memory() -> None:
    bridge = Bridge(["https://shop.example:8443"])
    async with mcp.Client(bridge.make_server()) as client:
        before = count_locks()
        for number in range(50):
            asked = {"site": f"site{number}.example"}
            refused = await client.call_tool("list_actions", asked)
            assert json.loads(words(refused)) == {
                **asked,
                "error": f"There is no site site{number}.example; there are shop.example:8443.",
                "kind": "NotOffered",
            }
        assert count_locks() - before < 25
    await bridge.close()
