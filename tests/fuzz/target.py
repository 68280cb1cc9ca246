"""A parser under test: a function of bytes, and what may come of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from aitp_desk.egress import EgressError
from aitp_desk.model.errors import DeskError

REFUSALS: tuple[type[Exception], ...] = (DeskError, EgressError)
"""What a parser may raise."""


class Target(msgspec.Struct, frozen=True):
    """A parser under test.

    Parameters:
        seeds: what it takes, to begin with.
        words: what means something to it.
        share: of the executions, next to the other targets'.
        refusals: what it may raise.
    """

    name: str
    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    share: float = 1.0
    refusals: tuple[type[Exception], ...] = REFUSALS

    def holds(self, data: bytes) -> bool:
        """Run it once: whether it took the bytes, and did not refuse them.

        Raises:
            whatever it raised that is no refusal.
        """
        try:
            self.run(data)
        except self.refusals as refusal:
            if not str(refusal):
                raise AssertionError("A refusal says what is wrong.") from refusal
            return False
        return True


def headers_of(data: bytes) -> CIMultiDictProxy[str]:
    """A head's lines as the HTTP parser gives them."""
    found: CIMultiDict[str] = CIMultiDict()
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        name, _, value = line.partition(":")
        if name.isascii() and name.replace("-", "").isalnum():
            found.add(name, value.strip())
    return CIMultiDictProxy(found)


JSON_WORDS = (
    *(b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\", b"\\u0000", b"\\ud800", b"null", b"true"),
    *(b"1e999", b"-0", b"0.1", b"9" * 40, b"\xff", b"\x00", b"\xef\xbb\xbf", b'{"a":' * 9),
)
"""What means something to every reader of JSON."""
