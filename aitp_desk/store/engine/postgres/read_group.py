"""Groups reads: those of one moment and one statement go to the server in one round trip.

A commit answers many requests at once, so their clients' next ones arrive together too, and read
the same of different threads. Each read of a group has its own snapshot, as it would have alone.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any

from asyncpg import Connection

from aitp_desk.store.base import Row
from aitp_desk.store.engine.postgres.connections import is_lost
from aitp_desk.store.engine.postgres.statements import Statement
from aitp_desk.store.engine.postgres.texts import decode_row

MAX_READS = 32
"""Maximum number of reads in one round trip: the first one's caller waits for all."""

Arguments = tuple[Any, ...]
Group = list[tuple[Arguments, Future[list[Row]]]]
"""The reads of one round trip: what each asks, and who waits for its rows."""
Fetch = Callable[[Connection], Awaitable[list[list[Row]]]]


class ReadGroups:
    """Runs reading statements, on one event loop.

    Parameters:
        borrow: runs a fetch on a connection of the pool; raises StoreError if the database failed.
    """

    def __init__(self, borrow: Callable[[Fetch], Awaitable[list[list[Row]]]]) -> None:
        self._borrow = borrow
        self._open: dict[str, Group] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, statement: Statement, arguments: Arguments) -> list[Row]:
        """Run a statement, together with others of this moment; return its rows.

        Raises:
            StoreError: the database failed.
        """
        loop = asyncio.get_running_loop()
        answer: Future[list[Row]] = loop.create_future()
        group = self._open.get(statement.name)
        if group is None:
            group = self._open[statement.name] = []
            loop.call_soon(self._begin, statement, group)
        group.append((arguments, answer))
        if len(group) == MAX_READS:
            del self._open[statement.name]
        return await answer

    def _begin(self, statement: Statement, group: Group) -> None:
        if self._open.get(statement.name) is group:
            del self._open[statement.name]
        task = asyncio.create_task(self._answer(statement, group))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, statement: Statement, group: Group) -> None:
        try:
            found = await self._fetch(statement, [arguments for arguments, _ in group])
        except Exception as error:  # noqa: BLE001 - it is passed to the callers
            if len(group) > 1 and not _is_lost(error):  # the fault of one fails no other
                await asyncio.gather(*(self._answer(statement, [one]) for one in group))
                return
            for _, answer in group:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), rows in zip(group, found, strict=True):
            if not answer.done():  # its caller may have gone
                answer.set_result(rows)

    async def _fetch(self, statement: Statement, given: list[Arguments]) -> list[list[Row]]:
        async def fetch(connection: Connection) -> list[list[Row]]:
            if len(given) == 1 or statement.numbered is None:
                return [
                    [decode_row(row) for row in await connection.fetch(statement.sql, *one)]
                    for one in given
                ]
            dealt: list[list[Row]] = [[] for _ in given]
            numbered = [(*one, number) for number, one in enumerate(given)]
            for row in await connection.fetchmany(statement.numbered, numbered):
                dealt[row[0]].append(decode_row(row[1:]))
            return dealt

        return await self._borrow(fetch)


def _is_lost(error: Exception) -> bool:
    cause = error.__cause__
    return cause is None or isinstance(cause, TimeoutError) or is_lost(cause)
