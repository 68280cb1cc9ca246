"""Requests whose end is in doubt, and how many requests they are: tables for desks and proxies."""

from __future__ import annotations

from typing import NamedTuple

HOST = b"Host: 127.0.0.1"
JSON = b"Content-Type: application/json"
BODY = b'{"messages":["Hello"]}'
SIZE = len(BODY)
SMUGGLED = b"\r\n".join([b"POST /v1/thread HTTP/1.1", HOST, b"Content-Length: 2", b"", b"{}"])
"""What must never be taken for a request where it is the body of one."""
LAST = b"GET /v1/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
"""Sent behind every case: it is answered 404 where the connection goes on, and ends it."""
OVER = (404,)


class Case(NamedTuple):
    """What is sent, before :data:`LAST`.

    Parameters:
        answered: the statuses of the answers until the connection ends.
        made: how many threads are opened by it.
    """

    said: bytes
    answered: tuple[int, ...]
    made: int = 0


def post(*lines: bytes, body: bytes = b"", version: bytes = b"HTTP/1.1") -> bytes:
    """A request that opens a thread, with these further lines in its head."""
    return b"\r\n".join([b"POST /v1/thread " + version, HOST, JSON, *lines, b"", body])


def get(line: bytes, *lines: bytes) -> bytes:
    """A request without a body."""
    return b"\r\n".join([line, *lines, b"", b""])


def refused(said: bytes) -> Case:
    """It is answered 400, and whatever comes behind it is not read."""
    return Case(said, (400,))


def taken(said: bytes) -> Case:
    """It opens a thread, and the connection goes on."""
    return Case(said, (200, *OVER), 1)


def taken_last(said: bytes) -> Case:
    """It opens a thread, and the connection ends: what comes behind it is not read."""
    return Case(said, (200,), 1)


