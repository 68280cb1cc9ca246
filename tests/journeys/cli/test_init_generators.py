"""`aitp-desk init` finds out what made a folder, and the desk answers from its pages."""

from __future__ import annotations

import asyncio
import os
import pty
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_desk.config import load_config
from tests.support.desk.command import SECONDS, run_here
from tests.support.desk.server import serving

PAGE = "# Descaling\n\nDescale the kettle every six weeks with forty grams of citric acid.\n"
HOME = "<!doctype html><html><head>{}<title>Kettles</title></head><body><main><h1>Kettles</h1>"
HOME += "<p>Descale the kettle every six weeks with forty grams of citric acid.</p></main></body>"
BUILT = HOME.format("")
HUGO = HOME.format('<meta name="generator" content="Hugo 0.150.1">')
REDIRECT = "Never quote this: it is a theme or a program.\n"
SPHINX = "import os\nproject = 'Kettle Docs'\nextensions = ['sphinx.ext.autodoc']\nos.abort()\n"
MKDOCS = """\
site_name: Kettle Docs
site_url: https://kettles.example/
theme: {name: material}
markdown_extensions:
  - pymdownx.emoji: {emoji_index: !!python/name:material.extensions.emoji.twemoji }
"""
ZENSICAL = (
    '[project]\nsite_name = "Kettle Docs"\nsite_url = "https://kettles.example/"\n'
    "[project.theme]\nvariant = 'classic'\n"
)
DOCUSAURUS = (
    "export default {\n  title: 'Kettle Docs',\n  url: 'https://kettles.example',\n"
    "  baseUrl: '/',\n  themeConfig: { navbar: { title: 'Nav' } },\n};\n"
)
ASTRO = (
    "export default defineConfig({\n  site: 'https://kettles.example',\n"
    "  integrations: [starlight({ title: 'Kettle Docs' })],\n});\n"
)
NEXT = "module.exports = { output: 'export' };\n"
JEKYLL = "title: Kettle Docs\nurl: https://kettles.example\nbaseurl: ''\n"
HUGO_TOML = "baseURL = 'https://kettles.example/'\ntitle = 'Kettle Docs'\n"
KNOWN = ("Kettle Docs", "https://kettles.example")

