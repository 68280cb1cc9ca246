"""Cached heads and parsed ones: the same bytes have the same answers, whatever they are."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.http.limits.bodies import FREE_BYTES
from aitp_desk.protocols.base.protocol import Call, Reply
from tests.support.http.desk_pair import BODIES, LAST, MANIFEST, CountingHeads, Pair, question

pytestmark = pytest.mark.asyncio(loop_scope="module")

METHODS = [b"POST", b"POST", b"POST", b"GET", b"GET", b"HEAD", b"PUT", b"post", b"OPTIONS", b"P ST"]
TARGETS = [
    b"/agent/converse",
    b"/agent/converse",
    b"/agent/converse",
    b"/.well-known/agent.json",
    b"/.well-known/agent.json",
    b"/v1/threads/thread_unknown/messages",
    b"/agent/converse?a=b",
    b"/agent/converse#part",
    b"/agent/%63onverse",
    b"//agent/converse",
    b"http://127.0.0.1/agent/converse",
    b"http://elsewhere.example/agent/converse",
    b"/agent/converse/",
    b"*",
    b"/agent/\xc3\xa9",
]
VERSIONS = [b"HTTP/1.1"] * 6 + [b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1"]
LINES = [
    b"Host: 127.0.0.1",
    b"host: desk.example",
    b"Host: elsewhere.example",
    b"Content-Type: application/json",
    b"Content-Type: text/plain",
    b"Content-Type: application/problem+json; charset=utf-8",
    b"Content-Encoding: gzip",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: identity",
    b"Content-Length: 5",
    b"Content-Length: 0",
    b"Content-Length: +5",
    b"Content-Length: 5, 5",
    b"Expect: 100-continue",
    b"Expect: nothing",
    b"Connection: close",
    b"Connection: keep-alive",
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Upgrade: h2c",
    b"Authorization: Bearer nobody",
    b"Authorization: Basic bm9ib2R5",
    b"X-AHP-Key: nobody",
    b"X-Forwarded-For: 192.0.2.7",
    b"If-None-Match: *",
    b'If-None-Match: "other"',
    b"Accept: text/html",
    b"Accept: application/vnd.hac+json",
    b"Accept-Language: de",
    b"X-Long: " + b"x" * 9000,
    b"X-Latin: \xe9",
    b"X-Nothing:",
    b"X-Space : 1",
    b" folded: 1",
    b"\tfolded",
    b"no colon",
    b": no name",
    b"X-Bare: a\rb",
    b"X-Line: a\nX-Other: b",
    b"X-Zero: \x00",
]


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Bytes that are a request, or nearly."""
    head = [b" ".join(draw(st.sampled_from(part)) for part in (METHODS, TARGETS, VERSIONS))]
    body = draw(st.sampled_from(BODIES))
    if draw(st.integers(0, 9)):
        head.append(b"Host: 127.0.0.1")
    head += draw(st.lists(st.sampled_from(LINES), max_size=2))
    if draw(st.integers(0, 9)):
        length = len(body) + (0 if draw(st.integers(0, 9)) else draw(st.integers(-3, 3)))
        head.append(b"Content-Length: %d" % max(0, length))
    end = b"\r\n" if draw(st.integers(0, 19)) else b"\n"
    return end.join([*head, b"", b""]) + body


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """What is sent on one connection, and in which pieces."""
    said = draw(st.lists(requests(), min_size=1, max_size=3))
    if draw(st.booleans()):  # a head that was read before
        said += said[:1] * 2
    if draw(st.booleans()):
        return said
    whole = b"".join(said)
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=3)))
    return [whole[one:two] for one, two in zip([0, *places], [*places, len(whole)], strict=True)]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(conversations(), st.booleans())
async def test_any_bytes_have_the_same_answers_whether_heads_are_cached_or_not(
    pair: Pair, said: list[bytes], patient: bool
) -> None:
    cached, parsed = await pair.answers(said, patient=patient)
    assert cached == parsed


TAKEN = {
    "a question": question(),
    "another": question(BODIES[1], b"Content-Type: application/json"),
    "a refused one": question(BODIES[4]),
    "one that is too large": question(BODIES[7]),
    "of a wrong type": question(BODIES[0], b"Content-Type: text/plain"),
    "with a bad key": question(BODIES[0], b"X-AHP-Key: nobody"),
    "for another host": question().replace(b"127.0.0.1", b"elsewhere.example"),
    "with a query string": question().replace(b"converse ", b"converse?a=1 "),
    "the manifest": MANIFEST + b"\r\n",
    "what is known already": MANIFEST + b"If-None-Match: *\r\n\r\n",
    "a message": question(BODIES[3]).replace(b"/agent/converse", b"/v1/threads/none/messages"),
}


@pytest.mark.parametrize("name", TAKEN)
async def test_heads_of_usual_requests_to_hot_routes_are_cached(pair: Pair, name: str) -> None:
    before = CountingHeads.stored
    cached, parsed = await pair.answers([TAKEN[name]], patient=True)
    assert cached == parsed
    assert cached.startswith(b"HTTP/1.1 ")
    assert CountingHeads.stored == before + 1


