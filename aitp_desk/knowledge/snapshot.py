"""Holds the present snapshot of the content, and keeps it up to date."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import structlog

from aitp_desk.knowledge.documents.base import Problem
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import Editions, open_editions
from aitp_desk.knowledge.enrichment.file import FILE as ENRICHED_FILE
from aitp_desk.knowledge.enrichment.file import Line, read_lines
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.media.declarations import DeclarationReader
from aitp_desk.knowledge.semantics.progress import Progress
from aitp_desk.knowledge.sources.admission import ContentUnreadable, find_content
from aitp_desk.knowledge.sources.file_state import read_state
from aitp_desk.knowledge.sources.loader import join_raw, read_files
from aitp_desk.knowledge.web.schedule import ReadingSchedule

AGENTS_FOLDER = "agents"
"""The folder below the data folder for further site agents, with a folder for each by name."""
POLL_SECONDS = 1.0
_LOOKING_SHARE = 0.05
"""The largest share of time for polling: a large folder is polled less often."""

_log = structlog.get_logger(__name__)


class Knowledge:
    """Holds the present :class:`Library`; a change of the content swaps it in one assignment.

    Parameters:
        folder: the site's content.
        data: the desk's data folder.
        synonyms: a visitor's word to the site's words for it.
        rounds: of reading external pages, whose copies are content like the folder's.
        below: the path prefix of the pages, for a further site agent.
        languages: of the content; English by default.
        enriched: whether the questions in ``enriched.jsonl`` are used.
        published_at: where a website shows the pages; empty if the desk shows them.

    Attributes:
        editions: the present snapshot. Take it once per reply; it never changes under its reader.
        progress: of the vectors of its passages; None without vectors.

    Raises:
        ContentUnreadable: the folder does not exist or cannot be listed.
    """

    def __init__(
        self,
        folder: Path,
        data: Path,
        synonyms: Mapping[str, Sequence[str]],
        rounds: ReadingSchedule | None = None,
        below: str = "",
        languages: Languages | None = None,
        *,
        enriched: bool = True,
        published_at: str = "",
    ) -> None:
        self.rounds = rounds
        self.progress: Progress | None = None
        self._enriched = folder / ENRICHED_FILE if enriched else None
        self._folder = folder
        self._data = data
        self._synonyms = synonyms
        self._copies = None if rounds is None else rounds.copies
        self._below = below
        self._published_at = published_at
        self._languages = languages or Languages()
        self._index = data / AGENTS_FOLDER / below if below else data
        self._reader = DeclarationReader(folder, data, below, keep_in=self._index)
        self._seen = self._look()
        self.editions = self._read()
        self._swapped = asyncio.Event()
        self._refresh_lock = asyncio.Lock()

    @property
    def library(self) -> Library:
        """The present snapshot, in the site's own language."""
        return self.editions.library

    async def refresh(self) -> bool:
        """Check for changes now, and reload the content if there are any; logs the result.

        Returns:
            Whether the library was replaced.

        Raises:
            ContentUnreadable: the folder has gone; the present library stays.
        """
        async with self._refresh_lock:
            looking = asyncio.create_task(asyncio.to_thread(self._read_again))
            try:
                editions = await asyncio.shield(looking)
            finally:
                await asyncio.wait([looking])  # a thread cannot be cancelled, and it may write
            if editions is None:
                return False
            _tell(editions, self.editions.problems)
            self.editions = editions
            self._swapped.set()
            self._swapped = asyncio.Event()
            return True

    async def replaced(self) -> Library:
        """Wait until the library is replaced, and return the new one."""
        await self._swapped.wait()
        return self.library

    def _read_again(self) -> Editions | None:
        self.editions.prepare()  # once; the start does not wait for it
        seen, old = self._look(), self.editions
        is_stale = old.is_stale()
        if seen == self._seen and not is_stale and not self._reader.is_stale():
            return None
        editions = self._read()
        self._seen = seen
        is_same = editions.revision == old.revision and editions.problems == old.problems
        if is_same and not is_stale:
            return None
        if is_same:
            _log.warning("content.index_opened_again", reason="its file was changed or damaged")
        editions.prepare()
        return editions

    def _look(self) -> object:
        copies = None if self._copies is None else self._copies.read_state()
        enriched = self._enriched and read_state(self._enriched)
        return find_content(self._folder, data=self._data), copies, enriched

    def _read(self) -> Editions:
        raw = read_files(
            self._folder, data=self._data, below=self._below, published_at=self._published_at
        )
        problems: tuple[Problem, ...] = ()
        if self._copies is not None:
            problems = self._copies.read().problems
            raw = join_raw(raw, self._copies.raw())
        lines: Sequence[Line] = ()
        if self._enriched is not None:
            lines, unread = read_lines(self._enriched)
            problems = (*problems, *unread)
        self._reader.begin()
        return open_editions(
            raw, self._index, self._synonyms, self._languages, problems, self._reader, lines
        )


@asynccontextmanager
async def open_knowledge(
    folder: Path,
    *,
    data: Path,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    poll_seconds: float = POLL_SECONDS,
    rounds: ReadingSchedule | None = None,
    below: str = "",
    languages: Languages | None = None,
    enriched: bool = True,
    published_at: str = "",
) -> AsyncIterator[Knowledge]:
    """Read a content folder, index it, and watch it until the block ends.

    A look at the folder that is under way then is waited for. External pages are taken as the last
    round left them.

    Parameters:
        folder: the site's content.
        data: the desk's data folder, with the index; never content, in any location.
        synonyms: a visitor's word to the site's words for it.
        poll_seconds: how often the folder is polled for changes.
        rounds: of reading external pages.
        below: the path prefix of the pages, for a further site agent.
        languages: of the content; English by default.
        enriched: whether the questions in ``enriched.jsonl`` are used.
        published_at: where a website shows the pages; empty if the desk shows them.

    Raises:
        ContentUnreadable: the folder does not exist or cannot be listed.
    """
    knowledge = await asyncio.to_thread(
        Knowledge,
        folder,
        data,
        synonyms or {},
        rounds,
        below,
        languages,
        enriched=enriched,
        published_at=published_at,
    )
    watching = asyncio.create_task(_watch(knowledge, poll_seconds))
    try:
        yield knowledge
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(knowledge: Knowledge, poll_seconds: float) -> None:
    pause = poll_seconds
    hindrance = ""
    while True:
        await asyncio.sleep(pause)
        began = time.monotonic()
        try:
            await knowledge.refresh()
        except Exception as error:  # noqa: BLE001 -- whatever hinders one look, the next may succeed
            # the old library stays in use
            expected = isinstance(error, (ContentUnreadable, OSError, sqlite3.Error))
            reason = str(error) if expected else f"{type(error).__name__}: {error}"
            if reason != hindrance:
                _log.warning("content.not_read_again", reason=reason, exc_info=not expected)
            hindrance = reason
        else:
            hindrance = ""
        pause = max(poll_seconds, (time.monotonic() - began) / _LOOKING_SHARE)


def _tell(editions: Editions, told: Iterable[Problem]) -> None:
    """Log that the content was reloaded, and each new problem."""
    _log.info(
        "content.read_again",
        documents=len(editions.documents),
        passages=len(editions.library.passages),
        problems=len(editions.problems),
    )
    known = {(problem.source, problem.message) for problem in told}
    for problem in editions.problems:
        if (problem.source, problem.message) not in known:
            _log.warning(
                "content.problem",
                source=problem.source,
                line=problem.line,
                message=problem.message,
            )
