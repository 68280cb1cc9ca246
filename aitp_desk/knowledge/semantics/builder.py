"""Embeds the content in the background and passes the vectors to its libraries."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import structlog

from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.semantics.base import Embedder, ModelUnusable, Reranker
from aitp_desk.knowledge.semantics.file import VectorFile, make_key
from aitp_desk.knowledge.semantics.progress import Progress
from aitp_desk.knowledge.semantics.reranker import CachedReranker
from aitp_desk.knowledge.semantics.scale import find_stretch
from aitp_desk.knowledge.semantics.text import make_windows
from aitp_desk.knowledge.semantics.vectors import Vectors, pack_vector
from aitp_desk.knowledge.snapshot import Knowledge

AGAIN_SECONDS = 60.0
"""How long to wait after a failure before vectors are built again."""
_LOG_SECONDS = 5.0
_AT_ONCE = 16
"""How many passages are embedded between two writes."""

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def build_vectors(
    knowledge: Knowledge,
    embedder: Embedder,
    file: Path,
    reranker: Reranker | None = None,
    *,
    after: asyncio.Event | None = None,
) -> AsyncIterator[Progress]:
    """Update the content's vectors in the background until the block ends.

    Until they exist, and while the model fails, questions are answered by words alone.

    Parameters:
        file: where they are stored; passages with unchanged text are not embedded again.
        reranker: rescores the best passages of each question.
        after: set when the model may be loaded, which slows a start; None for now.
    """
    progress = knowledge.progress = Progress(embedder.name)
    following = _follow(knowledge, embedder, VectorFile(file), progress, reranker, after)
    task = asyncio.create_task(following)
    try:
        yield progress
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _follow(
    knowledge: Knowledge,
    embedder: Embedder,
    file: VectorFile,
    progress: Progress,
    reranker: Reranker | None,
    after: asyncio.Event | None,
) -> None:
    """Build the vectors, and again whenever the content changes."""
    if after is not None:
        await after.wait()
    while True:
        replaced = asyncio.create_task(knowledge.replaced())
        again: float | None = None
        try:
            try:
                libraries = _libraries(knowledge, embedder)
                await _build(libraries, embedder, file, progress)
                for library in libraries:
                    library.reranker = None if reranker is None else CachedReranker(reranker)
            except (ModelUnusable, sqlite3.Error, OSError) as error:
                _log.warning("content.not_embedded", reason=str(error))
                again = AGAIN_SECONDS
            except Exception:  # noqa: BLE001 -- a model's library may raise any; words still answer
                _log.exception("content.not_embedded")
                again = AGAIN_SECONDS
            progress.settled.set()
            await asyncio.wait([replaced], timeout=again)
        finally:
            replaced.cancel()
        progress.settled.clear()


def _libraries(knowledge: Knowledge, embedder: Embedder) -> list[Library]:
    """Return the libraries in languages of the model: in others it does more harm than good."""
    return [
        library
        for library in knowledge.editions.libraries
        if not embedder.languages or library.language.partition("-")[0] in embedder.languages
    ]


async def _build(
    libraries: Sequence[Library], embedder: Embedder, file: VectorFile, progress: Progress
) -> None:
    windows = [await asyncio.to_thread(_windows_of, library) for library in libraries]
    texts = [[text for _, text in owned] for owned in windows]
    asks = [library.questions.asks if library.questions else [] for library in libraries]
    of_passages = {make_key(embedder.name, text): text for some in texts for text in some}
    of_asks = {make_key(embedder.name, text): text for some in asks for text in some}
    every = of_passages | of_asks
    if not every:
        return
    stretch = await find_stretch(embedder)  # loads the model before the first question comes
    kept = await asyncio.to_thread(_find, every, embedder, file)
    async with AsyncExitStack() as stack:
        if len(kept) < len(every):
            await stack.enter_async_context(file.hold())
            kept = await asyncio.to_thread(_find, every, embedder, file)
        is_complete = len(kept) == len(every)
        progress.done, progress.total = len(kept), len(every)
        await _embed(of_passages, kept, embedder, file, progress)
        for library, owned in zip(libraries, windows, strict=True):
            if owned:
                packed = [kept[make_key(embedder.name, text)] for _, text in owned]
                owners = [number for number, _ in owned]
                made = asyncio.to_thread(Vectors, embedder, packed, owners, stretch)
                library.vectors = await made
        await _embed(of_asks, kept, embedder, file, progress)
        for library, some in zip(libraries, asks, strict=True):
            if library.questions is not None and library.vectors is not None and some:
                packed = [kept[make_key(embedder.name, text)] for text in some]
                library.vectors = library.vectors.with_questions(packed, library.questions.owners)
        if not is_complete:
            await asyncio.to_thread(file.keep_only, every)
            _log.info("content.embedded", vectors=len(every), model=embedder.name)


def _find(every: Iterable[bytes], embedder: Embedder, file: VectorFile) -> dict[bytes, bytes]:
    """Return the stored vectors under these keys, as far as the model made them."""
    found = file.get(every)
    return {key: packed for key, packed in found.items() if len(packed) == embedder.dimension}


async def _embed(
    every: Mapping[bytes, str],
    kept: dict[bytes, bytes],
    embedder: Embedder,
    file: VectorFile,
    progress: Progress,
) -> None:
    """Add the vectors of new texts to the stored ones."""
    missing = [key for key in every if key not in kept]
    logged_at = time.monotonic()
    for at in range(0, len(missing), _AT_ONCE):
        keys = missing[at : at + _AT_ONCE]
        vectors = await embedder.embed([every[key] for key in keys])
        made = dict(zip(keys, map(pack_vector, vectors), strict=True))
        await asyncio.to_thread(file.put, made)
        kept |= made
        progress.done = len(kept)
        if time.monotonic() - logged_at >= _LOG_SECONDS:
            logged_at = time.monotonic()
            _log.info("content.embedding", done=progress.done, of=progress.total)


def _windows_of(library: Library) -> list[tuple[int, str]]:
    """Return the texts to embed, each with the number of its passage."""
    return [
        (number, window)
        for number, passage in enumerate(library.passages)
        for window in make_windows(passage)
    ]
