"""Every page can be read as Markdown: in three ways, the same bytes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import yaml

from aitp_desk.web.pages.full.subprocess_render import HERE_CHARACTERS
from tests.support.clients.ahp import CONTENT, MANIFEST, Visitor, visiting
from tests.support.content.pdf import make_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARKDOWN = {"Accept": "text/markdown"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
SIGNAL = "ai-train=no, search=yes, ai-input=yes"
PAGES = {
    "returns": "Returns are [free](guides/fit.md) for 14 days.",
    "guides": "All guides.",
    "guides/fit": "Measure your foot.",
    "größe": "Alle Größen.",
    "old": "An old page.",
    "notes": "Only text.",
    "manual": "Turn the screw.",
    "index": "Welcome to the shop.",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of every kind of file."""
    site = tmp_path_factory.mktemp("site")
    (site / "guides").mkdir()
    front = (
        "---\ntitle: Returns\ndescription: How to return.\nupdated: 2026-02-10\nsecret: x\n---\n"
    )
    (site / "returns.md").write_text(f"{front}# Returns\n\n{PAGES['returns']}\n")
    (site / "guides" / "index.md").write_text(f"# Guides\n\n{PAGES['guides']}\n")
    (site / "guides" / "fit.md").write_text(f"# Fit\n\n{PAGES['guides/fit']}\n")
    (site / "größe.md").write_text(f"# Größe\n\n{PAGES['größe']}\n", encoding="utf-8")
    (site / "old.html").write_text(f"<html><title>Old</title><h1>Old</h1><p>{PAGES['old']}</html>")
    (site / "notes.txt").write_text(PAGES["notes"])
    (site / "manual.pdf").write_bytes(make_pdf([PAGES["manual"]]))
    (site / "index.md").write_text(f"# Welcome\n\n{PAGES['index']}\n")
    (site / "plan.md").write_text("---\ndraft: true\n---\n# Plan\n\nNot yet.\n")
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    data = tmp_path_factory.mktemp("data")
    async with visiting(data / "data", "site.name=Shop", folder=folder) as visitor:
        yield visitor


# --- The three ways ------------------------------------------------------------------------------


@pytest.mark.requirement("AHP-5.1-2", "AHP-5.1-5")
@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_the_same_markdown_however_it_is_asked_for(
    reader: Visitor, path: str
) -> None:
    got = []
    ways: list[tuple[str, dict[str, str]]] = [
        (f"/{path}", MARKDOWN),
        (f"/{path}?markdown=true", BROWSER),
        (f"/{path}.md", BROWSER),
    ]
    for address, headers in ways:
        async with reader.http.get(address, headers=headers) as response:
            assert response.status == 200, address
            told = {n: v for n, v in response.headers.items() if n not in {"Date", "Link"}}
            got.append((await response.read(), told, response.headers.getall("Link")))
    assert got[0] == got[1] == got[2]
    body, headers, links = got[0]
    assert headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert headers["Vary"] == "Accept"
    assert headers["Cache-Control"] == "no-cache"
    assert headers["Content-Signal"] == SIGNAL
    assert int(headers["X-Markdown-Tokens"]) > 1
    document = reader.desk.desk.knowledge.library.document(path.replace("öß", "%C3%B6%C3%9F"))
    assert document is not None
    canonical = reader.desk.url + document.url
    assert links[1:] == [f'<{canonical}>; rel="canonical"']
    opening, front, text = body.decode().split("---\n", 2)
    assert opening == ""
    assert yaml.safe_load(front)["url"] == canonical
    assert f"# {document.title}\n" in text
    assert PAGES[path].partition("[")[0] in text


async def test_a_page_s_front_matter_and_links_can_be_used_elsewhere(reader: Visitor) -> None:
    async with reader.http.get("/returns.md") as response:
        text = await response.text()
    url = reader.desk.url
    assert text == (
        "---\ntitle: Returns\ndescription: How to return.\n"
        f"url: {url}/returns\nupdated: '2026-02-10'\n---\n\n"
        f"# Returns\n\nReturns are [free]({url}/guides/fit) for 14 days.\n"
    )


