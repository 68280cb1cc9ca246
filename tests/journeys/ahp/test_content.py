"""The site for an agent that only reads: AHP's MODE1, which needs nothing but GET."""

from __future__ import annotations

import re
from pathlib import Path

import aiohttp
import pytest

from tests.support.clients.ahp import CONTENT, MANIFEST, Visitor, visiting
from tests.support.desk.server import SHOP

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINK = re.compile(r"- \[(?P<title>[^\]\[]+)\]\((?P<url>[^)\s]+)\)(?:: (?P<about>\S.*))?")


async def text_of(http: aiohttp.ClientSession, url: str) -> str:
    async with http.get(url) as response:
        assert response.status == 200, url
        return await response.text()


@pytest.mark.requirement("AHP-5.1-2", "AHP-5.1-4", "AHP-5.2-1", "AHP-12-2")
async def test_an_agent_that_only_reads_gets_from_the_manifest_to_every_page(
    visitor: Visitor,
) -> None:
    async with visitor.http.get(MANIFEST) as response:
        manifest = await response.json()
    assert "MODE1" in manifest["modes"]
    content = await text_of(visitor.http, manifest["endpoints"]["content"])
    pages = [found["url"] for found in LINK.finditer(content)]
    assert len(pages) == 5
    read = [await text_of(visitor.http, page) for page in pages]
    assert sum("within 14 days of delivery" in page for page in read[:4]) == 1
    assert all(page in read[4] for page in read[:4])


@pytest.mark.requirement("AHP-5.1-3")
async def test_the_content_document_follows_the_llms_txt_convention(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=SHOP) as visitor:
        async with visitor.http.get(CONTENT) as response:
            assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
            lines = (await response.text()).split("\n")
        documents = visitor.desk.desk.knowledge.library.documents
        url = visitor.desk.url
    # a title; a summary as a quotation; words without headings; sections that are lists of links
    assert lines[:2] == ["# Trailhead Outfitters", ""]
    assert lines[2].startswith("> Outdoor-gear shop")
    first = next(number for number, line in enumerate(lines) if line.startswith("## "))
    assert not any(line.startswith(("#", "-")) for line in lines[3:first])
    sections = [line for line in lines[first:] if line.startswith("#")]
    folders = ["## Pages", "## Guides", "## Policies", "## Products"]
    assert sections == [*folders, "## Content types of this site", "## Optional"]
    links = [LINK.fullmatch(line) for line in lines[first:] if line and line not in sections]
    assert None not in links
    *pages, own_type, full = [link for link in links if link]
    assert {(link["url"], link["title"], link["about"]) for link in pages} == {
        (f"{url}{document.url}.md", document.title, document.description) for document in documents
    }
    assert (own_type["title"], own_type["url"]) == (
        "x-trailhead/gear-spec",
        f"{url}/developers.md",
    )
    assert full["url"] == f"{url}/llms-full.txt"
    assert len(pages) == len(documents) >= 20


async def test_a_title_or_description_of_several_lines_breaks_no_line_of_the_content_document(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    page = (
        '---\ntitle: "On [brackets]\\n## and lines"\ndescription: >-\n  One\n\n  two.\n---\nText.\n'
    )
    (folder / "page.md").write_text(page)
    description = "site.description=First.\n# Second."
    async with visiting(tmp_path / "data", description, folder=folder) as visitor:
        content = await text_of(visitor.http, CONTENT)
    lines = content.split("\n")
    assert lines[:3] == ["# My site", "", "> First. # Second."]
    assert [line for line in lines if line.startswith("#")][1:] == ["## Pages", "## Optional"]
    assert any(line.startswith("- [On (brackets) ## and lines](") for line in lines)


async def test_a_page_that_comes_while_the_desk_serves_stands_in_the_content_document(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "first.md").write_text("# First\n\nA page.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        async with visitor.http.get(CONTENT) as response:
            before, tag = await response.text(), response.headers["ETag"]
        assert "/second" not in before
        (folder / "second.md").write_text("# Second\n\nAnother page.\n")
        await visitor.desk.desk.knowledge.refresh()
        async with visitor.http.get(CONTENT, headers={"If-None-Match": tag}) as response:
            assert response.status == 200
            assert f"- [Second]({visitor.desk.url}/second.md)" in await response.text()


@pytest.mark.parametrize(
    ("pages", "settings", "name"),
    [
        ({"index.html": "<title>Pine Street</title><p>Books.</p>"}, (), "Pine Street"),
        ({"index.md": "# Home - Pine Street Books\n\nBooks."}, (), "Pine Street Books"),
        ({"index.md": "# Welcome to the Pine Street!\n\nBooks."}, (), "Pine Street"),
        ({"index.md": "# Pine Street's Home Page\n\nBooks."}, (), "Pine Street"),
        ({"README.md": "# Pinetools\n\nTools."}, (), "Pinetools"),
        ({"index.md": "# Home\n\nSee.", "README.md": "# Pinetools\n\nTools."}, (), "Pinetools"),
        ({"index.md": "# Home\n\nBooks."}, (), "My site"),
        ({"books.md": "# Books\n\nBooks."}, (), "My site"),
        ({"index.md": "# Pine Street\n\nBooks."}, ("site.name=Oak Street",), "Oak Street"),
    ],
)
async def test_a_site_without_a_name_is_called_what_its_home_page_says(
    tmp_path: Path, pages: dict[str, str], settings: tuple[str, ...], name: str
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for file, text in pages.items():
        (folder / file).write_text(text)
    async with visiting(tmp_path / "data", *settings, folder=folder) as visitor:
        content = await text_of(visitor.http, CONTENT)
    assert content.split("\n")[0] == f"# {name}"
