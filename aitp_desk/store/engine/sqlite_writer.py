"""Runs the SQLite engine's two threads: the writer and the checkpointer.

The writer takes all waiting units, drives each from its first statement to its last, commits them
together and then reports to their callers. Nothing is reported before its commit.

A unit that fails before it has written anything fails alone, and the group continues. One that
fails later leaves partial writes in the group's transaction: that is rolled back and the units are
driven again, each in a separate transaction.

Records that find the database locked by another program stay first in the queue until they are
committed: no caller waits that could submit them again, and later units may depend on them.

Checkpoints move pages from the write-ahead log (WAL) into the database file. A separate thread
takes them, so that commits do not wait. While writes continue, that never empties the log; past a
bound the writer does so itself, between two commits. After a pause in writes the thread does: the
log may still hold deleted content.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import Any

import structlog

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.metrics import CommitMetrics
from aitp_desk.store.engine.queue import MAX_UNITS
from aitp_desk.store.engine.unit import Unit, one_statement

MAX_WAL_BYTES = 64 * 1024 * 1024
"""Past this size the writer empties the WAL."""
COMMIT_WAITS_MS = 5000
"""How long a commit waits for another program that writes, such as the command line."""
TRUNCATE_WAITS_MS = 100
"""How long it waits for readers to leave the WAL. If they do not, it tries again once the WAL has
grown by the same amount.
"""
CHECKPOINT_SECONDS = 0.1
QUIET_SECONDS = 1.0
"""After so long without a commit the WAL is emptied: it may hold content deleted since."""

_log = structlog.get_logger()


class WriterThread:
    """A thread that commits units in the order in which they were submitted.

    Parameters:
        connection: the only one that writes, in autocommit; owned by the thread from now on.
        statements: SQL by name.
        wal: the WAL file.
        on_settled: called from the thread with settled units.
        committed: called from the thread after commits.

    Attributes:
        commits: metrics of the commits, counted by the thread.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        statements: Mapping[str, str],
        wal: Path,
        on_settled: Callable[[list[Unit]], object],
        committed: Callable[[], object],
    ) -> None:
        self._connection = connection
        self._execute = connection.cursor().execute
        self._statements = statements
        self._wal = wal
        self._most_wal_bytes = MAX_WAL_BYTES
        self._on_settled = on_settled
        self._committed = committed
        self.commits = CommitMetrics()
        self._queue: SimpleQueue[list[Unit] | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, name="aitp-desk store writer", daemon=True)
        self._thread.start()

    def enqueue(self, units: list[Unit]) -> None:
        """Submit units; the list belongs to the writer from now on."""
        self._queue.put(units)

    def stop(self) -> None:
        """Return once everything submitted has been settled and the thread has ended."""
        self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        late: list[Unit] = []
        stopping = False
        while not stopping and (units := late or self._queue.get()) is not None:
            stopping = self._gather(units, len(late) + MAX_UNITS)
            self._write(units)
            late = [] if stopping else [unit for unit in units if _waits(unit)]
            self._on_settled([unit for unit in units if not _waits(unit)] if late else units)
            self._committed()
            self._bound_wal()

    def _gather(self, units: list[Unit], most: int) -> bool:
        """Add waiting units, up to ``most``; return whether the stop signal was among them."""
        while len(units) < most:
            try:
                more = self._queue.get_nowait()
            except Empty:
                return False
            if more is None:
                return True
            units += more
        return False

    def _write(self, units: list[Unit]) -> None:
        """Commit the units together, or else each alone."""
        began = perf_counter()
        try:
            self._execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            self.commits.failed += len(units)
            for unit in units:
                unit.error = _describe(error)
            return
        try:
            single: dict[str, list[Mapping[str, Any]]] = {}
            for unit in units:
                if (statement := one_statement(unit.work)) is not None:
                    unit.error = None
                    single.setdefault(statement, []).append(unit.kwargs)
                    continue
                self._run_many(single)
                self._drive(unit)
            self._run_many(single)
            self._execute("COMMIT")
            self.commits.note(len(units), perf_counter() - began)
        except Exception as error:  # noqa: BLE001 - it is passed to the callers
            if self._connection.in_transaction:
                self._execute("ROLLBACK")
            if len(units) == 1:
                self.commits.failed += isinstance(error, sqlite3.Error)
                units[0].error = _describe(error)
            else:
                for unit in units:
                    self._write([unit])

    def _run_many(self, single: dict[str, list[Mapping[str, Any]]]) -> None:
        """Run units of one statement each, grouped by statement, and clear them."""
        while single:
            statement, rows = single.popitem()
            self._connection.executemany(self._statements[statement], rows)

    def _drive(self, unit: Unit) -> None:
        """Drive a unit to its end. An error is raised only if the transaction is spoiled."""
        connection, execute, statements = self._connection, self._execute, self._statements
        unit.error = None
        changes = connection.total_changes
        try:
            running = unit.work(*unit.args, **unit.kwargs)
            name, params = next(running)
            while True:
                if isinstance(params, tuple):
                    rows = [row for one in params for row in execute(statements[name], one)]
                else:
                    rows = execute(statements[name], params).fetchall()
                name, params = running.send(rows)
        except StopIteration as done:
            unit.result = done.value
        except Exception as error:
            if connection.total_changes != changes or not connection.in_transaction:
                raise
            self.commits.failed += isinstance(error, sqlite3.Error)
            unit.error = _describe(error)

    def _bound_wal(self) -> None:
        """Empty the WAL when it has grown past its bound."""
        size = 0
        try:
            size = self._wal.stat().st_size
            if size <= self._most_wal_bytes:
                return
            self._execute(f"PRAGMA busy_timeout = {TRUNCATE_WAITS_MS}")
            try:
                blocked, _, _ = self._execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._execute(f"PRAGMA busy_timeout = {COMMIT_WAITS_MS}")
        except (OSError, sqlite3.Error) as error:
            _log.warning("store.wal_not_emptied", error=str(error))
            blocked = True
        self._most_wal_bytes = MAX_WAL_BYTES + (size if blocked else 0)