@pytest.mark.parametrize(
    "path", ["/guides/index.md", "/guides/index.html.md", "/guides/?markdown=true"]
)
async def test_a_folder_s_own_page_has_the_addresses_of_an_index_too(
    reader: Visitor, path: str
) -> None:
    async with reader.http.get("/guides.md") as response:
        expected = await response.read()
    async with reader.http.get(path) as response:
        assert (response.status, await response.read()) == (200, expected)


@pytest.mark.parametrize(
    ("accept", "is_markdown"),
    [
        ("text/markdown, text/html, */*", True),
        ("text/html;q=0.9, text/markdown", True),
        ("TEXT/MARKDOWN;variant=CommonMark", True),
        ("text/markdown;q=0.5", True),
        ("text/markdown;q=0.5, */*;q=0.1", True),
        ("text/html, text/markdown;q=0.9", False),
        ("text/markdown;q=0", False),
        ("text/*", False),
        ("*/*", False),
        ("text/plain", False),
        (BROWSER["Accept"], False),
    ],
)
async def test_markdown_is_for_those_who_name_it_and_would_not_rather_have_html(
    reader: Visitor, accept: str, is_markdown: bool
) -> None:
    for path in ("/returns", "/"):
        async with reader.http.get(path, headers={"Accept": accept}) as response:
            assert response.status == 200
            assert response.content_type == ("text/markdown" if is_markdown else "text/html")
            assert response.headers["Vary"] == "Accept"


@pytest.mark.parametrize("query", ["markdown=false", "markdown", "Markdown=true", "x=markdown"])
async def test_another_query_changes_nothing(reader: Visitor, query: str) -> None:
    async with reader.http.get(f"/returns?{query}") as response:
        assert response.content_type == "text/html"


# --- What an HTTP client may rely on -------------------------------------------------------------


@pytest.mark.parametrize("path", ["/returns.md", "/guides/index.md", "/?markdown=true"])
async def test_who_has_it_already_is_not_sent_it_again(reader: Visitor, path: str) -> None:
    async with reader.http.get(path) as response:
        tag, links = response.headers["ETag"], response.headers.getall("Link")
    async with reader.http.get(path, headers={"If-None-Match": tag}) as response:
        assert (response.status, await response.read()) == (304, b"")
        assert response.headers["ETag"] == tag
        assert response.headers["Vary"] == "Accept"
        assert response.headers.getall("Link") == links


async def test_a_page_and_its_markdown_have_tags_of_their_own(reader: Visitor) -> None:
    async with reader.http.get("/returns") as response:
        page = response.headers["ETag"]
    async with reader.http.get("/returns", headers=MARKDOWN | {"If-None-Match": page}) as response:
        assert response.status == 200
        assert response.headers["ETag"] != page


@pytest.mark.parametrize("path", ["/returns.md", "/?markdown=true", CONTENT, "/llms-full.txt"])
async def test_a_head_request_tells_the_same_without_the_body(reader: Visitor, path: str) -> None:
    async with reader.http.get(path) as response:
        whole = {n: v for n, v in response.headers.items() if n != "Date"}
        size = len(await response.read())
    async with reader.http.head(path) as response:
        assert (response.status, await response.read()) == (200, b"")
        assert {n: v for n, v in response.headers.items() if n != "Date"} == whole
        assert response.headers["Content-Length"] == str(size)


async def test_a_page_advertises_its_markdown(reader: Visitor) -> None:
    for path, markdown in {"/returns": "/returns.md", "/index": "/index.md", "/": CONTENT}.items():
        async with reader.http.get(path) as response:
            text = await response.text()
            link = f'<{markdown}>; rel="alternate"; type="text/markdown"'
            assert response.headers.getall("Link")[1:] == [link]
            assert response.headers["Content-Signal"] == SIGNAL
        assert f'<link rel="alternate" type="text/markdown" href="{markdown}">' in text
        async with reader.http.get(markdown) as response:
            assert response.content_type == "text/markdown"


