"""The swift way and the general one: the same bytes have the same answers, whatever they are."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.app import Serving
from aitp_desk.bodies import FREE_BYTES
from aitp_desk.front import Front
from aitp_desk.protocols.reply import Call, Reply
from aitp_desk.routing import Found
from tests.keys import SigningKey, make_signing_key
from tests.serving import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 20
PATIENCE_SECONDS = 0.1
"""How long an answer is waited for that may never come."""
SETTINGS = (
    "limits.enabled=true",
    "limits.converse_per_minute=100000",
    "limits.static_per_minute=100000",
    "limits.authenticated_per_minute=100000",
    "server.body_idle_seconds=1",
    "site.url=http://desk.example",
)
NOW = 1_800_000_000
SIGNED = b"Authorization: AITP-HMAC-SHA256 " + b"@" * 243
"""The header of a signed request. Each desk is sent a credential of its own instead of the ``@``,
another one each time, which is good for a question with the first of the bodies."""
CREDENTIAL = SIGNED.rpartition(b" ")[2]
LAST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
"""Ends a connection in good order, if it is still there."""

TOLD_ONCE = re.compile(
    rb"(?<=Date: )[^\r]+|(?<=session_)[0-9a-v]{36}|(?<=msg_)[0-9a-v]{36}|(?<=the id )[0-9a-f]{16}"
)
"""What two answers to the same request may differ in."""


class GeneralFront(Front):
    """A front to which no request takes the swift way."""

    def find_hot(self, method: str, path: str) -> Found | None:
        return None


class CountingFront(Front):
    """A front that counts what took the swift way."""

    taken = 0

    def find_hot(self, method: str, path: str) -> Found | None:
        found = super().find_hot(method, path)
        CountingFront.taken += found is not None
        return found


class Pair:
    """Two desks that differ in nothing but the way to them, each with a key that signs."""

    def __init__(
        self, swift: tuple[Serving, SigningKey], general: tuple[Serving, SigningKey]
    ) -> None:
        self._swift = swift
        self._general = general

    async def answers(self, pieces: list[bytes], *, patient: bool) -> tuple[bytes, bytes]:
        """What both say to the same bytes, until they close.

        Parameters:
            patient: whether each piece is answered, or has had its time, before the next is sent.
        """
        (one, key), (other, other_key) = self._swift, self._general
        swift, is_whole = await _send(one.url, _sign(key, pieces), patient)
        general, is_whole_too = await _send(other.url, _sign(other_key, pieces), patient)
        if is_whole and is_whole_too:
            return swift, general
        # a connection that was reset may have lost the end of what was said
        least = min(len(swift), len(general))
        return swift[:least], general[:least]


def _sign(key: SigningKey, pieces: list[bytes]) -> list[bytes]:
    """What is to be sent, in the same pieces, signed."""
    whole = b"".join(pieces)
    while CREDENTIAL in whole:
        _, signed = key.sign("POST", "/agent/converse", BODIES[0], timestamp=NOW)
        credential = signed.partition(" ")[2].encode()
        assert len(credential) == len(CREDENTIAL)
        whole = whole.replace(CREDENTIAL, credential, 1)
    ends = accumulate(map(len, pieces), initial=0)
    return [whole[start:end] for start, end in pairwise(ends)]


async def _send(url: str, pieces: list[bytes], patient: bool) -> tuple[bytes, bool]:
    """What comes back until the end, but for what is told only once; and whether all of it did."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    said = b""
    is_whole = True
    try:
        async with asyncio.timeout(SECONDS):
            try:
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    if patient:
                        with suppress(TimeoutError):
                            async with asyncio.timeout(PATIENCE_SECONDS):
                                said += await reader.read(65536)
                writer.write(LAST)
                while data := await reader.read(65536):
                    said += data
            except ConnectionError:
                is_whole = False
    finally:
        writer.close()
    return TOLD_ONCE.sub(b"", said), is_whole


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("ways")

    def clock() -> float:
        return NOW + 0.5

    with patch("aitp_desk.app.Front", CountingFront):
        swift = serving(folder / "swift", *SETTINGS, clock=clock)
        async with swift as one:
            with patch("aitp_desk.app.Front", GeneralFront):
                general = serving(folder / "general", *SETTINGS, clock=clock)
                async with general as other:
                    key = await make_signing_key(one.store, folder / "swift")
                    other_key = await make_signing_key(other.store, folder / "general")
                    yield Pair((one, key), (other, other_key))


