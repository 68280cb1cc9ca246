"""Who the chat's visitor is to the desk, over HTTP: by a token of the website, or nobody."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_desk.app.server import RunningServer
from aitp_desk.web.widget.assets import COMPONENT
from tests.support.access.host_person import ISSUER, LIFETIME, sign_person, write_site
from tests.support.access.identity_provider import base64url
from tests.support.desk.server import serving

HOST = "https://www.shop.example"
VISITOR = "/widget/visitor"
EXAMPLES = Path(__file__).parents[4] / "examples"
CLIENTS = EXAMPLES / "clients"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[RunningServer]:
    site = write_site(tmp_path / "site")
    async with serving(tmp_path / "data", f"widget.origins=['{HOST}']", folder=site) as desk:
        yield desk


@pytest.fixture
async def http(desk: RunningServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(desk.url, headers={"Origin": HOST}) as http:
        yield http


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": "application/json"}


async def get_visitor(http: aiohttp.ClientSession, token: str | None = None) -> dict[str, Any]:
    async with http.get(VISITOR, headers=bearer(token) if token else {}) as answer:
        assert answer.status == 200
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Access-Control-Allow-Origin"] == HOST
        found: dict[str, Any] = await answer.json()
        return found


async def open_chat(http: aiohttp.ClientSession, token: str | None = None, **notes: str) -> str:
    body = {"messages": ["Hello."], "metadata": notes}
    async with http.post("/v1/threads", json=body, headers=bearer(token) if token else {}) as made:
        assert made.status == 200
        thread: str = (await made.json())["id"]
        return thread


async def test_a_token_names_the_caller_and_finds_their_open_chat(
    desk: RunningServer, http: aiohttp.ClientSession
) -> None:
    nobody = {"caller": None, "thread_id": None, "last_event": 0}
    assert await get_visitor(http) == nobody
    aya, ben = sign_person(desk.url), sign_person(desk.url, "ben")
    known = {**nobody, "caller": "jwt:website:aya"}
    assert await get_visitor(http, aya) == known
    await open_chat(http, aya)  # of another client of theirs: it is no chat
    assert await get_visitor(http, aya) == known
    thread = await open_chat(http, chat="open")
    async with http.post(f"/v1/threads/{thread}/claim", headers=bearer(aya)) as claimed:
        assert claimed.status == 200
    found = await get_visitor(http, aya)
    assert found["thread_id"] == thread
    assert found["last_event"] > 1
    assert (await get_visitor(http, ben))["thread_id"] is None
    async with http.post(f"/v1/threads/{thread}/claim", headers=bearer(ben)) as claimed:
        assert claimed.status == 404
    notes = {"metadata": {"chat": "left"}}
    async with http.post(f"/v1/threads/{thread}", json=notes, headers=bearer(aya)) as left:
        assert left.status == 200
    assert await get_visitor(http, aya) == known


async def test_a_token_that_breaks_a_rule_is_refused_and_says_whether_it_is_over(
    desk: RunningServer, http: aiohttp.ClientSession
) -> None:
    now = int(time.time())
    good = sign_person(desk.url)
    header, claims, _ = good.split(".")
    unsigned = base64url('{"alg":"none","typ":"JWT"}')
    refused = {
        sign_person(desk.url, iat=now - 99, exp=now - 9): ("expired", True),
        sign_person("https://elsewhere.example"): ("audience", False),
        sign_person(desk.url, exp=None): ("exp", False),
        sign_person(desk.url, iat=None): ("iat", False),
        sign_person(desk.url, exp=now + LIFETIME + 60): ("too long", False),
        sign_person(desk.url, sub=None): ("sub", False),
        sign_person(desk.url, iss="https://other.example"): ("issuer", False),
        f"{header}.{claims}.{base64url('forged')}": ("signature", False),
        f"{header}.{claims_of_other(desk.url)}.{good.rsplit('.')[2]}": ("signature", False),
        f"{unsigned}.{claims}.": ("", False),
    }
    for token, (rule, is_over) in refused.items():
        for method, path in (("GET", VISITOR), ("POST", "/v1/threads")):
            async with http.request(method, path, headers=bearer(token)) as answer:
                assert answer.status == 401, rule
                assert rule in (await answer.json())["error"]["message"]
                challenge = answer.headers["WWW-Authenticate"]
                assert ("expired" in challenge) is is_over
                assert answer.headers["Access-Control-Allow-Origin"] == HOST


def claims_of_other(desk_url: str) -> str:
    """The claims of another person, under a signature that was made for Aya's."""
    return sign_person(desk_url, "ben").split(".")[1]


async def test_a_token_without_the_scope_for_threads_names_nobody(
    desk: RunningServer, http: aiohttp.ClientSession
) -> None:
    token = sign_person(desk.url, scope="actions")
    async with http.get(VISITOR, headers=bearer(token)) as answer:
        assert answer.status == 403
        assert "threads" in (await answer.json())["error"]["message"]


async def test_a_token_in_an_address_is_refused(
    desk: RunningServer, http: aiohttp.ClientSession
) -> None:
    async with http.get(VISITOR, params={"token": sign_person(desk.url)}) as answer:
        assert answer.status == 400


@pytest.mark.parametrize(
    ("program", "file"),
    [(sys.executable, "chat_token.py"), ("node", "chat_token.mjs"), ("php", "chat_token.php")],
)
async def test_the_examples_sign_tokens_that_the_desk_accepts(
    desk: RunningServer,
    http: aiohttp.ClientSession,
    tmp_path: Path,
    program: str,
    file: str,
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here")
    secret = tmp_path / "site" / "website.key"
    command = [program, str(CLIENTS / file), str(secret), ISSUER, desk.url, "Zoë/7"]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=True
    )
    found = await get_visitor(http, done.stdout.strip())
    assert found["caller"] == "jwt:website:Zoë/7"


def test_no_page_and_no_script_of_a_page_has_a_secret() -> None:
    for file in (*EXAMPLES.joinpath("host_site").rglob("*"), *COMPONENT.rglob("*.*")):
        if file.suffix in {".html", ".js", ".ts", ".json"}:
            assert not re.search(r"secret|HS256|createHmac", file.read_text("utf-8")), file
