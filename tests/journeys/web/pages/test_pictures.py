"""The pictures of pages: served from the content folder, shown on the page, missing ones told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser

from tests.support.clients.ahp import Visitor, visiting
from tests.support.desk.command import run_here

pytestmark = pytest.mark.asyncio(loop_scope="module")

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
SVG = b'<?xml version="1.0"?><!-- drawn -->\n<svg xmlns="http://www.w3.org/2000/svg"></svg>'
PICTURES = {
    "guides/img/a.png": (PNG, "image/png"),
    "guides/img/b c.jpg": (b"\xff\xd8\xff\xe0" + bytes(40), "image/jpeg"),
    "guides/img/d.gif": (b"GIF89a" + bytes(40), "image/gif"),
    "guides/img/e.webp": (b"RIFF\x24\0\0\0WEBPVP8 " + bytes(40), "image/webp"),
    "img/f.avif": (b"\0\0\0\x1cftypavif\0\0\0\0mif1avif" + bytes(40), "image/avif"),
    "img/g.svg": (SVG, "image/svg+xml"),
    "img/h.jpg": (PNG, "image/png"),  # called what it is not
}
REFUSED = {
    "guides/img/page.png": b"<html><script>alert(1)</script>",
    "guides/img/keys.svg": b"{}",
    "img/.hidden.png": PNG,
    "img/unshown.png": PNG,
    "img/secret.key.png": PNG,
    "img/elsewhere.png": b"",
}
PAGE = """# Tent

![A tent](img/a.png) ![b](img/b%20c.jpg "Title") ![d](./img/d.gif)

<img src="/img/f.avif" alt="f" width="40" height="30" onerror="alert(1)" style="width:1px">

![page](img/page.png) ![keys](img/keys.svg) ![hidden](/img/.hidden.png) ![key](/img/secret.key.png)

![out](../../outside.png) ![linked](/img/elsewhere.png) ![gone](gone.png) ![passwd](/etc/passwd)

![away](https://cdn.example/x.png) ![data](data:image/png;base64,AAAA)
"""
HTML = (
    "<h1>Plan</h1><p>The plan. <img src='../img/g.svg' alt='Floor &amp; roof'>"
    "<img src='img/e.webp' alt=''><img src='../img/h.jpg?v=3#x' alt=h></p>"
)


def write_site(folder: Path) -> Path:
    site = folder / "site"
    (site / "guides/img").mkdir(parents=True)
    (site / "img").mkdir()
    for name, body in {**{n: b for n, (b, _) in PICTURES.items()}, **REFUSED}.items():
        (site / name).write_bytes(body)
    (folder / "outside.png").write_bytes(PNG)
    (site / "img/elsewhere.png").unlink()
    (site / "img/elsewhere.png").symlink_to(folder / "outside.png")
    (site / "guides/tent.md").write_text(PAGE)
    (site / "guides/plan.html").write_text(HTML)
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    folder = tmp_path_factory.mktemp("pictures")
    async with visiting(folder / "data", folder=write_site(folder)) as visitor:
        yield visitor


async def page(http: aiohttp.ClientSession, path: str) -> LexborHTMLParser:
    async with http.get(path, headers={"Accept": "text/html"}) as response:
        assert response.status == 200
        return LexborHTMLParser(await response.text())


def url_of(name: str) -> str:
    return "/" + name.replace(" ", "%20")


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_of_a_page_is_sent_as_what_it_is(visitor: Visitor, name: str) -> None:
    body, media_type = PICTURES[name]
    async with visitor.http.get(url_of(name)) as response:
        assert (response.status, await response.read()) == (200, body)
        assert response.headers["Content-Type"] == media_type
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        policy = set(response.headers["Content-Security-Policy"].split("; "))
        assert {"default-src 'none'", "sandbox", "style-src 'unsafe-inline'"} <= policy
        if media_type == "image/svg+xml":
            assert not [rule for rule in policy if rule.startswith(("img-src", "script-src"))]
        tag = response.headers["ETag"]
    async with visitor.http.get(url_of(name), headers={"If-None-Match": tag}) as response:
        assert response.status == 304


@pytest.mark.parametrize(
    "path",
    [
        *map(url_of, REFUSED),
        *("/outside.png", "/guides/../../outside.png", "/etc/passwd", "/guides/gone.png"),
        *("/img/%2e%2e/%2e%2e/outside.png", "/img/..%2f..%2foutside.png", "/img/", "/guides/img"),
    ],
)
async def test_no_other_file_is_sent(visitor: Visitor, path: str) -> None:
    async with visitor.http.get(path) as response:
        assert response.status == 404


async def test_pages_show_the_pictures_that_are_served(visitor: Visitor) -> None:
    shown = [image.attributes for image in (await page(visitor.http, "/guides/tent")).css("img")]
    assert [(one["src"], one["alt"]) for one in shown] == [
        ("/guides/img/a.png", "A tent"),
        ("/guides/img/b%20c.jpg", "b"),
        ("/guides/img/d.gif", "d"),
        ("/img/f.avif", "f"),
    ]
    assert (shown[3]["width"], shown[3]["height"]) == ("40", "30")
    assert all(set(one) <= {"src", "alt", "width", "height", "loading"} for one in shown)
    images = (await page(visitor.http, "/guides/plan")).css("img")
    assert [(one.attributes["src"], one.attributes["alt"]) for one in images] == [
        ("/img/g.svg", "Floor & roof"),
        ("/guides/img/e.webp", ""),
        ("/img/h.jpg?v=3#x", "h"),
    ]


async def test_pictures_that_are_not_served_are_words(visitor: Visitor) -> None:
    tree = await page(visitor.http, "/guides/tent")
    main = tree.css_first("main")
    assert main is not None
    text = main.text()
    for words in ("page", "keys", "hidden", "out", "linked", "gone"):
        assert words in text
    assert "https://cdn.example/x.png" in [a.attributes["href"] for a in tree.css("main a")]


async def test_a_picture_that_comes_later_is_shown(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.md").write_text("# A\n\nText. ![later](later.png)\n")
    async with visiting(tmp_path / "data", folder=site) as visitor:
        assert not (await page(visitor.http, "/a")).css("main img")
        (site / "later.png").write_bytes(PNG)
        assert await visitor.desk.desk.knowledge.refresh()
        assert len((await page(visitor.http, "/a")).css("main img")) == 1
        async with visitor.http.get("/later.png") as response:
            assert response.status == 200


async def test_check_tells_of_pictures_that_cannot_be_shown(tmp_path: Path) -> None:
    site = write_site(tmp_path)
    first, ready = run_here("check", site).out.splitlines()
    assert first.startswith("guides/tent.md: guides/img/page.png is not a PNG, JPEG, GIF")
    assert first.endswith("5 more pictures cannot be shown either.")
    assert ready == f"{site} is ready to serve: 2 pages."
