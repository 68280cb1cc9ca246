"""The desk asks other servers for pages as they wish it: robots.txt, pauses, two at once."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from aitp_desk.egress import Egress
from aitp_desk.knowledge.web import robots as manners
from tests.support.content.web_round import Reading, page
from tests.support.doubles.website import Website, website


async def test_where_a_redirect_leads_robots_txt_is_asked_too(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    async with website("127.0.0.2") as other:
        site.redirect("/", f"{other.url}/private")
        other.put("/robots.txt", "User-agent: *\nDisallow: /private", type="text/plain")
        other.put("/private", page("Private"))
        reading = Reading(site, egress, tmp_path, urls=["/"])
        assert "forbids to read it" in (await reading.gather())["/"]
        assert [asked.path for asked in other.asked] == ["/robots.txt"]


# robots.txt
async def test_robots_txt_is_asked_once_and_obeyed(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    rules = "User-agent: *\nAllow: /\nDisallow: /private\nAllow: /private/but\nDisallow: /*?print"
    site.put("/robots.txt", rules, type="text/plain")
    paths = ["/", "/private", "/private/but", "/page", "/page?print=1"]
    for path in paths:
        site.put(path, page("Page"))
    reading = Reading(site, egress, tmp_path, urls=paths)
    problems = await reading.gather()
    assert problems.keys() == {"/private", "/page?print=1"}
    assert problems["/private"].endswith("forbids to read it. It is left out.")
    assert sorted(site.paths()) == ["/", "/page", "/private/but"]
    assert len(site.asked) == 4


async def test_rules_for_the_desk_go_before_those_for_all(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: AITP-desk\nDisallow: /b"
    site.put("/robots.txt", rules, type="text/plain")
    site.put("/a", page("A"))
    reading = Reading(site, egress, tmp_path, urls=["/a", "/b"])
    assert (await reading.gather()).keys() == {"/b"}
    assert reading.titles == {"/a": "A"}


async def test_a_page_that_robots_txt_forbids_later_is_dropped(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/a", page("A"))
    reading = Reading(site, egress, tmp_path, urls=["/a"])
    await reading.gather()
    site.put("/robots.txt", "User-agent: *\nDisallow: /", type="text/plain")
    await reading.gather()
    assert reading.titles == {}


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_while_robots_txt_cannot_be_read_nothing_is_asked_for(
    site: Website, egress: Egress, tmp_path: Path, status: int
) -> None:
    site.put("/a", page("A"))
    reading = Reading(site, egress, tmp_path, urls=["/a"])
    await reading.gather()
    site.put("/robots.txt", "", status=status)
    site.asked.clear()
    assert await reading.gather() == {
        "/a": f"Its robots.txt responds with status {status}. Its last copy is used."
    }
    assert site.paths() == []
    assert reading.titles == {"/a": "A"}


async def test_a_server_is_asked_for_two_pages_at_once(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    most = await most_at_once(site, egress, tmp_path)
    assert most == manners.AT_ONCE


async def test_a_server_that_wishes_pauses_is_given_them(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/robots.txt", "User-agent: *\nCrawl-delay: 0.05", type="text/plain")
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await most_at_once(site, egress, tmp_path) == 1
    assert loop.time() - began >= 5 * 0.05


async def test_a_pause_has_its_bounds(
    site: Website, egress: Egress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manners, "MAX_PAUSE_SECONDS", 0.01)
    site.put("/robots.txt", "User-agent: *\nCrawl-delay: 86400", type="text/plain")
    async with asyncio.timeout(60):
        assert await most_at_once(site, egress, tmp_path) == 1


async def most_at_once(site: Website, egress: Egress, data: Path) -> int:
    """Read six pages; how many of them were asked for at the same time."""
    now = most = 0

    async def answer(_request: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(5):
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        now -= 1
        return web.Response(text=page("Page"), content_type="text/html")

    paths = [f"/{number}" for number in range(6)]
    for path in paths:
        site.handle(path, answer)
    reading = Reading(site, egress, data, urls=paths)
    assert await reading.gather() == {}
    return most
