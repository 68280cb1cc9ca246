"""The bridge keeps nothing of sites that an assistant has invented."""

from __future__ import annotations

import asyncio
import gc
import json

import mcp
import pytest

from aitp_desk.transports.peers.partner import agree
from aitp_desk.visitor import Policy, visit
from aitp_desk.visitor.bridge import Bridge, call, name_site, name_sites
from aitp_desk.visitor.errors import CallFailed
from tests.journeys.peers.test_long_calls import DOCUMENT, ENGRAVING
from tests.support.clients.mcp import words
from tests.support.protocols.scripted_site import scripted_site


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


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://shop.example", "shop.example"),
        ("https://shop.example/path", "shop.example"),
        ("https://shop.example:8443", "shop.example:8443"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
    ],
)
def test_a_site_is_named_as_people_write_it(url: str, name: str) -> None:
    assert name_site(url) == name


def test_two_agents_of_one_site_have_two_names() -> None:
    urls = ["https://shop.example/books", "https://shop.example/films/", "https://other.example/x"]
    assert name_sites(urls) == {
        "shop.example/books": urls[0],
        "shop.example/films": urls[1],
        "other.example": urls[2],
    }


async def test_a_long_call_that_has_failed_does_not_seem_to_go_on() -> None:
    async with scripted_site() as site:
        site.will("/openapi.json", DOCUMENT, method="GET")
        site.will("/engrave", {"status": "accepted"}, status=202, headers={"Location": "/calls/1"})
        failed = {
            "status": "failed",
            "error": {"kind": "closed", "message": "The press is broken."},
        }
        site.will("/calls/1", failed, method="GET")
        async with visit(site.url, policy=Policy(agree)) as visited:
            with pytest.raises(CallFailed, match="The press is broken"):
                await call(visited, "engrave_plate", ENGRAVING, "a-plate")
