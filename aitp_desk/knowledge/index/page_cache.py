"""What was made of the pages of a large site, so that a change of one is a change of that one.

How a page is read, cut and laid out follows from the page alone: what was made of it is kept by the
digest of all that it was made of, in a file beside the index. The file may be deleted at any time.
It holds what the last index needed and nothing else.
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
"""How hard zlib tries: the file is read more often than it is looked at for its size."""

T = TypeVar("T", bound=msgspec.Struct)

_encode: Callable[[object], bytes] = msgspec.msgpack.Encoder().encode


class PageCache:
    """What was made before, and takes what is made now.

    Parameters:
        before: the file that the last index left; may be empty, of another format or damaged.
        now: the file that takes its place.
        format: of what is kept; what was made in another one is not found.
    """

    def __init__(self, before: sqlite3.Connection, now: sqlite3.Connection, format: str) -> None:
        self._before, self._now = before, now
        self._format = format

    def get_or_make(self, kind: type[T], of: object, make: Callable[[], T]) -> T:
        """What was made of something before, or else is made now.

        Parameters:
            kind: what is made.
            of: all that it is made of.
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
    """What is kept in a file; what was got meanwhile is in it when the block has ended well."""
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
