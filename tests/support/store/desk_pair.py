"""Two desks on one PostgreSQL database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from aitp_desk.store.base import PAGE_BYTES, P, Params, Row, RowPage, Store, T, Work
from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.support.store.integrity import check_whole
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_copy import copy_rows


class DeskPair:
    """A store that gives every other call to the other one of two stores of one database."""

    def __init__(self, *stores: Store) -> None:
        self._stores = stores
        self._turns = cycle(stores)

    @property
    def name(self) -> str:
        return " and ".join(store.name for store in self._stores)

    @property
    def is_behind(self) -> bool:
        return any(store.is_behind for store in self._stores)

    async def run(self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await next(self._turns).run(work, *args, **kwargs)

    async def run_apart(
        self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await next(self._turns).run_apart(work, *args, **kwargs)

    def record(self, work: Callable[P, Work[Any]], /, *args: P.args, **kwargs: P.kwargs) -> None:
        next(self._turns).record(work, *args, **kwargs)

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        return await next(self._turns).read(statement, params)

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        return await next(self._turns).read_page(
            statement, params, limit=limit, most_bytes=most_bytes
        )

    async def settled(self) -> None:
        for store in self._stores:
            await store.settled()


@asynccontextmanager
async def open_pair(server: PostgresServer, copy: Path) -> AsyncIterator[DeskPair]:
    """Open an empty database twice. What is left in it must be whole.

    Parameters:
        copy: where its rows are put in the end, to check them.
    """
    url = await server.begin()
    async with PostgresStore.open(url, {}) as one, PostgresStore.open(url, {}) as other:
        yield DeskPair(one, other)
    await copy_rows(url, copy)
    check_whole(copy)
