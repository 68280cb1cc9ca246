"""Two stores of different engines that are given the same, and must do the same."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from aitp_desk.store.base import PAGE_BYTES, P, Params, Row, RowPage, Store, T, Work
from aitp_desk.store.engine.copy.tables import load_tables


class TwinStore:
    """Runs every unit and every read on both stores, and compares what comes of it.

    Attributes:
        done: the units that were run and refused nothing.
    """

    def __init__(self, one: Store, other: Store) -> None:
        self._both = (one, other)
        self.done: set[Callable[..., Any]] = set()

    @property
    def name(self) -> str:
        return " and ".join(store.name for store in self._both)

    @property
    def is_behind(self) -> bool:
        return any(store.is_behind for store in self._both)

    async def run(self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        done = await self._same(lambda store: store.run(work, *args, **kwargs))
        self.done.add(work)
        return done

    async def run_apart(
        self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._same(lambda store: store.run_apart(work, *args, **kwargs))

    def record(self, work: Callable[P, Work[Any]], /, *args: P.args, **kwargs: P.kwargs) -> None:
        for store in self._both:
            store.record(work, *args, **kwargs)
        self.done.add(work)

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        return await self._same(lambda store: store.read(statement, params))

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        return await self._same(
            lambda store: store.read_page(statement, params, limit=limit, most_bytes=most_bytes)
        )

    async def settled(self) -> None:
        for store in self._both:
            await store.settled()

    async def _same(self, do: Callable[[Store], Awaitable[T]]) -> T:
        one, other = await asyncio.gather(*map(do, self._both), return_exceptions=True)
        if isinstance(one, BaseException):
            assert type(other) is type(one), f"{other!r} instead of {one!r}"
            raise one
        assert other == one
        assert _kinds(other) == _kinds(one)
        return one


def _kinds(found: Any) -> Any:
    """The types of what was read: 1 is not true, though Python says that they are equal."""
    if isinstance(found, list | tuple):
        return [_kinds(one) for one in found]
    return type(found)


def compare_rows(one: Path, other: Path) -> None:
    """Fail unless two database files have the same rows."""
    with closing(sqlite3.connect(one)) as first, closing(sqlite3.connect(other)) as second:
        for table in load_tables():
            rows = f"SELECT * FROM {table.name} ORDER BY {table.key_columns}"
            expected, found = first.execute(rows).fetchall(), second.execute(rows).fetchall()
            differing = sorted(set(expected) ^ set(found), key=repr)
            assert found == expected, (table.name, differing[:4])
