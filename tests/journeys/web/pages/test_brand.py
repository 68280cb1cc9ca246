"""The pages in the owner's colours and language; what programs need is on a page of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.support.clients.ahp import Visitor, visiting

HTML = {"Accept": "text/html"}
ACCENT = 'widget.accent="#d6006c"'


async def read(visitor: Visitor, path: str) -> LexborHTMLParser:
    async with visitor.http.get(path, headers=HTML) as response:
        return LexborHTMLParser(await response.text())


@pytest.mark.parametrize("path", ["/", "/policies/returns", "/nowhere", "/search?q=a", "/docs"])
async def test_every_page_has_the_owners_colours(tmp_path: Path, path: str) -> None:
    async with visiting(tmp_path / "data", ACCENT) as visitor:
        tree = await read(visitor, path)
        sheets = [one.attributes["href"] or "" for one in tree.css("link[rel=stylesheet]")]
        assert len(sheets) == (3 if path == "/docs" else 2)
        async with visitor.http.get(sheets[1]) as response:
            assert (response.status, response.content_type) == (200, "text/css")
            assert "immutable" in response.headers["Cache-Control"]
            sheet = await response.text()
    light, dark = re.findall(r"--accent: (#[0-9a-f]{6});", sheet)
    assert (light, dark) != ("#d6006c", "#d6006c")
    assert not tree.css("[style], style")


async def test_without_an_accent_there_is_one_style_sheet(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data") as visitor:
        assert len((await read(visitor, "/")).css("link[rel=stylesheet]")) == 1


async def test_a_german_site_has_german_pages(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", 'site.language="de"') as visitor:
        for path in ("/", "/policies/returns", "/nowhere", "/search?q=a"):
            tree = await read(visitor, path)
            (html,) = tree.css("html")
            assert html.attributes["lang"] == "de"
            assert "Für Agenten" in tree.text()
            assert tree.css("input[placeholder='Seiten durchsuchen']")


async def test_people_are_shown_what_to_ask_and_developers_where_to_read(tmp_path: Path) -> None:
    asked = 'widget.suggestions=["Can I pay later?", "Do you repair?"]'
    async with visiting(tmp_path / "data", asked) as visitor:
        home, docs = await read(visitor, "/"), await read(visitor, "/docs")
        async with visitor.http.get("/widget/settings.json") as response:
            settings = await response.json()
    assert settings["suggestions"] == ["Can I pay later?", "Do you repair?"]
    assert home.css("aitp-chat[inline]")
    (main,) = home.css("main")
    assert "curl" not in main.text()
    assert "/v1/thread" not in main.text()
    assert home.css("section#desk\\.agents a[href='/docs']")
    commands = [one.text() for one in docs.css("pre")]
    assert any("/v1/thread" in one and "Can I pay later?" in one for one in commands)
    assert any("/agent/converse" in one for one in commands)


async def test_a_site_without_that_page_keeps_the_addresses_on_the_home_page(
    tmp_path: Path,
) -> None:
    async with visiting(tmp_path / "off", "rest.enabled=false") as visitor:
        (main,) = (await read(visitor, "/")).css("main")
        assert "curl" in main.text()
    site = tmp_path / "site"
    site.mkdir()
    (site / "docs.md").write_text("# Manuals\n\nOf our stoves.\n")
    async with visiting(tmp_path / "data", folder=site) as visitor:
        home = await read(visitor, "/")
        (main,) = home.css("main")
        assert "curl" in main.text()
        assert not home.css("section#desk\\.agents a[href='/docs']")


async def test_the_server_s_error_page_is_no_page(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "404.html").write_text("<h1>Lost in the woods</h1><p>Nothing here.</p>")
    (site / "a.md").write_text("# Tents\n\nDry.\n")
    async with visiting(tmp_path / "data", folder=site) as visitor:
        async with visitor.http.get("/404", headers=HTML) as response:
            assert response.status == 404
            assert "woods" not in await response.text()
        async with visitor.http.get("/llms.txt") as response:
            assert "woods" not in await response.text()
        async with visitor.http.get("/search?q=lost") as response:
            assert (await response.json())["data"] == []


async def test_the_logo_is_next_to_the_name_unless_it_is_on_another_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.md").write_text("# Tents\n\nDry.\n")
    (site / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"/>')
    settings = ('widget.logo="logo.svg"', 'widget.logo_alt="A tent"')
    async with visiting(tmp_path / "data", *settings, folder=site) as visitor:
        (logo,) = (await read(visitor, "/a")).css("header a.brand img")
        assert logo.attributes["alt"] == "A tent"
        async with visitor.http.get(logo.attributes["src"] or "") as response:
            assert (response.status, response.content_type) == (200, "image/svg+xml")
    elsewhere = (
        'widget.logo="https://www.example.com/logo.png"',
        'widget.origins=["https://www.example.com"]',
    )
    async with visiting(tmp_path / "other", *elsewhere, folder=site) as visitor:
        assert not (await read(visitor, "/a")).css("header img")
