"""Stores vectors in a file next to the index: int8, by a digest of model and text."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from hashlib import blake2b
from pathlib import Path

FILE = "vectors.sqlite"
_KEY_BYTES = 16
_SCHEMA = """CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL)
WITHOUT ROWID"""
_AT_ONCE = 500
_WAIT_SECONDS = 0.2


def make_key(model: str, text: str) -> bytes:
    """Return the key of a text's vector, by the name of its model."""
    return blake2b(f"{model}\0{text}".encode(), digest_size=_KEY_BYTES).digest()


class VectorFile:
    """Stores vectors durably; a damaged file is rebuilt."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Wait for other processes that make vectors, and keep them waiting meanwhile.

        So of several processes one embeds a text; the others read its vector.
        """
        handle = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while True:
                if _lock(handle):
                    break
                await asyncio.sleep(_WAIT_SECONDS)
            yield
        finally:
            os.close(handle)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the vectors under these keys."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, bytes] = {}
        with self._open() as connection:
            for at in range(0, len(wanted), _AT_ONCE):
                some = wanted[at : at + _AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value FROM vector WHERE key IN ({marks})"  # noqa: S608
                found.update(connection.execute(query, some))
        return found

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Store vectors."""
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", vectors.items())

    def keep_only(self, keys: Iterable[bytes]) -> None:
        """Remove the vectors of all other keys."""
        with self._open() as connection:
            kept = connection.execute("SELECT key FROM vector")
            gone = {key for (key,) in kept} - set(keys)
            connection.executemany("DELETE FROM vector WHERE key = ?", [(key,) for key in gone])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect()) as connection, connection:
                yield connection
        except sqlite3.DatabaseError as error:
            self._remove_damaged(error)
            raise

    def _connect(self) -> sqlite3.Connection:
        try:
            return _connect(self._file)
        except sqlite3.DatabaseError as error:
            self._remove_damaged(error)
            return _connect(self._file)

    def _remove_damaged(self, error: sqlite3.DatabaseError) -> None:
        if not isinstance(error, sqlite3.OperationalError):  # a full disk is not damage
            self._file.unlink(missing_ok=True)


def _lock(handle: int) -> bool:
    """Lock an open file, unless another process has locked it; return whether."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file)
    try:
        connection.execute(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection
