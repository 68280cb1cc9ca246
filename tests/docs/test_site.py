"""The site of docs/: what `make docs` builds and serves, with the desk that answers on it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import aiohttp
import pytest

from examples.docs_site import pages
from examples.docs_site.edition import build
from examples.docs_site.pages import MODULES
from tests.docs.site_links import ids_of, links_of, list_broken_links
from tests.docs.snippets import EXAMPLES, PAGES, ROOT, anchors, blocks
from tests.support.browser.chromium import browsing
from tests.support.browser.widget import at_chat
from tests.support.desk.processes import answers, free_ports, listens

WITHIN_THE_DESK = {"aitp_desk.desk.desk", "aitp_desk.model.access.principal"}
"""Modules of a snippet that looks into a desk."""
START_SECONDS = 300
INDEX = "# Documentation\n\nEvery page.\n\n## Run it\n\n- [The desk](run/desk.md): how it runs\n"
CHANGES = "# Changelog\n\n- [It runs](docs/run/desk.md)\n"


class Served(NamedTuple):
    """The site of the committed docs/.

    Attributes:
        site: the folder that is served.
        url: of its version.
    """

    site: Path
    url: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """What `make docs` serves, in a clone that needs no installation; Ctrl+C ends all of it."""
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("docs")
    clone, log = folder / "clone", folder / "log"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    port = free_ports(2)
    command = ["make", "docs", "--old-file", ".venv/.docs"]
    command += [f"BIN={Path(sys.executable).parent}", f"DOCS_PORT={port}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=clone, stdout=output, stderr=output, start_new_session=True
        )
    try:
        until = time.monotonic() + START_SECONDS
        while not (answers(port, "/ready") and listens(process.pid, port)):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        site = clone / "build" / "docs" / "site"
        (version,) = (
            entry["version"] for entry in json.loads((site / "versions.json").read_text())
        )
        yield Served(site, f"http://127.0.0.1:{port}/{version}")
        assert process.poll() is None, log.read_text()
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert not answers(port, "/")
    assert not answers(port + 1, "/ready")
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, check=True
    )
    assert status.stdout == b"", "what is generated is ignored"


def test_every_module_that_the_pages_import_has_a_reference() -> None:
    code = [
        block.code for page in PAGES if page.parent.name != "contribute" for block in blocks(page)
    ]
    named = re.findall(r"^ *(?:from|import) (aitp_desk[\w.]*)", "\n".join(code), re.MULTILINE)
    assert named
    assert set(named) - set(MODULES) == WITHIN_THE_DESK


@pytest.mark.servers
@pytest.mark.slow
def test_a_version_stays_and_a_fault_stops_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zensical")
    monkeypatch.setattr(
        pages, "MODULES", ("aitp_operations",)
    )  # reading the package takes most of the time
    root, folder = tmp_path / "root", tmp_path / "built"
    page = root / "docs" / "run" / "desk.md"
    page.parent.mkdir(parents=True)
    (root / "docs" / "README.md").write_text(INDEX)
    (root / "CHANGELOG.md").write_text(CHANGES)
    page.write_text(
        "# The desk\n\nIt [runs](#runs), see [changes](../../CHANGELOG.md).\n\n## Runs\n"
    )
    for version in ("0.9.0", "0.10.0"):
        project = f'[project]\nversion = "{version}"\ndescription = "A desk"\n'
        (root / "pyproject.toml").write_text(project)
        build(folder, root)
    versions = json.loads((folder / "site" / "versions.json").read_text())
    assert [entry["version"] for entry in versions] == ["0.10.0", "0.9.0"]
    assert "url=0.10.0/" in (folder / "site" / "index.html").read_text()
    assert list(list_broken_links(folder / "site")) == []
    before = (folder / "site" / "0.10.0" / "run" / "desk" / "index.html").read_text()
    for fault in ("[gone](gone.md)", "[gone](#gone)", "[gone](../../CHANGELOG.md#gone)"):
        page.write_text(f"# The desk\n\n{fault}\n")
        with pytest.raises(subprocess.CalledProcessError):
            build(folder, root)
    assert (folder / "site" / "0.10.0" / "run" / "desk" / "index.html").read_text() == before


def test_the_members_of_a_struct_have_types_in_the_reference() -> None:
    griffe = pytest.importorskip("griffe")
    extension = ROOT / "examples" / "docs_site" / "docstrings.py"
    loaded = griffe.load("aitp_desk.model.money", extensions=griffe.load_extensions(str(extension)))
    (described,) = (
        part
        for part in loaded["Money"].docstring.parse("google")
        if part.kind.value == "parameters"
    )
    assert [(one.name, str(one.annotation)) for one in described.value] == [
        ("amount", "Decimal"),
        ("currency", "Currency"),
    ]


def test_the_changes_of_the_next_version_are_listed_by_kind(tmp_path: Path) -> None:
    waiting = tmp_path / "root" / "docs" / "changes"
    waiting.mkdir(parents=True)
    (tmp_path / "root" / "docs" / "README.md").write_text("# Pages\n\n[All](changes/README.md)\n")
    (waiting / "README.md").write_text("# Changes\n\nEach has a file.\n")
    (waiting / "b.fixed.md").write_text("The second\nwas mended.\n")
    (waiting / "a.fixed.md").write_text("The first was mended: [pages](../README.md).\n")
    (waiting / "c.added.md").write_text("The third came.\n")
    pages.write_pages(tmp_path / "pages", tmp_path / "root")
    written = (tmp_path / "pages" / "changes" / "index.md").read_text()
    _, listed = written.split("Each has a file.\n\n")
    assert listed == (
        "## Added\n\n- The third came.\n\n"
        "## Fixed\n\n- The first was mended: [pages](../index.md).\n- The second was mended.\n"
    )


@pytest.mark.servers
@pytest.mark.slow
async def test_the_list_of_changes_is_no_source_of_answers(served: Served) -> None:
    (version,) = (path.parent for path in served.site.glob("*/index.html"))
    assert "Changes waiting for a release" in (version / "changes" / "index.html").read_text()
    found = json.loads((version / "search.json").read_text())["items"]
    assert not [item for item in found if item["location"].startswith("changes/")]
    async with (
        aiohttp.ClientSession(served.url.rpartition("/")[0]) as client,
        client.get("/llms.txt") as listed,
    ):
        assert "/changes" not in await listed.text()


def test_the_checker_finds_what_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text(
        '<h1 id="top">A</h1><a href="../b/#here">b</a><a href="#top">a</a>'
        '<a href="../b/#gone">b</a><a href="#gone">a</a><img src="a.png"><a href="../../">up</a>'
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<p id="here"><a href="https://a.example/#x">x</a>')
    assert list(list_broken_links(tmp_path)) == [
        "a/index.html leads to no id: ../b/#gone",
        "a/index.html leads to no id: #gone",
        "a/index.html leads to no file: a.png",
        "a/index.html leads to no file: ../../",
    ]


@pytest.mark.servers
@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(served: Served) -> None:
    assert list(list_broken_links(served.site)) == []


@pytest.mark.servers
@pytest.mark.slow
def test_every_page_is_there_with_the_chat_and_the_addresses_of_its_headings(
    served: Served,
) -> None:
    (version,) = (path.parent for path in served.site.glob("*/index.html"))
    for page in (*PAGES[1:], *EXAMPLES):
        name = pages.place_of(page.relative_to(ROOT)).removesuffix(".md").removesuffix("index")
        built = version / name / "index.html"
        assert "/widget.js" in links_of(built)
        assert anchors(page) - ids_of(built) == set(), "the sources of the desk's answers"
    for module in MODULES:
        assert any(
            name.startswith(f"{module}.")
            for name in ids_of(version / "reference" / module / "index.html")
        )


@pytest.mark.servers
@pytest.mark.slow
async def test_a_visitor_reads_searches_and_asks_on_a_page(served: Served) -> None:
    from playwright.async_api import expect

    async with (
        browsing() as browser,
        at_chat(browser, f"{served.url}/run/chat/", is_open=False) as visitor,
    ):
        page = visitor.page
        await expect(page.locator(".md-version__current")).to_have_text(served.url[-5:])
        await page.context.grant_permissions(["clipboard-read"])
        shown = page.locator("pre", has_text="$ aitp-desk snippet widget").first
        await shown.get_by_role("button").click()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.split() == ["aitp-desk", "snippet", "widget", "examples/shop"]
        await page.get_by_title("Switch to light mode").click()
        await page.get_by_title("Switch to dark mode").click()
        await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
        await visitor.open()
        await visitor.ask("How do I connect Slack?")
        await expect(visitor.answers).to_have_count(1)
        source = visitor.answers.get_by_role("link").first
        address = await source.get_attribute("href") or ""
        assert address.startswith(f"{served.url}/transports/slack#")
        await page.goto(address)
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Slack")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("webhook")
        await expect(page.locator("dialog[open]")).to_contain_text("Get notified of tickets")
        hosts = {request.url.split("/")[2] for request in visitor.requests}
        assert hosts == {served.url.split("/")[2]}, "nothing comes from elsewhere"


@pytest.mark.servers
@pytest.mark.slow
async def test_an_agent_asks_the_same_desk_at_the_same_address(served: Served) -> None:
    message = {"messages": ["How do I connect Slack?"]}
    async with aiohttp.ClientSession(served.url.rpartition("/")[0]) as client:
        async with client.post("/v1/thread", json=message, headers={"Prefer": "wait=30"}) as answer:
            assert "/transports/slack" in await answer.text()
        async with client.get("/.well-known/agent.json") as answer:
            assert (await answer.json())["name"] == "aitp-desk"
        async with client.get("/..%2fdesk.toml") as answer:
            assert answer.status == 404
        async with client.get("/") as answer:
            assert served.url.rpartition("/")[2] in await answer.text()
