"""How fast the store writes to PostgreSQL, as a share of a bare floor of the same run.

    python -m tests.bench.postgres [--rounds 5] [--units 3000]

The floor inserts one message row for each of 32 callers at once, each in its own commit, through a
pool of asyncpg: what a server without a store does. The cases are those of ``tests.bench.store``.
The server of both is durable: each commit waits for its disk.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator

import asyncpg
import uvloop

from aitp_desk.store.engine.postgres.statements import load_postgres_statements
from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.bench.store import CALLERS, append, append_once_with_run, message_row, record
from tests.support.store.postgres import PostgresServer, postgres_server

POOL = 10
"""The size that asyncpg gives a pool."""


async def floor(url: str, units: int) -> None:
    """Write message rows and nothing else."""
    statement = load_postgres_statements()["add_message"]
    async with asyncpg.create_pool(url, min_size=POOL, max_size=POOL) as pool:

        async def call(caller: int, numbers: Iterator[int]) -> None:
            for number in numbers:
                row = message_row(caller, number)
                await pool.execute(statement.sql, *statement.arguments(row))

        numbers = iter(range(units))
        await asyncio.gather(*(call(caller, numbers) for caller in range(CALLERS)))


async def through_engine(
    url: str, case: Callable[[PostgresStore, int], Awaitable[None]], units: int
) -> None:
    async with PostgresStore.open(url, {}) as store:
        await case(store, units)


async def measure(
    server: PostgresServer, write: Callable[[str], Awaitable[None]], units: int
) -> float:
    """Return units a second, in an empty database."""
    url = await server.begin()
    began = time.perf_counter()
    await write(url)
    return units / (time.perf_counter() - began)


async def compare(rounds: int, units: int) -> None:
    cases = (append, append_once_with_run, record)
    figures: dict[str, list[tuple[float, float]]] = {}
    with postgres_server(settings="") as server:
        for number in range(rounds):
            at_floor = await measure(server, lambda url: floor(url, units), units)
            figures.setdefault("floor", []).append((at_floor, 1.0))
            for case in cases:

                async def write(
                    url: str,
                    case: Callable[[PostgresStore, int], Awaitable[None]] = case,
                ) -> None:
                    await through_engine(url, case, units)

                rate = await measure(server, write, units)
                figures.setdefault(case.__name__, []).append((rate, rate / at_floor))
            print(f"round {number + 1} of {rounds}", flush=True)
    for name, found in figures.items():
        rate, share = (statistics.median(values) for values in zip(*found, strict=True))
        print(f"{name:22} {rate:8,.0f} units/s  {share:5.2f} of the floor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--units", type=int, default=3000)
    options = parser.parse_args()
    uvloop.run(compare(options.rounds, options.units))


if __name__ == "__main__":
    main()
