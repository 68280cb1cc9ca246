"""Bodies that arrive piece by piece: their end, their errors, and how much waits unread."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.http.connection.message_head import MAX_HEAD, HeadParser, MalformedMessage
from aitp_desk.http.connection.request_body import ChunkedBody, RequestBody
from aitp_desk.http.limits.bodies import FREE_BYTES


def chunked(*lines: bytes) -> ChunkedBody:
    """A body in chunks behind a head with further lines."""
    parser = HeadParser()
    head = [b"POST / HTTP/1.1", b"Host: a", *lines, b"Transfer-Encoding: chunked", b"", b""]
    parser.feed(b"\r\n".join(head))
    return ChunkedBody(parser)


def read(body: RequestBody) -> bytes:
    """All that has arrived."""
    return asyncio.run(body.read())


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5), st.lists(st.integers(0, 200)))
def test_a_body_in_chunks_is_the_same_in_whatever_pieces_it_arrives(
    chunks: list[bytes], places: list[int]
) -> None:
    sent = b"".join(b"%x;a=b\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    sent += b"0\r\nX-Trailer: a\r\n\r\nGET / HTTP/1.1\r\n"
    body = chunked()
    ends = sorted({min(place, len(sent)) for place in places} | {len(sent)})
    for one, two in zip([0, *ends], ends, strict=False):
        assert body.feed(sent[one:two]) == b""
    assert body.is_complete
    assert read(body) == b"".join(chunks)


def test_bytes_behind_a_length_are_returned() -> None:
    body = RequestBody(5)
    found = [(body.feed(part), body.is_complete) for part in (b"ab", b"cdeGET")]
    assert found == [(b"", False), (b"GET", True)]
    assert (read(body), read(body)) == (b"abcde", b"")


@pytest.mark.parametrize(
    "sent",
    [
        b"zz\r\n",
        b"3\r\nabcd\r\n",
        b"3\nabc\r\n",
        b"0\r\n" + b"X: a\r\n" * 200 + b"\r\n",
        b"0\r\nX: " + b"a" * 9000 + b"\r\n\r\n",
        b"0\r\nContent-Length: 5\r\n\r\n",
        b"0\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ],
    ids=lambda sent: str(sent[:20]),
)
def test_malformed_chunks_and_ambiguous_trailers_are_refused(sent: bytes) -> None:
    with pytest.raises(MalformedMessage):
        chunked().feed(sent)


@pytest.mark.parametrize("begin", [b"5;", b"0", b"0\r\nX: "])
def test_what_says_nothing_is_read_to_a_bound(begin: bytes) -> None:
    body = chunked()
    body.feed(begin)
    piece = (b"0" if begin == b"0" else b"a") * 1000
    for _ in range(MAX_HEAD // len(piece) - 1):
        body.feed(piece)
    with pytest.raises(MalformedMessage):
        body.feed(piece * 2)


def test_what_follows_a_body_counts_where_nothing_was_to_follow() -> None:
    sent = b"0\r\n\r\nGET / HTTP/1.1\r\n"
    chunked().feed(sent)
    with pytest.raises(MalformedMessage):
        chunked(b"Connection: close").feed(sent)


def test_a_body_is_full_until_it_is_read() -> None:
    body = RequestBody(10 * FREE_BYTES)
    body.feed(b"a" * FREE_BYTES)
    is_full = [body.is_full]
    body.feed(b"a")
    is_full.append(body.is_full)
    read(body)
    is_full.append(body.is_full)
    body.drop()
    body.feed(b"a" * (FREE_BYTES + 1))
    assert [*is_full, body.is_full] == [False, True, False, False]


async def test_a_reader_gets_what_has_arrived_and_then_the_error() -> None:
    body = RequestBody(5)
    body.feed(b"ab")
    body.fail(EOFError("over"))
    assert await body.read() == b"ab"
    with pytest.raises(EOFError, match="over"):
        await body.read()


async def test_a_reader_waits_for_the_next_piece_or_the_error() -> None:
    for is_over in (False, True):
        body = RequestBody(5)
        reading = asyncio.create_task(body.read())
        await asyncio.sleep(0)
        if is_over:
            body.fail(EOFError("over"))
        else:
            body.feed(b"abcde")
        found = (await asyncio.gather(reading, return_exceptions=True))[0]
        assert isinstance(found, EOFError) if is_over else found == b"abcde"
