"""Reads rows of an index file, which may be damaged meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import structlog

from aitp_desk.knowledge.sources.file_state import read_state
from aitp_desk.model.errors import Unavailable

RETRY_SECONDS = 2
"""The approximate time until a damaged index is rebuilt."""
_DAMAGE = (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError)
"""Raised by rows that are broken, missing (and so None) or have unexpected content."""

T = TypeVar("T")

_log = structlog.get_logger(__name__)


class IndexRows:
    """The rows of one file.

    Parameters:
        file: its name; another file may take it meanwhile.
        connection: to it.
    """

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self._file = file
        self._run = connection.execute
        self._opened = read_state(file)
        self._is_damaged = False

    def one(self, query: str, key: object, understand: Callable[..., T]) -> T:
        """Parse the only row with a key.

        Raises:
            Unavailable: it cannot be read; the file has to be rebuilt.
        """
        try:
            return understand(*self._run(query, (key,)).fetchone())
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def all(self, query: str, given: Sequence[object], understand: Callable[..., T]) -> Iterator[T]:
        """Parse each row of a query.

        Raises:
            Unavailable: as :meth:`one`.
        """
        try:
            for row in self._run(query, given):
                yield understand(*row)
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def is_stale(self) -> bool:
        """Return whether the opened file was replaced or could not be read."""
        return self._is_damaged or read_state(self._file) != self._opened

    def _damaged(self, error: Exception) -> Unavailable:
        if not self._is_damaged:
            reason = f"{type(error).__name__}: {error}"
            _log.error("content.index_unreadable", file=self._file.name, reason=reason)
        self._is_damaged = True
        return Unavailable(
            "The index of this site's content is being rebuilt. Try again in a moment.",
            retry_after=RETRY_SECONDS,
        )
