"""Caches the results of processing each page of a large site.

How a page is read, cut and laid out depends on the page alone: the results are stored by the digest
of their input, in a file next to the index. The file may be deleted at any time. It has what the
last index needed and nothing else.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from aitp_desk.knowledge.index.atomic_write import replace_file

FILE = "pages.sqlite"

_SCHEMA = "CREATE TABLE kept (digest BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_SWIFT = 1
"""The compression level of zlib: the file is read often, so speed matters more than size."""

T = TypeVar("T", bound=msgspec.Struct)

_encode: Callable[[object], bytes] = msgspec.msgpack.Encoder().encode


class PageCache:
    """Looks up earlier results and stores new ones.

    Parameters:
        before: the file of the last index; may be empty, of another format or damaged.
        now: the file that replaces it.
        format: of the results; those of another one are not found.
    """

    def __init__(self, before: sqlite3.Connection, now: sqlite3.Connection, format: str) -> None:
        self._before, self._now = before, now
        self._format = format

    def get_or_make(self, kind: type[T], of: object, make: Callable[[], T]) -> T:
        """Return an earlier result, or compute it.

        Parameters:
            kind: the type of the result.
            of: its complete input.
        """
        digest = sha256(_encode((self._format, kind.__name__, of))).digest()
        packed = self._packed(digest)
        made: T | None = None
        if packed is not None:
            try:
                made = msgspec.msgpack.decode(zlib.decompress(packed), type=kind)
            except (zlib.error, msgspec.MsgspecError):
                packed = None
        if made is None:
            made = make()
        if packed is None:
            packed = zlib.compress(_encode(made), _SWIFT)
        self._now.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (digest, packed))
        return made

    def _packed(self, digest: bytes) -> bytes | None:
        try:
            query = "SELECT value FROM kept WHERE digest = ?"
            found = self._before.execute(query, (digest,)).fetchone()
        except sqlite3.Error:
            return None
        return found[0] if found and isinstance(found[0], bytes) else None


@contextmanager
def open_page_cache(file: Path, format: str) -> Iterator[PageCache]:
    """Open the cache in a file; results used within the block are in it afterwards."""
    before = f"{file.resolve().as_uri()}?mode=ro&immutable=1" if file.is_file() else ":memory:"
    with (
        replace_file(file) as made,
        closing(sqlite3.connect(before, uri=True, isolation_level=None)) as old,
        closing(sqlite3.connect(made, isolation_level=None)) as new,
    ):
        new.execute("PRAGMA journal_mode = OFF")
        new.execute("PRAGMA synchronous = OFF")
        new.execute(_SCHEMA)
        new.execute("BEGIN")
        yield PageCache(old, new, format)
        new.execute("COMMIT")