Files = Mapping[str, str]
SHAPES: dict[str, tuple[Files, str, str, tuple[str, str]]] = {
    "Sphinx, sources": (
        {"docs/conf.py": SPHINX, "docs/descale.md": PAGE, "README.md": REDIRECT},
        *("Sphinx (docs/conf.py)", "docs", ("Kettle Docs", "")),
    ),
    "Sphinx, built": (
        {
            "conf.py": SPHINX,
            "descale.md": REDIRECT,
            "_build/html/descale.html": BUILT,
            "_build/html/objects.inv": "# Sphinx",
        },
        *("Sphinx (conf.py)", "_build/html", ("Kettle Docs", "")),
    ),
    "Sphinx, built next to source": (
        {
            "source/conf.py": SPHINX,
            "source/descale.md": REDIRECT,
            "build/html/descale.html": BUILT,
            "build/html/objects.inv": "# Sphinx",
        },
        *("Sphinx (source/conf.py)", "build/html", ("Kettle Docs", "")),
    ),
    "MkDocs": (
        {
            "mkdocs.yml": MKDOCS,
            "docs/descale.md": PAGE,
            "site/index.html": BUILT,
            "README.md": REDIRECT,
        },
        *("MkDocs (mkdocs.yml)", "docs", KNOWN),
    ),
    "Zensical": (
        {"zensical.toml": ZENSICAL, "docs/descale.md": PAGE, "site/index.html": BUILT},
        *("Zensical (zensical.toml)", "docs", KNOWN),
    ),
    "MkDocs with text from programs": (
        {
            "mkdocs.yml": f"{MKDOCS}plugins:\n- search\n- mkdocstrings: {{}}\n",
            "docs/api.md": REDIRECT,
            "site/index.html": BUILT,
        },
        *("MkDocs (mkdocs.yml)", "site", KNOWN),
    ),
    "Docusaurus": (
        {"docusaurus.config.ts": DOCUSAURUS, "docs/descale.mdx": PAGE, "src/a.md": REDIRECT},
        *("Docusaurus (docusaurus.config.ts)", "docs", KNOWN),
    ),
    "Docusaurus, built": (
        {
            "docusaurus.config.ts": DOCUSAURUS,
            "docs/descale.mdx": REDIRECT,
            "build/index.html": BUILT,
        },
        *("Docusaurus (docusaurus.config.ts)", "build", KNOWN),
    ),
    "Hugo": (
        {"hugo.toml": HUGO_TOML, "content/descale.md": PAGE, "themes/a/README.md": REDIRECT},
        *("Hugo (hugo.toml)", "content", KNOWN),
    ),
    "Hugo, built": (
        {
            "config.yaml": "baseURL: https://kettles.example/\ntitle: Kettle Docs\n",
            "content/descale.md": REDIRECT,
            "public/index.html": HUGO,
        },
        *("Hugo (config.yaml)", "public", KNOWN),
    ),
    "Jekyll, built": (
        {"_config.yml": JEKYLL, "_site/index.html": BUILT, "_includes/head.html": REDIRECT},
        *("Jekyll (_config.yml)", "_site", KNOWN),
    ),
    "Astro": (
        {"astro.config.mjs": ASTRO, "src/content/docs/descale.mdx": PAGE, "README.md": REDIRECT},
        *("Astro (astro.config.mjs)", "src/content/docs", KNOWN),
    ),
    "Astro, built": (
        {"astro.config.mjs": ASTRO, "src/content/docs/a.md": REDIRECT, "dist/index.html": BUILT},
        *("Astro (astro.config.mjs)", "dist", KNOWN),
    ),
    "Next.js, exported": (
        {"next.config.js": NEXT, "out/index.html": BUILT, "README.md": REDIRECT},
        *("Next.js (next.config.js)", "out", ("My site", "")),
    ),
    "built pages alone": ({"index.html": HUGO}, "Hugo (index.html)", ".", ("My site", "")),
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_the_pages_of_a_generator_are_found_and_quoted(tmp_path: Path, shape: str) -> None:
    files, found, folder, (name, url) = SHAPES[shape]
    site = write(tmp_path / "site", files)
    lines = succeed("init", site)
    assert lines[0] == f"found  {found}"
    assert lines[1].startswith(f"reads  {site / folder}, ")
    assert lines[-1] == f"Next: aitp-desk serve {site}"
    config = load_config(site, port=0)
    assert (config.content.folder, config.site.name, config.site.url) == (folder, name, url)
    assert "is ready to serve: 1 page" in succeed("check", site)[-1]
    async with serving(tmp_path / "data", folder=site) as desk:
        answer = await ask(desk.url, "How often must I descale the kettle?")
    assert "every six weeks" in answer["answer"]
    assert not (site / "content").exists() or "content/descale.md" in files


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"next.config.mjs": NEXT, "README.md": PAGE}, "next build"),
        ({"_config.yml": JEKYLL, "index.md": PAGE, "_layouts/a.html": BUILT}, "jekyll build"),
        ({"mkdocs.yml": "docs_dir: gone\n"}, "mkdocs build"),
        ({"zensical.toml": "project = 3\n", "page.md": PAGE}, "zensical build"),
    ],
)
def test_pages_that_are_not_built_are_asked_for(tmp_path: Path, files: Files, command: str) -> None:
    site = write(tmp_path / "site", files)
    done = run_here("init", site)
    assert (done.code, done.out) == (1, "")
    assert command in done.err
    assert "--from https://www.example.com/sitemap.xml" in done.err
    assert not (site / "desk.toml").exists()


@pytest.mark.parametrize(
    "files",
    [
        {"conf.py": "this is no Python", "page.md": PAGE},
        {"conf.py": "port = 80\n", "page.md": PAGE},
        {"config.toml": "[server]\nport = 1\n", "docs/page.md": PAGE},
        {"mkdocs.yaml.bak": MKDOCS, "page.md": PAGE},
        {"index.html": BUILT},
    ],
)
def test_a_folder_of_pages_stays_one(tmp_path: Path, files: Files) -> None:
    site = write(tmp_path / "site", files)
    lines = succeed("init", site)
    assert lines[1] == f"kept   {site} (it already has pages)"
    assert load_config(site).content.folder == "."


@pytest.mark.parametrize(
    ("files", "folder", "data"),
    [
        ({"index.html": BUILT}, ".", "public.desk"),
        ({"index.html": HUGO, "blog/page.md": PAGE}, "blog", "public-blog.desk"),
        ({"index.php": "<?php", "home.html": BUILT}, "new/desk", "public-new-desk.desk"),
        ({"page.md": PAGE}, ".", "public/.desk"),
        ({"mkdocs.yml": MKDOCS, "docs/p.md": PAGE, "site/index.html": BUILT}, ".", "public/.desk"),
    ],
)
def test_the_state_of_a_desk_goes_next_to_pages_that_may_be_published(
    tmp_path: Path, files: Files, folder: str, data: str
) -> None:
    site = (write(tmp_path / "public", files) / folder).resolve()
    lines = succeed("init", site)
    told = f"state  {tmp_path / data}: the master key and the database (store.data)"
    assert lines[-2:] == [told, f"Next: aitp-desk serve {site}"]
    config = load_config(site)
    assert config.data == tmp_path / data
    assert load_config(site, data=tmp_path / "other").data == tmp_path / "other"


