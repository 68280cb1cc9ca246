"""An owner exports a site and puts it on a static host, where agents and people read it."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.knowledge.web.copies import PageCopies, PageCopy, RoundOutcome
from aitp_desk.web.export.folder import LIST, ExportError
from aitp_desk.web.export.proof import check_export
from tests.support.content.pdf import make_pdf
from tests.support.desk.command import COMMAND, run
from tests.support.desk.server import SHOP, SITE
from tests.support.sites.export import export, files, hosted, read, site
from tests.support.specs.ahp_schemas import AhpSchemas

URL = "https://books.example"


# --- what visitors find -------------------------------------------------------------------------


@pytest.mark.requirement("AHP-5.1-1", "AHP-5.1-2", "AHP-5.1-3", "AHP-5.1-4", "AHP-A-1", "AHP-3.1-3")
@pytest.mark.requirement("AHP-13.1-1", "AHP-13.1-2", "AHP-13.1-3", "AHP-B-1")
@pytest.mark.parametrize("folder", [SITE, SHOP], ids=["site", "shop"])
@pytest.mark.parametrize("url", ["", URL])
async def test_the_manifest_of_an_exported_site_is_a_valid_one_of_mode1(
    tmp_path: Path, shared_folder: Path, folder: Path, url: str
) -> None:
    async with hosted(tmp_path / "out", f"site.url={url}", folder=folder) as client:
        async with client.get("/.well-known/agent.json") as response:
            assert response.headers["Content-Type"] == "application/json"
            manifest = await response.json()
        AhpSchemas(shared_folder).check_manifest(manifest)
        assert manifest["modes"] == ["MODE1"]
        assert manifest["endpoints"] == {"content": "/llms.txt"}
        assert not {"capabilities", "rate_limit", "rate_limits"} & manifest.keys()
        assert manifest["content_signals"]["ai_train"] is False
        content = await read(client, manifest["endpoints"]["content"])
    assert content.startswith("# ")
    assert "/agent/converse" not in content


@pytest.mark.requirement("AHP-3.3-1", "AHP-3.4-1", "AHP-3.4-3", "AHP-3.4-5", "AHP-3.4-7")
@pytest.mark.requirement("AHPW-2.4.1-1", "AHPW-4.1-3")
@pytest.mark.parametrize("path", ["/", "/policies/returns", "/404.html"])
async def test_an_agent_finds_the_manifest_from_any_page_in_each_way_of_discovery(
    tmp_path: Path, path: str
) -> None:
    async with hosted(tmp_path / "out") as client:
        page = LexborHTMLParser(await read(client, path))
        notice = page.css_first('footer section.ahp-notice[aria-label="AI Agent Notice"]')
        assert notice is not None
        told = re.findall(r"GET (/\S+)", notice.text())
        assert told == ["/.well-known/agent.json", "/llms.txt", "/llms-full.txt"]
        assert "A page as Markdown: its address followed by .md" in notice.text()
        assert "POST" not in notice.text()
        link = page.css_first('head link[rel="agent-manifest"]')
        meta = page.css_first('head meta[name="ahp-manifest"]')
        assert link is not None
        assert meta is not None
        for address in (*told, link.attributes["href"], meta.attributes["content"]):
            assert await read(client, address or "")
        async with client.get("/nowhere") as response:
            assert response.status == 404


@pytest.mark.requirement("AHP-5.1-5")
@pytest.mark.parametrize("url", ["", URL])
async def test_every_page_is_there_as_html_and_markdown_and_every_list_names_it(
    tmp_path: Path, url: str
) -> None:
    pages = ("/about", "/guides/gift-wrapping", "/policies/returns", "/policies/shipping")
    async with hosted(tmp_path / "out", f"site.url={url}") as client:
        lists = {name: await read(client, f"/{name}") for name in ("llms.txt", "llms-full.txt")}
        lists["index"] = await read(client, "/")
        if url:
            lists["sitemap"] = await read(client, "/sitemap.xml")
        for page in pages:
            html, markdown = await read(client, page), await read(client, f"{page}.md")
            heading = LexborHTMLParser(html).css_first("h1")
            assert heading is not None
            assert f"# {heading.text()}" in markdown
            assert markdown in lists["llms-full.txt"]
            for name in ("llms.txt", "index"):
                assert page in lists[name]
        if url:
            root = ElementTree.fromstring(lists["sitemap"])
            named = [entry.text for entry in root.findall(".//{*}loc")]
            assert named == [f"{URL}/", *(f"{URL}{page}/" for page in pages)]


async def test_every_link_on_every_page_of_the_shop_leads_somewhere(tmp_path: Path) -> None:
    async with hosted(tmp_path / "out", folder=SHOP) as client:
        waiting, seen = ["/"], set()
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            async with client.get(path) as response:
                assert response.status == 200, path
                if response.content_type == "text/html":
                    page = LexborHTMLParser(await response.text())
                    assert page.css("form, textarea, button, script") == []
                    links = [node.attributes["href"] or "" for node in page.css("[href]")]
                    waiting += [urlsplit(link).path for link in links if re.match(r"/(?!/)", link)]
        assert len(seen) > 30
        assert {"/policies/returns", "/llms.txt", "/.well-known/agent.json"} <= seen


@pytest.mark.requirement("AHP-3.2-3")
def test_the_headers_file_names_the_manifest_everywhere_and_the_types_of_what_is_text(
    tmp_path: Path,
) -> None:
    export(tmp_path / "out")
    rules = dict(
        block.split("\n", 1)
        for block in (tmp_path / "out" / "_headers").read_text().strip().split("\n\n")
    )
    assert '  Link: </.well-known/agent.json>; rel="agent-manifest"' in rules["/*"]
    assert "Content-Type: application/json" in rules["/.well-known/agent.json"]
    for text in ("/llms.txt", "/llms-full.txt", "/*.md"):
        assert "Content-Type: text/markdown; charset=utf-8" in rules[text]
        assert "Access-Control-Allow-Origin: *" in rules[text]
    (style,) = (address for address in rules if address.endswith(".css"))
    assert "immutable" in rules[style]
    assert (tmp_path / "out" / style[1:]).is_file()
    # Netlify and Cloudflare join what several rules say of one header
    everywhere = set(re.findall(r"^  ([\w-]+):", rules.pop("/*"), re.MULTILINE))
    others = set(re.findall(r"^  ([\w-]+):", "\n".join(rules.values()), re.MULTILINE))
    assert everywhere.isdisjoint(others)


def test_vercel_gets_the_same_headers(tmp_path: Path) -> None:
    export(tmp_path / "out")
    told = {
        rule["source"].replace("(.*)", "*"): [
            f"  {h['key']}: {h['value']}" for h in rule["headers"]
        ]
        for rule in json.loads((tmp_path / "out" / "vercel.json").read_text())["headers"]
    }
    blocks = (tmp_path / "out" / "_headers").read_text().strip().split("\n\n")
    assert told == {address: rest for address, *rest in map(str.splitlines, blocks)}


@pytest.mark.parametrize(("train", "said"), [("true", "ai-train=yes"), ("false", "ai-train=no")])
def test_crawlers_are_told_the_owner_s_signals(tmp_path: Path, train: str, said: str) -> None:
    export(tmp_path / "out", f"content.signals.ai_train={train}", f"site.url={URL}")
    lines = (tmp_path / "out" / "robots.txt").read_text().splitlines()
    assert lines[0] == "User-agent: *"
    assert lines[1].startswith("Content-Signal: ")
    assert said in lines[1]
    assert lines[-1] == f"Sitemap: {URL}/sitemap.xml"


# --- what gets out, and what does not -----------------------------------------------------------


def test_what_is_never_content_is_not_exported(tmp_path: Path) -> None:
    secret = "hush-hush-4711"
    folder = site(tmp_path / "site", page="# Page\n\nHello.")
    content = folder / "content"
    for name in (".env", "server.key.txt", "notes.py", "robots.txt", "draft.md", "photo.jpg"):
        (content / name).write_text(f"---\ndraft: true\n---\n{secret}\n")
    (content / ".git").mkdir()
    (content / ".git" / "page.md").write_text(secret)
    (content / "data").mkdir()
    (content / "data" / "master.key").write_text(secret)
    (content / "data" / "page.md").write_text(secret)
    written = export(tmp_path / "out", folder=folder)
    assert written.pages == 1
    for file in (tmp_path / "out").rglob("*"):
        assert secret not in file.name
        assert file.is_dir() or secret not in file.read_text(encoding="utf-8")


def test_the_text_of_a_pdf_and_of_html_is_exported_as_pages(tmp_path: Path) -> None:
    folder = site(tmp_path / "site", page="# Page\n\nHello.")
    (folder / "content" / "guide.pdf").write_bytes(make_pdf(["Stoves need air."]))
    (folder / "content" / "old.html").write_text("<title>Old</title><main><p>Yes</p></main>")
    assert export(tmp_path / "out", folder=folder).pages == 3
    for name, text in (("guide", "Stoves need air."), ("old", "Yes")):
        assert text in (tmp_path / "out" / f"{name}.md").read_text()
        assert text in (tmp_path / "out" / name / "index.html").read_text()
    assert not (tmp_path / "out" / "guide.pdf").exists()


async def test_the_files_that_pages_declare_are_exported_and_no_others(tmp_path: Path) -> None:
    front = "downloads:\n  - file: list.pdf\n    title: Prices\n"
    folder = site(tmp_path / "site", shop__prices=f"---\n{front}---\n# Prices\n\nSee the list.")
    (folder / "content" / "shop" / "list.pdf").write_bytes(b"%PDF-1.4 not much of one")
    (folder / "content" / "shop" / "other.zip").write_bytes(b"zip")
    async with hosted(tmp_path / "out", folder=folder) as client:
        async with client.get("/shop/list.pdf") as response:
            assert await response.read() == b"%PDF-1.4 not much of one"
        async with client.get("/shop/other.zip") as response:
            assert response.status == 404


async def test_a_web_page_that_is_declared_is_exported_as_it_is(tmp_path: Path) -> None:
    front = "downloads: [{file: report.html, title: Report}]\n"
    folder = site(tmp_path / "site", page=f"---\n{front}---\n# Page\n\nSee the report.")
    (folder / "content" / "report.html").write_text("<p>Down to the last penny.</p>")
    async with hosted(tmp_path / "out", folder=folder) as client:
        assert await read(client, "/report.html") == "<p>Down to the last penny.</p>"
        assert "Down to the last penny." in await read(client, "/report.md")


def test_pages_of_the_site_s_own_server_are_linked_to(tmp_path: Path) -> None:
    address = f"{URL}/old_(shop)"
    folder = site(tmp_path / "site", page="# Page\n\nHello.")
    copies = PageCopies(tmp_path / "data", [address])
    body = b"<title>Old shop</title><main><p>Shut.</p></main>"
    copy = PageCopy(address, address, address, "html", copies.write_body(body), len(body))
    copies.commit(RoundOutcome((copy,)))
    listed = f'content.web.urls=["{address}"]'
    written = export(tmp_path / "out", listed, f"site.url={URL}", folder=folder)
    assert (written.pages, written.elsewhere) == (1, 1)
    assert f"({URL}/old_%28shop%29)" in (tmp_path / "out" / "llms.txt").read_text()


def test_a_page_that_would_replace_another_file_is_reported_and_left_out(
    tmp_path: Path,
) -> None:
    folder = site(tmp_path / "site", page="# Page\n\nHello.")
    (folder / "content" / "robots.txt.md").write_text("# Robots\n\nWe like them.")
    (folder / "content" / "page.md.md").write_text("# Page of Markdown\n\nOdd.")
    written = export(tmp_path / "out", folder=folder)
    assert written.pages == 1
    assert [problem.source for problem in written.problems] == ["page.md.md", "robots.txt.md"]
    for name in ("llms.txt", "index.html"):
        listed = (tmp_path / "out" / name).read_text()
        assert "/robots.txt" not in listed
        assert "/page" in listed


def test_names_with_strange_signs_are_found_at_their_addresses(tmp_path: Path) -> None:
    pages = {"über uns__50% & mehr?": "# Mehr\n\nHallo.", "old.html": "# Old\n\nYes."}
    folder = site(tmp_path / "site", **pages)
    assert export(tmp_path / "out", f"site.url={URL}", folder=folder).pages == 2
    assert (tmp_path / "out" / "über uns" / "50% & mehr?.md").is_file()
    assert (tmp_path / "out" / "über uns" / "50% & mehr?" / "index.html").is_file()
    assert (tmp_path / "out" / "old.html" / "index.html").is_file()


def test_a_link_to_an_unexported_page_is_reported_with_its_page(tmp_path: Path) -> None:
    text = "# Prices\n\n[List](files/prices.xlsx), [home](/), [us](/about), [style](/robots.txt)."
    folder = site(tmp_path / "site", prices=text, about="# About\n\nUs.")
    written = export(tmp_path / "out", folder=folder)
    told = "prices.md: It links to /files/prices.xlsx, which is not exported."
    assert (written.problems, [str(link) for link in written.dead_links]) == ((), [told])


async def test_of_many_links_to_what_is_not_exported_the_first_are_told(tmp_path: Path) -> None:
    links = " ".join(f"[{number}](files/{number:02}.zip)" for number in range(12))
    folder = site(tmp_path / "site", page=f"# Files\n\n{links}")
    code, lines, errors = await run("export", folder, tmp_path / "out")
    assert (code, len(lines), len(errors)) == (0, 2, 11)
    assert errors[-1] == "And 2 more links lead to pages that are not exported."


@pytest.mark.slow
def test_two_exports_of_the_same_have_the_same_bytes(tmp_path: Path) -> None:
    first, second = export(tmp_path / "a", folder=SHOP), export(tmp_path / "b", folder=SHOP)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert first == second
    assert first.files == len(files(tmp_path / "a")) - 1, "all but the list of files"


# --- the proof ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("llms.txt", "# X\n\n- [Gone](/gone): no\n", "llms.txt links to /gone"),
        ("sitemap.xml", "<loc>/gone/</loc>", "sitemap.xml links to /gone/"),
        ("about/index.html", "<p>bare</p>", "about/index.html has no link to the manifest"),
        (
            ".well-known/agent.json",
            '{"modes":["MODE1"],"content_signals":{},"endpoints":{"content":"/no.txt"}}',
            "there is no /no.txt",
        ),
    ],
)
def test_a_broken_export_is_noticed(tmp_path: Path, path: str, text: str, fault: str) -> None:
    export(tmp_path / "out")
    pages = ["index.html", "about/index.html"]
    check_export(tmp_path / "out", "", pages=pages)
    (tmp_path / "out" / path).write_text(text)
    with pytest.raises(ExportError, match=re.escape(fault)):
        check_export(tmp_path / "out", "", pages=pages)


# --- the command --------------------------------------------------------------------------------


async def test_the_command_says_what_it_wrote_and_shows_no_bar_where_there_is_no_terminal(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    code, lines, errors = await run("export", SITE, out, "--data", tmp_path / "data")
    assert (code, errors) == (0, [])
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    count, megabytes = len(files(out)) - 1, (size - (out / LIST).stat().st_size) / 1e6
    assert lines == [
        f"Wrote 4 pages as HTML and Markdown: {count} files, {megabytes:.1f} MB in {out}.",
        "site.url is not set: links are paths, and there is no sitemap.xml.",
    ]
    assert not (tmp_path / "data").exists()
    _, lines, _ = await run("export", SITE, out, "--set", f"site.url={URL}")
    assert len(lines) == 1
    (out / "CNAME").touch()
    code, lines, errors = await run("export", SITE, out)
    assert (code, lines) == (1, [])
    assert "CNAME" in errors[0]


@pytest.mark.slow
async def test_a_terminal_is_shown_a_bar(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        COMMAND, "export", SITE, tmp_path / "out", stdout=asyncio.subprocess.DEVNULL, stderr=theirs
    )
    async with asyncio.timeout(30):
        assert await process.wait() == 0
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "Pages" in shown
    assert "100%" in shown
