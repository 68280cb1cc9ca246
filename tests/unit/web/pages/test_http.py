"""Which form a caller gets, what a browser may keep, how refusals read: headers in, reply out."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from multidict import CIMultiDict

from aitp_desk.config import Signals, Site
from aitp_desk.desk.desk import Desk
from aitp_desk.knowledge.snapshot import open_knowledge
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    DeskError,
    InternalError,
    MethodNotAllowed,
    RateLimited,
    RouteNotFound,
    WrongHost,
)
from aitp_desk.protocols.aitp.wire import render_error
from aitp_desk.protocols.base.accept import find_quality, wants_manifest
from aitp_desk.protocols.base.errors import find_status
from aitp_desk.protocols.base.protocol import HTML, JSON, Call, Reply
from aitp_desk.web.pages.assets import ASSETS_PATH, STYLE
from aitp_desk.web.pages.blocks.texts import find_texts
from aitp_desk.web.pages.routes import PageCache, PagesHandlers
from aitp_desk.web.pages.wire import Page, get_text_key, tag_page, wants_html

SITE = Site(name="Pine Street Books", url="https://books.example")
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
DOOR = PagesHandlers(SITE, render_json=render_error)


async def get(folder: Path, path: str, headers: Mapping[str, str] = BROWSER) -> Reply:
    """One request to the pages of a folder, as the dispatcher passes it on."""
    name = path.removeprefix(ASSETS_PATH)
    call = Call(
        make_anonymous("192.0.2.1"), "GET", path, {"name": name}, {}, CIMultiDict(headers), b""
    )
    async with open_knowledge(folder, data=folder.parent / "data") as knowledge:
        desk = cast(
            Desk,
            SimpleNamespace(
                knowledge=knowledge, signals=Signals(), registry=SimpleNamespace(actions=())
            ),
        )
        if path == "/":
            return await DOOR.get_home(desk, call)
        if path.startswith(ASSETS_PATH):
            return await DOOR.get_asset(desk, call)
        return await DOOR.get_page(desk, call)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "big guides").mkdir(parents=True)
    (site / "big guides" / "größe.md").write_text("# Größe\n\nAll sizes.", encoding="utf-8")
    (site / "assets").mkdir()
    (site / "assets" / "list.md").write_text("Chairs and tables.", encoding="utf-8")
    return site


# --- Which form ---------------------------------------------------------------------------------


def test_the_most_specific_range_weighs_a_media_type(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, tuple[float, bool]]] = [
        ("", "text/html", (0.0, False)),
        ("*/*", "text/html", (1.0, False)),
        ("text/*;q=0.4, */*;q=0.9", "text/html", (0.4, False)),
        ("TEXT/HTML ; Q=0.5", "text/html", (0.5, True)),
        ("text/html;level=1;q=0.3", "text/html", (0.3, True)),
        ("text/html;q=0, */*", "text/html", (0.0, True)),
        ("text/html;q=two", "text/html", (0.0, True)),
        ("text/html;q=7", "text/html", (0.0, True)),
        (",,;q=1,", "text/html", (0.0, False)),
        ('text/html;title="a, text/html;q=0";q=0.7', "text/html", (0.7, True)),
        ('text/plain;title="\\", text/html"', "text/html", (0.0, False)),
        ('text/html;title="never closed, text/plain', "text/html", (1.0, True)),
        ("text/html;q=nan, */*;q=inf", "text/html", (0.0, True)),
        ("text/html;q=0.2, text/html;q=0.6", "text/html", (0.6, True)),
    ]
    for accept, media_type, weight in cases:
        with subtests.test(accept=accept, media_type=media_type, weight=weight):
            assert find_quality(accept, media_type) == weight


@pytest.mark.requirement("AHP-3.2-1")
@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("application/agent+json", True),
        ("application/agent+json, */*", True),
        ("application/agent+json, text/html;q=0.9", True),
        ("application/agent+json;q=0.5, text/html", False),
        ("application/agent+json, text/html", False),
        ("application/agent+json;q=0", False),
        ("application/*", False),
        (BROWSER["Accept"], False),
        ("", False),
    ],
)
def test_the_manifest_is_for_those_who_name_it_and_prefer_it(accept: str, wanted: bool) -> None:
    assert wants_manifest(accept) is wanted


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        (BROWSER, True),
        ({"Accept": "text/html, application/json;q=0.9"}, True),
        ({"Accept": "application/json, text/html;q=0.9"}, False),
        ({"Accept": "*/*"}, False),
        ({}, False),
    ],
)
def test_an_error_is_a_page_for_those_who_prefer_pages(
    headers: Mapping[str, str], wanted: bool
) -> None:
    assert wants_html(headers) is wanted


# --- What a browser gets, and keeps -------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/big%20guides/gr%C3%B6%C3%9Fe"])
async def test_a_page_is_asked_for_again_and_not_sent_again(folder: Path, path: str) -> None:
    reply = await get(folder, path)
    headers = dict(reply.headers)
    assert (reply.status, reply.content_type) == (200, HTML)
    assert headers["Cache-Control"] == "no-cache"
    for known in (headers["ETag"], f'W/{headers["ETag"]}, "other"', "*"):
        again = await get(folder, path, {**BROWSER, "If-None-Match": known})
        assert (again.status, again.body) == (304, b"")
        assert dict(again.headers)["ETag"] == headers["ETag"]
    changed = await get(folder, path, {**BROWSER, "If-None-Match": '"other"'})
    assert (changed.status, changed.body) == (200, reply.body)


async def test_a_page_forbids_everything_that_is_not_the_desks_own(folder: Path) -> None:
    for reply in (await get(folder, "/"), DOOR.render_error(RouteNotFound("No."), BROWSER)):
        policy = dict(reply.headers)["Content-Security-Policy"].split("; ")
        assert policy == [
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self' data:",
            "media-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "script-src 'self'",
            "connect-src 'self'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
            "frame-ancestors 'none'",
        ]


async def test_a_changed_page_is_rendered_again(folder: Path) -> None:
    path = "/big%20guides/gr%C3%B6%C3%9Fe"
    before = await get(folder, path)
    (folder / "big guides" / "größe.md").write_text("# Größe\n\nNew sizes.", encoding="utf-8")
    after = await get(folder, path)
    assert b"All sizes." in before.body
    assert b"New sizes." in after.body


async def test_a_page_is_found_however_its_address_is_encoded(folder: Path) -> None:
    replies = [
        await get(folder, path)
        for path in ("/big%20guides/gr%c3%b6%c3%9fe", "/big%20guides/größe", "/big%20guides/größe/")
    ]
    assert [reply.status for reply in replies] == [200, 200, 200]


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/big%20guides",
        "/../etc/passwd",
        "/big%20guides/..%2f..%2fdesk.toml",
        "//",
        "/%00",
    ],
)
async def test_a_page_that_does_not_exist_is_not_found(folder: Path, path: str) -> None:
    with pytest.raises(RouteNotFound):
        await get(folder, path)


async def test_the_desks_own_files_are_kept_for_ever(folder: Path) -> None:
    reply = await get(folder, STYLE.url)
    assert (reply.status, reply.body) == (200, STYLE.body)
    assert reply.content_type == "text/css; charset=utf-8"
    assert dict(reply.headers)["Cache-Control"] == "public, max-age=31536000, immutable"


async def test_content_in_a_folder_named_like_the_desks_own_is_served(folder: Path) -> None:
    assert b"Chairs and tables." in (await get(folder, "/assets/list")).body
    with pytest.raises(RouteNotFound):
        await get(folder, "/assets/desk/desk.000000000000.css")


async def test_rendered_pages_are_kept_up_to_a_size_the_least_used_dropped_first() -> None:
    shelf = PageCache(max_bytes=25)
    rendered: list[str] = []

    async def show(path: str) -> None:
        def render() -> Page:
            rendered.append(path)
            return tag_page(path.encode() * 10)

        page = await shelf.get_or_render("1", path, "text/html", render)
        assert page.body == path.encode() * 10

    for path in ("a", "b", "a", "c", "a", "b"):
        await show(path)
    assert rendered == ["a", "b", "c", "b"]


async def test_a_page_of_an_older_revision_is_not_shown() -> None:
    shelf = PageCache()
    old = await shelf.get_or_render("1", "a", "text/html", lambda: tag_page(b"old"))
    new = await shelf.get_or_render("2", "a", "text/html", lambda: tag_page(b"new"))
    assert (old.body, new.body) == (b"old", b"new")
    assert old.tag != new.tag


async def test_a_page_is_kept_in_each_form() -> None:
    shelf = PageCache()
    for form in ("text/html", "text/markdown", "text/html"):
        page = await shelf.get_or_render("1", "a", form, lambda form=form: tag_page(form.encode()))  # type: ignore[misc]
        assert page.body == form.encode()


# --- Refusals and faults ------------------------------------------------------------------------


@pytest.mark.requirement("AHP-3.4-5")
@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (RouteNotFound("No such page."), 404, None),
        (MethodNotAllowed("Not here.", allowed=["GET", "HEAD"]), 405, ("Allow", "GET, HEAD")),
        (RateLimited("Slow down.", scope="ip", retry_after=7), 429, ("Retry-After", "7")),
        (InternalError("Tell us 4f2a.", request_id="4f2a"), 500, None),
    ],
)
def test_an_error_says_in_words_what_happened(
    error: DeskError, status: int, header: tuple[str, str] | None
) -> None:
    reply = DOOR.render_error(error, BROWSER)
    assert (reply.status, reply.content_type) == (status, HTML)
    assert error.message.encode() in reply.body
    assert get_text_key(error.kind)[0].encode() in reply.body
    assert b"ahp-notice" in reply.body
    assert header is None or header in reply.headers
    assert ("Vary", "Accept") in reply.headers


def test_an_error_is_json_for_everybody_else() -> None:
    reply = DOOR.render_error(RouteNotFound("No such page."), {"Accept": "*/*"})
    assert (reply.status, reply.content_type) == (404, JSON)
    assert json.loads(reply.body)["error"]["message"] == "No such page."


def test_a_request_to_the_wrong_host_gets_the_right_one() -> None:
    reply = DOOR.render_error(WrongHost("Not here."), BROWSER)
    assert reply.status == 421
    assert b'href="https://books.example/"' in reply.body


def test_every_kind_of_error_has_words(subtests: pytest.Subtests) -> None:
    for kind in ErrorKind:
        with subtests.test(kind=kind):
            heading = get_text_key(kind)
            texts = find_texts("en")
            assert texts.say(heading)
            assert texts.say(f"{heading}.advice").endswith(".")
            assert find_status(kind) >= 400