BODIES = [
    b'{"ahp":"0.1","capability":"content_search","query":"How do I return a book?"}',
    b'{"ahp":"0.1","capability":"content_search","query":"When are you open?"}',
    b'{"ahp":"0.1","capability":"contact","query":"?"}',
    b'{"content":["Hello"]}',
    b'{"query":',
    b"",
    b"\xff" * 40,
    b'{"query":"' + b"x" * 9000 + b'"}',
]
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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations(), st.booleans())
async def test_any_bytes_have_the_same_answers_on_both_ways(
    pair: Pair, said: list[bytes], patient: bool
) -> None:
    swift, general = await pair.answers(said, patient=patient)
    assert swift == general


def question(body: bytes = BODIES[0], *lines: bytes) -> bytes:
    head = [b"POST /agent/converse HTTP/1.1", b"Host: 127.0.0.1", *lines]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", b""]) + body


MANIFEST = b"GET /.well-known/agent.json HTTP/1.1\r\nHost: 127.0.0.1\r\n"

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
async def test_whole_requests_to_hot_routes_go_the_swift_way(pair: Pair, name: str) -> None:
    before = CountingFront.taken
    swift, general = await pair.answers([TAKEN[name]], patient=True)
    assert swift == general
    assert swift.startswith(b"HTTP/1.1 ")
    assert CountingFront.taken == before + 1


async def test_links_of_a_reply_s_own_stand_beside_those_of_every_response(pair: Pair) -> None:
    def linked(_call: Call, body: bytes, content_type: str) -> Reply:
        return Reply(200, body, content_type, links='</next>; rel="next"')

    before = CountingFront.taken
    with patch("aitp_desk.protocols.ahp.routes._document", linked):
        swift, general = await pair.answers([MANIFEST + b"X-Seen: never\r\n\r\n"], patient=True)
    assert swift == general
    manifest, _, _ = swift.partition(b"\r\n\r\n")
    assert manifest.count(b"\r\nLink: ") == 2
    assert b'\r\nLink: </next>; rel="next"' in manifest
    assert CountingFront.taken == before + 1


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
    "two at once": question() + question(),
    "with a body that counts among those under way": question(b" " * (FREE_BYTES + 1)),
}


@pytest.mark.parametrize("name", LEFT)
async def test_what_is_unusual_goes_its_general_way(pair: Pair, name: str) -> None:
    before = CountingFront.taken
    swift, general = await pair.answers([LEFT[name]], patient=True)
    assert swift == general
    assert CountingFront.taken == before


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
    "behind what went its general way": [ASKED, MANIFEST.replace(b"GET", b"HEAD") + b"\r\n", ASKED],
    "with bare ends of lines": [ASKED, ASKED.replace(b"\r\n", b"\n"), ASKED],
}


@pytest.mark.parametrize("name", AGAIN)
async def test_a_head_that_was_read_before_means_what_it_would_mean_anew(
    pair: Pair, name: str
) -> None:
    swift, general = await pair.answers(AGAIN[name], patient=True)
    assert swift == general
    assert swift.startswith(b"HTTP/1.1 ")


async def test_what_stood_behind_empty_lines_is_no_head_for_others(pair: Pair) -> None:
    swift, general = await pair.answers([b"\r\n\r\n" + ASKED], patient=True)
    assert swift == general
    swift, general = await pair.answers([b"\r\n\r\n" + BODIES[0]], patient=True)
    assert swift == general
    assert swift.startswith(b"HTTP/1.0 400 ")


