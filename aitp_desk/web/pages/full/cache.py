"""Caches ``/llms-full.txt``, all pages in one document, per revision of the content.

It is as large as the content. The cache is compressed, and it is sent in pieces: each reader costs
the memory of one piece, however many and slow they are. A copy in the data folder serves the next
start.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from aitp_desk.knowledge.index.atomic_write import replace_file
from aitp_desk.web.pages.full.subprocess_render import RenderedPage

FILE = "llms-full"
"""Its name in the data folder. The file may be deleted at any time."""
PIECE_BYTES = 64 * 1024
"""The size of a piece, or one page where that is longer."""

Write = Callable[[], Generator[RenderedPage]]


class FullText(msgspec.Struct, frozen=True, array_like=True):
    """The cached document.

    Parameters:
        revision: of its sources.
        tag: its ETag.
        size: in bytes, uncompressed.
        tokens: the approximate number of tokens.
    """

    revision: str
    tag: str
    size: int
    tokens: int
    compressed: tuple[bytes, ...]

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the document in pieces."""
        for piece in self.compressed:
            yield zlib.decompress(piece)


class FullTextCache:
    """Holds the document of the current revision.

    Parameters:
        file: the copy for the next start; None for none.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._kept: FullText | None = None
        self._lock = asyncio.Lock()

    async def get(self, revision: str, write: Write) -> FullText:
        """Return the document; write it if needed, once for all that wait.

        Parameters:
            revision: of its sources: the content, and all else that shows in it.
            write: yields its text in parts; it is closed when no caller waits any more.
        """
        async with self._lock:
            if self._kept is None or self._kept.revision != revision:
                stop = threading.Event()
                try:
                    self._kept = await asyncio.to_thread(self._make, revision, write, stop)
                finally:
                    stop.set()
            return self._kept

    def _make(self, revision: str, write: Write, stop: threading.Event) -> FullText:
        if self._file is None:
            return _compress(revision, write, stop)
        with suppress(OSError, msgspec.MsgspecError, zlib.error):
            kept = msgspec.msgpack.decode(self._file.read_bytes(), type=FullText)
            if kept.revision == revision and _is_whole(kept):
                return kept
        made = _compress(revision, write, stop)
        # if it cannot be saved, the next start writes it again
        with suppress(OSError), replace_file(self._file) as new:
            new.write_bytes(msgspec.msgpack.encode(made))
        return made


def _compress(revision: str, write: Write, stop: threading.Event) -> FullText:
    digest = hashlib.sha256()
    compressed: list[bytes] = []
    waiting = bytearray()
    size = tokens = 0
    with closing(write()) as parts:
        for part in parts:
            if stop.is_set():
                raise asyncio.CancelledError
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
    return FullText(revision, _tag(digest.hexdigest()), size, tokens, tuple(compressed))


def _is_whole(text: FullText) -> bool:
    """Return whether the saved copy is intact.

    Raises:
        zlib.error: it is not.
    """
    digest = hashlib.sha256()
    size = 0
    for piece in map(zlib.decompress, text.compressed):
        digest.update(piece)
        size += len(piece)
    return (text.tag, text.size) == (_tag(digest.hexdigest()), size)


def _tag(digest: str) -> str:
    return f'"{digest[:32]}"'
