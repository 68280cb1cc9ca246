"""A proxy's headers, real or forged, change no address of a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.threads import Talker, talking
from tests.support.http.raw_client import Answer, send

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = b"elsewhere.example"
CLAIMS = [
    (b"X-Forwarded-Host", EVIL),
    (b"X-Forwarded-Server", EVIL),
    (b"X-Forwarded-Proto", b"gopher"),
    (b"X-Forwarded-Port", b"6379"),
    (b"X-Forwarded-Prefix", b"/elsewhere"),
    (b"X-Forwarded-Path", b"/elsewhere"),
    (b"X-Forwarded-Uri", b"/elsewhere"),
    (b"X-Forwarded-Scheme", b"gopher"),
    (b"X-Forwarded-Ssl", b"on"),
    (b"Forwarded", b"for=203.0.113.7;host=elsewhere.example;proto=gopher"),
    (b"X-Original-Host", EVIL),
    (b"X-Original-URL", b"/elsewhere"),
    (b"X-Rewrite-URL", b"/elsewhere"),
    (b"X-Host", EVIL),
    (b"X-HTTP-Host-Override", EVIL),
    (b"X-HTTP-Method-Override", b"DELETE"),
    (b"X-Script-Name", b"/elsewhere"),
    (b"Base-Url", b"https://elsewhere.example"),
    (b"Front-End-Https", b"on"),
]
NOT_BELIEVED = (
    *(b"X-Real-IP", b"True-Client-IP", b"CF-Connecting-IP", b"X-Client-IP", b"Client-IP"),
    *(b"X-Cluster-Client-IP", b"X_Forwarded_For", b"X-Forwarded", b"Forwarded-For", b"Forwarded"),
)
"""Headers that other programs take a client's address from."""
ADDRESSES = [
    (b"GET", b"/"),
    (b"GET", b"/about"),
    (b"GET", b"/about.md"),
    (b"GET", b"/llms.txt"),
    (b"GET", b"/.well-known/agent.json"),
    (b"GET", b"/nowhere"),
    (b"GET", b"/v1/models"),
    (b"PUT", b"/v1/thread"),
]
TOLD_ONCE = ("Date", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def told(answer: Answer) -> tuple[int, list[tuple[str, str]], bytes]:
    headers = [(name, value) for name, value in answer.headers.items() if name not in TOLD_ONCE]
    return answer.status, headers, answer.body


@pytest.mark.parametrize("trusted", [(), ("server.trusted_proxies=['127.0.0.1']",)])
async def test_no_address_is_made_of_what_a_request_says_of_its_way(
    tmp_path: Path, trusted: tuple[str, ...]
) -> None:
    async with talking(tmp_path, *trusted) as talker:
        for method, target in ADDRESSES:
            plain = await send(talker.desk.url, method, target)
            for claims in (CLAIMS, [(name.lower(), value) for name, value in CLAIMS]):
                claimed = await send(talker.desk.url, method, target, claims)
                assert told(claimed) == told(plain), target
                assert EVIL not in claimed.body


async def test_a_claimed_address_counts_only_where_a_trusted_proxy_claims_it(
    tmp_path: Path,
) -> None:
    limits = ("limits.enabled=true", "limits.static_per_minute=1")
    everybody = [b"203.0.113.%d" % number for number in range(3)]
    async with talking(tmp_path / "direct", *limits) as talker:
        assert await ask_for(talker, everybody, b"X-Forwarded-For") == [200, 429, 429]
    trusted = "server.trusted_proxies=['127.0.0.1']"
    async with talking(tmp_path / "behind", *limits, trusted) as talker:
        assert await ask_for(talker, everybody, b"X-Forwarded-For") == [200, 200, 200]
        statuses = [await ask_for(talker, everybody, name) for name in NOT_BELIEVED]
        assert statuses == [[200, 429, 429], *([[429] * 3] * (len(NOT_BELIEVED) - 1))]


async def ask_for(talker: Talker, visitors: list[bytes], name: bytes) -> list[int]:
    return [
        (await send(talker.desk.url, b"GET", b"/v1/models", [(name, visitor)])).status
        for visitor in visitors
    ]
