"""Heads that were read before: what was made of them, by their bytes.

Programs send the same head again and again. The same bytes at the same place, between two requests,
mean the same again, so they need not be read again. Only that: who sends them, whether they may
and what they are answered is found out each time. A head that was refused is forgotten, so that no
credential is kept here that opens nothing.

The head of a signed request never comes again: what proves it is good for once
(``docs/signed-requests.md``). All around that does. So such a head is remembered by the bytes
before its credential and those behind it, and no credential is kept. Where both come again, with
nothing between them but visible characters and spaces, they mean the same for another credential.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from multidict import CIMultiDict

from aitp_desk.auth.credentials.request_credentials import HMAC_SCHEME, RequestCredentials
from aitp_desk.http.connection.request_head import RequestHead

MAX_HEADS = 1024
MAX_CACHED_BYTES = 2048
"""How many heads are remembered, and of how many bytes each at most."""

_SIGNED = re.compile(rb"\r\n[Aa]uthorization: AITP-HMAC-SHA256 ([!-~](?:[ -~]{0,510}[!-~])?)\r\n")
"""The line of a signed request as programs write it, with a credential that is no longer than what
is ever read of one. What is written otherwise is left to the parser."""

Known = bytes | tuple[bytes, bytes]
"""What a head is remembered by: all its bytes, or those before a credential and those behind it."""


class CachedHead(NamedTuple):
    """A head of a request to a hot route, as it was read.

    Parameters:
        query: the query string's parameters; of a repeated one the first.
        length: how many bytes of body follow it.
    """

    heading: RequestHead
    query: Mapping[str, str]
    length: int


class HeadCache:
    """Heads that were read before; whoever came first makes room. All connections share them."""

    def __init__(self) -> None:
        self._known: dict[Known, CachedHead] = {}
        self.find = self._known.get

    def find_signed(self, head: bytes) -> CachedHead | None:
        """Return what a signed request's head says where it is known but for its credential."""
        found = _SIGNED.search(head)
        known = None if found is None else self._known.get(_around(found))
        if found is None or known is None:
            return None
        presented = RequestCredentials(HMAC_SCHEME, found[1].decode())
        heading = msgspec.structs.replace(known.heading, presented=presented)
        return CachedHead(heading, known.query, known.length)

    def store(self, head: bytes, read: CachedHead) -> Known:
        """Note what a head was read as, unless it is long or nothing of it comes again.

        Returns:
            what to forget it by.
        """
        known: Known = head
        if read.heading.is_named:
            return head
        presented = read.heading.presented
        if isinstance(presented, RequestCredentials) and presented.is_single_use:
            found = _SIGNED.search(head)
            if presented.is_signed or found is None or found[1].decode() != presented.credential:
                return head
            known, read = _around(found), _without_credential(read)
        if len(head) > MAX_CACHED_BYTES:
            return head
        while len(self._known) >= MAX_HEADS:
            del self._known[next(iter(self._known))]
        self._known[known] = read
        return known

    def drop(self, known: Known) -> None:
        """Keep nothing of a head that was refused: it may hold what proves nothing any more."""
        self._known.pop(known, None)


def _around(found: re.Match[bytes]) -> tuple[bytes, bytes]:
    """What stands before a credential and behind it."""
    start, end = found.span(1)
    return found.string[:start], found.string[end:]


def _without_credential(read: CachedHead) -> CachedHead:
    headers = CIMultiDict(read.heading.headers)
    del headers["Authorization"]
    heading = msgspec.structs.replace(
        read.heading, headers=headers, presented=RequestCredentials(HMAC_SCHEME)
    )
    return CachedHead(heading, read.query, read.length)
