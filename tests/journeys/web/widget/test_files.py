"""The component over HTTP: who may load it, how long it is kept, who may call what it calls."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncIterator, MutableMapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from aitp_desk.config import load_config
from aitp_desk.http.cors import MAX_WARNINGS
from tests.support.desk.server import serving

HOST = "https://www.shop.example"
OTHER = "https://evil.example"
SETTINGS = (f"widget.origins=['{HOST}']", "cors.open_discovery=false")


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        serving(tmp_path / "data", *SETTINGS) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield http


async def preflight(
    http: aiohttp.ClientSession, path: str, origin: str, method: str = "POST"
) -> int:
    headers = {"Origin": origin, "Access-Control-Request-Method": method}
    async with http.options(path, headers=headers) as answer:
        return answer.status


async def find_version(http: aiohttp.ClientSession) -> str:
    plain = {"Accept-Encoding": "identity"}
    async with http.get("/widget.js", headers=plain) as answer:
        found = re.search(r'"version":"(\w+)"', await answer.text())
    assert found is not None
    return found[1]


async def test_the_loader_is_revalidated_and_the_rest_is_kept_for_ever(
    http: aiohttp.ClientSession,
) -> None:
    for path in ("/widget.js", "/widget/settings.json", "/widget"):
        async with http.get(path) as answer:
            assert answer.status == 200, path
            assert answer.headers["Cache-Control"] == "no-cache"
            assert "X-RateLimit-Limit" not in answer.headers
            tag = {"If-None-Match": answer.headers["ETag"]}
        async with http.get(path, headers=tag) as answer:
            assert answer.status == 304, path
    version = await find_version(http)
    for name in ("chat.js", "texts/de.txt"):
        async with http.get(f"/widget/{version}/{name}") as answer:
            assert answer.status == 200, name
            assert "immutable" in answer.headers["Cache-Control"]
    for path in (f"/widget/{version}/loader.js", "/widget/0/chat.js", "/widget/", "/widget/x"):
        async with http.get(path) as answer:
            assert answer.status == 404, path


async def test_code_and_texts_are_zipped_for_browsers_that_take_it(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", *SETTINGS) as desk,
        aiohttp.ClientSession(desk.url, auto_decompress=False) as http,
    ):
        version = await find_version(http)
        for path in (
            "/widget.js",
            f"/widget/{version}/chat.js",
            f"/widget/{version}/texts/de.txt",
        ):
            got = {}
            for accepted in ("gzip, deflate, br", "identity", "gzip;q=0, br"):
                async with http.get(path, headers={"Accept-Encoding": accepted}) as answer:
                    assert answer.headers["Vary"] == "Accept-Encoding"
                    got[accepted] = (answer.headers.get("Content-Encoding"), await answer.read())
            coding, zipped = got.pop("gzip, deflate, br")
            assert coding == "gzip"
            for other, plain in got.values():
                assert (other, plain) == (None, gzip.decompress(zipped))
                assert len(zipped) < len(plain) * 0.7


async def test_only_the_owners_sites_load_it_and_call_what_it_calls(
    http: aiohttp.ClientSession,
) -> None:
    version = await find_version(http)
    for path in ("/widget.js", "/widget/settings.json", f"/widget/{version}/chat.js"):
        for origin, allowed in ((HOST, HOST), (OTHER, None)):
            async with http.get(path, headers={"Origin": origin}) as answer:
                assert answer.headers.get("Access-Control-Allow-Origin") == allowed, path
    thread = "/v1/threads/thread_x"
    for method, path in (
        ("POST", "/v1/threads"),
        ("POST", f"{thread}/messages"),
        ("POST", f"{thread}/messages/msg_x/feedback"),
        ("GET", f"{thread}/events"),
        ("DELETE", thread),
        ("POST", f"{thread}/claim"),
        ("POST", f"{thread}/actors"),
        ("GET", "/widget/visitor"),
        ("POST", "/v1/files"),
        ("GET", "/v1/files/file_x"),
        ("GET", "/v1/files/file_x/content"),
        ("DELETE", "/v1/files/file_x"),
        ("POST", "/mcp"),
    ):
        assert await preflight(http, path, HOST, method) == 204, path
        assert await preflight(http, path, OTHER, method) == 403, path


async def find_warnings(
    http: aiohttp.ClientSession, *origins: str, path: str = "/widget/visitor"
) -> list[MutableMapping[str, Any]]:
    """What the log says once pages of some origins have read an address."""
    with capture_logs() as logs:
        for origin in origins:
            async with http.get(path, headers={"Origin": origin}) as answer:
                await answer.read()
    return [line for line in logs if line["event"] == "chat_origin_refused"]


async def test_the_log_names_a_site_that_no_setting_names_once_and_what_to_write(
    http: aiohttp.ClientSession, tmp_path: Path
) -> None:
    (line,) = await find_warnings(http, OTHER, OTHER)
    assert (line["log_level"], line["origin"]) == ("warning", OTHER)
    told, _, written = line["remedy"].partition(": ")
    assert "[widget] in desk.toml" in told
    assert written in json.dumps(line), "it can be copied from a log in JSON, too"
    (tmp_path / "content").mkdir()
    (tmp_path / "desk.toml").write_text(f"[widget]\n{written}\n", "utf-8")
    assert load_config(tmp_path).widget.origins == (HOST, OTHER)
    with capture_logs() as logs:
        for origin in (OTHER, "http://localhost:8081"):
            assert await preflight(http, "/v1/threads", origin) == 403
    warned = [line["origin"] for line in logs if line["event"] == "chat_origin_refused"]
    assert warned == ["http://localhost:8081"]


async def test_a_page_from_a_file_has_no_origin_to_name(http: aiohttp.ClientSession) -> None:
    (line,) = await find_warnings(http, "null")
    assert "serve it over http" in line["remedy"]


async def test_the_log_does_not_warn_of_pages_that_may_or_of_what_the_chat_does_not_call(
    http: aiohttp.ClientSession,
) -> None:
    async with http.get("/health") as answer:
        own = str(answer.url.origin())
    assert await find_warnings(http, HOST, own) == []
    assert await find_warnings(http, OTHER, path="/v1/models") == []


async def test_nobody_fills_the_log_with_invented_origins_or_writes_into_it(
    http: aiohttp.ClientSession,
) -> None:
    strange = (
        *('https://a",b', "https://\u0435.example", "https://a.example/", "chrome-extension://a"),
        *(f"https://{'a' * 300}.example", "https://a.example:123456", "https://A.example", "*"),
    )
    assert await find_warnings(http, *strange) == []
    many = [f"https://{number}.example" for number in range(2 * MAX_WARNINGS)]
    warned = await find_warnings(http, *many)
    assert [line["origin"] for line in warned] == many[:MAX_WARNINGS]


async def test_its_sites_may_call_nothing_else(http: aiohttp.ClientSession) -> None:
    for path in ("/agent/converse", "/v1/threads/thread_x/grants", "/a2a", "/v1/thread"):
        assert await preflight(http, path, HOST) == 403, path
    body = {"ahp": "0.1", "capability": "contact", "query": "How?"}
    async with http.post("/agent/converse", json=body, headers={"Origin": HOST}) as answer:
        assert answer.status == 403


async def test_each_language_has_the_owners_words_and_questions_of_its_pages(
    tmp_path: Path,
) -> None:
    for folder, title in ((".", "Opening hours"), ("de", "Öffnungszeiten")):
        (tmp_path / "site" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / folder / "hours.md").write_text(f"# {title}\n\n9-17\n", "utf-8")
    settings = (
        "site.languages=['de']",
        "widget.greeting=Ask us.",
        "widget.texts=[{language='de', greeting='Fragen Sie uns.'}]",
    )
    async with (
        serving(tmp_path / "data", *settings, folder=tmp_path / "site") as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        told = {}
        for wanted in ("de-AT", "en", "sv", ""):
            async with http.get("/widget/settings.json", params={"lang": wanted}) as answer:
                told[wanted] = await answer.json()
    assert told["de-AT"]["greeting"] == "Fragen Sie uns."
    assert any("Öffnungszeiten" in question for question in told["de-AT"]["suggestions"])
    assert told["en"] == told["sv"] == told[""]
    assert told["en"]["greeting"] == "Ask us."
    assert any("Opening hours" in question for question in told["en"]["suggestions"])


async def test_only_the_owners_sites_may_frame_the_page(http: aiohttp.ClientSession) -> None:
    async with http.get("/widget", params={"lang": "de"}) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert f"frame-ancestors 'self' {HOST};" in policy
        assert "'unsafe" not in policy
        assert '<aitp-chat inline="page" lang="de">' in await answer.text()
    async with http.get("/") as answer:
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
