"""Heads of requests: the same in whatever pieces they arrive, and bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.http.connection.message_head import (
    MAX_HEADERS,
    MAX_LINE,
    HeadParser,
    MalformedMessage,
)

HOST = b"Host: desk.example\r\n"
HEADS = (
    b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n",
    b"POST /agent/converse?a=1&b=%20+c#d HTTP/1.1\r\n" + HOST + b"Content-Length:  02\t \r\n\r\n",
    b"OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"GET http://desk.example/a?b HTTP/1.1\r\n" + HOST + b"X-Empty:\r\nX-Latin: \xe9\r\n\r\n",
    b"CONNECT desk.example:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nX: a\r\nx: b\r\n\r\n",
)


def parsed(pieces: list[bytes]) -> tuple[object, ...]:
    """What is read in a head that arrives in pieces."""
    parser = HeadParser()
    for piece in pieces:
        parser.feed(piece)
    assert parser.is_complete
    return (
        parser.method,
        parser.target,
        parser.path,
        tuple(parser.query.items()),
        tuple(parser.headers.items()),
        parser.version,
        parser.keeps_alive,
    )


def split(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(place, len(data)) for place in places} | {len(data)})
    return [data[one:two] for one, two in zip([0, *ends], ends, strict=False)]


@given(st.sampled_from(HEADS), st.lists(st.integers(0, 200), max_size=8))
def test_a_head_means_the_same_in_whatever_pieces_it_arrives(
    data: bytes, places: list[int]
) -> None:
    assert parsed(split(data, places)) == parsed([data])
    assert parsed([bytes([one]) for one in data]) == parsed([data])


def test_what_is_read_in_a_head() -> None:
    method, target, path, query, headers, version, keeps_alive = parsed([HEADS[1]])
    assert (method, version, keeps_alive) == ("POST", "1.1", True)
    assert (target, path) == ("/agent/converse?a=1&b=%20+c#d", "/agent/converse")
    assert query == (("a", "1"), ("b", "  c"))
    assert headers == (("Host", "desk.example"), ("Content-Length", "02"))


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
        b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
        b"GET / HTTP/0.9\r\n" + HOST + b"\r\n",
        b"GET a HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET * HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET http:///a HTTP/1.1\r\n" + HOST + b"\r\n",
        b"CONNECT :443 HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b" folded\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"User-Agent: a\r\nuser-agent: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Sec-WebSocket-Key1: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n" * MAX_HEADERS + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * (MAX_LINE + 1) + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X" * (MAX_LINE + 1) + b": a\r\n\r\n",
        b"GET /" + b"a" * MAX_LINE + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n",
    ],
    ids=lambda data: str(data[:40]),
)
@pytest.mark.parametrize("size", [1, 70, 100_000])
def test_what_is_ambiguous_or_too_long_is_refused(data: bytes, size: int) -> None:
    with pytest.raises(MalformedMessage):
        parsed([data[at : at + size] for at in range(0, len(data), size)])


def test_a_target_and_a_header_may_be_as_long_as_their_bound() -> None:
    line = b"X: " + b"a" * MAX_LINE + b"\r\n"
    parsed([b"GET /" + b"a" * (MAX_LINE - 1) + b" HTTP/1.1\r\n" + HOST + line + b"\r\n"])
