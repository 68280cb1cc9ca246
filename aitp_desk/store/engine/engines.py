"""Opens the store of a URL: the one place that knows which engines there are.

An engine is imported when it is opened, not before.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from aitp_desk.config.settings import StoreSettings, sqlite_path
from aitp_desk.store.base import Opened, Reader, Store, StoreError
from aitp_desk.store.changes import ChangeFeed
from aitp_desk.store.engine.copy.tables import RowSource, RowTarget
from aitp_desk.store.engine.lock import lock_data_folder, share_data_folder
from aitp_desk.store.engine.metrics import StoreMetrics
from aitp_desk.store.engine.migration import Migration
from aitp_desk.store.valkey import NEEDS_REDIS

if TYPE_CHECKING:
    from aitp_desk.store.engine.copy.backup import MakeDraft, NoteRestored
    from aitp_desk.store.engine.copy.copier import Report


class DeskStore(Store, Protocol):
    """A store as an engine opens it."""

    @property
    def opened(self) -> Opened:
        """The result of opening it."""

    @property
    def feed(self) -> ChangeFeed:
        """Carries changes between the processes on the database."""

    async def read_time(self) -> float:
        """Return the database's time, in Unix seconds."""

    def measure(self) -> StoreMetrics:
        """Measure the current state of the store."""


class SnapshotReader(Reader, Protocol):
    """Reads a database as it is at one moment, without changing anything."""

    async def version(self) -> tuple[int, int]:
        """Return the number of the newest applied migration and of the newest known one.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: it is no database of a desk.
        """

    async def missing(self) -> tuple[Migration, ...]:
        """Return the migrations that the database lacks.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: it is no database of a desk.
        """

    async def damage(self) -> tuple[str, ...]:
        """Return what the engine itself reports as damaged."""

    async def size(self) -> int:
        """Return how much it takes on disk, in bytes."""


class Engine(NamedTuple):
    """A kind of database.

    Attributes:
        open: opens it, given the settings, the data folder and the environment.
        read: opens it for reading, given the same.
        find_missing: returns the file that it lacks, given its URL and the data folder; None if it
            lacks none.
        wipe: removes what deleted rows have left in it, and rewrites it if asked to; given its
            URL, the data folder and the environment. Returns what was done.
        copy_from: opens it to copy all its rows; given the same, and whether nobody may write
            meanwhile.
        copy_to: opens it to copy all rows to it.
        back_up: copies it to a new file, given the same, the file and a progress report.
        restore: makes it from a backup, and returns what was done; given the same, what makes a
            draft of the backup and notes in it that it was restored, and a progress report.
        lock: makes the data folder of a desk that serves, and locks it where one alone may.
        is_shared: whether several processes may work on it.
        parts: what a backup counts.
        needs: the module of its extra; empty for none.
    """

    open: Callable[[StoreSettings, Path, Mapping[str, str]], AbstractAsyncContextManager[DeskStore]]
    read: Callable[
        [StoreSettings, Path, Mapping[str, str]], AbstractAsyncContextManager[SnapshotReader]
    ]
    find_missing: Callable[[str, Path], Path | None]
    wipe: Callable[[str, Path, Mapping[str, str], bool], str]
    copy_from: Callable[
        [str, Path, Mapping[str, str], bool], AbstractAsyncContextManager[RowSource]
    ]
    copy_to: Callable[[str, Path, Mapping[str, str]], AbstractAsyncContextManager[RowTarget]]
    back_up: Callable[[str, Path, Mapping[str, str], Path, Report], Coroutine[Any, Any, None]]
    restore: Callable[
        [str, Path, Mapping[str, str], MakeDraft, NoteRestored, Report], Coroutine[Any, Any, str]
    ]
    lock: Callable[[Path], AbstractContextManager[None]]
    is_shared: bool
    parts: str
    needs: str = ""


def find_engine(url: str) -> Engine:
    """Return the engine of a checked URL."""
    return _ENGINES[url.partition(":")[0]]