def test_state_that_is_among_pages_already_is_kept_and_said(tmp_path: Path) -> None:
    site = write(tmp_path / "public", {"index.html": BUILT, ".desk/desk.db": "all of it"})
    *_, state, note, _ = succeed("init", site)
    assert state.startswith(f"state  {site / '.desk'}: ")
    assert note.startswith(f"note   {site} is a folder of pages. A web server that publishes it")
    assert load_config(site).data == site / ".desk"


@pytest.mark.parametrize("text", ["", "- a\n", "a: [\n", "site_name: 3\n", "&a [*a]\n", "\0"])
def test_a_configuration_that_says_nothing_names_nothing(tmp_path: Path, text: str) -> None:
    site = write(tmp_path / "site", {"mkdocs.yml": text, "docs/page.md": PAGE})
    assert succeed("init", site)[0] == "found  MkDocs (mkdocs.yml)"
    assert load_config(site, port=0).site.url == ""


@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap_index", "maps/all.xml.gz", "urls?of=all"])
def test_a_sitemap_may_have_any_name(tmp_path: Path, name: str) -> None:
    sitemap = f"https://kettles.example/{name}"
    lines = succeed("init", tmp_path / "site", "--from", sitemap)
    assert not any("is a home page" in line for line in lines)
    assert load_config(tmp_path / "site").content.web.sitemaps == (sitemap,)


async def test_answers_link_to_a_website_below_a_path(tmp_path: Path) -> None:
    said = MKDOCS.replace("kettles.example/", "kettles.example/docs/")
    page = f"{PAGE}\n## Which acid?\n\nNever use vinegar in a kettle.\n"
    site = write(tmp_path / "site", {"mkdocs.yml": said, "docs/page.md": page})
    (told,) = [line for line in succeed("init", site) if line.startswith("note ")]
    assert told == (
        "note   Answers link to your pages at https://kettles.example/docs/ (content.published_at)."
        " Before others use the desk, set site.url to its own public address."
    )
    assert load_config(site, port=0).site.url == ""
    async with serving(tmp_path / "data", folder=site) as desk:
        answer = await ask(desk.url, "May I use vinegar in a kettle?")
    assert answer["sources"][0]["url"] == "https://kettles.example/docs/page#which-acid"


def test_a_sitemap_is_the_content(tmp_path: Path) -> None:
    site = tmp_path / "site"
    sitemap = "https://kettles.example/sitemap.xml"
    lines = succeed("init", site, "--from", sitemap)
    assert lines[0] == f"will read  the pages of the sitemap {sitemap}, every hour"
    config = load_config(site)
    assert config.content.web.sitemaps == (sitemap,)
    assert config.site.url == "https://kettles.example"
    assert config.site.name == "kettles.example"
    assert [one.name for one in site.iterdir()] == ["desk.toml"]
    warning, ready = succeed("check", site)
    assert warning.startswith("warning: no page is here. 'serve' reads those of content.web")
    assert ready == f"{site} is ready to serve: 0 pages."


@pytest.mark.parametrize("is_built", [False, True])
def test_only_files_that_tell_their_addresses_are_linked_below_a_path(
    tmp_path: Path, is_built: bool
) -> None:
    said = DOCUSAURUS.replace("baseUrl: '/'", "baseUrl: '/kettle-docs/'")
    files = {"docusaurus.config.ts": said, "docs/intro.md": PAGE}
    if is_built:
        files["build/index.html"] = BUILT
    site = write(tmp_path / "site", files)
    (told,) = [line for line in succeed("init", site) if line.startswith("note ")]
    address = "https://kettles.example/kettle-docs/"
    assert address in told
    assert load_config(site, port=0).content.published_at == (address if is_built else "")


@pytest.mark.parametrize(
    ("home", "url"),
    [
        ("https://kettles.example", "https://kettles.example"),
        ("https://kettles.example/", "https://kettles.example"),
        ("https://ann.example/kettles/", ""),
        ("https://ann.example/kettles", ""),
    ],
)
def test_a_home_page_stands_for_its_sitemap(tmp_path: Path, home: str, url: str) -> None:
    site, sitemap = tmp_path / "site", f"{home.rstrip('/')}/sitemap.xml"
    lines = succeed("init", site, "--from", home)
    assert lines[0] == f"note   {home} is a home page, not a sitemap; {sitemap} is taken."
    config = load_config(site, port=0)
    assert (config.content.web.sitemaps, config.site.url) == ((sitemap,), url)
    is_told = any("set site.url to its own public address" in line for line in lines)
    assert is_told == (not url), "the host of a part of a website is not the desk's"


