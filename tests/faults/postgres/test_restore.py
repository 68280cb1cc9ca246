"""Restores that are killed, each at another place, and repeated; and backups with a fault."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from aitp_desk.auth.keys.master_key import KEY_FILE
from aitp_desk.store.engine.lock import LOCK_FILE
from tests.support.clients.threads import DATABASE, THREADS, Talker, talking
from tests.support.desk.command import run, start
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers
SECONDS = 60
SAID = ("Do you ship to Canada?", "And to Mexico?")
WAITS = """
SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


async def read(owner: Talker, thread_id: str) -> list[str]:
    listed = (await owner.send("GET", f"{THREADS}/{thread_id}/messages")).ok
    return [message["content"][0] for message in listed["data"]]


async def back_up(folder: Path) -> tuple[str, str, list[str]]:
    """Back a desk up and remove all but its master key; a caller's key, its thread, its texts."""
    data = folder / "data"
    async with talking(folder) as anybody:
        owner = await anybody.with_key("threads")
        opened = await owner.open(SAID[0], wait=10)
        await owner.post(opened.id, SAID[1], wait=10)
        said = await read(owner, opened.id)
    code, _, wrong = await run("store", "backup", "--data", data, folder / "backup.db")
    assert (code, wrong, len(said)) == (0, [], 4)
    for left in data.glob(f"{DATABASE}*"):
        left.unlink()
    assert owner.key is not None
    return owner.key, opened.id, said


async def kill_once(is_so: Callable[[], Awaitable[object]], *command: object) -> None:
    """Run a command, and kill it at a moment that comes before its end."""
    process = await start(*command)
    try:
        async with asyncio.timeout(SECONDS):
            while not await is_so():
                assert process.returncode is None, await process.communicate()
                await asyncio.sleep(0.01)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def kill_at(table: str, url: str, *command: object) -> None:
    """Run a command, and kill it when it writes to a table for the first time."""
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        await connection.execute(f"LOCK TABLE {table} IN SHARE MODE")
        await kill_once(lambda: connection.fetchval(WAITS), *command)
    await connection.close()


async def test_a_restore_that_is_killed_again_and_again_goes_on(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    key, thread_id, said = await back_up(tmp_path)
    data, backup = tmp_path / "data", tmp_path / "backup.db"
    url = await postgres.make("restored")
    store = ("--data", data, "--store", url)
    restore = ("store", "restore", *store, backup)
    code, _, wrong = await run("store", "migrate", *store)  # so that there are tables to lock
    assert (code, wrong) == (0, [])

    async def is_begun() -> set[str]:
        return names() - before

    def names() -> set[str]:
        return {path.name for path in data.iterdir()}

    before = names() | {LOCK_FILE}
    assert KEY_FILE in before
    with closing(sqlite3.connect(backup, isolation_level=None)) as holding:
        holding.execute("BEGIN EXCLUSIVE")
        await kill_once(is_begun, *restore)
    for table in ("actors", "audit", "messages", "tokens"):
        await kill_at(table, url, *restore)
    for command in (("store", "check", *store), ("store", "backup", *store, tmp_path / "b.db")):
        code, _, (line,) = await run(*command)
        assert code == 1
        assert "was not finished. Repeat the 'aitp-desk store copy' or 'store restore'" in line

    code, out, wrong = await run(*restore)
    assert (code, wrong) == (0, [])
    assert " of them by an earlier copy." in out[0]
    assert names() == before
    code, out, wrong = await run(*restore)
    assert (code, out) == (1, [])
    assert "is not empty, and no unfinished copy" in wrong[0]
    assert names() == before

    code, _, wrong = await run("store", "check", *store)
    assert (code, wrong) == (0, [])
    _, lines, _ = await run("audit", "export", *store)
    assert [json.loads(line)["action"] for line in lines] == ["store.restored"]
    async with talking(tmp_path, f"store.url={url}") as anybody:
        owner = Talker(anybody.desk, data, anybody.http, key)
        assert await read(owner, thread_id) == said


async def test_another_backup_does_not_go_on_with_a_restore(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    await back_up(tmp_path)
    data, backup = tmp_path / "data", tmp_path / "backup.db"
    url = await postgres.make("mixed")
    store = ("--data", data, "--store", url)
    await run("store", "migrate", *store)
    await kill_at("tokens", url, "store", "restore", *store, backup)
    with closing(sqlite3.connect(backup)) as database, database:
        database.execute("UPDATE actors SET capabilities = '[\"new\"]'")
    code, _, wrong = await run("store", "restore", *store, backup)
    assert code == 1
    assert "an earlier copy was interrupted, and it had another source" in wrong[0]


@pytest.mark.parametrize("engine", ["postgres", "sqlite"])
async def test_a_backup_with_a_broken_chain_is_not_restored(
    postgres: PostgresServer, tmp_path: Path, engine: str
) -> None:
    await back_up(tmp_path)
    data, backup = tmp_path / "data", tmp_path / "backup.db"
    url = await postgres.make("broken") if engine == "postgres" else "sqlite:desk.db"
    with closing(sqlite3.connect(backup)) as database, database:
        database.execute("UPDATE messages SET created_at = created_at + 1")
    before = {path.name for path in data.iterdir()} | {LOCK_FILE}
    code, out, wrong = await run("store", "restore", "--data", data, "--store", url, backup)
    assert (code, out) == (1, [])
    assert wrong[0].startswith("threads: ")
    assert wrong[-1] == "Nothing was restored."
    assert {path.name for path in data.iterdir()} == before