def list_missing_extras(store_url: str, valkey_url: str) -> list[str]:
    """Return an error for each of these settings whose extra is not installed."""
    missing = []
    if (module := find_engine(store_url).needs) and find_spec(module) is None:
        missing.append(f"store.url {_NEEDS_POSTGRES}")
    if valkey_url and find_spec("valkey") is None:
        missing.append(NEEDS_REDIS)
    return missing


def open_store(
    settings: StoreSettings, data: Path, environment: Mapping[str, str] = os.environ
) -> AbstractAsyncContextManager[DeskStore]:
    """Open the store as an async context manager; leaving it commits what waits.

    Parameters:
        data: the data folder.
        environment: may hold the password of a server.

    Raises:
        StoreError: it cannot be opened.
        StoreTooNew, StoreChanged: as ``migration.migrate``.
    """
    return find_engine(settings.url).open(settings, data, environment)


def open_snapshot(
    settings: StoreSettings, data: Path, environment: Mapping[str, str] = os.environ
) -> AbstractAsyncContextManager[SnapshotReader]:
    """Open the store for reading, as an async context manager.

    Parameters:
        data: the data folder.
        environment: may hold the password of a server.

    Raises:
        StoreError: it cannot be opened.
    """
    return find_engine(settings.url).read(settings, data, environment)


@asynccontextmanager
async def _open_sqlite(
    settings: StoreSettings, data: Path, _: Mapping[str, str]
) -> AsyncIterator[DeskStore]:
    from aitp_desk.store.engine.sqlite import SqliteStore

    path = sqlite_path(settings.url, data)
    async with SqliteStore.open(
        path, synchronous=settings.synchronous, queue=settings.queue
    ) as store:
        yield store


@asynccontextmanager
async def _read_sqlite(
    settings: StoreSettings, data: Path, _: Mapping[str, str]
) -> AsyncIterator[SnapshotReader]:
    from aitp_desk.store.engine.sqlite_reader import open_reader

    with open_reader(sqlite_path(settings.url, data)) as reader:
        yield reader


@asynccontextmanager
async def _open_postgres(
    settings: StoreSettings, _: Path, environment: Mapping[str, str]
) -> AsyncIterator[DeskStore]:
    _require_asyncpg()
    from aitp_desk.store.engine.postgres.store import PostgresStore

    async with PostgresStore.open(
        settings.url,
        environment,
        queue=settings.queue,
        pool_size=settings.connections,
        statement_seconds=settings.statement_seconds,
        is_pooled=settings.pooler,
        direct_url=settings.direct_url,
    ) as store:
        yield store


@asynccontextmanager
async def _read_postgres(
    settings: StoreSettings, _: Path, environment: Mapping[str, str]
) -> AsyncIterator[SnapshotReader]:
    _require_asyncpg()
    from aitp_desk.store.engine.postgres.reader import open_reader

    async with open_reader(
        settings.url,
        environment,
        statement_seconds=settings.statement_seconds,
        is_pooled=settings.pooler,
    ) as reader:
        yield reader


def _copy_from_sqlite(
    url: str, data: Path, _: Mapping[str, str], is_exclusive: bool
) -> AbstractAsyncContextManager[RowSource]:
    from aitp_desk.store.engine.copy.sqlite_rows import open_sqlite_source

    return open_sqlite_source(sqlite_path(url, data), is_exclusive=is_exclusive)


def _copy_to_sqlite(
    url: str, data: Path, _: Mapping[str, str]
) -> AbstractAsyncContextManager[RowTarget]:
    from aitp_desk.store.engine.copy.sqlite_rows import open_sqlite_target

    return open_sqlite_target(sqlite_path(url, data))


def _copy_from_postgres(
    url: str, _: Path, environment: Mapping[str, str], is_exclusive: bool
) -> AbstractAsyncContextManager[RowSource]:
    _require_asyncpg()
    from aitp_desk.store.engine.copy.postgres_rows import open_postgres_source

    return open_postgres_source(url, environment, is_exclusive=is_exclusive)


