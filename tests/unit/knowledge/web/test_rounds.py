"""Rounds of reading pages from elsewhere, against real servers."""

import asyncio
import zlib
from pathlib import Path

import pytest
from aiohttp import web

from aitp_desk.egress import Egress
from aitp_desk.knowledge.web import round as gathering
from aitp_desk.knowledge.web import time_limit as trial
from aitp_desk.knowledge.web.copies import FOLDER
from tests.support.content.pdf import make_pdf
from tests.support.content.web_round import Reading, page, sitemap
from tests.support.doubles.website import Website, website


async def test_pages_are_read_and_link_to_themselves(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/returns.html", page("Returns"))
    site.put("/notes", "# Notes\n\nWritten down.", type="text/markdown")
    site.put("/plain?x=1", "Just words.", type="text/plain; charset=utf-8")
    reading = Reading(site, egress, tmp_path, urls=["/returns.html#top", "/notes", "/plain?x=1"])
    assert await reading.gather() == {}
    found = reading.documents
    assert {path: (document.kind, document.title) for path, document in found.items()} == {
        "/returns.html": ("html", "Returns"),
        "/notes": ("markdown", "Notes"),
        "/plain?x=1": ("text", "Plain?x=1"),
    }
    document = found["/returns.html"]
    assert document.url == document.source == f"{site.url}/returns.html"
    assert (document.name, document.folder) == ("returns", site.url.removeprefix("http://"))


async def test_a_page_that_has_not_changed_is_not_sent_again(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    site.put("/tagged", page("Tagged"), headers={"ETag": 'W/"7"'})
    site.put("/dated", page("Dated"), headers={"Last-Modified": date})
    site.put("/plain", page("Plain"))
    reading = Reading(site, egress, tmp_path, urls=["/tagged", "/dated", "/plain"])
    await reading.gather()
    looked = reading.rounds.copies.read_state()
    site.asked.clear()
    assert await reading.gather() == {}
    conditions = {
        asked.path: (asked.headers.get("If-None-Match"), asked.headers.get("If-Modified-Since"))
        for asked in site.asked
    }
    assert conditions["/tagged"] == ('W/"7"', None)
    assert conditions["/dated"] == (None, date)
    assert conditions["/plain"] == (None, None)
    assert reading.titles == {"/tagged": "Tagged", "/dated": "Dated", "/plain": "Plain"}
    assert reading.rounds.copies.read_state() == looked


async def test_a_page_that_changes_takes_the_place_of_its_copy(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/", page("Old"), headers={"ETag": '"1"'})
    reading = Reading(site, egress, tmp_path, urls=["/"])
    await reading.gather()
    site.put("/", page("New"), headers={"ETag": '"2"'})
    tally = await reading.rounds.run_once()
    assert (tally.listed, tally.changed, tally.kept) == (1, 1, 1)
    assert reading.titles == {"/": "New"}
    assert len(list((tmp_path / FOLDER).iterdir())) == 2


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_vanishes_is_dropped_and_reported(
    site: Website, egress: Egress, tmp_path: Path, status: int
) -> None:
    site.put("/", page("Here"))
    reading = Reading(site, egress, tmp_path, urls=["/"])
    await reading.gather()
    site.take_away("/", status)
    assert await reading.gather() == {
        "/": f"The page no longer exists (status {status}) and is left out."
    }
    assert reading.titles == {}


@pytest.mark.parametrize("status", [403, 429, 500, 503])
async def test_a_page_that_is_not_given_now_keeps_its_last_copy(
    site: Website, egress: Egress, tmp_path: Path, status: int
) -> None:
    site.put("/", page("Here"))
    site.take_away("/never", status)
    reading = Reading(site, egress, tmp_path, urls=["/", "/never"])
    await reading.gather()
    site.take_away("/", status)
    assert await reading.gather() == {
        "/": f"It responds with status {status}. Its last copy is used.",
        "/never": f"It responds with status {status}. There is no copy of it yet.",
    }
    assert reading.titles == {"/": "Here"}


async def test_when_nobody_can_be_reached_all_copies_stay(egress: Egress, tmp_path: Path) -> None:
    async with website() as site:
        site.put("/", page("Here"))
        site.put("/map.xml", sitemap(f"{site.url}/listed"))
        site.put("/listed", page("Listed"))
        reading = Reading(site, egress, tmp_path, urls=["/"], sitemaps=["/map.xml"])
        assert await reading.gather() == {}
    problems = await reading.gather()
    assert problems.keys() == {"/", "/listed", "/map.xml"}
    assert problems["/"].endswith("Its last copy is used.")
    assert reading.titles == {"/": "Here", "/listed": "Listed"}


@pytest.mark.slow
async def test_a_page_that_is_too_large_too_slow_or_a_bomb_is_left(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    done = asyncio.Event()

    async def wait(_request: web.Request) -> web.Response:
        await done.wait()
        return web.Response()

    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(50)) + packer.flush()
    site.put("/large", page("Large", "x" * 100_000))
    site.put("/bomb", bomb, headers={"Content-Encoding": "gzip"})
    site.handle("/slow", wait)
    site.put("/fine", page("Fine"))
    reading = Reading(
        site,
        egress,
        tmp_path,
        urls=["/large", "/slow", "/bomb", "/fine"],
        max_bytes=100_000,
        page_seconds=1,
    )
    try:
        problems = await reading.gather()
    finally:
        done.set()
    assert "sent more than 100000 bytes" in problems["/large"]
    assert "sent more than 100000 bytes" in problems["/bomb"]
    assert "within 1 second." in problems["/slow"]
    assert reading.titles == {"/fine": "Fine"}


@pytest.mark.slow
async def test_a_page_that_would_take_hours_to_read_is_left(
    site: Website, egress: Egress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attributes = " ".join(f"a{number}" for number in range(200_000))
    site.put("/wide", page("Wide", f"<p {attributes}>One paragraph.</p>"))
    site.put("/deep.md", "<div>" * 200_000, type="text/markdown")
    site.put("/long", page("Long", "<p>One of many paragraphs.</p>" * 3_000))
    monkeypatch.setattr(trial, "MAX_SECONDS", 120.0)
    assert await Reading(site, egress, tmp_path, urls=["/long"]).gather() == {}
    # only what has changed is tried, so this short time is none for the long page
    monkeypatch.setattr(trial, "MAX_SECONDS", 2.0)
    reading = Reading(site, egress, tmp_path, urls=["/wide", "/deep.md", "/long"])
    problems = await reading.gather()
    assert problems.keys() == {"/wide", "/deep.md"}
    assert "seconds or 1 GiB to read. It is left out." in problems["/wide"]
    assert reading.titles == {"/long": "Long"}


@pytest.mark.slow
async def test_a_pdf_is_tried_whatever_its_size(
    site: Website, egress: Egress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.put("/guide.pdf", make_pdf(["A guide."]), type="application/pdf")
    site.put("/broken.pdf", b"%PDF-1.4", type="application/pdf")
    site.put("/page", page("Page"))
    reading = Reading(site, egress, tmp_path, urls=["/guide.pdf", "/broken.pdf", "/page"])
    assert await reading.gather() == {}
    assert reading.titles == {"/guide.pdf": "Guide", "/page": "Page"}
    site.put("/guide.pdf", make_pdf(["Another guide."]), type="application/pdf")
    monkeypatch.setattr(trial, "MAX_SECONDS", 0.001)
    problems = await reading.gather()
    assert problems.keys() == {"/guide.pdf"}, "what has not changed is not tried again"
    assert "seconds or 1 GiB to read. It is left out." in problems["/guide.pdf"]
    assert reading.titles == {"/page": "Page"}


async def test_what_is_no_page_is_reported(site: Website, egress: Egress, tmp_path: Path) -> None:
    site.put("/logo", b"\x89PNG", type="image/png")
    reading = Reading(site, egress, tmp_path, urls=["/logo"])
    assert await reading.gather() == {
        "/logo": "Its media type is image/png; pages are HTML, Markdown, text or PDF."
        " It is left out."
    }


async def test_what_all_pages_hold_together_has_a_bound(
    site: Website, egress: Egress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MAX_TOTAL_BYTES", 1500)
    for name in ("/a", "/b"):
        site.put(name, page(name, "x" * 1000))
    reading = Reading(site, egress, tmp_path, urls=["/a", "/b"])
    (problem,) = (await reading.gather()).values()
    assert problem == "All pages together have more than 1500 bytes."
    assert len(reading.documents) == 1


# redirects
async def test_a_page_is_known_by_the_address_that_it_has_moved_to(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.redirect("/old", "/new", 301)
    site.put("/new", page("New"), headers={"ETag": '"1"'})
    reading = Reading(site, egress, tmp_path, urls=["/old", "/new"])
    assert await reading.gather() == {}
    assert reading.titles == {"/new": "New"}
    assert await reading.gather() == {}


async def test_a_redirect_to_an_internal_address_is_refused(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.redirect("/", "https://169.254.169.254/latest/meta-data")
    reading = Reading(site, egress, tmp_path, urls=["/"])
    problems = await reading.gather()
    assert "169.254.169.254 does not lead to a public address" in problems["/"]
    assert reading.titles == {}


# copies
async def test_what_the_settings_no_longer_list_is_no_content(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/map.xml", sitemap(f"{site.url}/b"))
    for name in ("/a", "/b"):
        site.put(name, page(name))
    reading = Reading(site, egress, tmp_path, urls=["/a", "/gone"], sitemaps=["/map.xml"])
    assert (await reading.gather()).keys() == {"/gone"}
    reading = Reading(site, egress, tmp_path, urls=["/a"])
    assert reading.documents.keys() == {"/a"}
    assert reading.rounds.copies.read().problems == ()


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
async def test_a_damaged_copy_is_fetched_again(
    site: Website, egress: Egress, tmp_path: Path, damage: str
) -> None:
    site.put("/", page("Here"), headers={"ETag": '"1"'})
    reading = Reading(site, egress, tmp_path, urls=["/"])
    await reading.gather()
    (body,) = (file for file in (tmp_path / FOLDER).iterdir() if file.suffix != ".json")
    if damage == "gone":
        body.unlink()
    else:
        text = body.read_bytes()
        body.write_bytes(text[:-5] if damage == "cut" else text[::-1])
    assert reading.titles == {}
    await reading.gather()
    assert reading.titles == {"/": "Here"}


async def test_a_damaged_list_is_no_list(site: Website, egress: Egress, tmp_path: Path) -> None:
    site.put("/", page("Here"))
    reading = Reading(site, egress, tmp_path, urls=["/"])
    await reading.gather()
    (tmp_path / FOLDER / "pages.json").write_text('{"copies": [{"url": ')
    assert reading.titles == {}
    await reading.gather()
    assert reading.titles == {"/": "Here"}


async def test_copies_are_their_owners_alone(site: Website, egress: Egress, tmp_path: Path) -> None:
    site.put("/", page("Here"))
    await Reading(site, egress, tmp_path, urls=["/"]).gather()
    folder = tmp_path / FOLDER
    assert folder.stat().st_mode & 0o077 == 0
    assert [file.stat().st_mode & 0o077 for file in folder.iterdir()] == [0, 0]
