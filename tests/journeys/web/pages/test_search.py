"""The search over titles and headings: as JSON while a visitor types, and as a page."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser

from tests.support.clients.ahp import Visitor, visiting

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = {
    "policies/returns.md": "# Returns\n\n## Return window\n\nx\n\n## Refunds\n\nx\n",
    "policies/refunds-2025.md": "# Old refunds\n\n## Cards\n\nx\n",
    "guides/größen.md": "# Größen für Schuhe\n\n## Füße messen\n\nx\n",
    "guides/<b>.md": "# The `<b>` tag\n\n## Bold & strong\n\nx\n",
    "guides/雪.md": "# 雪山登山靴\n\n## サイズの測り方\n\nx\n",
    "plan.md": "---\ndraft: true\n---\n# Secret refunds\n\nx\n",
}


def write_site(folder: Path, pages: dict[str, str] = PAGES) -> Path:
    site = folder / "site"
    for name, text in pages.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    folder = tmp_path_factory.mktemp("search")
    async with visiting(folder / "data", folder=write_site(folder)) as visitor:
        yield visitor


async def find(visitor: Visitor, query: str, **more: str) -> list[dict[str, Any]]:
    async with visitor.http.get("/search", params={"q": query, **more}) as response:
        assert (response.status, response.content_type) == (200, "application/json")
        assert response.headers["X-Robots-Tag"] == "noindex"
        body = await response.json()
    assert body["object"] == "list"
    return list(body["data"])


async def urls(visitor: Visitor, query: str) -> list[str]:
    return [hit["url"] for hit in await find(visitor, query)]


async def test_pages_come_before_sections_and_beginnings_before_the_rest(visitor: Visitor) -> None:
    assert await find(visitor, "re") == [
        {"title": "Returns", "heading": "", "url": "/policies/returns"},
        {"title": "Returns", "heading": "Refunds", "url": "/policies/returns#refunds"},
        {"title": "Returns", "heading": "Return window", "url": "/policies/returns#return-window"},
        {"title": "Old refunds", "heading": "", "url": "/policies/refunds-2025"},
    ]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("RETURN WIN", "/policies/returns#return-window"),
        ("refunds returns", "/policies/returns#refunds"),
        ("grossen", "/guides/gr%C3%B6%C3%9Fen"),
        ("schuhe gr", "/guides/gr%C3%B6%C3%9Fen"),
        ("fusse", "/guides/gr%C3%B6%C3%9Fen#füße-messen"),
        ("登山", "/guides/%E9%9B%AA"),
        ("測り方", "/guides/%E9%9B%AA#サイズの測り方"),
        ("bold", "/guides/%3Cb%3E#bold--strong"),
    ],
)
async def test_words_are_found_by_their_beginnings_in_every_script(
    visitor: Visitor, query: str, first: str
) -> None:
    assert (await urls(visitor, query))[0] == first


@pytest.mark.parametrize("query", ["", " ", "!?", "eturns", "secret", "x" * 5000, "returns zebra"])
async def test_what_is_no_title_is_not_found(visitor: Visitor, query: str) -> None:
    assert await urls(visitor, query) == []


async def test_a_browser_without_scripts_gets_a_page(visitor: Visitor) -> None:
    async with visitor.http.get(
        "/search", params={"q": 'refunds" onfocus="a()'}, headers={"Accept": "text/html"}
    ) as response:
        assert (response.status, response.content_type) == (200, "text/html")
        assert "form-action 'self'" in response.headers["Content-Security-Policy"].split("; ")
        tree = LexborHTMLParser(await response.text())
    (box,) = tree.css("form[role=search][action='/search'] input[name=q]")
    assert box.attributes["value"] == 'refunds" onfocus="a()'
    assert "onfocus" not in box.attributes
    async with visitor.http.get("/search?q=ref", headers={"Accept": "text/html"}) as response:
        tree = LexborHTMLParser(await response.text())
    found = [(one.attributes["href"], one.text()) for one in tree.css(".results ol a")]
    assert found == [
        ("/policies/returns#refunds", "Refunds"),
        ("/policies/refunds-2025", "Old refunds"),
    ]


async def test_every_page_has_the_form(visitor: Visitor) -> None:
    for path in ("/", "/policies/returns", "/nowhere", "/search", "/docs"):
        async with visitor.http.get(path, headers={"Accept": "text/html"}) as response:
            tree = LexborHTMLParser(await response.text())
        assert len(tree.css("header form[role=search]")) == 1, path


async def test_a_page_of_the_content_keeps_its_address(tmp_path: Path) -> None:
    site = write_site(tmp_path, {"search.md": "# How to search\n\nLook closely.\n"})
    html = {"Accept": "text/html"}
    async with visiting(tmp_path / "data", folder=site) as visitor:
        async with visitor.http.get("/search", headers=html) as response:
            assert "Look closely." in await response.text()
        assert await urls(visitor, "how") == ["/search"]
        assert not visitor.desk.desk.knowledge.editions.problems


async def test_a_changed_page_is_found_by_its_new_title(tmp_path: Path) -> None:
    site = write_site(tmp_path, {"a.md": "# Tents\n\nx\n"})
    async with visiting(tmp_path / "data", folder=site) as visitor:
        assert await urls(visitor, "tents") == ["/a"]
        (site / "a.md").write_text("# Boots\n\nx\n")
        assert await visitor.desk.desk.knowledge.refresh()
        assert (await urls(visitor, "tents"), await urls(visitor, "boots")) == ([], ["/a"])


async def test_a_language_finds_its_own_versions(tmp_path: Path) -> None:
    pages = {"a.md": "# Boots\n\nx\n", "a.de.md": "# Stiefel\n\nx\n"}
    settings = ('site.language="en"', 'site.languages=["de"]')
    async with visiting(tmp_path / "data", *settings, folder=write_site(tmp_path, pages)) as v:
        assert await find(v, "stiefel") == []
        assert [hit["title"] for hit in await find(v, "stiefel", lang="de")] == ["Stiefel"]
        assert [hit["title"] for hit in await find(v, "boots", lang="xx-not-there")] == ["Boots"]


async def test_searching_has_a_limit_of_its_own(tmp_path: Path) -> None:
    limits = (
        *("limits.enabled=true", "limits.search_per_minute=3"),
        *("limits.converse_per_minute=1", "limits.static_per_minute=1"),
    )
    async with visiting(tmp_path / "data", *limits, folder=write_site(tmp_path)) as visitor:
        statuses = []
        for _ in range(4):
            async with visitor.http.get("/search?q=re") as response:
                statuses.append(response.status)
        assert statuses == [200, 200, 200, 429]
        async with visitor.http.get("/llms.txt") as response:
            assert response.status == 200
        assert (await visitor.ask("How do I return something?")).status == 200


@pytest.mark.slow
async def test_a_large_site_is_searched_quickly(tmp_path: Path) -> None:
    pages = {
        f"p/{page}.md": f"# Product {page}\n\n"
        + "".join(f"## Step {n} of assembly\n\nPart {page}-{n} fits.\n\n" for n in range(40))
        for page in range(300)
    }
    async with visiting(tmp_path / "data", folder=write_site(tmp_path, pages)) as visitor:
        assert (await urls(visitor, "product 299"))[0] == "/p/299"
        began = time.perf_counter()
        for query in ("p", "pr", "product 2", "step 3", "assembly product 12", "s"):
            assert 0 < len(await find(visitor, query)) <= 8
        assert (time.perf_counter() - began) / 6 < 0.5
