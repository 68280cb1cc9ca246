"""A desk starts on the database of every earlier schema, and all threads are read and go on."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from aitp_desk.store.engine.migration import POSTGRES_SCHEMA, SCHEMA
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.store.earlier_schema import make_earlier, make_earlier_postgres
from tests.support.store.erasure import converse, leave_words, mark, quote
from tests.support.store.integrity import check_whole
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_copy import copy_rows

pytestmark = pytest.mark.slow
NUMBERS = range(1, len(list(SCHEMA.glob("*.sql"))))
POSTGRES_NUMBERS = range(1, len(list(POSTGRES_SCHEMA.glob("*.sql"))))
DATA_KEYS = 19
"""The number of the schema that stored data keys."""


class Filled:
    """The data of a desk of this version, on which words are everywhere.

    Attributes:
        thread: of a visitor without a credential.
        key: of the owner of another thread, `owned`.
    """

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        asyncio.run(self._fill(folder))

    async def _fill(self, folder: Path) -> None:
        async with talking(folder, agent=ScriptedAgent(quote)) as talker:
            self.thread = (await talker.open("Do you sell lamps?", wait=20)).id
            await talker.post(self.thread, "Thank you.", headers=[("OpenAI-Beta", "assistants=v2")])
            self.said = await talker.texts(self.thread)
            who, other = await talker.with_key("threads"), await talker.with_key("threads")
            self.owned = await leave_words(who, other)
            self.owned_said = await who.texts(self.owned)
            self.key = who.key
            for n in range(3):
                await converse(who, mark(f"turn-{n}"))
            await talker.desk.store.settled()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return Filled(tmp_path_factory.mktemp("filled"))


async def check_threads(
    filled: Filled, folder: Path, *settings: str, has_data_keys: bool = True
) -> None:
    """Start a desk on earlier data; read the threads, and go on with one.

    Parameters:
        has_data_keys: whether the hashes of keys are those of the data keys in the database.
    """
    async with talking(folder, *settings, agent=ScriptedAgent(quote)) as talker:
        assert await talker.texts(filled.thread) == filled.said
        owner = Talker(talker.desk, folder / "data", talker.http, filled.key)
        for reader in (await talker.with_key("operator"), *([owner] if has_data_keys else [])):
            assert await reader.texts(filled.owned) == filled.owned_said
        replies = (await talker.post(filled.thread, "And shades?", wait=20)).ok["replies"]
        assert "And shades?" in str(replies)
        assert "said" in str(await converse(talker, "Are you there?"))


def count_rows(database: Path) -> dict[str, int]:
    """Count the rows of each table."""
    with closing(sqlite3.connect(database)) as opened:
        tables = opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {
            name: opened.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in tables
        }


async def count_postgres_rows(url: str) -> dict[str, int]:
    """Count the rows of each table of a PostgreSQL database."""
    opened = await asyncpg.connect(url)
    try:
        tables = await opened.fetch(
            "SELECT c.relname FROM pg_class AS c WHERE c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace"
        )
        return {name: await opened.fetchval(f"SELECT count(*) FROM {name}") for (name,) in tables}
    finally:
        await opened.close()


def check_kept(before: dict[str, int], after: dict[str, int]) -> None:
    """Assert that a start and what was done since lost no row."""
    if "runs" not in before:  # the first schemas called them jobs
        before = {"runs" if name == "jobs" else name: count for name, count in before.items()}
    lost = {name: (count, after[name]) for name, count in before.items() if after[name] < count}
    assert lost == {}


def data_of(filled: Filled, folder: Path) -> Path:
    """Copy the data folder, without the database."""
    data = folder / "data"
    shutil.copytree(filled.data, data, ignore=shutil.ignore_patterns(f"{DATABASE}*"))
    return data


@pytest.mark.sqlite
@pytest.mark.parametrize("number", NUMBERS)
async def test_threads_are_read_from_the_sqlite_database_of_a_schema(
    filled: Filled, tmp_path: Path, number: int
) -> None:
    database = data_of(filled, tmp_path) / DATABASE
    make_earlier(number, filled.data / DATABASE, database)
    before = count_rows(database)
    await check_threads(filled, tmp_path, has_data_keys=number >= DATA_KEYS)
    check_whole(database)
    check_kept(before, count_rows(database))


@pytest.mark.servers
@pytest.mark.parametrize("number", POSTGRES_NUMBERS)
async def test_threads_are_read_from_the_postgresql_database_of_a_schema(
    filled: Filled, postgres: PostgresServer, tmp_path: Path, number: int
) -> None:
    data_of(filled, tmp_path)
    url = await postgres.make(f"schema_{number}")
    await make_earlier_postgres(number, filled.data / DATABASE, url, tmp_path / "schema")
    before = await count_postgres_rows(url)
    await check_threads(filled, tmp_path, f"store.url={url}")
    await copy_rows(url, tmp_path / "copy.db")
    check_whole(tmp_path / "copy.db")
    check_kept(before, await count_postgres_rows(url))
