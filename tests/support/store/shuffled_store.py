"""A second engine, for tests only: nothing may depend on a unit's being driven whole.

It gathers the units that wait into a wave in which no two touch the same thread or idempotency key,
and drives all of them at once, a statement at a time, each round in another order. Everything that
the contract suite asks of a store must hold here too.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any, Self

import aiosqlite

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import PAGE_BYTES, P, Params, ParamSets, Row, RowPage, StoreError, T, Work
from aitp_desk.store.engine.migration import migrate
from aitp_desk.store.engine.queue import BEHIND_UNITS
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.engine.unit import Unit, list_touched_keys
from aitp_desk.store.rows.pages import take_page

Waiting = tuple[Unit, frozenset[tuple[str, ...]] | None]
"""A unit, and what it may touch."""


class ShuffledStore:
    """A store over one aiosqlite connection; ``seed`` decides the order of statements."""

    def __init__(self, path: Path, connection: aiosqlite.Connection, seed: int, queue: int) -> None:
        self._path = path
        self._connection = connection
        self._random = Random(seed)
        self._statements = load_statements("sqlite")
        self._most_waiting = queue
        self._waiting: list[Waiting] = []
        self._arrived = asyncio.Event()
        self._committing = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path, *, seed: int = 0, queue: int = 10_000) -> AsyncIterator[Self]:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            migrate(connection, now=0)
        async with aiosqlite.connect(path, isolation_level=None) as connection:
            await connection.execute("PRAGMA synchronous = OFF")
            store = cls(path, connection, seed, queue)
            serving = asyncio.create_task(store._serve())
            try:
                yield store
            finally:
                await store.settled()
                serving.cancel()

    @property
    def name(self) -> str:
        return f"shuffled SQLite, {self._path}"

    @property
    def is_behind(self) -> bool:
        return len(self._waiting) > BEHIND_UNITS

    async def run(self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._admit()
        return await self._wait_for(work, args, kwargs)

    async def run_apart(
        self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self.run(work, *args, **kwargs)

    def record(self, work: Callable[P, Work[Any]], /, *args: P.args, **kwargs: P.kwargs) -> None:
        self._admit()
        self._gather(Unit(work, args, kwargs))

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        async with self._committing:
            return await self._execute(statement, params)

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        rows = await self.read(statement, {**params, "limit": limit + 1})
        return take_page(rows, limit, most_bytes)

    async def settled(self) -> None:
        await self._wait_for(_nothing, (), {})

    def _admit(self) -> None:
        if len(self._waiting) >= self._most_waiting:
            raise StoreBusy("Too many writes are waiting.", retry_after=1)

    async def _wait_for(
        self, work: Callable[..., Work[T]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._gather(Unit(work, args, kwargs, future))
        return await future

    def _gather(self, unit: Unit) -> None:
        self._waiting.append((unit, list_touched_keys(unit)))
        self._arrived.set()

    async def _serve(self) -> None:
        while True:
            await self._arrived.wait()
            wave = self._take_wave()
            async with self._committing:
                await self._write(wave)
            for unit in wave:
                unit.resolve_future()

    def _take_wave(self) -> list[Unit]:
        """Take what may be driven side by side, passing over what must come later."""
        wave: list[Unit] = []
        later: list[Waiting] = []
        barred: set[tuple[str, ...]] = set()
        for place, (unit, touches) in enumerate(self._waiting):
            if touches is None:
                # it may touch anything: nothing runs next to it, nothing later before it
                if place == 0:
                    wave, later = [unit], self._waiting[1:]
                else:
                    later += self._waiting[place:]
                break
            if touches & barred:
                later.append((unit, touches))
            else:
                wave.append(unit)
            barred |= touches
        self._waiting = later
        if not later:
            self._arrived.clear()
        return wave

    async def _write(self, wave: list[Unit]) -> None:
        await self._connection.execute("BEGIN IMMEDIATE")
        try:
            await self._drive(wave)
        except Exception as error:  # noqa: BLE001 - its caller receives it
            await self._connection.execute("ROLLBACK")
            if len(wave) > 1:
                for unit in wave:
                    await self._write([unit])
            elif isinstance(error, sqlite3.Error):
                wave[0].error = StoreError(f"The database failed: {error}")
            else:
                wave[0].error = error
        else:
            await self._connection.execute("COMMIT")

    async def _drive(self, wave: list[Unit]) -> None:
        """Drive the units, raising only what leaves half a unit behind."""
        steps = [_Step(unit) for unit in wave]
        while steps := [step for step in steps if step.request is not None]:
            self._random.shuffle(steps)
            for step in steps:
                assert step.request is not None
                changes = self._connection.total_changes
                name, params = step.request
                sets = params if isinstance(params, tuple) else (params,)
                rows = [row for one in sets for row in await self._execute(name, one)]
                step.has_written |= self._connection.total_changes != changes
                step.go_on(rows)

    async def _execute(self, statement: str, params: Params) -> list[Row]:
        async with self._connection.execute(self._statements[statement], dict(params)) as cursor:
            return [tuple(row) for row in await cursor.fetchall()]


class _Step:
    """A unit between two of its statements; ``request`` is the next one, None at its end."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._running = unit.work(*unit.args, **unit.kwargs)
        self.has_written = False
        self.request: tuple[str, ParamSets] | None = None
        unit.error = None
        self.go_on(None)

    def go_on(self, rows: list[Row] | None) -> None:
        try:
            if rows is None:
                self.request = next(self._running)
            else:
                self.request = self._running.send(rows)
        except StopIteration as done:
            self._unit.result = done.value
            self.request = None
        except Exception as error:
            if self.has_written:
                raise
            self._unit.error = error
            self.request = None


def _nothing() -> Work[None]:
    yield from ()