class CheckpointThread:
    """A thread that moves committed pages into the database file, soon after a commit.

    Parameters:
        connect: opens a connection that may write; used by the thread alone, at its first
            checkpoint.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._written = Event()
        self._stop_event = Event()
        self._thread = Thread(target=self._serve, name="aitp-desk checkpoints", daemon=True)
        self._thread.start()

    def note(self) -> None:
        """Signal a commit."""
        if not self._written.is_set():
            self._written.set()

    def stop(self) -> None:
        """Return when the thread has ended."""
        self._stop_event.set()
        self._written.set()
        self._thread.join()

    def _serve(self) -> None:
        while self._written.wait() and not self._stop_event.wait(CHECKPOINT_SECONDS):
            self._written.clear()
            if self._stop_event.is_set():  # set before the clear, which removed its signal
                break
            self._take("PASSIVE")
            if not self._written.wait(QUIET_SECONDS):
                self._take("TRUNCATE")
        if self._connection is not None:
            self._connection.close()

    def _take(self, kind: str) -> None:
        try:
            if self._connection is None:
                self._connection = self._connect()
                self._connection.execute(f"PRAGMA busy_timeout = {TRUNCATE_WAITS_MS}")
            self._connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
        except (sqlite3.Error, StoreError) as error:
            _log.warning("store.checkpoint_failed", error=str(error))


def _waits(unit: Unit) -> bool:
    """Return whether a unit stays queued: no caller waits for it, and the database was locked."""
    return unit.future is None and isinstance(unit.error, StoreBusy)


def _describe(error: Exception) -> Exception:
    """Convert a database error into one that the store interface defines."""
    if not isinstance(error, sqlite3.Error):
        return error
    told: Exception
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
        told = StoreBusy("Another program is writing to the database. Try again.", retry_after=1)
    else:
        told = StoreError(f"The database failed: {error}")
    told.__cause__ = error
    return told
