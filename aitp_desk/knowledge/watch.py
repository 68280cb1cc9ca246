"""The present snapshot of the content, kept fresh while the desk serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aitp_desk.knowledge.admit import ContentUnreadable, find_content
from aitp_desk.knowledge.library import Library, open_library
from aitp_desk.knowledge.load import read_files


class Knowledge:
    """Holds the present :class:`Library`; a change of the content swaps it in one assignment.

    Parameters:
        folder: the site's content.
        data: the desk's data folder.
        synonyms: a word of the visitors' to the words that the site writes for it.
    """

    def __init__(
        self, folder: Path, data: Path, synonyms: Mapping[str, Sequence[str]]
    ) -> None:
        self._folder = folder
        self._data = data
        self._synonyms = synonyms
        self._seen = self._look()
        self._library = self._read()

    @property
    def library(self) -> Library:
        """The present snapshot. Take it once per reply; it never changes under its reader."""
        return self._library

    async def refresh(self) -> bool:
        """Look for changes now, and read the content again if there are any.

        Returns:
            Whether the library was replaced. A folder that has become unreadable keeps the old one.
        """
        return await asyncio.to_thread(self._refresh)

    def _refresh(self) -> bool:
        seen = self._look()
        if seen == self._seen:
            return False
        library = self._read()
        self._seen = seen
        if library.revision == self._library.revision:
            return False
        self._library = library
        return True

    def _look(self) -> object:
        return find_content(self._folder, data=self._data)

    def _read(self) -> Library:
        return open_library(read_files(self._folder, data=self._data), self._data, self._synonyms)


@asynccontextmanager
async def open_knowledge(
    folder: Path,
    *,
    data: Path,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    poll_seconds: float = 1.0,
) -> AsyncIterator[Knowledge]:
    """Read a content folder, index it, and watch it until the block ends.

    Parameters:
        folder: the site's content.
        data: the desk's data folder, where the index is kept; never content, wherever it lies.
        synonyms: a word of the visitors' to the words that the site writes for it.
        poll_seconds: how often the folder is looked at for changes.

    Raises:
        ContentUnreadable: the folder does not exist or cannot be listed.
    """
    knowledge = await asyncio.to_thread(Knowledge, folder, data, synonyms or {})
    watching = asyncio.create_task(_watch(knowledge, poll_seconds))
    try:
        yield knowledge
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(knowledge: Knowledge, poll_seconds: float) -> None:
    while True:
        await asyncio.sleep(poll_seconds)
        with suppress(ContentUnreadable):
            await knowledge.refresh()