@pytest.mark.parametrize("end", [b"\n", b"\r"])
async def test_a_head_ends_nowhere_but_at_an_empty_line(pair: Pair, end: bytes) -> None:
    swift, general = await pair.answers([ASKED.replace(b"\r\n", end)], patient=True)
    assert swift == general
    assert swift.startswith(b"HTTP/1.0 400 ")


def signed(*lines: bytes, body: bytes = BODIES[0]) -> bytes:
    """A question with these lines beside its host and its length."""
    return question(body, *lines)


KNOWN = signed(SIGNED, b"Accept-Language: en")
BEHIND = signed(b"Accept-Language: en", SIGNED)
PREFIX = SIGNED.removesuffix(CREDENTIAL)
WRONG = b'keyid="%s.1", timestamp="%d", nonce="%s", body="%s", signature="%s"'
WRONG %= (b"0" * 16, NOW, b"0" * 32, b"0" * 64, b"0" * 64)
OTHERWISE = {
    "the same": KNOWN,
    "signed wrongly": KNOWN.replace(CREDENTIAL, WRONG),
    "with what is no credential": KNOWN.replace(CREDENTIAL, b"none"),
    "for another body": KNOWN.replace(b"a book", b"a card"),
    "behind another line": BEHIND,
    "at the end": KNOWN.replace(SIGNED + b"\r\n", b"").replace(
        b"\r\n\r\n", b"\r\n" + SIGNED + b"\r\n\r\n"
    ),
    "before the request line": b"\r\n" + SIGNED + b"\r\n" + KNOWN.replace(SIGNED + b"\r\n", b""),
    "instead of it": SIGNED + b"\r\n" + KNOWN.partition(b"\r\n")[2],
    "twice": signed(SIGNED, SIGNED, b"Accept-Language: en"),
    "twice, in other letters": signed(SIGNED, SIGNED.lower(), b"Accept-Language: en"),
    "and anonymous": signed(SIGNED, b"Authorization:", b"Accept-Language: en"),
    "in small letters": KNOWN.replace(b"Authorization", b"authorization"),
    "in capitals": KNOWN.replace(b"Authorization", b"AUTHORIZATION"),
    "the scheme in small letters": KNOWN.replace(b"AITP-HMAC-SHA256", b"aitp-hmac-sha256"),
    "of another scheme": KNOWN.replace(PREFIX, b"Authorization: Bearer "),
    "beside an API key": KNOWN.replace(b"Accept-Language", b"X-AHP-Key"),
    "and an API key": signed(SIGNED, b"Accept-Language: en", b"X-AHP-Key: nobody"),
    "and a link": signed(SIGNED, b"Desk-Grant: nobody", b"Accept-Language: en"),
    "without a credential": KNOWN.replace(CREDENTIAL, b""),
    "without a credential or a space": KNOWN.replace(b" " + CREDENTIAL, b""),
    "with another parameter": KNOWN.replace(CREDENTIAL, CREDENTIAL + b', more="1"'),
    "at great length": KNOWN.replace(CREDENTIAL, CREDENTIAL + b" " * 268 + b"x"),
    "at too great length": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"," * 270),
    "in a header that is longer than any": KNOWN.replace(CREDENTIAL, b"x" * 9000),
    "with spaces around": KNOWN.replace(CREDENTIAL, b"  " + CREDENTIAL + b"  "),
    "with tabs around": KNOWN.replace(CREDENTIAL, b"\t" + CREDENTIAL + b"\t"),
    "with a tab within": KNOWN.replace(CREDENTIAL, CREDENTIAL[:-9] + b"\t" + CREDENTIAL[-9:]),
    "without a space": KNOWN.replace(b"Authorization: ", b"Authorization:"),
    "with a space before the colon": KNOWN.replace(b"Authorization: ", b"Authorization : "),
    "folded": KNOWN.replace(SIGNED, SIGNED + b"\r\n more"),
    "folded by a tab": KNOWN.replace(SIGNED, SIGNED + b"\r\n\tmore"),
    "folded with nothing": KNOWN.replace(SIGNED, SIGNED + b"\r\n "),
    "within what is folded": KNOWN.replace(SIGNED, b"X-Long: a\r\n " + SIGNED),
    "behind what is folded": KNOWN.replace(SIGNED, b"X-Long: a\r\n b\r\n" + SIGNED),
    "as a part of another value": KNOWN.replace(SIGNED, b"X-Quoted: " + SIGNED),
    "as the name of another header": KNOWN.replace(SIGNED, b"X-" + SIGNED),
    "with an end of line within": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\nX-More: 1"),
    "with half an end of line within": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\rX-More: 1"),
    "behind half an end of line": KNOWN.replace(b"\r\n" + PREFIX, b"\n" + PREFIX),
    "before half an end of line": KNOWN.replace(CREDENTIAL + b"\r\n", CREDENTIAL + b"\n"),
    "with a zero within": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\0"),
    "with what is no ASCII": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\xe9"),
    "with a letter that takes two bytes": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\xc3\xa9"),
    "in its body alone": signed(b"Accept-Language: en", body=b"\r\n" + SIGNED + b"\r\n"),
    "in its body as well": signed(SIGNED, b"Accept-Language: en", body=SIGNED + b"\r\n\r\n"),
    "of a shorter body": KNOWN[:-5],
    "of a longer body": KNOWN + b"12345",
    "and another behind it": KNOWN + KNOWN,
    "to be closed behind it": signed(SIGNED, b"Accept-Language: en", b"Connection: close"),
    "to another address": KNOWN.replace(b"converse", b"converse?a=1"),
    "to another host": KNOWN.replace(b"127.0.0.1", b"elsewhere.example"),
    "of another method": MANIFEST + SIGNED + b"\r\n\r\n",
    "of its head only": MANIFEST.replace(b"GET", b"HEAD") + SIGNED + b"\r\n\r\n",
}
"""How a signed request may be sent once one like it is known."""


