"""The files of the desk's own pages and the console's reading count against nobody's limit."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import aiohttp
import pytest

from tests.support.clients.operator import browsing, operating
from tests.support.desk.server import serving

SHOP = Path(__file__).parents[4] / "examples" / "shop"
"""Its settings limit BulkReader to three requests a minute."""
LIMITS = ("limits.enabled=true",)
LOADED = re.compile(r'(?:href|src)="([^"]+\.(?:css|js|svg))"')
IMPORTED = re.compile(r' from "(\./[^"]+)";')
FRESH_LOADS = 50
"""Of one office in a minute: together with their files more than any address may read."""


async def load(http: aiohttp.ClientSession, path: str) -> int:
    """Load a page as a browser without a cache does; how many files it has."""
    loaded: set[str] = set()
    async with http.get(path, headers={"Accept": "text/html"}) as page:
        assert page.status == 200
        waiting = LOADED.findall(await page.text())
    while waiting:
        url = waiting.pop()
        if url in loaded:
            continue
        loaded.add(url)
        async with http.get(url) as file:
            assert file.status == 200, url
            assert "X-RateLimit-Limit" not in file.headers
            text = await file.text()
        waiting += [urljoin(url, name) for name in IMPORTED.findall(text)]
    return len(loaded)


async def test_a_whole_office_gets_styled_pages_and_may_still_ask(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", *LIMITS) as desk, aiohttp.ClientSession(desk.url) as http:
        files = {await load(http, "/") for _ in range(FRESH_LOADS)}
        assert files == {4}
        question = {"capability": "content_search", "query": "How long may I return a book?"}
        async with http.post("/agent/converse", json=question) as answer:
            assert answer.status == 200


async def test_fresh_loads_count_nothing_but_the_questions(tmp_path: Path) -> None:
    """Forty visitors of one address load pages with pictures, and each may still ask."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "tent.md").write_text("# Tent\n\nWaterproof.\n\n![Tent](tent.png)\n")
    (site / "tent.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    few = ("limits.static_per_minute=1", "limits.converse_per_minute=40")
    html = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    picture = {"Accept": "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"}
    async with (
        serving(tmp_path / "data", *LIMITS, *few, folder=site) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        loads = (("/", html), ("/tent", html), ("/tent.png", picture), ("/nowhere", html))
        for _ in range(40):
            for path, headers in loads:
                async with http.get(path, headers=headers) as reply:
                    assert reply.status == (404 if path == "/nowhere" else 200)
                    assert "X-RateLimit-Limit" not in reply.headers
        question = {"capability": "content_search", "query": "Is the tent waterproof?"}
        for left in range(39, -1, -1):
            async with http.post("/agent/converse", json=question) as answer:
                assert answer.status == 200
                assert answer.headers["X-RateLimit-Remaining"] == str(left)


async def test_programs_that_read_pages_are_counted(tmp_path: Path) -> None:
    few = "limits.static_per_minute=2"
    statuses = []
    async with (
        serving(tmp_path / "data", *LIMITS, few) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        for accept in ("text/markdown", "*/*", "application/json"):
            async with http.get("/policies/returns", headers={"Accept": accept}) as reply:
                statuses.append(reply.status)
    assert statuses[2] == 429


async def test_an_agent_with_a_limit_is_counted_when_it_claims_to_be_a_browser(
    tmp_path: Path,
) -> None:
    headers = {"Accept": "text/html", "User-Agent": "BulkReader/2.0"}
    async with (
        serving(tmp_path / "data", *LIMITS, folder=SHOP) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        statuses = []
        for _ in range(4):
            async with http.get("/policies/returns", headers=headers) as reply:
                statuses.append(reply.status)
        assert statuses == [200, 200, 200, 429]


async def test_an_operator_is_not_locked_out_by_what_the_console_reads(tmp_path: Path) -> None:
    few = ("limits.static_per_minute=1", "limits.authenticated_per_minute=1")
    async with (
        serving(tmp_path / "data", *LIMITS, *few) as desk,
        aiohttp.ClientSession(desk.url) as http,
        operating(desk, tmp_path / "data") as anna,
    ):
        assert [await load(http, "/console") > 30 for _ in range(2)] == [True, True]
        for _ in range(3):
            for path in ("session", "tickets", "threads", "load", "health"):
                assert (await anna.send("GET", path)).status == 200, path


@pytest.mark.parametrize("credential", [None, "of nobody"])
async def test_who_has_not_signed_in_is_still_counted(
    tmp_path: Path, credential: str | None
) -> None:
    few = "limits.static_per_minute=1"
    async with serving(tmp_path / "data", *LIMITS, few) as desk, browsing(desk) as browser:
        browser.secret = credential
        answers = [await browser.send("GET", "tickets") for _ in range(2)]
        assert [one.status for one in answers] == [401, 429]
