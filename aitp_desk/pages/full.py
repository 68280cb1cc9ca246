"""All pages as one document, ``/llms-full.txt``: made once for each revision of the content.

It is as large as the content. What is kept of it is compressed, and it is sent piece by piece:
however many read it, and however slowly, each costs the memory of one piece.
"""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections.abc import AsyncIterator, Callable, Iterable

import msgspec

from aitp_desk.pages.apart import Written

PIECE_BYTES = 64 * 1024
"""What is sent at once, or one page where that is longer."""


class FullText(msgspec.Struct, frozen=True):
    """The document as it is kept.

    Parameters:
        tag: by which a reader asks whether it has changed.
        size: in bytes, as it is sent.
        tokens: about how many tokens it is.
    """

    revision: str
    tag: str
    size: int
    tokens: int
    compressed: tuple[bytes, ...]

    async def pieces(self) -> AsyncIterator[bytes]:
        """The document, piece by piece."""
        for piece in self.compressed:
            yield zlib.decompress(piece)


class FullTexts:
    """Keeps the document of the present revision."""

    def __init__(self) -> None:
        self._kept: FullText | None = None
        self._making = asyncio.Lock()

    async def get(self, revision: str, write: Callable[[], Iterable[Written]]) -> FullText:
        """The document, written in a thread where it is not kept; once, however many wait for it.

        Parameters:
            write: gives its text in parts.
        """
        async with self._making:
            if self._kept is None or self._kept.revision != revision:
                self._kept = await asyncio.to_thread(_compress, revision, write)
            return self._kept


def _compress(revision: str, write: Callable[[], Iterable[Written]]) -> FullText:
    digest = hashlib.sha256()
    compressed: list[bytes] = []
    waiting = bytearray()
    size = tokens = 0
    for part in write():
        tokens += part.tokens
        waiting += part.text.encode()
        if len(waiting) >= PIECE_BYTES:
            size += len(waiting)
            digest.update(waiting)
            compressed.append(zlib.compress(waiting))
            waiting.clear()
    size += len(waiting)
    digest.update(waiting)
    compressed.append(zlib.compress(waiting))
    return FullText(revision, f'"{digest.hexdigest()[:32]}"', size, tokens, tuple(compressed))
