"""The schema and the statements of PostgreSQL are those of SQLite."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import asyncpg
import pytest

from aitp_desk.store.engine import migration as sqlite_migration
from aitp_desk.store.engine.migration import POSTGRES_SCHEMA
from aitp_desk.store.engine.postgres import migration as postgres_migration
from aitp_desk.store.engine.postgres.migration import list_missing, migrate
from aitp_desk.store.engine.postgres.statements import load_postgres_statements, translate
from aitp_desk.store.engine.statements import load_statements
from tests.support.store.postgres import PostgresServer

TYPES = {"INTEGER": "int8", "TEXT": "text", "BLOB": "bytea"}
"""Types of SQLite's columns, and their names in PostgreSQL."""

COLUMNS = """
SELECT c.table_name, c.column_name, c.udt_name, c.is_nullable = 'NO', c.collation_name
FROM information_schema.columns AS c JOIN pg_class AS t ON t.oid = c.table_name::regclass
WHERE c.table_schema = current_schema() AND NOT t.relispartition
ORDER BY c.table_name, c.ordinal_position
"""
INDEXES = """
SELECT t.relname, i.relname, x.indisunique FROM pg_index AS x
JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
WHERE t.relnamespace = current_schema()::regnamespace
    AND NOT x.indisprimary AND NOT t.relispartition
ORDER BY 1, 2
"""


@pytest.mark.servers
async def test_both_schemas_have_the_same_tables_columns_and_indexes(
    postgres: PostgresServer,
) -> None:
    await postgres.begin()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        sqlite_migration.migrate(database, now=0)
        tables = [
            name
            for (name,) in database.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            )
        ]
        expected = [
            (table, name, TYPES[kind], bool(is_needed), "C" if kind == "TEXT" else None)
            for table in tables
            for _, name, kind, is_needed, *_ in database.execute(f"PRAGMA table_info({table})")
        ]
        indexes = [
            (table, name, bool(is_unique))
            for table in tables
            for _, name, is_unique, origin, _ in database.execute(f"PRAGMA index_list({table})")
            if origin == "c"
        ]
    assert await postgres.rows(COLUMNS) == expected
    assert await postgres.rows(INDEXES) == sorted(indexes)


@pytest.mark.servers
async def test_every_statement_is_understood_and_gives_what_sqlite_gives(
    postgres: PostgresServer,
) -> None:
    connection = await asyncpg.connect(await postgres.begin())
    for name, statement in load_postgres_statements().items():
        for sql in filter(None, (statement.sql, statement.numbered)):
            prepared = await connection.prepare(sql)
            given = {kind.name for kind in prepared.get_parameters()}
            assert given <= {"int4", "int8", "text", "bytea"}, name
            gotten = {column.type.name for column in prepared.get_attributes()}
            assert gotten <= {"int4", "int8", "text", "bytea"}, name
    await connection.close()


@pytest.mark.servers
async def test_numbers_have_64_bits_wherever_they_are_compared_or_kept(
    postgres: PostgresServer,
) -> None:
    """What has 32 bits is a length or a place in a text."""
    connection = await asyncpg.connect(await postgres.begin())
    short = set()
    for statement in load_postgres_statements().values():
        prepared = await connection.prepare(statement.sql)
        kinds = zip(statement.names, prepared.get_parameters(), strict=True)
        short |= {name for name, kind in kinds if kind.name == "int4"}
    assert short == {"first", "longest", "most", "size"}
    await connection.close()


@pytest.mark.servers
async def test_desks_that_start_at_once_migrate_once(postgres: PostgresServer) -> None:
    url = await postgres.make("young")
    connections = [await asyncpg.connect(url) for _ in range(4)]
    missing = len(await list_missing(connections[0]))
    assert missing > 1
    done = await asyncio.gather(*(migrate(one, now=0) for one in connections))
    assert sorted(opened.migrated for opened in done) == [0, 0, 0, missing]
    assert await list_missing(connections[0]) == ()
    for one in connections:
        await one.close()


def newer_schema(folder: Path, sql: str) -> Path:
    """Make the schema of a later version, which has one file more."""
    shutil.copytree(POSTGRES_SCHEMA, folder, dirs_exist_ok=True)
    number = len(list(folder.glob("*.sql"))) + 1
    (folder / f"{number:04}_later.sql").write_text(sql)
    return folder