def in_chunks(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


_LENGTH = b"Content-Length: %d" % SIZE
_CHUNKED = b"Transfer-Encoding: chunked"
_BOTH = b"0\r\n\r\n" + SMUGGLED

TRANSFER_CODINGS = {
    "length and chunks, a length that holds both": refused(
        post(b"Content-Length: %d" % len(_BOTH), _CHUNKED, body=_BOTH)
    ),
    "chunks and length, a length that holds the size": refused(
        post(_CHUNKED, b"Content-Length: 4", body=in_chunks(SMUGGLED))
    ),
    **{
        f"{coding!r} and a length": refused(
            post(_LENGTH, b"Transfer-Encoding: " + coding, body=BODY + SMUGGLED)
        )
        for coding in (b"chunked", b"identity", b"", b"xchunked", b"\x0bchunked", b"chunked, x")
    },
    **{
        repr(coding): refused(post(b"Transfer-Encoding: " + coding, body=in_chunks(BODY)))
        for coding in (
            *(b"", b"xchunked", b"chunk", b"cow", b"identity", b"gzip", b"deflate, gzip"),
            *(b"chunked, identity", b"identity, chunked", b"gzip, chunked", b"chunked, chunked"),
            *(b",chunked", b"chunked,", b"chunked;q=1", b'"chunked"', b"\x0bchunked"),
            *(b"chunked\x00", b"chunked\x0b", b"\xa0chunked", b"chun\tked", b"chunked\r\n x"),
        )
    },
    **{
        repr(coding): taken_last(post(b"Transfer-Encoding: " + coding, body=in_chunks(BODY)))
        for coding in (b"chunked", b"CHUNKED", b"Chunked", b"  chunked", b"\tchunked", b"chunked ")
    },
    **{
        repr(line): refused(post(line, body=in_chunks(BODY)))
        for line in (
            *(_CHUNKED + b"\r\n" + _CHUNKED, _CHUNKED + b"\r\nTransfer-Encoding: identity"),
            *(b"Transfer-Encoding : chunked", b"Transfer-Encoding\t: chunked"),
            *(b"Transfer-Encoding:\r\n chunked", b" Transfer-Encoding: chunked"),
            *(b"\x0bTransfer-Encoding: chunked", b"Transfer-Encoding\x00: chunked"),
            *(b"X: a\rTransfer-Encoding: chunked", b"X: a\nTransfer-Encoding: chunked"),
            *(
                b"Transfer-Encoding",
                b"Transfer-Encoding; chunked",
                b"Transfer\xadEncoding: chunked",
            ),
        )
    },
    "an unknown header of nearly that name": taken(
        post(_LENGTH, b"Transfer_Encoding: chunked", body=BODY)
    ),
    "in HTTP/1.0": Case(
        post(_CHUNKED, b"Connection: keep-alive", version=b"HTTP/1.0", body=in_chunks(BODY)),
        (200,),
        1,
    ),
}

LENGTHS = {
    **{
        repr(length): refused(post(b"Content-Length: " + length, body=BODY + SMUGGLED))
        for length in (
            *(b"+%d" % SIZE, b"-%d" % SIZE, b"-0", b"0x%x" % SIZE, b"%d.0" % SIZE, b"%de0" % SIZE),
            *(b"%d, %d" % (SIZE, SIZE), b"%d,%d" % (SIZE, SIZE), b"%d;a" % SIZE, b"2 2", b"2_2"),
            *(b"", b"%d\x00" % SIZE, b"\x0b%d" % SIZE, b"%d\x0c" % SIZE, b"\xb2\xb2", b"9" * 26),
            *(b"%d" % (2**64 + SIZE), b"%d\r\n %d" % (SIZE, SIZE), b"\r\n %d" % SIZE, b"abc"),
        )
    },
    **{
        repr(length): taken(post(b"Content-Length: " + length, body=BODY))
        for length in (b"%d" % SIZE, b"  %d\t " % SIZE, b"0%d" % SIZE)
    },
    **{
        repr(line): refused(post(line, body=BODY + SMUGGLED))
        for line in (
            *(_LENGTH + b"\r\n" + _LENGTH, _LENGTH + b"\r\nContent-Length: 0"),
            *(b"Content-Length: 0\r\n" + _LENGTH, b"Content-Length : %d" % SIZE),
            *(b"\x00" + _LENGTH, b" " + _LENGTH, b"X: a\r" + _LENGTH, b"X: a\n" + _LENGTH),
        )
    },
}


def _chunked(body: bytes) -> bytes:
    return post(_CHUNKED, body=body)


_CHUNK = b"%x\r\n%b\r\n" % (SIZE, BODY)
_END = b"0\r\n\r\n"

CHUNKS = {
    **{
        name: refused(_chunked(body + SMUGGLED))
        for name, body in {
            "a size with 0x": b"0x%x\r\n%b\r\n" % (SIZE, BODY) + _END,
            "a size with +": b"+" + _CHUNK + _END,
            "a size with -": b"-" + _CHUNK + _END,
            "a size with _": b"1_6\r\n%b\r\n" % BODY + _END,
            "a size with a space before": b" " + _CHUNK + _END,
            "a size with a space behind": b"%x \r\n%b\r\n" % (SIZE, BODY) + _END,
            "a size past 64 bits": b"1%016x\r\n%b\r\n" % (SIZE, BODY) + _END,
            "no size": b"\r\n%b\r\n" % BODY + _END,
            "no number": b"zz\r\n%b\r\n" % BODY + _END,
            "a size that ends in LF": b"%x\n%b\r\n" % (SIZE, BODY) + _END,
            "a size that ends in CR": b"%x\r%b\r\n" % (SIZE, BODY) + _END,
            "a chunk that ends in LF": b"%x\r\n%b\n" % (SIZE, BODY) + _END,
            "a chunk that does not end": b"%x\r\n%b" % (SIZE, BODY) + _END,
            "a chunk that is longer": b"%x\r\n%bxx\r\n" % (SIZE, BODY) + _END,
            "an end in LF": _CHUNK + b"0\n\n",
            "an extension that ends in LF": b"%x;a\n%b\r\n" % (SIZE, BODY) + _END,
            "an extension with CR": b"%x;a\rb\r\n%b\r\n" % (SIZE, BODY) + _END,
            "an extension with a quoted end": b'%x;a="\r\n"\r\n%b\r\n' % (SIZE, BODY) + _END,
            "an extension with NUL": b"%x;a\x00\r\n%b\r\n" % (SIZE, BODY) + _END,
            "a trailer with a length": _CHUNK + b"0\r\nContent-Length: 5\r\n\r\n",
            "a trailer with a coding": _CHUNK + b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "a trailer without a colon": _CHUNK + b"0\r\nnothing\r\n\r\n",
            "a trailer with LF": _CHUNK + b"0\r\nX: a\nY: b\r\n\r\n",
            "a trailer that is folded": _CHUNK + b"0\r\nX: a\r\n b\r\n\r\n",
            "a trailer that is long": _CHUNK + b"0\r\nX: " + b"a" * 9000 + b"\r\n\r\n",
            "a trailer with a host": _CHUNK + b"0\r\nHost: elsewhere.example\r\n\r\n",
            "many trailers": _CHUNK + b"0\r\n" + b"X: a\r\n" * 500 + b"\r\n",
        }.items()
    },
    **{
        name: taken_last(_chunked(body + SMUGGLED))
        for name, body in {
            "zeros before a size": b"0" * 20 + _CHUNK + _END,
            "an extension": b"%x;a=b\r\n%b\r\n" % (SIZE, BODY) + _END,
            "a trailer": _CHUNK + b"0\r\nX: a\r\n\r\n",
            "a trailer with a key": _CHUNK + b"0\r\nAuthorization: Bearer worthless\r\n\r\n",
        }.items()
    },
}


def _carried(line: bytes, *lines: bytes) -> bytes:
    """A request with another one as its body."""
    return get(line, HOST, *lines, b"Content-Length: %d" % len(SMUGGLED)) + SMUGGLED


CARRIED_AS_BODY = {
    "of GET": Case(_carried(b"GET /health HTTP/1.1"), (200, *OVER)),
    "of HEAD": Case(_carried(b"HEAD /v1/nothing HTTP/1.1", b"X: a"), (404, *OVER)),
    "of DELETE": Case(_carried(b"DELETE /v1/threads/none HTTP/1.1"), (404, *OVER)),
    "of OPTIONS": Case(_carried(b"OPTIONS /v1/thread HTTP/1.1"), (405, *OVER)),
    "of TRACE": Case(_carried(b"TRACE /v1/thread HTTP/1.1"), (405, *OVER)),
    "of POST nowhere": Case(_carried(b"POST /v1/nothing HTTP/1.1", JSON), (404, *OVER)),
    "with a worthless key": Case(
        _carried(b"POST /v1/thread HTTP/1.1", JSON, b"X-AHP-Key: worthless"), (401, *OVER)
    ),
    "of another type": Case(
        _carried(b"POST /v1/thread HTTP/1.1", b"Content-Type: text/plain"), (415, *OVER)
    ),
    "from a page that may not": Case(
        _carried(b"POST /v1/thread HTTP/1.1", JSON, b"Origin: https://elsewhere.example"),
        (403, *OVER),
    ),
    "in chunks": Case(get(b"GET /health HTTP/1.1", HOST, _CHUNKED) + in_chunks(SMUGGLED), (200,)),
    "of CONNECT": Case(_carried(b"CONNECT 127.0.0.1:22 HTTP/1.1"), (421,)),
    "of CONNECT to a path": Case(_carried(b"CONNECT /v1/thread HTTP/1.1"), (404,)),
}

ENDS_CONNECTION = {
    "larger than is taken": Case(post(b"Content-Length: 99000000", body=SMUGGLED), (413,)),
    "that is refused, and what it promised": refused(post(b"Bad Name: a", _LENGTH, body=BODY)),
    "that asks for the end, and goes on": refused(
        post(_LENGTH, b"Connection: close", body=BODY) + SMUGGLED
    ),
}

PIPELINED = {
    "behind what is no JSON": Case(
        post(b"Content-Length: 5", body=b"{bad}") + post(_LENGTH, body=BODY), (400, 200, *OVER), 1
    ),
    "behind what is not there": Case(
        get(b"GET /v1/nothing HTTP/1.1", HOST) + post(_LENGTH, body=BODY), (404, 200, *OVER), 1
    ),
    "behind an empty line": taken(b"\r\n" + post(_LENGTH, body=BODY)),
    "behind what is no request": refused(b"nothing\r\n\r\n" + post(_LENGTH, body=BODY)),
    **{
        f"behind what would be upgraded to {protocol!r}": Case(
            get(b"GET /health HTTP/1.1", HOST, b"Connection: Upgrade", b"Upgrade: " + protocol)
            + post(_LENGTH, body=BODY),
            (200,),
        )
        for protocol in (b"websocket", b"h2c", b"tunnel")
    },
    "behind a body with what would be upgraded": taken_last(
        post(_LENGTH, b"Connection: Upgrade", b"Upgrade: h2c", body=BODY + SMUGGLED)
    ),
    "behind a method for tunnels": Case(
        get(b"CONNECT 127.0.0.1:22 HTTP/1.1", HOST) + post(_LENGTH, body=BODY), (421,)
    ),
}

LINES = {
    **{
        repr(line[:40]): refused(get(line, HOST))
        for line in (
            *(
                b"GET /health",
                b"GET /health HTTP/0.9",
                b"GET /health HTTP/1",
                b"GET /health HTTP/2",
                b"GET /health HTTP/2.0",
                b"GET /v1/models HTTP/0.9",
            ),
            *(b"GET /health HTTP/1.2", b"GET /health HTTP/1.10", b"GET /health HTTP/1,1"),
            *(b"GET /health http/1.1", b"GET /health XTTP/1.1", b"GET /health HTTP/1.1 "),
            *(b"GET\t/health\tHTTP/1.1", b"GET /health a HTTP/1.1", b"GET /a\x00 HTTP/1.1"),
            *(b"GET /\x01 HTTP/1.1", b"GET /\x7f HTTP/1.1", b"GET /\xe9 HTTP/1.1", b"GET"),
            *(b"get /health HTTP/1.1", b"G@T / HTTP/1.1", b"BREW / HTTP/1.1", b"PRI * HTTP/2.0"),
            *(b"GET v1/models HTTP/1.1", b"GET \\v1 HTTP/1.1", b"GET ?a HTTP/1.1"),
            *(b"GET http:/health HTTP/1.1", b"GET :80/ HTTP/1.1", b"GET @a/ HTTP/1.1"),
            *(b"A" * 9000 + b" / HTTP/1.1", b"GET /" + b"a" * 9000 + b" HTTP/1.1", b"\x16\x03\x01"),
        )
    },
    **{
        repr(line[:40]): refused(get(b"GET /v1/models HTTP/1.1", HOST, line))
        for line in (
            *(b"X: a\x00b", b"X: a\x01b", b"X: a\x7fb", b"X: a\rb", b"X: a\nY: b", b"X: a\r\n b"),
            *(b"X", b": a", b"a b: c", b"a\x01: c", b"\xc3\xa9: c", b"a(b): c", b"a\x00: c"),
            *(b"X : a", b"X\t: a", b"X: " + b"a" * 9000, b"\r\n".join([b"X: a"] * 300)),
        )
    },
    "with a head of a hundred long headers": refused(
        get(b"GET /v1/models HTTP/1.1", HOST, *[b"X: " + b"a" * 8000] * 100)
    ),
    "with a head that is long": Case(
        get(b"GET /v1/models HTTP/1.1", HOST, *[b"X: " + b"a" * 1000] * 40), (200, *OVER)
    ),
    "with bare ends of lines": refused(b"GET /v1/models HTTP/1.1\nHost: 127.0.0.1\n\n"),
    "with a first header that is folded": refused(get(b"GET / HTTP/1.1", b" X: a", HOST)),
    "over a header that lists headers": Case(
        get(b"GET /v1/models HTTP/1.1", HOST, b"Connection: Host, keep-alive"), (200, *OVER)
    ),
    "with another path or method in a header": Case(
        get(
            b"GET /health HTTP/1.1",
            HOST,
            b"X-Original-URL: /v1/nothing",
            b"X-Rewrite-URL: /v1/nothing",
            b"X-HTTP-Method-Override: DELETE",
        ),
        (200, *OVER),
    ),
}


def _to(*lines: bytes, target: bytes = b"/v1/models") -> bytes:
    return get(b"GET " + target + b" HTTP/1.1", *lines)


HOSTS = {
    **{
        repr(host): Case(_to(b"Host: " + host), (200, *OVER))
        for host in (
            *(b"127.0.0.1", b"127.0.0.1:1", b"127.0.0.1:", b"LocalHost", b"[::1]", b"[::1]:80"),
            b"\t127.0.0.1  ",
        )
    },
    **{
        repr(host): Case(_to(b"Host: " + host), (421, *OVER))
        for host in (
            *(b"elsewhere.example", b"127.0.0.1.elsewhere.example", b"localhost.", b"127.0.0.1."),
            *(b"a@127.0.0.1", b"elsewhere.example@127.0.0.1", b"127.0.0.1@elsewhere.example"),
            *(b"127.0.0.1:80@elsewhere.example", b"127.0.0.1:elsewhere", b"127.0.0.1:123456"),
            *(b"127.0.0.1:-1", b"127.0.0.1:8 0", b"127.0.0.1/a", b"127.0.0.1?a", b"127.0.0.1#a"),
            *(b"127.0.0.1\\a", b"127.0.0.1, elsewhere.example", b"127.0.0.1 elsewhere.example"),
            *(b"127.0.0.1;a", b"http://127.0.0.1", b"//127.0.0.1", b"[127.0.0.1]", b"[::1%25lo]"),
            *(b"[::1", b"::1", b"2130706433", b"127.1", b"0x7f.1", b"0.0.0.0", b"%31%32%37.0.0.1"),
            *(b"", b":80", b"*", b"\xff", b"localhost\xa0", b"l\xc3\xb6calhost"),
        )
    },
    **{
        repr(lines): refused(_to(*lines))
        for lines in (
            *((), (HOST, HOST), (HOST, b"Host: elsewhere.example"), (b"Host : 127.0.0.1",)),
            *((b"Host: elsewhere.example", HOST), (b"Host: elsewhere.example\r\n 127.0.0.1",)),
            *((b"Host: 127.0.0.1\x00.elsewhere.example",), (b" Host: 127.0.0.1",)),
        )
    },
    **{
        f"{target!r} for {host!r}": Case(_to(host, target=target), (status, *OVER))
        for target, host, status in (
            (b"http://127.0.0.1/v1/models", HOST, 200),
            (b"http://127.0.0.1/v1/models", b"Host: elsewhere.example", 200),  # RFC 9112, 3.2.2
            (b"HTTPS://LOCALHOST:443/v1/models", HOST, 200),
            (b"http://elsewhere.example/v1/models", HOST, 421),
            (b"http://a@127.0.0.1/v1/models", HOST, 421),
            (b"http://127.0.0.1@elsewhere.example/v1/models", HOST, 421),
            (b"ftp://127.0.0.1/v1/models", HOST, 421),
            (b"//elsewhere.example/v1/models", HOST, 404),
        )
    },
    "a forwarded host": Case(
        _to(b"Host: elsewhere.example", b"X-Forwarded-Host: 127.0.0.1"), (421, *OVER)
    ),
    "another forwarded host": Case(_to(HOST, b"X-Forwarded-Host: elsewhere.example"), (200, *OVER)),
}
