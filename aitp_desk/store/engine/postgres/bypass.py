"""A connection for units that wait for no others: neither for the writer nor for the pool.

They take no lock that commits take, and wait for no disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import nullcontext

from asyncpg import Connection

from aitp_desk.store.base import P, Row, T, Work
from aitp_desk.store.engine.postgres.connections import (
    DATABASE_ERRORS,
    Connections,
    describe,
    is_lost,
)
from aitp_desk.store.engine.postgres.statements import Statement
from aitp_desk.store.engine.postgres.texts import decode_row

SECONDS = 10.0
"""How long one statement may take; then the connection counts as lost."""


class Bypass:
    """Opens its connection when it is needed, and again when it is lost."""

    def __init__(self, connections: Connections, statements: Mapping[str, Statement]) -> None:
        self._connections = connections
        self._statements = statements
        self._connection: Connection | None = None
        self._one_at_a_time = asyncio.Lock()

    async def run(self, work: Callable[P, Work[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit, once more if the connection was lost since the last one.

        Raises:
            StoreBusy, StoreError: the database failed.
        """
        async with self._one_at_a_time:
            was_open = self._connection is not None
            try:
                try:
                    return await self._drive(work(*args, **kwargs))
                except DATABASE_ERRORS as error:
                    if not (was_open and is_lost(error)) or isinstance(error, TimeoutError):
                        raise
                    self.close()
                    return await self._drive(work(*args, **kwargs))
            except DATABASE_ERRORS as error:
                self.close()
                raise describe(error) from error
            except BaseException:  # cancelled in the middle of a statement
                self.close()
                raise

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _drive(self, unit: Work[T]) -> T:
        if self._connection is None:
            self._connection = await self._connections.connect()
        try:
            name, params = next(unit)
            while True:
                asked = self._statements[name]
                if isinstance(params, tuple):
                    raise TypeError("A unit that is run apart has one set of parameters at once.")
                rows = await self._fetch(self._connection, asked.sql, asked.arguments(params))
                name, params = unit.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _fetch(
        self, connection: Connection, sql: str, given: tuple[object, ...]
    ) -> list[Row]:
        keeps_session = self._connections.is_pooled
        async with connection.transaction() if keeps_session else nullcontext():
            return [decode_row(row) for row in await connection.fetch(sql, *given, timeout=SECONDS)]