@pytest.mark.servers
async def test_a_migration_may_take_longer_than_a_statement(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    await postgres.begin()
    url = await postgres.make("upgraded", template="desk")
    known = "CREATE TABLE later AS SELECT current_setting('statement_timeout') AS most"
    folder = newer_schema(tmp_path, f"SELECT pg_sleep(2.5); {known}")
    # statements that are no file's end in this time also on a busy machine
    hasty = {"statement_timeout": "30s"}
    connection = await asyncpg.connect(url, command_timeout=2, server_settings=hasty)
    assert (await migrate(connection, now=0, folder=folder)).migrated == 1
    await connection.close()
    assert await postgres.rows("SELECT most FROM later", "upgraded") == [("0",)]


@pytest.mark.servers
async def test_nobody_waits_behind_a_migration_for_a_table_that_a_backup_reads(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_migration, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(postgres_migration, "LOCK_TRIES", 10_000)
    await postgres.begin()
    url = await postgres.make("upgraded", template="desk")
    folder = newer_schema(tmp_path, "ALTER TABLE threads ADD COLUMN later BIGINT")
    backup, other, newer = [await asyncpg.connect(url) for _ in range(3)]
    read = "SELECT count(*) FROM threads"
    async with asyncio.timeout(60):
        async with backup.transaction():
            await backup.fetch(read)
            migrated = asyncio.create_task(migrate(newer, now=0, folder=folder))
            waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
            for _ in range(3):
                while not await other.fetch(waiting):
                    pass
                await other.fetch(read)
            assert not migrated.done()
        assert (await migrated).migrated == 1
    for one in (backup, other, newer):
        await one.close()


DEMANDS = """
SELECT c.table_name, c.column_name, c.udt_name, c.collation_name,
    c.is_nullable = 'NO' AND c.column_default IS NULL
FROM information_schema.columns AS c JOIN pg_class AS t ON t.oid = c.table_name::regclass
WHERE c.table_schema = current_schema() AND NOT t.relispartition
"""
CONSTRAINTS = """
SELECT t.relname, c.conname FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid
WHERE t.relnamespace = current_schema()::regnamespace AND NOT t.relispartition
    AND c.contype IN ('c', 'x', 'f')
"""


class Schema(NamedTuple):
    """What a desk relies on: columns with their form and whether a row must name them."""

    columns: dict[tuple[str, str], tuple[str, str | None, bool]]
    rules: set[tuple[str, str]]

    @classmethod
    async def read(cls, connection: asyncpg.Connection) -> Schema:
        """Read the schema of a database."""
        columns = {tuple(row)[:2]: tuple(row)[2:] for row in await connection.fetch(DEMANDS)}
        unique = [tuple(row)[:2] for row in await connection.fetch(INDEXES) if row["indisunique"]]
        checks = [tuple(row) for row in await connection.fetch(CONSTRAINTS)]
        return cls(columns, {*unique, *checks})

    def find_contractions(self, newer: Schema) -> list[str]:
        """Return what a desk that knows only this schema could not go on with."""
        tables = {table for table, _ in self.columns}
        changed = [
            f"{table}.{column}"
            for (table, column), form in self.columns.items()
            if newer.columns.get((table, column)) not in {form, (*form[:2], False)}
        ]
        demanded = [
            f"{table}.{column}"
            for (table, column), form in newer.columns.items()
            if (table, column) not in self.columns and table in tables and form[2]
        ]
        rules = [f"{table}: {rule}" for table, rule in newer.rules - self.rules if table in tables]
        return sorted(changed + demanded + rules)


@pytest.mark.servers
async def test_every_migration_only_expands_what_the_version_before_relies_on(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    connection = await asyncpg.connect(await postgres.make("stepwise"))
    files = sorted(POSTGRES_SCHEMA.glob("*.sql"))
    before: Schema | None = None
    for file in files:
        shutil.copy(file, tmp_path)
        await migrate(connection, now=0, folder=tmp_path)
        after = await Schema.read(connection)
        if before is not None:
            assert before.find_contractions(after) == [], file.name
        before = after
    assert before is not None
    await connection.execute(
        """
        ALTER TABLE threads DROP COLUMN owner; ALTER TABLE runs ALTER COLUMN id TYPE VARCHAR;
        ALTER TABLE calls ADD COLUMN later BIGINT NOT NULL; ALTER TABLE jobs ADD CHECK (id > '');
        CREATE UNIQUE INDEX once ON messages (thread_id); DROP TABLE notes;
        CREATE TABLE later (id BIGINT NOT NULL PRIMARY KEY CHECK (id > 0));
        ALTER TABLE tickets ADD COLUMN later BIGINT NOT NULL DEFAULT 1;
        """
    )
    found = before.find_contractions(await Schema.read(connection))
    await connection.close()
    assert {one.partition(".")[0].partition(":")[0] for one in found} == {
        "calls",
        "jobs",
        "messages",
        "notes",
        "runs",
        "threads",
    }


def test_parameters_are_numbered_but_not_in_texts_and_casts() -> None:
    found = translate("one", "SELECT ':a', :b::text FROM t WHERE c = :c AND b = :b RETURNING d")
    assert found.sql == "SELECT ':a', $1::text FROM t WHERE c = $2 AND b = $1 RETURNING d"
    assert found.names == ("b", "c")
    assert found.arguments({"c": 3, "b": 2, "a": 1}) == (2, 3)


def test_both_engines_have_the_same_statements_with_the_same_parameters() -> None:
    own, others = load_statements("sqlite"), load_postgres_statements()
    assert set(own) == set(others)
    for name, sql in own.items():
        assert set(re.findall(r":([a-z_]+)", sql)) == set(others[name].names), name
