"""The database of each desk in tests: a file, or one of a PostgreSQL server.

It is one of a server with ``AITP_DESK_TEST_STORE=postgres``, as for some journeys in ``make
test-servers``.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tests.support.store.postgres import PostgresServer

R = TypeVar("R")

DATABASE = "desk.db"
CHOICE = "AITP_DESK_TEST_STORE"
TEMPLATE = "template"
READ_SETTINGS = frozenset(
    {
        "ask",
        "check",
        "doctor",
        "enrich",
        "evaluate",
        "export",
        "export-person",
        "files",
        "mcp",
        "partners",
        "transport",
    }
)
"""Commands that find the database by the settings of the site."""
_made: dict[Path, str] = {}
_free: list[str] = []
_numbers = count(1)


async def store_settings(data: Path) -> tuple[str, ...]:
    """The settings that give a data folder its database, until `free_stores` takes it back."""
    if os.environ.get(CHOICE) != "postgres":
        return ()
    if data not in _made:
        if _free:
            _made[data] = _free.pop()
            await _server().clear(_made[data])
        else:
            number = next(_numbers)
            if number == 1:
                await _server().begin(TEMPLATE)
            _made[data] = await _server().make(str(number), template=TEMPLATE)
    return (f"store.url={_made[data]}",)


def free_stores(folder: Path) -> None:
    """Let other desks have the databases of those whose data folders are in a folder.

    One is emptied in a tenth of the time in which one is made.
    """
    _free.extend(_made.pop(data) for data in list(_made) if data.is_relative_to(folder))


def name_store(arguments: Sequence[object]) -> list[str]:
    """Add to a command where the desk of its data folder has its database, if not there."""
    words = list(map(str, arguments))
    if "--data" not in words or "--store" in words or words[0] == "serve":
        return words
    url = _made.get(Path(words[words.index("--data") + 1]))
    if url is None:
        return words
    reads_settings = words[0] in READ_SETTINGS or words[:2] == ["transcript", "export"]
    return [*words, *(("--set", f"store.url={url}") if reads_settings else ("--store", url))]


def read_rows(data: Path, statement: str) -> list[tuple[Any, ...]]:
    """Read a desk's database over a separate connection."""
    if data in _made:
        return _run_beside(partial(_fetch, _made[data], statement))
    address = f"{(data / DATABASE).as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        return connection.execute(statement).fetchall()


async def _fetch(url: str, statement: str) -> list[tuple[Any, ...]]:
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


def _run_beside(run: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Run a coroutine beside the loop of this thread, and wait for it."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(lambda: asyncio.run(run())).result()


@cache
def _server() -> PostgresServer:
    from tests.support.store.postgres import postgres_server

    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(postgres_server())