@pytest.mark.parametrize("name", OTHERWISE)
async def test_a_head_that_is_known_but_for_its_credential_means_what_it_would_mean_anew(
    pair: Pair, name: str
) -> None:
    said = [KNOWN, KNOWN, OTHERWISE[name], OTHERWISE[name], KNOWN]
    swift, general = await pair.answers(said, patient=True)
    assert swift == general
    assert swift.startswith(b"HTTP/1.1 200 ")


async def test_a_signed_head_is_read_once_but_for_its_credential(pair: Pair) -> None:
    before = CountingFront.taken
    for line in (SIGNED, SIGNED.replace(b"A", b"a", 1)):
        said = [signed(line, b"X-Read: once")] * 3
        swift, general = await pair.answers(said, patient=True)
        assert swift == general
        assert swift.count(b"HTTP/1.1 200 ") == len([*said, LAST])
    assert CountingFront.taken == before + 2


DISTURBANCES = [
    b"",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n ",
    b"\0",
    b"\xe9",
    b":",
    b"@",
    PREFIX,
]
DISTURBANCES += [b"\r\n" + SIGNED, SIGNED + b"\r\n", b"\r\nX-AHP-Key: nobody", b"\r\nX-More: 1"]


@st.composite
def disturbed(draw: st.DrawFn) -> list[bytes]:
    """A signed request, one with something put in or left out around its credential, and more."""
    lines = draw(st.permutations([SIGNED, b"Accept-Language: en", b"X-Some: thing"]))
    asked = signed(*lines[: draw(st.integers(1, 3))])
    start = asked.find(SIGNED)
    near = (start - 2, start, start + len(PREFIX), start + len(SIGNED), start + len(SIGNED) + 2)
    place = draw(st.sampled_from([max(0, place) for place in near]) | st.integers(0, len(asked)))
    left_out = draw(st.integers(0, 2))
    other = asked[:place] + draw(st.sampled_from(DISTURBANCES)) + asked[place + left_out :]
    return [asked, other, asked]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(disturbed())
async def test_whatever_stands_around_a_credential_has_the_same_answers_on_both_ways(
    pair: Pair, said: list[bytes]
) -> None:
    swift, general = await pair.answers(said, patient=True)
    assert swift == general