async def test_the_content_signals_are_the_owner_s(tmp_path: Path) -> None:
    settings = ("content.signals.ai_train=true", "content.signals.search=false")
    async with visiting(tmp_path / "data", *settings) as visitor:
        for path in ("/about", "/about.md", CONTENT, "/llms-full.txt"):
            async with visitor.http.get(path) as response:
                signal = response.headers["Content-Signal"]
            assert signal == "ai-train=yes, search=no, ai-input=yes"


async def test_a_page_that_changes_is_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "page.md").write_text("# Page\n\nFirst.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        for text in ("First.", "Second."):
            (folder / "page.md").write_text(f"# Page\n\n{text}\n")
            await visitor.desk.desk.knowledge.refresh()
            for path in ("/page.md", "/llms-full.txt"):
                async with visitor.http.get(path) as response:
                    assert f"# Page\n\n{text}\n" in await response.text()


# --- What is not there ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/nowhere", "/nowhere.md", "/plan", "/plan.md", "/.md"])
async def test_what_is_missing_varies_by_what_is_read(reader: Visitor, path: str) -> None:
    for accept in ("text/markdown", "text/html", "application/json", "*/*"):
        async with reader.http.get(path, headers={"Accept": accept}) as response:
            assert (response.status, response.headers["Vary"]) == (404, "Accept")


@pytest.mark.parametrize("path", ["/nowhere", "/nowhere.md", "/plan", "/plan.md", "/.md"])
async def test_a_missing_page_is_reported_in_markdown_with_links(
    reader: Visitor, path: str
) -> None:
    async with reader.http.get(path, headers=MARKDOWN) as response:
        assert response.status == 404
        assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert response.headers["Vary"] == "Accept"
        text = await response.text()
    assert text.startswith("# There is no such page\n")
    assert f"]({CONTENT})" in text
    assert f"]({MANIFEST})" in text


async def test_a_client_without_accept_gets_json(reader: Visitor) -> None:
    async with reader.http.get("/nowhere.md") as response:
        assert response.status == 404
        assert response.content_type == "application/json"
        said = await response.text()
    assert MANIFEST in said
    assert CONTENT in said


async def test_a_draft_is_nowhere(reader: Visitor) -> None:
    for path in (CONTENT, "/llms-full.txt", "/"):
        async with reader.http.get(path) as response:
            assert "Not yet." not in await response.text()


# --- The home page and the content documents -----------------------------------------------------


async def test_the_home_page_in_markdown_is_the_list_of_pages(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data") as visitor:
        async with visitor.http.get(CONTENT) as response:
            listed = await response.read()
            assert response.headers["X-Markdown-Tokens"].isdigit()
        for path, headers in (("/", MARKDOWN), ("/?markdown=true", {}), ("/index.md", {})):
            async with visitor.http.get(path, headers=headers) as response:
                assert response.content_type == "text/markdown"
                assert await response.read() == listed


async def test_all_pages_in_full_are_one_document(reader: Visitor) -> None:
    async with reader.http.get("/llms-full.txt") as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert int(response.headers["X-Markdown-Tokens"]) > 100
        tag, full = response.headers["ETag"], await response.text()
        assert response.headers["Content-Length"] == str(len(full.encode()))
    assert full.startswith("# Shop\n\n")
    places = []
    for document in reader.desk.desk.knowledge.library.documents:
        async with reader.http.get(document.markdown_url) as response:
            places.append(full.index(await response.text()))
    assert len(places) == len(PAGES)
    assert places == sorted(places)
    async with reader.http.get("/llms-full.txt", headers={"If-None-Match": tag}) as response:
        assert (response.status, await response.read()) == (304, b"")


@pytest.mark.slow
async def test_a_large_document_arrives_whole(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(40):
        lines = "\n\n".join(f"{'And so on. ' * 30}Line {line} of {number}." for line in range(40))
        (folder / f"page-{number:02}.md").write_text(f"# Page {number}\n\n{lines}\n")
    async with (
        visiting(tmp_path / "data", folder=folder) as visitor,
        visitor.http.get("/llms-full.txt") as response,
    ):
        full = await response.text()
        assert response.headers["Content-Length"] == str(len(full.encode()))
    assert len(full) > 400_000
    assert full.count("\n# Page ") == 40
    assert full.rstrip().endswith("Line 39 of 39.")


@pytest.mark.slow
async def test_a_page_is_the_same_whichever_process_writes_it(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    length = HERE_CHARACTERS // 300
    said = f"<p>{'And so on. ' * 30}Fact %s of the <b>long</b> page.</p>"
    long = "".join(said % number for number in range(length))
    (folder / "a.html").write_text("<title>A</title><h1>A</h1><p>Short.</p>")
    (folder / "b.html").write_text(f"<title>B</title><h1>B</h1>{long}")
    (folder / "c.html").write_text('<title>C</title><h1>C</h1><p>See <a href="a.html">A</a>.</p>')
    assert len(long) > HERE_CHARACTERS
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        pages = []
        for path in ("/a.md", "/b.md", "/c.md"):
            async with visitor.http.get(path) as response:
                assert int(response.headers["X-Markdown-Tokens"]) > 5
                pages.append(await response.text())
        async with visitor.http.get("/llms-full.txt") as response:
            full = await response.text()
    assert f"Fact {length - 1} of the **long** page." in pages[1]
    assert full == "# My site\n" + "".join(f"\n{page.rstrip()}\n" for page in pages)


@pytest.mark.slow
async def test_what_cannot_be_written_now_can_be_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "long.txt").write_text("A fact.\n\n" * (HERE_CHARACTERS // 8))
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        with monkeypatch.context() as broken:
            broken.setattr(
                "aitp_desk.web.pages.full.subprocess_render._PROGRAM", "aitp_desk.nothing"
            )
            for path in ("/long.md", "/llms-full.txt"):
                async with visitor.http.get(path) as response:
                    assert (response.status, response.headers["Retry-After"]) == (503, "30")
        for path in ("/long.md", "/llms-full.txt"):
            async with visitor.http.get(path) as response:
                assert (response.status, "A fact." in await response.text()) == (200, True)


# --- Further site agents -------------------------------------------------------------------------


async def test_the_pages_of_a_further_agent_are_markdown_too(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for name in ("content", "books"):
        (folder / name).mkdir(parents=True)
        (folder / name / "index.md").write_text(f"# {name.title()}\n\nAbout {name}.\n")
        (folder / name / "facts.md").write_text(f"# Facts\n\nOf {name}.\n")
        (folder / name / "more").mkdir()
        (folder / name / "more" / "index.md").write_text("# More\n\n[Facts](../facts.md).\n")
        links = "[more](more/), [table](sizes.csv), [top](./), [site](/facts)"
        (folder / name / "links.md").write_text(
            f"---\ndownloads: [sizes.csv]\n---\n# Links\n\n{links}\n"
        )
        (folder / name / "sizes.csv").write_text("size\n1\n")
    (folder / "desk.toml").write_text(
        '[content]\nfolder = "content"\n\n[[agents]]\nname = "books"\n\n'
        '[agents.content]\nfolder = "books"\n'
    )
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        for path, text in {
            "/books.md": "About books.",
            "/books/index.md": "About books.",
            "/books/facts.md": "Of books.",
            "/books/facts?markdown=true": "Of books.",
            "/facts.md": "Of content.",
        }.items():
            async with visitor.http.get(path) as response:
                assert response.content_type == "text/markdown", path
                assert text in await response.text()
        for below, path in {"": "/links.md", "/books": "/books/links.md"}.items():
            async with visitor.http.get(path) as response:
                text = await response.text()
            leads = re.findall(r"\]\(([^)]+)\)", text)
            places = (f"{below}/more", f"{below}/sizes.csv", below or "/", "/facts")
            assert leads == [visitor.desk.url + place for place in places]
            for address in leads:
                async with visitor.http.get(address) as response:
                    assert response.status == 200, address
        async with visitor.http.get("/books/facts") as response:
            page = await response.text()
        assert '<link rel="alternate" type="text/markdown" href="/books/facts.md">' in page
        assert 'class="ahp-notice" aria-label="AI Agent Notice"' in page
        assert '<link rel="agent-manifest" href="/.well-known/agent.json"' in page
        async with visitor.http.get("/books/nowhere.md", headers=MARKDOWN) as response:
            assert (response.status, response.content_type) == (404, "text/markdown")
