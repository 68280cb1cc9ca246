"""Implements the store on SQLite; callers use it on the event loop.

Units go in groups (``queue.py``) to the writer thread (``sqlite_writer.py``). Reads run on the
loop, over a connection that cannot write.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, Self

from aitp_desk.store.base import PAGE_BYTES, Opened, Params, Row, RowPage, StoreError
from aitp_desk.store.changes import ChangeFeed, NoChangeFeed
from aitp_desk.store.engine.metrics import FileMetrics, StoreMetrics
from aitp_desk.store.engine.migration import migrate
from aitp_desk.store.engine.queue import UnitQueue
from aitp_desk.store.engine.sqlite_reader import read_page
from aitp_desk.store.engine.sqlite_writer import COMMIT_WAITS_MS, CheckpointThread, WriterThread
from aitp_desk.store.engine.statements import load_statements

Synchronous = Literal["full", "normal"]
"""A killed process loses no commit. With ``normal`` a power failure may lose one."""

READ_WAITS_SECONDS = 1.0
CACHED_STATEMENTS = 256
CACHE_KIB = 16 * 1024
OLDEST_SQLITE = (3, 37, 0)
"""The first version with STRICT tables."""


class SqliteStore(UnitQueue):
    """A store in one SQLite file, used on one event loop.

    ``base.py`` states its guarantees.

    Attributes:
        opened: the result of opening it.
        feed: carries no changes: one process alone serves the file.
    """

    _writer: WriterThread

    def __init__(
        self, path: Path, opened: Opened, connections: _Connections, most_waiting: int
    ) -> None:
        super().__init__(most_waiting)
        statements = load_statements("sqlite")
        self.opened = opened
        self.feed: ChangeFeed = NoChangeFeed()
        self._path = path
        self._wal = connections.wal
        self._statements = statements
        self._connection = connections.reader
        self._execute = connections.reader.cursor().execute
        self._checkpointer = CheckpointThread(connections.connect)
        self._writer = WriterThread(
            connections.writer,
            statements=statements,
            wal=connections.wal,
            on_settled=lambda units: self._loop.call_soon_threadsafe(self._settle, units),
            committed=self._checkpointer.note,
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls, path: Path, *, synchronous: Synchronous = "full", queue: int = 10_000
    ) -> AsyncIterator[Self]:
        """Open the store as an async context manager; leaving it commits what waits.

        Parameters:
            path: the database file. It and its folder are created if missing, for this user only.
            queue: how many units may wait before callers are turned away.

        Raises:
            StoreError: the file cannot be opened or is no database.
            StoreTooNew, StoreChanged: as ``migration.migrate``.
        """
        with ExitStack() as stack:
            try:
                opened, connections = _connect(path, synchronous, stack)
            except (OSError, sqlite3.Error) as error:
                raise StoreError(f"The database {path} cannot be opened: {error}.") from error
            store = cls(path, opened, connections, queue)
            try:
                yield store
            finally:
                await store._close()

    @property
    def name(self) -> str:
        """The engine and the path, for people."""
        return f"SQLite, {self._path}"

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        """Run one reading statement by its name and return its rows."""
        try:
            return self._execute(self._statements[statement], params).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"The database failed: {error}") from error

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        """Run one reading statement and return its first rows; see ``base.Reader.read_page``."""
        return read_page(self._connection, self._statements[statement], params, limit, most_bytes)

    async def read_time(self) -> float:
        """Return this machine's time, in Unix seconds."""
        return time.time()

    def measure(self) -> StoreMetrics:
        """Measure the current state of the store."""
        return StoreMetrics(
            waiting=self._waiting,
            most_waiting=self._most_waiting,
            waiting_seconds=self._line.seconds(self._loop.time()),
            commits=self._writer.commits,
            files=FileMetrics(
                bytes=_size(self._path),
                log_bytes=_size(self._wal),
                free_bytes=shutil.disk_usage(self._path.parent).free,
            ),
        )

    async def _close(self) -> None:
        self._refuse_more()
        # These block, so that nothing can cancel them and close the connections while the threads
        # use them. Settled units are reported in the loop's next turn.
        self._writer.stop()
        self._checkpointer.stop()
        await asyncio.sleep(0)
        self._failed.close()


class _Connections(NamedTuple):
    writer: sqlite3.Connection
    reader: sqlite3.Connection
    connect: Callable[[], sqlite3.Connection]  # opens another that may write
    wal: Path


def _connect(path: Path, synchronous: Synchronous, stack: ExitStack) -> tuple[Opened, _Connections]:
    """Create missing files, open the connections and migrate the schema.

    Connections close in reverse order: the last one, which moves the WAL into the file, must be
    able to write.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise StoreError(f"SQLite {needed} is needed; this Python has {sqlite3.sqlite_version}.")
    path = path.resolve()  # SQLite puts the WAL here, if this is a link
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    connect = partial(_connect_to_write, path, synchronous)
    writer = stack.enter_context(closing(connect()))
    opened = migrate(writer, now=int(time.time()))
    reader = sqlite3.connect(
        f"{path.as_uri()}?mode=ro",
        uri=True,
        timeout=READ_WAITS_SECONDS,
        isolation_level=None,
        cached_statements=CACHED_STATEMENTS,
    )
    stack.enter_context(closing(reader))
    wal = path.with_name(f"{path.name}-wal")
    return opened, _Connections(writer, reader, connect, wal)


def _connect_to_write(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=COMMIT_WAITS_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=CACHED_STATEMENTS,
    )
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreError(
            f"{path} must be on a local disk: SQLite cannot keep its WAL on a network file system."
        )
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA secure_delete = ON")  # some builds of SQLite keep deleted content
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def _size(file: Path) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    try:
        return file.stat().st_size
    except OSError:
        return 0
