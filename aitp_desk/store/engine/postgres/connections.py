"""Opens connections to PostgreSQL and tells its errors apart.

No connection has a state that outlives a transaction, so a pooler that gives every transaction
another session (PgBouncer) may stand between; it is named by a setting, because prepared statements
are kept otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import asyncpg
import msgspec
from asyncpg import Connection, Pool

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.postgres.address import Address, read_address
from aitp_desk.store.engine.postgres.tls import explain_tls_error

CONNECT_SECONDS = 20.0
"""With TLS and a password that are seven round trips."""
CACHED_STATEMENTS = 1000
SILENT_SECONDS = 60.0
"""How long a server that did not answer in time is tried after the others."""
OLDEST = 15
"""The first version of PostgreSQL that the tests run on."""

CLIENT_SECONDS = 5.0
"""How much longer than the server a connection waits for the end of a statement."""

DATABASE_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
"""What a connection raises, apart from faults of the desk."""

_NEXT = (
    OSError,
    TimeoutError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.CannotConnectNowError,
    asyncpg.TargetServerAttributeNotMatched,
)
"""What a server raises that is gone, does not serve yet, or is of another kind."""

_CONFLICTS = frozenset({"40001", "40P01"})
"""Serialization failure, deadlock: nothing was written, and another try may succeed."""
_LOCKED = "55P03"
_LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25006", "0A000", "53300"})
"""Shutdown, start, idle time over, a standby (two), too many connections."""
_EXHAUSTED = frozenset({"53000", "53100", "53200", "53400"})
"""No space on a disk, no memory, a limit of the server."""


_UNPREPARED = frozenset({"26000", "42P05"})
"""A prepared statement is missing, or there already: another session has answered."""
_POOLED = "the server of store.url is a pooler of transactions. Set store.pooler = true"
NEEDS_SERVER = "a pooler of transactions is between. Name the server itself, not its pooler"
"""What to tell where a whole session is needed."""
_STANDBY = (
    "the server is a standby, which takes no writes. Name the other one in store.url, or both with"
    " a comma between"
)
_POOLED_TOO = "store.direct_url is a pooler of transactions, too. Name the server itself"
_IDENTITY = "SELECT current_database(), pg_postmaster_start_time()"


class Connections(msgspec.Struct, frozen=True):
    """How to connect to one database.

    Parameters:
        seconds: how long one statement may take.
        is_pooled: whether a pooler is between, which gives each transaction another session.
        silent: until when a server that did not answer is tried last, by its URL; in monotonic
            seconds.
    """

    address: Address
    seconds: float = 30.0
    is_pooled: bool = False
    silent: dict[str, float] = msgspec.field(default_factory=dict[str, float])

    async def connect(self) -> Connection:
        """Open a connection.

        Raises:
            DATABASE_ERRORS: it cannot be opened.
        """
        return await self._connect(**self._arguments)

    async def open_pool(self, size: int) -> Pool:
        """Open a pool of connections for reads; further ones open as they are needed.

        Raises:
            DATABASE_ERRORS: none can be opened.
        """
        # a pool that keeps some open logs each failure to, with a traceback
        pool: Pool = await asyncpg.create_pool(
            min_size=0,
            max_size=size,
            reset=_keep,
            connect=self._connect,
            **self._arguments,
        )
        return pool

    async def _connect(self, dsn: str, **arguments: Any) -> Connection:
        """Connect to the first of several servers that can be used.

        Each has its time, as to libpq: asyncpg has one for all, and asks no other where one closes.
        """
        now = time.monotonic()
        each = sorted(self.address.each or (dsn,), key=lambda one: self.silent.get(one, 0) > now)
        for number, one in enumerate(each, 1):
            try:
                connection: Connection = await asyncpg.connect(one, **arguments)
            except _NEXT as error:
                if isinstance(error, TimeoutError):
                    self.silent[one] = time.monotonic() + SILENT_SECONDS
                if number == len(each):
                    raise
            else:
                return connection
        raise AssertionError("There is always a server to connect to.")

    @property
    def _arguments(self) -> dict[str, Any]:
        return {
            "timeout": CONNECT_SECONDS,
            **self.address.arguments,
            "command_timeout": self.seconds + CLIENT_SECONDS,
            "statement_cache_size": 0 if self.is_pooled else CACHED_STATEMENTS,
            "max_cached_statement_lifetime": 0,
            "server_settings": {"application_name": "aitp-desk"},
        }


def plan_connections(
    url: str, environment: Mapping[str, str], *, seconds: float, is_pooled: bool
) -> Connections:
    """Return how to connect to the database of a URL.

    Raises:
        StoreError: the password's file cannot be read.
    """
    return Connections(read_address(url, environment), seconds, is_pooled)


def check_version(connection: Connection) -> None:
    """Check that the server is new enough.

    Raises:
        StoreError: it is not.
    """
    version: int = connection.get_server_version().major
    if version < OLDEST:
        raise StoreError(f"PostgreSQL {OLDEST} or newer is needed; this server has {version}.")


async def check_writable(connection: Connection) -> None:
    """Check that the server is no standby.

    Raises:
        StoreError: it is.
        DATABASE_ERRORS: the database failed.
    """
    if await connection.fetchval("SELECT pg_is_in_recovery()"):
        raise StoreError(f"The database cannot be used so: {_STANDBY}.")


async def check_sessions(
    connections: Connections, connection: Connection, *, pooled: str = _POOLED
) -> None:
    """Check that a connection has a session to itself, unless a pooler is expected.

    A pooler answers with a number that it has made, where the server names the process of the
    session. One that gives each connection a session is no hindrance.

    Parameters:
        pooled: what to tell if a pooler gives the session to others.

    Raises:
        StoreError: a pooler gives the session to others between transactions.
        DATABASE_ERRORS: the database failed.
    """
    if connections.is_pooled:
        return
    asked = "SELECT pg_backend_pid()"
    process = await connection.fetchval(asked)
    if process == connection.get_server_pid():
        return
    other = await connections.connect()
    try:
        if await other.fetchval(asked) == process:
            raise StoreError(f"The database cannot be used so: {pooled}.")
    finally:
        other.terminate()


async def check_direct(direct: Connections, connection: Connection) -> None:
    """Check that an address past a pooler names the same database.

    Parameters:
        connection: to the database by its pooler.

    Raises:
        StoreError: it is not.
        DATABASE_ERRORS: a database failed.
    """
    try:
        other = await direct.connect()
    except DATABASE_ERRORS as error:
        told = f"store.direct_url ({direct.address.name}) cannot be reached: {reason(error)}."
        raise StoreError(told) from error
    try:
        await check_sessions(direct, other, pooled=_POOLED_TOO)
        async with connection.transaction(readonly=True):  # which keeps the session
            expected = await connection.fetchrow(_IDENTITY)
        if await other.fetchrow(_IDENTITY) != expected:
            raise StoreError("store.direct_url is another database than that of store.url.")
    finally:
        other.terminate()


def is_conflict(error: BaseException) -> bool:
    """Return whether the transaction lost against another one, and may be repeated."""
    return getattr(error, "sqlstate", None) in _CONFLICTS


def is_lost(error: BaseException) -> bool:
    """Return whether the connection is of no more use."""
    state = getattr(error, "sqlstate", None) or ""
    kinds = OSError | asyncpg.InterfaceError | asyncpg.InternalClientError
    return state.startswith("08") or state in _LOST or isinstance(error, kinds)


def is_exhausted(error: BaseException) -> bool:
    """Return whether the server has no space or memory left."""
    return getattr(error, "sqlstate", None) in _EXHAUSTED


def describe(error: Exception) -> Exception:
    """Convert a database error into one that the store interface defines."""
    if not isinstance(error, DATABASE_ERRORS):
        return error
    told: Exception
    if getattr(error, "sqlstate", None) == _LOCKED:
        told = StoreBusy("Another program is writing to the database. Try again.", retry_after=1)
    elif is_lost(error) or is_conflict(error) or isinstance(error, TimeoutError):
        told = StoreBusy("The database cannot be reached now. Try again.", retry_after=1)
    elif is_exhausted(error):
        told = StoreBusy("The database server has no space left. Try again.", retry_after=10)
    else:
        told = StoreError(f"The database failed: {reason(error)}")
    told.__cause__ = error
    return told


def reason(error: Exception, *, pooled: str = _POOLED) -> str:
    """Return what went wrong, without any stored or given value.

    Parameters:
        pooled: as for :func:`check_sessions`.
    """
    name = type(error).__name__
    if (told := explain_tls_error(error)) is not None:
        return told
    if getattr(error, "sqlstate", None) in _UNPREPARED:
        return pooled
    if isinstance(error, asyncpg.PostgresError):
        # the text of the exception has the row too, or was made here with the value of a parameter
        message = getattr(error, "message", None)
        return f"{name}: {message}" if message else name
    return str(error) or name


async def _keep(_: Connection) -> None:
    """Leave a connection that returns to its pool as it is: it has no state."""