def _copy_to_postgres(
    url: str, _: Path, environment: Mapping[str, str]
) -> AbstractAsyncContextManager[RowTarget]:
    _require_asyncpg()
    from aitp_desk.store.engine.copy.postgres_rows import open_postgres_target

    return open_postgres_target(url, environment)


def _back_up_sqlite(
    url: str, data: Path, _: Mapping[str, str], dest: Path, told: Report
) -> Coroutine[Any, Any, None]:
    from aitp_desk.store.engine.copy.backup import back_up_file

    return back_up_file(sqlite_path(url, data), dest, told)


def _back_up_postgres(
    url: str, data: Path, environment: Mapping[str, str], dest: Path, told: Report
) -> Coroutine[Any, Any, None]:
    from aitp_desk.store.engine.copy.backup import back_up_rows

    return back_up_rows(_copy_from_postgres(url, data, environment, False), dest.resolve(), told)


def _restore_sqlite(
    url: str,
    data: Path,
    _: Mapping[str, str],
    make_draft: MakeDraft,
    note_restored: NoteRestored,
    _told: Report,
) -> Coroutine[Any, Any, str]:
    from aitp_desk.store.engine.copy.backup import restore_file

    return restore_file(sqlite_path(url, data), make_draft, note_restored)


def _restore_postgres(
    url: str,
    data: Path,
    environment: Mapping[str, str],
    make_draft: MakeDraft,
    note_restored: NoteRestored,
    told: Report,
) -> Coroutine[Any, Any, str]:
    from aitp_desk.store.engine.copy.backup import restore_rows

    place = sqlite_path(StoreSettings().url, data).resolve()
    target = _copy_to_postgres(url, data, environment)
    return restore_rows(place, target, make_draft, note_restored, told)


def _find_missing_file(url: str, data: Path) -> Path | None:
    path = sqlite_path(url, data)
    return None if path.is_file() else path


def _find_nothing_missing(_url: str, _data: Path) -> None:
    """A server says itself that it has no such database, once it is asked."""


def _require_asyncpg() -> None:
    if find_spec("asyncpg") is None:
        raise StoreError(f"A PostgreSQL database {_NEEDS_POSTGRES}")


def _wipe_sqlite(url: str, data: Path, _: Mapping[str, str], rewrites: bool) -> str:
    from aitp_desk.store.engine.sqlite_wipe import wipe_free_space

    wipe_free_space(sqlite_path(url, data), rewrites=rewrites)
    return f"Emptied the write-ahead log and {_REWRITTEN[rewrites]}."


def _wipe_postgres(url: str, _: Path, environment: Mapping[str, str], rewrites: bool) -> str:
    _require_asyncpg()
    from aitp_desk.store.engine.postgres.wipe import wipe_free_space

    asyncio.run(wipe_free_space(url, environment, rewrites=rewrites))
    kept = "The server's write-ahead log and its archives may keep deleted rows for a while."
    return f"Freed the space of deleted rows and {_REWRITTEN[rewrites]}. {kept}"


_REWRITTEN = {True: "rewrote the database", False: "did not rewrite the database"}
_NEEDS_POSTGRES = "needs the extra postgres: pip install 'aitp-desk[postgres]'."
_POSTGRES = Engine(
    open=_open_postgres,
    read=_read_postgres,
    find_missing=_find_nothing_missing,
    wipe=_wipe_postgres,
    copy_from=_copy_from_postgres,
    copy_to=_copy_to_postgres,
    back_up=_back_up_postgres,
    restore=_restore_postgres,
    lock=share_data_folder,
    is_shared=True,
    parts="rows",
    needs="asyncpg",
)
_ENGINES = {
    "sqlite": Engine(
        open=_open_sqlite,
        read=_read_sqlite,
        find_missing=_find_missing_file,
        wipe=_wipe_sqlite,
        copy_from=_copy_from_sqlite,
        copy_to=_copy_to_sqlite,
        back_up=_back_up_sqlite,
        restore=_restore_sqlite,
        lock=lock_data_folder,
        is_shared=False,
        parts="pages",
    ),
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
}
