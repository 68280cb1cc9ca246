"""Rounds of reading pages from elsewhere, against real servers."""

import asyncio
import threading
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aitp_desk.config import Web
from aitp_desk.egress import Egress
from aitp_desk.knowledge.base import Document
from aitp_desk.knowledge.load import understand
from aitp_desk.knowledge.web import gather as gathering
from aitp_desk.knowledge.web import listing, manners, trial
from aitp_desk.knowledge.web.copies import FOLDER
from aitp_desk.knowledge.web.rounds import Rounds
from tests.pdfs import make_pdf
from tests.websites import Website, website


class Reading:
    """Rounds over one website.

    Parameters:
        site: whose pages are read.
        data: the data folder.
        settings: of ``content.web``; addresses are paths on the site.
    """

    def __init__(self, site: Website, egress: Egress, data: Path, **settings: Any) -> None:
        for name in ("urls", "sitemaps"):
            listed = settings.get(name, ())
            settings[name] = tuple(
                address if "://" in address else site.url + address for address in listed
            )
        self._site = site.url
        self.rounds = Rounds(Web(**settings), egress, data)

    async def gather(self) -> dict[str, str]:
        """Read once; what is wrong afterwards, by path."""
        tally = await self.rounds.gather()
        kept = self.rounds.copies.read()
        assert (tally.kept, tally.problems) == (len(kept.copies), len(kept.problems))
        return {
            problem.source.removeprefix(self._site): problem.message for problem in kept.problems
        }

    @property
    def documents(self) -> dict[str, Document]:
        """What is known, by path."""
        content = understand(self.rounds.copies.raw())
        return {document.path.removeprefix(self._site): document for document in content.documents}

    @property
    def titles(self) -> dict[str, str]:
        """The titles of what is known, by path."""
        return {path: document.title for path, document in self.documents.items()}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with website() as site:
        yield site


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    async with Egress(allow_loopback=True) as egress:
        yield egress


def page(title: str, text: str = "Some text.") -> str:
    return f"<html><title>{title}</title><body><h1>{title}</h1><p>{text}</p></body></html>"


def sitemap(*addresses: str) -> str:
    listed = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    return f"<urlset>{listed}</urlset>"


def sitemap_index(*addresses: str) -> str:
    listed = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f"<sitemapindex>{listed}</sitemapindex>"


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
    looked = reading.rounds.copies.look()
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
    assert reading.rounds.copies.look() == looked


