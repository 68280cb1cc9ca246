"""Addresses put together to reach what is not served, and what is no request at all."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clients.threads import Talker
from tests.support.http.raw_client import send
from tests.support.sites.canaries import check, hostile_ground

pytestmark = pytest.mark.asyncio(loop_scope="module")

PIECES = (
    b"/", b"//", b"..", b".", b"%2e%2e", b"%2f", b"%5c", b"\\", b"%00", b"%0d%0a", b"%ff", b"%zz",
    b"%", b"%25", b"?", b"#", b";", b"&", b"=", b"*", b"'", b'"', b"<b>", b"\xc3\xa9", b"\xff",
    b"v1", b"thread", b"threads", b"messages", b"agent", b"converse", b".well-known", b"agent.json",
    b"health", b"ready", b"llms.txt", b"assets", b"about", b"guides", b"desk.toml", b".env",
    b"outside", b"outside.md", b"data", b"desk.db", b"a" * 3000,
)  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """One desk for all of this."""
    async with hostile_ground(tmp_path_factory.mktemp("hostile")) as talker:
        yield talker


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7), st.sampled_from(["GET", "POST"]))
async def test_paths_lead_nowhere_but_to_what_is_served(
    desk: Talker, pieces: list[bytes], method: str
) -> None:
    target = b"/" + b"".join(pieces)
    answer = await send(desk.desk.url, method.encode(), target)
    check("/" if b"\\" in target else target.decode("latin-1"), b"", answer)


@pytest.mark.parametrize(
    "target",
    [
        b"/../desk.toml",
        b"/%2e%2e/outside",
        b"/..%2foutside",
        b"/guides/../../outside",
        b"/guides/%2e%2e/%2e%2e/outside.md",
        b"/.env",
        b"/%2eenv",
        b"/.hidden",
        b"/desk.toml",
        b"/key.pem",
        b"/data/secret",
        b"/../data/secret.md",
        b"/about%00.md",
        b"/about/",
        b"//about",
        b"/about//",
        b"///",
        b"/" + b"a" * 8000,
        b"/v1/threads/%2e%2e",
        b"/v1/threads/..",
        b"/v1/threads/a%2fmessages",
        b"/v1//threads",
        b"/v1/threads/",
        b"/V1/threads",
        b"/assets/..%2f..%2fdesk.toml",
    ],
    ids=lambda target: target[:30].decode(),
)
async def test_tricks_with_paths_find_no_secret(desk: Talker, target: bytes) -> None:
    for method in (b"GET", b"HEAD", b"POST"):
        answer = await send(desk.desk.url, method, target, [(b"Accept", b"text/html")])
        check(target.decode(), b"text/html", answer)
        assert answer.status in {200, 400, 404, 405}
        if answer.status == 200:
            assert target.strip(b"/") in {b"about", b""}


@pytest.mark.parametrize(
    "line",
    [
        b"OPTIONS * HTTP/1.1",
        b"CONNECT other.example:443 HTTP/1.1",
        b"GET http://[ HTTP/1.1",
        b"GET about HTTP/1.1",
        b"GET ? HTTP/1.1",
        b"GET /\xff HTTP/1.1",
        b"BREW / HTTP/1.1",
        b"GET / HTTP/9.9",
        b"GET /" + b"a" * 9000 + b" HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"{}",
    ],
    ids=lambda line: str(line[:20]),
)
async def test_what_is_no_request_is_refused_in_the_desks_own_form(
    desk: Talker, line: bytes
) -> None:
    method, _, target = line.removesuffix(b" HTTP/1.1").partition(b" ")
    answer = await send(desk.desk.url, method, target)
    assert answer.status in {400, 404, 421}
    check("*", b"", answer)
    assert "aiohttp" not in str(answer)
