"""What an owner puts into pages of their own, as the command prints it."""

from __future__ import annotations

import re
from pathlib import Path

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.app.server import RunningServer
from aitp_desk.config import load_config
from aitp_desk.protocols.base.discovery_links import link_header, write_head_tags, write_notice
from tests.support.desk.command import run
from tests.support.desk.server import SITE

URL = ("--set", "site.url=https://books.example")


@pytest.mark.requirement("AHP-3.3-1", "AHP-3.4-1", "AHP-3.4-2", "AHP-3.4-8", "AHPW-2.4.1-1")
@pytest.mark.requirement("AHP-3.4-5", "AHP-3.4-6", "AHP-B-2", "AHP-B-3")
async def test_a_page_of_one_s_own_with_the_snippet_leads_to_the_desk() -> None:
    code, lines, errors = await run("snippet", "html", SITE)
    assert (code, errors) == (0, [])
    head, place, body = re.split("(<!-- before </body>.*?-->)", "\n".join(lines))
    assert "every page, of error pages and API documentation too" in place
    page = LexborHTMLParser(f"<html><head>{head}</head><body><p>Hello</p>{body}</body></html>")
    for relation in ("agent-manifest", "ahp-manifest"):
        link = page.css_first(f'head link[rel="{relation}"]')
        assert link is not None
        assert link.attributes["href"] == "/.well-known/agent.json"
        assert link.attributes["type"] == "application/agent+json"
    meta = page.css_first('head meta[name="ahp-manifest"]')
    assert meta is not None
    assert meta.attributes["content"] == "/.well-known/agent.json"
    told = page.css_first('body section.ahp-notice[aria-label="AI Agent Notice"][hidden]')
    assert told is not None
    for said in ("GET /.well-known/agent.json", "POST /agent/converse", "AHP/0.1"):
        assert said in told.text()


async def test_all_that_is_printed_for_the_chat_may_be_pasted() -> None:
    title = "Tents --> & more"
    code, lines, _ = await run("snippet", "widget", SITE, *URL, "--set", f"widget.title={title}")
    assert code == 0
    body = LexborHTMLParser("<!doctype html><body>" + "\n".join(lines)).body
    assert body is not None
    assert [node.tag for node in body.iter() if node.tag != "-comment"] == ["script", "aitp-chat"]
    assert body.text().strip() == ""
    assert "script-src https://books.example; " in "\n".join(lines)
    (frame,) = (line for line in lines if line.startswith("<iframe"))
    assert 'src="https://books.example/widget"' in frame


async def test_in_the_folder_of_the_desk_the_part_alone_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(SITE)
    assert await run("snippet", "widget", *URL) == await run("snippet", "widget", SITE, *URL)


async def test_an_unnamed_website_is_to_be_named_before_the_tag_is_pasted(tmp_path: Path) -> None:
    code, lines, _ = await run("snippet", "widget", SITE, *URL)
    assert code == 0
    told, _, rest = "\n".join(lines).partition("-->")
    assert "<script" not in told
    assert "<script" in rest
    assert "https://books.example need no name" in told
    (tmp_path / "content").mkdir()
    (tmp_path / "desk.toml").write_text(told[told.index("\n[widget]") :], "utf-8")
    assert load_config(tmp_path).widget.origins == ("https://www.example.com",)
    _, named, _ = await run("snippet", "widget", tmp_path, *URL)
    assert "desk.toml" not in "\n".join(named)
    (frame,) = (line for line in named if line.startswith("<iframe"))
    assert 'title="Chat"' in frame, "a site is not called what nobody has named it"


async def test_the_snippet_is_what_the_desk_s_own_pages_carry(served_desk: RunningServer) -> None:
    _, head, _ = await run("snippet", "head", SITE)
    _, footer, _ = await run("snippet", "footer", SITE)
    async with aiohttp.ClientSession() as http, http.get(f"{served_desk.url}/about") as response:
        page = await response.text()
    assert "\n".join(head) in page
    assert "\n".join(footer) in page


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["head"], write_head_tags("https://books.example")),
        (["body"], write_notice("https://books.example", hidden=True)),
        (["footer"], write_notice("https://books.example")),
        (["footer", "--static"], write_notice("https://books.example", asks=False)),
    ],
)
async def test_the_parts_are_printed_alone_with_the_address_of_the_configuration(
    options: list[str], expected: str
) -> None:
    code, lines, _ = await run("snippet", *options, SITE, *URL)
    assert (code, "\n".join(lines)) == (0, expected)
    assert "https://books.example/" in expected


async def test_a_site_that_answers_nothing_sends_nobody_to_ask() -> None:
    _, lines, _ = await run("snippet", "html", SITE, *URL, "--static")
    assert "/agent/converse" not in "\n".join(lines)
    assert "GET https://books.example/llms.txt" in "\n".join(lines)


async def test_an_error_in_the_settings_is_reported_and_nothing_printed() -> None:
    code, lines, errors = await run("snippet", "html", SITE, "--set", "site.url=books")
    assert (code, lines) == (1, [])
    assert errors[0].startswith("site.url: ")


@pytest.mark.parametrize("kind", ["apache", "caddy", "nginx"])
async def test_settings_for_a_web_server_name_this_desk(kind: str, tmp_path: Path) -> None:
    for folder in ("content", "books"):
        (tmp_path / folder).mkdir()
    (tmp_path / "desk.toml").write_text(
        '[content]\nfolder = "content"\n'
        "[server]\nport = 4711\n[files]\nmax_bytes = 33_000_000\n"
        '[[agents]]\nname = "books"\ncontent.folder = "books"\n'
    )
    code, lines, errors = await run("snippet", kind, tmp_path)
    assert (code, errors) == (0, [])
    text = "\n".join(lines)
    assert "127.0.0.1:4711" in text
    assert "/books/" in text
    assert kind == "apache" or "32m" in text or "32MiB" in text  # Apache has no such limit
    assert link_header() in text
    assert "api-catalog" in text.replace("\\", "")
    for own in ("robots", "sitemap", "security"):  # the website has these
        assert own not in text
    if kind == "nginx":
        assert write_head_tags() in text
        assert write_notice(hidden=True) in text


@pytest.mark.parametrize("kind", ["apache", "caddy", "cloudflare", "nginx", "traefik"])
@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("server.host=a;b {", "server.host: is neither an address"),
        ("server.port=0", "Set a fixed port, which the web server needs"),
    ],
)
async def test_settings_for_a_web_server_need_a_place_to_hand_to(
    kind: str, setting: str, told: str
) -> None:
    code, lines, errors = await run("snippet", kind, SITE, *URL, "--set", setting)
    assert (code, lines, len(errors)) == (1, [], 1)
    assert told in errors[0]


async def test_settings_for_a_web_server_are_for_a_desk_behind_it() -> None:
    code, lines, errors = await run("snippet", "nginx", SITE, "--static")
    assert (code, lines) == (2, [])
    assert "--static" in errors[-1]