async def test_a_replys_links_are_next_to_those_of_every_response(pair: Pair) -> None:
    def linked(_call: Call, body: bytes, content_type: str) -> Reply:
        return Reply(200, body, content_type, links='</next>; rel="next"')

    before = CountingHeads.stored
    with patch("aitp_desk.protocols.ahp.routes._document", linked):
        cached, parsed = await pair.answers([MANIFEST + b"X-Seen: never\r\n\r\n"], patient=True)
    assert cached == parsed
    manifest, _, _ = cached.partition(b"\r\n\r\n")
    assert manifest.count(b"\r\nLink: ") == 2
    assert b'\r\nLink: </next>; rel="next"' in manifest
    assert CountingHeads.stored == before + 1


LEFT = {
    "asked to close": question(BODIES[0], b"Connection: close"),
    "waiting to be asked for its body": question(BODIES[0], b"Expect: 100-continue"),
    "asking for another protocol": question(
        BODIES[0], b"Connection: upgrade", b"Upgrade: websocket"
    ),
    "asking for a protocol that nobody speaks": question(
        BODIES[0], b"Connection: upgrade", b"Upgrade: h2c"
    ),
    "of an older version": question().replace(b"HTTP/1.1", b"HTTP/1.0"),
    "of an older version that stays": question(BODIES[0], b"Connection: keep-alive").replace(
        b"HTTP/1.1", b"HTTP/1.0"
    ),
    "in chunks": b"POST /agent/converse HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked"
    b'\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
    "of its head only": (MANIFEST + b"\r\n").replace(b"GET", b"HEAD"),
    "with a body that counts among those under way": question(b" " * (FREE_BYTES + 1)),
}


@pytest.mark.parametrize("name", LEFT)
async def test_the_head_of_what_is_unusual_is_not_cached(pair: Pair, name: str) -> None:
    before = CountingHeads.stored
    cached, parsed = await pair.answers([LEFT[name]], patient=True)
    assert cached == parsed
    assert CountingHeads.stored == before


ASKED = question(BODIES[0], b"Accept-Language: en")
OTHER = question(BODIES[1], b"Accept-Language: de")
AROUND = b"POST /agent/converse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
AROUND += b"%d\r\n\r\n" % len(ASKED)
HEAD = MANIFEST.replace(b"GET", b"HEAD") + b"\r\n"

AGAIN = {
    "the same": [ASKED, ASKED, ASKED],
    "another body": [ASKED, ASKED.replace(b"a book", b"a card"), ASKED],
    "a part of its body": [ASKED, ASKED[:-5], ASKED[-5:], ASKED],
    "no body yet": [ASKED, ASKED[: -len(BODIES[0])], BODIES[0], ASKED],
    "a part of itself": [ASKED, ASKED[:50], ASKED[50:], ASKED],
    "more behind it": [ASKED, ASKED + LAST[:20], LAST[20:].replace(b"close", b"other"), ASKED],
    "twice at once": [ASKED, ASKED + ASKED, ASKED],
    "as the body of another": [ASKED, AROUND, ASKED, ASKED],
    "as a part of such a body": [ASKED, AROUND[:40], AROUND[40:], ASKED[:30], ASKED[30:], ASKED],
    "behind another's half": [ASKED, MANIFEST, ASKED, b"\r\n"],
    "behind half of what came with it": [ASKED, ASKED + MANIFEST, ASKED, b"\r\n"],
    "behind half of what came with another": [OTHER + MANIFEST, ASKED, b"\r\n"],
    "behind half of what was long": [ASKED, OTHER[:20], OTHER[20:] + MANIFEST, ASKED, b"\r\n"],
    "in parts that are as long as its body and three": [
        OTHER[: len(BODIES[1]) + 3],
        OTHER[len(BODIES[1]) + 3 :],
        OTHER[: len(BODIES[1]) + 3],
        OTHER[len(BODIES[1]) + 3 :],
    ],
    "behind an empty line": [ASKED, b"\r\n", ASKED, b"\r\n" + ASKED],
    "behind what is not cached": [ASKED, MANIFEST.replace(b"GET", b"HEAD") + b"\r\n", ASKED],
    "with bare ends of lines": [ASKED, ASKED.replace(b"\r\n", b"\n"), ASKED],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", AGAIN)
async def test_a_head_that_was_read_before_means_what_it_would_uncached(
    pair: Pair, name: str
) -> None:
    cached, parsed = await pair.answers(AGAIN[name], patient=True)
    assert cached == parsed
    assert cached.startswith(b"HTTP/1.1 ")


async def test_what_stood_behind_empty_lines_is_no_head_for_others(pair: Pair) -> None:
    cached, parsed = await pair.answers([b"\r\n\r\n" + ASKED], patient=True)
    assert cached == parsed
    cached, parsed = await pair.answers([b"\r\n\r\n" + BODIES[0]], patient=True)
    assert cached == parsed
    assert cached.startswith(b"HTTP/1.0 400 ")


@pytest.mark.parametrize("end", [b"\n", b"\r"])
async def test_a_head_ends_nowhere_but_at_an_empty_line(pair: Pair, end: bytes) -> None:
    cached, parsed = await pair.answers([ASKED.replace(b"\r\n", end)], patient=True)
    assert cached == parsed
    assert cached.startswith(b"HTTP/1.0 400 ")
