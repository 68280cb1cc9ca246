"""The visitor's requests wait as long as a site asks, and repeat no more than that is right."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web

from aitp_desk.egress import Egress
from aitp_desk.visitor import BudgetSpent, PolicyRefused
from aitp_desk.visitor.cache import MAX_SECONDS, find_lifetime
from aitp_desk.visitor.fetcher import SERVER_PAUSE_SECONDS, Fetcher
from tests.support.doubles.website import Website, website


class Pauses:
    """Counts pauses instead of taking them."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def take(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Website]:
    async with website() as site:
        yield site


def fetching(egress: Egress, shop: Website, pauses: Pauses, *, seconds: float = 600) -> Fetcher:
    """Return a fetcher for a site that takes no pause."""
    headers = {"User-Agent": "trader/1"}
    return Fetcher(egress, seconds=seconds, headers=headers, origins=(shop.url,), pause=pauses.take)


@pytest.mark.requirement("AGT-9.2-9")
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_after_429_it_waits_at_least_as_long_as_the_site_asks(
    shop: Website, method: str
) -> None:
    waits = ["7", "3"]

    async def answer(_request: web.Request) -> web.Response:
        if waits:
            return web.Response(status=429, headers={"Retry-After": waits.pop(0)})
        return web.Response(text="done")

    shop.handle("/", answer)
    pauses = Pauses()
    async with Egress(allow_loopback=True) as egress:
        fetcher = fetching(egress, shop, pauses)
        found = await fetcher.send(f"{shop.url}/", method="GET" if method == "GET" else "POST")
    assert found.body == b"done"
    first, second = pauses.seconds
    assert 7 <= first <= 8
    assert 3 <= second <= 5


@pytest.mark.requirement("AGT-9.2-12")
async def test_after_5xx_a_get_is_repeated_once_after_five_seconds(shop: Website) -> None:
    shop.put("/", "down", status=500)
    pauses = Pauses()
    async with Egress(allow_loopback=True) as egress:
        fetcher = fetching(egress, shop, pauses)
        assert (await fetcher.send(f"{shop.url}/")).status == 500
        assert pauses.seconds == [SERVER_PAUSE_SECONDS] == [5.0]
        assert len(shop.asked) == 2
        assert (await fetcher.send(f"{shop.url}/", {}, method="POST")).status == 500
    assert len(shop.asked) == 3
    assert len(pauses.seconds) == 1


async def test_a_pause_that_the_visit_has_no_time_for_ends_it(shop: Website) -> None:
    shop.put("/", "", status=429, headers={"Retry-After": "100"})
    pauses = Pauses()
    async with Egress(allow_loopback=True) as egress:
        fetcher = fetching(egress, shop, pauses, seconds=60)
        with pytest.raises(BudgetSpent, match="asks to wait 10"):
            await fetcher.send(f"{shop.url}/")
        with pytest.raises(PolicyRefused):
            await fetcher.send("http://127.0.0.1:1/")
        shop.put("/", "", status=429, headers={"Retry-After": "9" * 30})
        with pytest.raises(BudgetSpent, match="asks to wait 10000000"):
            await fetcher.send(f"{shop.url}/")
    assert (len(shop.asked), pauses.seconds) == (2, [])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 300),
        ({"ETag": '"1"'}, 300),
        ({"Cache-Control": "public"}, 300),
        ({"Cache-Control": "max-age=20"}, 20),
        ({"Cache-Control": "public, MAX-AGE=20", "Age": "15"}, 5),
        ({"Cache-Control": "max-age=20", "Age": "25"}, 0),
        ({"Cache-Control": "max-age=-5"}, 300),
        ({"Cache-Control": "max-age=" + "9" * 400}, 300),
        ({"Cache-Control": "no-cache, max-age=20"}, 0),
        ({"Cache-Control": "private, no-store"}, None),
        ({"Vary": "*"}, None),
        ({"Expires": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10),
        ({"Expires": "0"}, 0),
        ({"Expires": "Thu, 01 Jan 1970 00:00:00 GMT", "Cache-Control": "max-age=7"}, 7),
    ],
)
def test_a_response_is_fresh_as_long_as_its_headers_say(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert find_lifetime(headers, 300, 1000) == seconds
    assert MAX_SECONDS == 86_400


async def test_what_may_have_been_done_is_not_sent_again(shop: Website) -> None:
    pauses = Pauses()
    shop.put("/order", "{}", status=503, headers={"Retry-After": "1"})
    async with Egress(allow_loopback=True) as egress:
        fetcher = fetching(egress, shop, pauses)
        found = await fetcher.send(f"{shop.url}/order", {}, method="POST")
    assert found.status == 503
    assert len(shop.asked) == 1
    assert pauses.seconds == []
