"""Builds the vectors of the content in the background, and hands them to its libraries."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import structlog

from aitp_desk.knowledge.base import Passage
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.meaning.base import Embedder, ModelUnusable
from aitp_desk.knowledge.meaning.file import VectorFile, key_of
from aitp_desk.knowledge.meaning.vectors import Vectors, pack
from aitp_desk.knowledge.watch import Knowledge

AGAIN_SECONDS = 60.0
"""How long to wait after a failure before vectors are built again."""
_LOG_SECONDS = 5.0
_AT_ONCE = 16
"""So many passages are embedded between two writes."""
_MOST_CHARACTERS = 2000
"""So much of a passage can matter to a model that reads 128 tokens."""

_log = structlog.get_logger(__name__)


class VectorBuilder:
    """Keeps the vectors of the content up to date in the background.

    Until they are there, and while the model fails, questions are answered by words alone.

    Parameters:
        file: where they are kept; passages whose text stays the same are not embedded again.

    Attributes:
        done, total: how many passages have a vector, and how many are to have one.
    """

    def __init__(self, knowledge: Knowledge, embedder: Embedder, file: Path) -> None:
        self.embedder = embedder
        self.done = self.total = 0
        self._knowledge = knowledge
        self._file = VectorFile(file)
        self._ready = asyncio.Event()

    async def ready(self) -> None:
        """Wait until all passages have their vectors."""
        await self._ready.wait()

    async def follow(self) -> None:
        """Build the vectors, and again whenever the content changes."""
        while True:
            replaced = asyncio.create_task(self._knowledge.replaced())
            again: float | None = None
            try:
                try:
                    await self._build()
                except (ModelUnusable, sqlite3.Error, OSError) as error:
                    _log.warning("content.not_embedded", reason=str(error))
                    again = AGAIN_SECONDS
                await asyncio.wait([replaced], timeout=again)
            finally:
                replaced.cancel()
            self._ready.clear()

    async def _build(self) -> None:
        name, file = self.embedder.name, self._file
        libraries = self._libraries()
        texts = [await asyncio.to_thread(_texts_of, library) for library in libraries]
        every = {key_of(name, text): text for some in texts for text in some}
        kept = await asyncio.to_thread(file.get, every)
        missing = [key for key in every if key not in kept]
        self.done, self.total = len(kept), len(every)
        logged_at = time.monotonic()
        for at in range(0, len(missing), _AT_ONCE):
            keys = missing[at : at + _AT_ONCE]
            vectors = await self.embedder.embed([every[key] for key in keys])
            made = dict(zip(keys, map(pack, vectors), strict=True))
            await asyncio.to_thread(file.put, made)
            kept |= made
            self.done = len(kept)
            if time.monotonic() - logged_at >= _LOG_SECONDS:
                logged_at = time.monotonic()
                _log.info("content.embedding", passages=self.done, of=self.total)
        for library, some in zip(libraries, texts, strict=True):
            if some:
                packed = [kept[key_of(name, text)] for text in some]
                library.vectors = await asyncio.to_thread(Vectors, self.embedder, packed)
        self._ready.set()
        if missing:
            await asyncio.to_thread(file.keep_only, every)
            _log.info("content.embedded", passages=len(missing), model=name)

    def _libraries(self) -> list[Library]:
        """Those in languages that the model was made for: in others it does more harm than good."""
        spoken = self.embedder.languages
        return [
            library
            for library in self._knowledge.editions.libraries
            if not spoken or library.language.partition("-")[0] in spoken
        ]


@asynccontextmanager
async def building_vectors(
    knowledge: Knowledge, embedder: Embedder, file: Path
) -> AsyncIterator[VectorBuilder]:
    """Run a :class:`VectorBuilder` until the block ends. Parameters as there."""
    builder = VectorBuilder(knowledge, embedder, file)
    task = asyncio.create_task(builder.follow())
    try:
        yield builder
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _texts_of(library: Library) -> list[str]:
    return [text_of(passage) for passage in library.passages]


def text_of(passage: Passage) -> str:
    """A passage as it is embedded: the page's title, the headings above, the text."""
    names = dict.fromkeys((passage.title, *passage.trail))
    return f"{' > '.join(names)}\n{passage.text}"[:_MOST_CHARACTERS]
