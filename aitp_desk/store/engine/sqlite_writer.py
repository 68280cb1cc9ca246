"""The SQLite engine's two threads: the one that writes, and the one that takes checkpoints.

The writer takes all units that wait, drives each from its first statement to its last, commits them
together and has their callers told. Nothing is told before its commit.

A unit that fails before it has written anything fails alone, and the group goes on. One that fails
later leaves half of itself in the group's transaction: that is rolled back and the units are driven
again, each in a transaction of its own.

Records that find the database held by another program stay first in the line until they are in it:
nobody waits who could hand them over again, and what comes after them may count on them.

Checkpoints move pages from the write-ahead log (WAL) into the database file. A thread of its own
does it beside the commits, which would otherwise wait for it. While writes go on that never empties
the log; past a bound the writer does so itself, between two commits. Once nothing is written for a
moment, the thread does: the log may still hold what was deleted.
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
from aitp_desk.store.engine.unit import Unit, one_statement

MAX_UNITS = 512
"""How many units are committed together."""
BEHIND_UNITS = 4 * MAX_UNITS
"""When so many wait, a store is behind. Less is what comes between two commits."""
MAX_WAL_BYTES = 64 * 1024 * 1024
"""Past this the writer empties the WAL."""
COMMIT_WAITS_MS = 5000
"""How long a commit waits for another program that writes, such as the command line."""
TRUNCATE_WAITS_MS = 100
"""How long it waits for readers to leave the WAL. If they do not, it tries again when the WAL has
grown by as much once more."""
CHECKPOINT_SECONDS = 0.1
QUIET_SECONDS = 1.0
"""When nothing was committed for so long the WAL is emptied: it may hold what was deleted since."""

_log = structlog.get_logger()


class WriterThread:
    """A thread that commits units in the order in which they are handed over.

    Parameters:
        connection: the only one that writes, in autocommit; the thread's own from now on.
        statements: SQL by name.
        wal: the WAL file.
        tell: called from the thread with units whose fate is settled.
        committed: called from the thread after commits.

    Attributes:
        commits: what was committed, counted by the thread.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        statements: Mapping[str, str],
        wal: Path,
        tell: Callable[[list[Unit]], object],
        committed: Callable[[], object],
    ) -> None:
        self._connection = connection
        self._execute = connection.cursor().execute
        self._statements = statements
        self._wal = wal
        self._most_wal_bytes = MAX_WAL_BYTES
        self._tell = tell
        self._committed = committed
        self.commits = CommitMetrics()
        self._queue: SimpleQueue[list[Unit] | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, name="aitp-desk store writer", daemon=True)
        self._thread.start()

    def enqueue(self, units: list[Unit]) -> None:
        """Hand units over; the list is the writer's from now on."""
        self._queue.put(units)

    def stop(self) -> None:
        """Return when everything handed over has been settled and the thread has ended."""
        self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        late: list[Unit] = []
        stopping = False
        while not stopping and (units := late or self._queue.get()) is not None:
            stopping = self._gather(units, len(late) + MAX_UNITS)
            self._write(units)
            late = [] if stopping else [unit for unit in units if _waits(unit)]
            self._tell([unit for unit in units if not _waits(unit)] if late else units)
            self._committed()
            self._bound_wal()

    def _gather(self, units: list[Unit], most: int) -> bool:
        """Add what else waits, up to so many; return whether the stop was among it."""
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
        except Exception as error:  # noqa: BLE001 - it is told to the callers, one of whose it is
            if self._connection.in_transaction:
                self._execute("ROLLBACK")
            if len(units) == 1:
                self.commits.failed += isinstance(error, sqlite3.Error)
                units[0].error = _describe(error)
            else:
                for unit in units:
                    self._write([unit])

    def _run_many(self, single: dict[str, list[Mapping[str, Any]]]) -> None:
        """Run units of one statement each, by their statements, and forget them."""
        while single:
            statement, rows = single.popitem()
            self._connection.executemany(self._statements[statement], rows)

    def _drive(self, unit: Unit) -> None:
        """Drive a unit to its end. An error is raised only where the transaction is spoiled."""
        connection, execute, statements = self._connection, self._execute, self._statements
        unit.error = None
        changes = connection.total_changes
        try:
            running = unit.work(*unit.args, **unit.kwargs)
            name, params = next(running)
            while True:
                name, params = running.send(execute(statements[name], params).fetchall())
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
    """A thread that moves committed pages into the database file, soon after there are any.

    Parameters:
        connection: one that may write; the thread's own from now on.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {TRUNCATE_WAITS_MS}")
        self._connection = connection
        self._written = Event()
        self._stopping = Event()
        self._thread = Thread(target=self._serve, name="aitp-desk checkpoints", daemon=True)
        self._thread.start()

    def note(self) -> None:
        """Say that something was committed."""
        if not self._written.is_set():
            self._written.set()

    def stop(self) -> None:
        """Return when the thread has ended."""
        self._stopping.set()
        self._written.set()
        self._thread.join()

    def _serve(self) -> None:
        while self._written.wait() and not self._stopping.wait(CHECKPOINT_SECONDS):
            self._written.clear()
            if self._stopping.is_set():  # between the wait and the clear, which undid its signal
                return
            self._take("PASSIVE")
            if not self._written.wait(QUIET_SECONDS):
                self._take("TRUNCATE")

    def _take(self, kind: str) -> None:
        try:
            self._connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
        except sqlite3.Error as error:
            _log.warning("store.checkpoint_failed", error=str(error))


def _waits(unit: Unit) -> bool:
    """Whether a unit stays in the line: one that nobody waits for, and that found no room."""
    return unit.future is None and isinstance(unit.error, StoreBusy)


def _describe(error: Exception) -> Exception:
    """Turn what the database raised into what the store promises to raise."""
    if not isinstance(error, sqlite3.Error):
        return error
    told: Exception
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
        told = StoreBusy("Another program is writing to the database. Try again.", retry_after=1)
    else:
        told = StoreError(f"The database failed: {error}")
    told.__cause__ = error
    return told
