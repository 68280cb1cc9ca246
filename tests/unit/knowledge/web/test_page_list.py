"""The pages that sitemaps list are read, and those alone."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from aitp_desk.egress import Egress
from aitp_desk.knowledge.web import page_list as listing
from tests.support.content.web_round import Reading, page, sitemap, sitemap_index
from tests.support.doubles.website import Website, website


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
        "/2.xml": "It is a list of sitemaps within another list, and is not read."
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


async def test_a_large_sitemap_is_parsed_outside_the_event_loop(
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
