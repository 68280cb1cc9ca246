"""Caches parsed heads by their bytes.

Programs send the same head again and again. The same bytes between two requests always mean the
same, so parsing them once is enough. Only the parse is cached: identity, permission and response
are determined each time. A refused head is dropped, so that no invalid credential stays in memory.

The head of a signed request never repeats: its proof is good for one use
(``docs/build/oauth.md``). Everything around the proof does. So such a head is cached by the
bytes before and after its credential, without the credential. Where both repeat, with only visible
characters and spaces between them, they mean the same for another credential.
"""

from __future__ import annotations

import re

import msgspec
from multidict import CIMultiDict

from aitp_desk.auth.credentials.request_credentials import HMAC_SCHEME, RequestCredentials
from aitp_desk.http.connection.message_head import MessageHead

MAX_HEADS = 1024
MAX_CACHED_BYTES = 2048
"""How many heads are cached, and the most bytes of each."""

_SIGNED = re.compile(rb"\r\n[Aa]uthorization: AITP-HMAC-SHA256 ([!-~](?:[ -~]{0,510}[!-~])?)\r\n")
"""The line of a signed request as programs write it, with a credential no longer than the reader of
credentials accepts. Any other form is left to the parser."""

Known = bytes | tuple[bytes, bytes]
"""The key of a head: all its bytes, or those before and after a credential."""


class HeadCache:
    """Holds parsed heads, shared by all connections; the oldest is evicted first."""

    def __init__(self) -> None:
        self._known: dict[Known, MessageHead] = {}
        self.find = self._known.get

    def find_signed(self, head: bytes) -> MessageHead | None:
        """Return the head of a signed request, if cached except for its credential."""
        found = _SIGNED.search(head)
        known = None if found is None else self._known.get(_around(found))
        if found is None or known is None:
            return None
        presented = RequestCredentials(HMAC_SCHEME, found[1].decode())
        heading = msgspec.structs.replace(known.heading, presented=presented)
        return known._replace(heading=heading)

    def store(self, head: bytes, read: MessageHead) -> Known:
        """Cache a parsed head, unless it is long or cannot repeat.

        Returns:
            The key to drop it by.
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
        """Drop a refused head: its credential may no longer be valid."""
        self._known.pop(known, None)


def _around(found: re.Match[bytes]) -> tuple[bytes, bytes]:
    """Return the bytes before and after a credential."""
    start, end = found.span(1)
    return found.string[:start], found.string[end:]


def _without_credential(read: MessageHead) -> MessageHead:
    headers = CIMultiDict(read.heading.headers)
    del headers["Authorization"]
    heading = msgspec.structs.replace(
        read.heading, headers=headers, presented=RequestCredentials(HMAC_SCHEME)
    )
    return read._replace(heading=heading)