def test_what_the_options_say_precedes_what_was_detected(tmp_path: Path) -> None:
    site = write(tmp_path / "site", {"mkdocs.yml": MKDOCS, "docs/page.md": PAGE})
    given = (
        "--name",
        'Kettles "&" more',
        "--url",
        "https://tea.example/",
        "--contact",
        "a@b.example",
    )
    succeed("init", site, *given)
    config = load_config(site)
    assert (config.site.name, config.site.url) == ('Kettles "&" more', "https://tea.example")
    assert (config.site.contact.email, config.tickets.people) == ("a@b.example", "offered")


def test_without_a_contact_no_question_becomes_a_ticket(tmp_path: Path) -> None:
    succeed("init", tmp_path / "site", "--contact", "")
    assert load_config(tmp_path / "site").tickets.people == "off"


NO_SITEMAP = (
    "Error: --from takes the https address of a sitemap, such as"
    " https://www.example.com/sitemap.xml\n"
)


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--url", "http://kettles.example", "is not encrypted"),
        ("--url", "https://kettles.example/docs", "more than scheme, host and port"),
        ("--contact", "nobody", "is not an email address"),
        ("--from", "ftp://kettles.example/sitemap.xml", NO_SITEMAP),
        ("--from", "http://kettles.example/", NO_SITEMAP),
    ],
)
def test_an_option_obeys_the_rules_of_its_setting(
    tmp_path: Path, option: str, value: str, told: str
) -> None:
    done = run_here("init", tmp_path / "site", option, value)
    assert (done.code, told in done.err) == (2, True)
    assert not (tmp_path / "site").exists()


async def test_a_terminal_is_asked_three_questions(tmp_path: Path) -> None:
    site = write(tmp_path / "site", {"mkdocs.yml": MKDOCS, "docs/page.md": PAGE})
    said = await on_terminal(
        ["init", str(site)], {"Name": "", "address [": "http://no.example", "Email": "a@b.example"}
    )
    assert "Name of the site [Kettle Docs]: " in said
    assert "Its public https:// address [https://kettles.example]: " in said
    assert said.count("is not encrypted") == 1
    config = load_config(site)
    assert (config.site.name, config.site.url) == KNOWN
    assert (config.site.contact.email, config.tickets.people) == ("a@b.example", "offered")


async def test_an_address_may_be_typed_without_its_scheme(tmp_path: Path) -> None:
    site = tmp_path / "site"
    said = await on_terminal(
        ["init", str(site), "--from", "https://www.kettles.example/tea/"],
        {"Name": "", "address (": "desk.kettles.example", "Email": ""},
    )
    assert "Name of the site [kettles.example/tea]: " in said
    config = load_config(site)
    assert config.site.name == "kettles.example/tea"
    assert config.site.url == "https://desk.kettles.example"


async def test_a_terminal_that_says_yes_is_asked_nothing(tmp_path: Path) -> None:
    site = write(tmp_path / "site", {"mkdocs.yml": MKDOCS, "docs/page.md": PAGE})
    said = await on_terminal(["init", str(site), "--yes"], {})
    assert said.splitlines()[0] == "found  MkDocs (mkdocs.yml)"
    assert load_config(site).site.name == "Kettle Docs"


async def on_terminal(words: list[str], answers: Mapping[str, str]) -> str:
    """Run the command on a terminal; each prompt that holds a text gets its answer, once.

    Returns:
        what the terminal showed.
    """
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aitp_desk", *words), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    left, shown, seen = dict(answers), "", 0
    try:
        async with asyncio.timeout(SECONDS):
            while chunk := await asyncio.to_thread(_read, ours):
                shown += chunk
                if shown.endswith(": "):
                    asked, seen = shown[seen:], len(shown)
                    key = next((key for key in left if key in asked), None)
                    os.write(ours, f"{left.pop(key) if key else ''}\n".encode())
            assert await process.wait() == 0, shown
    finally:
        os.close(ours)
    assert left == {}
    return shown.replace("\r\n", "\n")


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 4096).decode()
    except OSError:  # the other end is closed
        return ""


def succeed(*arguments: object) -> list[str]:
    """Run what must work; the lines it wrote."""
    done = run_here(*arguments)
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def write(folder: Path, files: Files) -> Path:
    """Write the files of a folder; the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


async def ask(url: str, question: str) -> Any:
    """What the desk responds to a question over AHP."""
    body = {"ahp": "0.1", "capability": "content_search", "query": question}
    async with aiohttp.ClientSession(url) as web, web.post("/agent/converse", json=body) as said:
        return (await said.json())["response"]