async def test_a_page_that_changes_takes_the_place_of_its_copy(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/", page("Old"), headers={"ETag": '"1"'})
    reading = Reading(site, egress, tmp_path, urls=["/"])
    await reading.gather()
    site.put("/", page("New"), headers={"ETag": '"2"'})
    tally = await reading.rounds.gather()
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
        "/": f"The page has gone (it answers {status}) and is left out."
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
        "/": f"It answers {status}. Its last copy is used.",
        "/never": f"It answers {status}. There is no copy of it yet.",
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
    assert "within 1 seconds" in problems["/slow"]
    assert reading.titles == {"/fine": "Fine"}


async def test_a_page_that_would_take_hours_to_read_is_left(
    site: Website, egress: Egress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "MAX_SECONDS", 4.0)
    attributes = " ".join(f"a{number}" for number in range(200_000))
    site.put("/wide", page("Wide", f"<p {attributes}>One paragraph.</p>"))
    site.put("/deep.md", "<div>" * 200_000, type="text/markdown")
    site.put("/long", page("Long", "<p>One of many paragraphs.</p>" * 3_000))
    reading = Reading(site, egress, tmp_path, urls=["/wide", "/deep.md", "/long"])
    problems = await reading.gather()
    assert problems.keys() == {"/wide", "/deep.md"}
    assert "seconds or 1 GiB to read. It is left out." in problems["/wide"]
    assert reading.titles == {"/long": "Long"}


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
    assert problem == "All pages together hold more than 1500 bytes."
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


async def test_a_redirect_into_the_house_is_refused(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.redirect("/", "https://169.254.169.254/latest/meta-data")
    reading = Reading(site, egress, tmp_path, urls=["/"])
    problems = await reading.gather()
    assert "169.254.169.254 does not lead to a public address" in problems["/"]
    assert reading.titles == {}


async def test_where_a_redirect_leads_robots_txt_is_asked_too(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    async with website("127.0.0.2") as other:
        site.redirect("/", f"{other.url}/private")
        other.put("/robots.txt", "User-agent: *\nDisallow: /private", type="text/plain")
        other.put("/private", page("Private"))
        reading = Reading(site, egress, tmp_path, urls=["/"])
        assert "asks not to read it" in (await reading.gather())["/"]
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
    assert problems["/private"].endswith("asks not to read it. It is left out.")
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
        "/a": f"Its robots.txt answers {status}. Its last copy is used."
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
    async with asyncio.timeout(10):
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


# sitemaps


async def test_the_pages_of_a_sitemap_are_read(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/map.xml", sitemap(f"{site.url}/a", f"{site.url}/b"), type="application/xml")
    for name in ("/a", "/b"):
        site.put(name, page(name))
    reading = Reading(site, egress, tmp_path, sitemaps=["/map.xml"])
    assert await reading.gather() == {}
    assert reading.documents.keys() == {"/a", "/b"}


async def test_a_page_that_is_no_longer_listed_is_dropped(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/map.xml", sitemap(f"{site.url}/a", f"{site.url}/b"))
    for name in ("/a", "/b"):
        site.put(name, page(name))
    reading = Reading(site, egress, tmp_path, sitemaps=["/map.xml"])
    await reading.gather()
    site.put("/map.xml", sitemap(f"{site.url}/b"))
    assert await reading.gather() == {}
    assert reading.documents.keys() == {"/b"}


async def test_a_list_of_sitemaps_is_followed_once(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    own = f"{site.url}/index.xml"
    site.put("/index.xml", sitemap_index(f"{site.url}/1.xml", f"{site.url}/2.xml", own))
    site.put("/1.xml", sitemap(f"{site.url}/a"))
    site.put("/2.xml", sitemap_index(f"{site.url}/3.xml"))
    site.put("/3.xml", sitemap(f"{site.url}/b"))
    site.put("/a", page("A"))
    reading = Reading(site, egress, tmp_path, sitemaps=["/index.xml"])
    assert await reading.gather() == {
        "/2.xml": "A list of sitemaps lists this one, which lists sitemaps again."
    }
    assert reading.titles == {"/a": "A"}
    assert sorted(site.paths()) == ["/1.xml", "/2.xml", "/a", "/index.xml"]


async def test_a_sitemap_speaks_for_its_own_server_only(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    async with website("127.0.0.2") as other:
        addresses = [f"{other.url}/", "https://10.0.0.1/", "file:///etc/passwd", f"{site.url}/a"]
        site.put("/map.xml", sitemap(*addresses))
        site.put("/a", page("A"))
        reading = Reading(site, egress, tmp_path, sitemaps=["/map.xml"])
        problems = await reading.gather()
        assert "3 of its 4 addresses are not on its own server" in problems["/map.xml"]
        assert other.asked == []
    assert reading.titles == {"/a": "A"}


@pytest.mark.parametrize("answer", ["nonsense", "<!DOCTYPE urlset><urlset></urlset>", None])
async def test_while_a_sitemap_cannot_be_read_its_pages_stay(
    site: Website, egress: Egress, tmp_path: Path, answer: str | None
) -> None:
    site.put("/map.xml", sitemap(f"{site.url}/a", f"{site.url}/b"))
    for name in ("/a", "/b"):
        site.put(name, page(name))
    reading = Reading(site, egress, tmp_path, sitemaps=["/map.xml"])
    await reading.gather()
    if answer is None:
        site.take_away("/map.xml", 503)
    else:
        site.put("/map.xml", answer)
    site.take_away("/b")
    problems = await reading.gather()
    assert problems.keys() == {"/map.xml", "/b"}
    assert problems["/map.xml"].startswith("The sitemap is not read.")
    assert reading.titles == {"/a": "/a"}


async def test_pages_that_stay_are_counted_as_well(
    site: Website, egress: Egress, tmp_path: Path
) -> None:
    site.put("/index.xml", sitemap_index(f"{site.url}/away.xml", f"{site.url}/1.xml"))
    reading = Reading(site, egress, tmp_path, sitemaps=["/index.xml"], max_pages=3)
    for number in range(3):
        pages = [f"/{number}/{page}" for page in range(2)]
        site.put("/1.xml", sitemap(*(site.url + path for path in pages)))
        for path in pages:
            site.put(path, page(path))
        problems = await reading.gather()
        assert "/away.xml" in problems
        assert ("There are more than 3 pages" in str(problems)) == (number > 0)
        assert len(reading.documents) == (3 if number else 2)
        assert reading.documents.keys() >= set(pages)


async def test_a_large_sitemap_is_looked_through_beside_the_loop(
    site: Website, tmp_path: Path
) -> None:
    checked: Counter[int] = Counter()

    class Watched(Egress):
        def check(self, url: str) -> None:
            checked[threading.get_ident()] += 1
            super().check(url)

    site.put("/map.xml", sitemap(*(f"{site.url}/{number}" for number in range(1000))))
    site.put("/0", page("First"))
    async with Watched(allow_loopback=True) as egress:
        reading = Reading(site, egress, tmp_path, sitemaps=["/map.xml"], max_pages=1)
        await reading.gather()
    assert reading.titles == {"/0": "First"}
    assert checked.total() >= 1000
    assert checked[threading.get_ident()] == 2, "the sitemap's own address and the page's"


async def test_pages_and_sitemaps_are_counted(
    site: Website, egress: Egress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_SITEMAPS", 2)
    maps = [f"{site.url}/{number}.xml" for number in range(1, 4)]
    site.put("/index.xml", sitemap_index(*maps))
    for number in range(1, 4):
        pages = [f"/{number}/{page}" for page in range(4)]
        site.put(f"/{number}.xml", sitemap(*(site.url + path for path in pages)))
        for path in pages:
            site.put(path, page(path))
    reading = Reading(site, egress, tmp_path, sitemaps=["/index.xml"], max_pages=3)
    assert await reading.gather() == {
        "/index.xml": "There are more than 3 pages; the others are left out."
        " Raise content.web.max_pages to read them."
    }
    assert reading.documents.keys() == {"/1/0", "/1/1", "/1/2"}
    reading = Reading(site, egress, tmp_path, sitemaps=["/index.xml"])
    assert await reading.gather() == {
        "/index.xml": "More than 2 sitemaps are listed; the others are left."
    }
    assert len(reading.documents) == 4


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
