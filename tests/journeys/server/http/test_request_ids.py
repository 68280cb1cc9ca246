"""What a request is called: by a trusted proxy, else by nobody, unless something goes wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import pytest
import pytest_asyncio
import structlog
from multidict import CIMultiDict, CIMultiDictProxy
from structlog.contextvars import get_contextvars

from aitp_desk.http.connection.head_cache import HeadCache
from aitp_desk.http.connection.message_head import MessageHead
from tests.support.clients.threads import Talker, talking
from tests.support.http.raw_client import Answer, send

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROXIES = "server.trusted_proxies=['127.0.0.1']"
GIVEN = "3f9c/edge-7:0001=="
NO_IDS = [b"a b", b"a" * 129, b"caf\xe9", b"<script>", b'"', b"a,b", b"a;b", b""]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def behind(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A desk that trusts every client."""
    async with talking(tmp_path_factory.mktemp("ids"), PROXIES) as talker:
        yield talker


def break_down(*_what: object, **_more: object) -> NoReturn:
    raise ZeroDivisionError


async def ask(talker: Talker, *ids: bytes) -> Answer:
    """Put a question, whose head is cached if it may come again."""
    body = {"ahp": "0.1", "capability": "content_search", "query": "Return policy?"}
    headers = [(b"Content-Type", b"application/json"), *((b"X-Request-Id", id_) for id_ in ids)]
    url = talker.desk.url
    return await send(url, b"POST", b"/agent/converse", headers, json.dumps(body).encode())


async def test_what_a_trusted_proxy_calls_a_request_stands_in_its_answer(behind: Talker) -> None:
    for method, target in ((b"GET", b"/about"), (b"GET", b"/nowhere"), (b"PUT", b"/v1/threads")):
        headers = [(b"x-request-id", GIVEN.encode())]
        told = await send(behind.desk.url, method, target, headers)
        assert told.headers.getall("X-Request-Id") == [GIVEN]
    for _ in range(2):
        assert (await ask(behind, GIVEN.encode())).headers.getall("X-Request-Id") == [GIVEN]
    assert "X-Request-Id" not in (await ask(behind)).headers


async def test_what_is_no_id_counts_as_none(behind: Talker) -> None:
    for ids in ([id_] for id_ in NO_IDS):
        assert "X-Request-Id" not in (await ask(behind, *ids)).headers
    assert "X-Request-Id" not in (await ask(behind, b"one", b"two")).headers


async def test_strangers_name_no_request(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        assert "X-Request-Id" not in (await ask(talker, GIVEN.encode())).headers


async def test_a_fault_is_found_by_the_proxys_id_or_a_new_one(
    behind: Talker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.conversations.service.ConversationService.ask", break_down)
    for ids in ((GIVEN.encode(),), ()):
        with structlog.testing.capture_logs() as logged:
            told = await ask(behind, *ids)
        (line,) = [line for line in logged if line["event"] == "fault"]
        assert told.status == 500
        assert told.headers["X-Request-Id"] == line["request_id"]
        assert f"the id {line['request_id']} and" in json.loads(told.body)["message"]
        assert (line["request_id"] == GIVEN) == bool(ids)


async def test_all_that_is_logged_of_a_request_has_its_id(
    behind: Talker, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    async def look(*_what: object, **_more: object) -> NoReturn:
        seen.append(get_contextvars().get("request_id"))
        raise ZeroDivisionError

    monkeypatch.setattr("aitp_desk.desk.maintenance.readiness.ReadinessReport.check", look)
    for headers in ({"X-Request-Id": GIVEN}, {}):  # on one connection
        async with behind.http.get("/ready", headers=headers) as response:
            await response.read()
    assert seen == [GIVEN, None]


async def test_a_head_that_never_comes_again_takes_no_others_place(behind: Talker) -> None:
    heads = HeadCache()
    for name, is_kept in (("X-Request-Id", False), ("traceparent", False), ("X-Other", True)):
        sent = CIMultiDictProxy(CIMultiDict({"Host": "127.0.0.1", name: GIVEN}))
        converse = "/agent/converse"
        heading = behind.desk.dispatcher.read_head("POST", converse, converse, sent)
        heads.store(name.encode(), MessageHead(heading, {}, 0))
        assert (heads.find(name.encode()) is not None) == is_kept
