"""A desk on PostgreSQL, and the commands of its owner."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.command import run
from tests.support.desk.server import SITE
from tests.support.servers.pgbouncer import Pooler, pooler
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers

COMPLETE = r"database   complete: [0-9.]+ MB, schema [0-9]+"
SAID = ("Do you ship to Canada?", "And to Mexico?")


@pytest.fixture
async def url(postgres: PostgresServer) -> str:
    """An empty database with the schema."""
    return await postgres.begin()


async def told(*arguments: object, code: int = 0) -> list[str]:
    """What a command tells, on stdout or else on stderr."""
    ended, out, err = await run(*arguments)
    assert ended == code, (out, err)
    return out or err


async def talk(owner: Talker) -> tuple[str, list[str]]:
    """A thread with two questions and their answers: its id and what was said."""
    opened = await owner.open(SAID[0], wait=10)
    await owner.post(opened.id, SAID[1], wait=10)
    return opened.id, await read(owner, opened.id)


async def read(owner: Talker, thread_id: str) -> list[str]:
    listed = (await owner.send("GET", f"{THREADS}/{thread_id}/messages")).ok
    return [message["content"][0] for message in listed["data"]]


async def test_commands_work_beside_a_desk_on_postgres(url: str, tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data", "--store", url)
    async with talking(tmp_path, f"store.url={url}") as anybody:
        owner = await anybody.with_key("threads")
        thread_id, said = await talk(owner)
        assert len(said) == 4

        made = await told("token", "create", *data, "--name", "made", "--scope", "threads")
        assert any("made" in line for line in made)
        assert any("made" in line for line in await told("token", "list", *data))
        await told("token", "revoke", *data, "made")
        await told("keys", "check", *data)
        await told("jobs", "list", *data)
        (one, *_) = await told("store", "check", *data)
        assert re.fullmatch(COMPLETE, one)
        audit = [json.loads(line)["action"] for line in await told("audit", "export", *data)]
        assert audit[-2:] == ["key.made", "key.revoked"]
        await told("audit", "verify", *data)
        erased = await told("erase", *data, "--thread", thread_id)
        assert erased[0].startswith("Erased the words of all visitors")
        assert any("Freed the space" in line for line in erased)
        left = await read(owner, thread_id)
        assert not set(SAID) & set(left)


async def test_commands_work_through_a_pooler(url: str, tmp_path: Path) -> None:
    with pooler(url, spreads=True) as sessions:
        pooled, data = sessions.url(url), ("--data", tmp_path / "data")
        store = (*data, "--store", pooled)
        settings = (f"store.url={pooled}", "store.pooler=true")
        async with talking(tmp_path, *settings) as anybody:
            owner = await anybody.with_key("threads")
            thread_id, said = await talk(owner)
            await asyncio.gather(*(read(owner, thread_id) for _ in range(12)))
            await told("token", "create", *store, "--name", "made", "--scope", "threads")
            assert any("made" in line for line in await told("token", "list", *store))
            await told("token", "revoke", *store, "made")
            await told("keys", "check", *store)
            await told("jobs", "list", *store)
            assert await told("store", "migrate", *store) == ["0 migrations applied."]
            (one, *_) = await told("store", "check", *store)
            assert re.fullmatch(COMPLETE, one)
            given = [part for setting in settings for part in ("--set", setting)]
            await told("files", "check", SITE, *data, *given)
            await told("audit", "verify", *store)
            lines = await told("store", "backup", *store, tmp_path / "backup.db")
            assert lines[0].startswith("Backed up ")
            kept = tmp_path / "transcript.json"
            await told("transcript", "export", SITE, thread_id, *data, *given, "--to", kept)
            erased = await told("erase", *store, "--thread", thread_id)
            assert any("Freed the space" in line for line in erased)
            assert not set(SAID) & set(await read(owner, thread_id))
    await told("store", "restore", *data, "--store", "sqlite:desk.db", tmp_path / "backup.db")
    async with talking(tmp_path) as anybody:
        owner = Talker(anybody.desk, tmp_path / "data", anybody.http, owner.key)
        assert await read(owner, thread_id) == said


async def test_a_copy_names_the_server_itself(
    url: str, postgres: PostgresServer, pgbouncer: Pooler, tmp_path: Path
) -> None:
    async with talking(tmp_path):
        pass
    empty, data = await postgres.make("unpooled"), ("--data", tmp_path / "data")
    for source, target in (
        (pgbouncer.url(url), "sqlite:new.db"),
        ("sqlite:desk.db", pgbouncer.url(empty)),
    ):
        (line,) = await told("store", "copy", *data, source, target, code=1)
        assert "Name the server itself, not its pooler." in line
    lines = await told("store", "copy", *data, "sqlite:desk.db", empty)
    assert lines[0].endswith("all are as in the source.")


async def test_a_desk_moves_to_postgres_and_back(postgres: PostgresServer, tmp_path: Path) -> None:
    url, data = await postgres.make("moved"), tmp_path / "data"
    async with talking(tmp_path) as anybody:
        owner = await anybody.with_key("threads")
        assert owner.key is not None
        thread_id, said = await talk(owner)

    lines = await told("store", "copy", "--data", data, "sqlite:desk.db", url)
    assert lines[0].endswith("all are as in the source.")
    assert any("unchanged" in line for line in lines)
    (data / "desk.db").rename(data / "before.db")

    async with talking(tmp_path, f"store.url={url}") as anybody:
        owner = Talker(anybody.desk, data, anybody.http, owner.key)
        assert await read(owner, thread_id) == said
        await owner.post(thread_id, "On PostgreSQL.", wait=10)
        said = await read(owner, thread_id)

    await told("store", "copy", "--data", data, url, "sqlite:desk.db")
    async with talking(tmp_path) as anybody:
        owner = Talker(anybody.desk, data, anybody.http, owner.key)
        assert await read(owner, thread_id) == said


async def test_a_backup_of_postgres_is_a_file_that_either_engine_restores(
    url: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup.db"
    async with talking(tmp_path, f"store.url={url}") as anybody:
        owner = await anybody.with_key("threads")
        assert owner.key is not None
        thread_id, said = await talk(owner)
        lines = await told("store", "backup", "--data", data, "--store", url, backup)
        assert lines[0].startswith("Backed up ")
        await owner.post(thread_id, "After the backup.", wait=10)
    assert backup.stat().st_mode & 0o077 == 0

    refused = await told("store", "restore", "--data", data, "--store", url, backup, code=1)
    assert any("is not empty" in line for line in refused)
    for store in (await postgres.make("restored"), "sqlite:desk.db"):
        await told("store", "restore", "--data", data, "--store", store, backup)
        async with talking(tmp_path, f"store.url={store}") as anybody:
            owner = Talker(anybody.desk, data, anybody.http, owner.key)
            assert await read(owner, thread_id) == said


async def test_lost_rows_are_told_and_neither_backed_up_nor_copied(
    url: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    data, backup = ("--data", tmp_path / "data"), tmp_path / "backup.db"
    async with talking(tmp_path, f"store.url={url}") as anybody:
        await talk(await anybody.with_key("threads"))
    await told("store", "check", *data, "--store", url)
    await postgres.rows("DELETE FROM threads")
    lost = "database: a row of messages refers to a missing row of threads"
    assert lost in await told("store", "check", *data, "--store", url, code=1)
    refused = await told("store", "backup", *data, "--store", url, backup, code=1)
    assert lost in refused
    assert refused[-1] == "Nothing was backed up."
    assert {made.name for made in tmp_path.iterdir()}.isdisjoint({"backup.db", "backup.db.copying"})  # noqa: ASYNC240
    refused = await told("store", "copy", *data, url, "sqlite:new.db", code=1)
    assert refused[-1] == "The copy is not finished, and no desk opens it."
    assert not (tmp_path / "data" / "new.db").exists()


async def test_a_copy_with_a_broken_chain_is_served_by_no_desk(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url, data = await postgres.make("broken"), ("--data", tmp_path / "data")
    async with talking(tmp_path) as anybody:
        await talk(await anybody.with_key("threads"))
    with closing(sqlite3.connect(tmp_path / "data" / "desk.db")) as database, database:
        database.execute("UPDATE messages SET created_at = created_at + 1")
    refused = await told("store", "copy", *data, "sqlite:desk.db", url, code=1)
    assert refused[0].startswith("threads: ")
    assert refused[-1] == "The copy is not finished, and no desk opens it."
    for command in (("check",), ("backup", tmp_path / "backup.db")):
        name, *dest = command
        (line,) = await told("store", name, *data, "--store", url, *dest, code=1)
        assert "was not finished" in line


async def test_a_schema_is_brought_up_after_a_look(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    data = ("--data", tmp_path, "--store", await postgres.make("young"))
    looked = await told("store", "migrate", *data, "--dry-run")
    assert looked[0] == "would apply 0001_desk.sql"
    assert looked[-1].endswith("migrations are missing.")
    done = await told("store", "migrate", *data)
    assert len(done) == len(looked)
    assert await told("store", "migrate", *data, "--dry-run") == ["0 migrations are missing."]


async def test_commands_for_files_say_so(tmp_path: Path) -> None:
    (line,) = await told(
        "store", "check", "--data", tmp_path, "--store", f"postgresql:///x?host={tmp_path}", code=1
    )
    assert "cannot be opened" in line
