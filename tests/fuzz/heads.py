"""Heads of requests, which are remembered as they come; signed ones but for their credential."""

from __future__ import annotations

from typing import Any

from multidict import CIMultiDict

from aitp_desk.auth.credentials.request_credentials import (
    HMAC_SCHEME,
    RequestCredentials,
    read_credentials,
)
from aitp_desk.http.connection.head_cache import HeadCache
from aitp_desk.http.connection.message_head import (
    END_OF_HEAD,
    HeadParser,
    MalformedMessage,
    MessageHead,
)
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.http.metrics import RouteMetrics
from tests.fuzz.target import REFUSALS, Target

_SIGNED = (
    b"POST /agent/converse HTTP/1.1\r\nHost: desk.example\r\n"
    b'Authorization: AITP-HMAC-SHA256 keyid="0123456789abcdef.1", signature="ffff"\r\n'
    b"Content-Length: 0\r\n\r\n"
)
_OTHER = b'keyid="fedcba9876543210.2", signature="0000"'


def _read(data: bytes) -> MessageHead | None:
    """A head as the connection's parser reads it; None for less or more than one."""
    if data.find(END_OF_HEAD) + len(END_OF_HEAD) != len(data):
        return None
    parser = HeadParser()
    parser.feed(data)
    if not parser.is_complete:
        return None
    unknown: Any = None
    heading = RequestHead(
        method=parser.method,
        path=parser.path,
        target=parser.target,
        headers=parser.headers,
        presented=read_credentials(parser.headers),
        protocol=unknown,
        desk=unknown,
        route=None,
        params={},
        counted=None,
        agent=None,
        is_for_us=True,
        is_for_manifest=False,
        is_encoded=False,
        is_of_type=True,
        told=unknown,
        is_preflight=False,
        tally=RouteMetrics(),
        request_id="",
    )
    return MessageHead(heading, {}, 0)


def _signed_head(data: bytes) -> None:
    """Where a head is known but for its credential, it says what the parser would have read."""
    read, heads = _read(data), HeadCache()
    if read is None:
        return
    heads.store(data, read)
    presented = read.heading.presented
    if not isinstance(presented, RequestCredentials) or presented.scheme != HMAC_SCHEME:
        assert heads.find_signed(data) is None
        return
    credential = presented.credential.encode(errors="surrogateescape")
    for same in (data, data.replace(credential, _OTHER) if credential else data):
        found = heads.find_signed(same)
        if found is None:
            continue
        anew = _read(same)
        assert anew is not None
        assert _told(found.heading) == _told(anew.heading)
        assert "Authorization" not in found.heading.headers


def _told(heading: RequestHead) -> tuple[object, ...]:
    headers = CIMultiDict(heading.headers)
    headers.popall("Authorization", None)
    return heading.method, heading.target, heading.presented, headers


HEADS = (
    Target(
        "head of a signed request",
        _signed_head,
        (_SIGNED, _SIGNED.replace(b"POST", b"GET").replace(b"Authorization", b"authorization")),
        (
            *(b"\r\n", b"\r", b"\n", b"\r\n ", b"\t", b": ", b"\x00", b"\xe9", b"X-AHP-Key: a\r\n"),
            *(b"Authorization: ", b"AITP-HMAC-SHA256 ", _OTHER, b"Signature-Input: a"),
        ),
        0.5,
        (*REFUSALS, MalformedMessage),
    ),
)
