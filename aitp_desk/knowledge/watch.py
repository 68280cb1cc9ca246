"""The present snapshot of the content, kept fresh while the desk serves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aitp_desk.knowledge.library import Library


class Knowledge:
    """Holds the present :class:`Library`; a change of the content swaps it in one assignment."""

    def __init__(self, library: Library) -> None:
        self._library = library

    @property
    def library(self) -> Library:
        """The present snapshot. Take it once per reply; it never changes under its reader."""
        return self._library


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
    raise NotImplementedError
    yield
