"""A desk that sells, in a separate process, which is killed and begun again on its data."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path

import aiohttp

from aitp_desk.cli.extension import have_done
from aitp_payments.money import MILLION
from tests.faults.databases import (
    FaultDatabase,
    SqliteFile,
    open_database,
    open_fault_store,
)
from tests.money.checks import invariants
from tests.money.market.site import found, make_site
from tests.support.access.keys import make_key
from tests.support.desk.command import run
from tests.support.desk.processes import Server, desk_command, free_ports, serving_fork

DESK, RASH_DESK = "aitp_desk", "tests.faults.processes.repetition"
FUNDS, CHANNEL = 1_000_000 * MILLION, 200_000 * MILLION
CHANNELS = ("ch_0", "ch_1")
SECONDS = 120
"""How long it may take to do what was promised, also what has to be tried again."""
_DUE = """
SELECT (SELECT count(*) FROM jobs WHERE state IN ('queued', 'at_work')),
       (SELECT count(*) FROM calls WHERE state = 'started')
"""


class Shop:
    """The desk: begun by :meth:`begin`, on what it has on disk.

    Parameters:
        folder: empty; everything is written there.
        program: the desk's module.
        database: what it serves; by default an SQLite file in its data folder.

    Attributes:
        key: an API key of the payer, who owns the account.
    """

    def __init__(
        self, folder: Path, program: str = DESK, database: FaultDatabase | None = None
    ) -> None:
        self.data = folder / "data"
        self.database = database or SqliteFile(self.data)
        self.sold = folder / "site" / "sold.txt"
        self.key = ""
        self._folder = folder
        self._program = program
        self._port = free_ports(1)
        self._stack = ExitStack()
        self._server: Server | None = None

    @property
    def url(self) -> str:
        """Where it listens, and by which its messages are known: the same after each start."""
        return f"http://127.0.0.1:{self._port}"

    async def begin(self) -> None:
        """Start it; return once it answers."""
        port = self._port
        settings = (
            "log.level=error",
            "content.meaning.enabled=false",
            f"store.url={self.database.url}",
        )
        command = desk_command(self.data, port, *settings, folder=self._folder / "site")
        command[command.index(DESK)] = self._program
        starting = serving_fork(command, port, log=self._folder / "log")
        self._server = await asyncio.to_thread(self._stack.enter_context, starting)

    def kill(self) -> None:
        """End it at once (kill -9)."""
        assert self._server is not None
        self._server.kill()

    async def open(self) -> None:
        """Make the site, its payer and their money, and begin."""
        make_site(self._folder / "site")
        await self.database.begin()
        async with open_fault_store(self.database.url, self.data) as store:
            self.key = await make_key(store, self.data, "actions", "threads")
        await self.begin()
        await fund(self.url, self.credentials, self.data, self.database)

    def close(self) -> None:
        """End it, if it runs."""
        self._stack.close()

    @property
    def credentials(self) -> dict[str, str]:
        """The headers by which the payer is known."""
        return {"Authorization": f"Bearer {self.key}"}

    async def idle(self) -> None:
        """Wait until it has done all that was promised."""
        ends_at = time.monotonic() + SECONDS
        while any(due := (await self.database.rows(_DUE))[0]):
            assert time.monotonic() < ends_at, due
            await asyncio.sleep(0.02)

    async def kept(
        self, given_back: set[str], added: Mapping[tuple[str, int], int]
    ) -> invariants.Kept:
        """What stands on disk; parameters as of what it returns."""
        now = int(time.time())
        rows = await self.database.snapshot()
        with closing(open_database(rows)) as disk:
            return invariants.read(disk, self.sold, 2 * FUNDS, given_back, added, now)

    async def verified(self) -> list[str]:
        """What ``aitp-desk ledger verify`` complains of."""
        code, told, wrong = await self.command("ledger", "verify")
        return [] if code == 0 else [*told, *wrong]

    async def command(self, *words: str) -> tuple[int | None, list[str], list[str]]:
        """Run a command on its data."""
        where = ("--data", self.data, "--store", self.database.url)
        return await run(*words[:2], *where, *words[2:])


async def fund(url: str, credentials: dict[str, str], data: Path, database: FaultDatabase) -> None:
    """Give a payer an account and channels, and another caller a code.

    Parameters:
        url: of a desk that serves the database.
        credentials: the headers by which the payer is known.
    """
    async with (
        aiohttp.ClientSession(url) as http,
        http.post("/v1/threads", json={}, headers=credentials) as opened,
    ):
        assert opened.status == 200, await opened.text()
        thread_id = (await opened.json())["id"]
    ((owner,),) = await database.rows(f"SELECT owner FROM threads WHERE id = '{thread_id}'")
    founding = found(owner, FUNDS, CHANNELS, CHANNEL)
    await asyncio.to_thread(have_done, data, database.url, "payments", founding)


@asynccontextmanager
async def shop(
    folder: Path, program: str = DESK, database: FaultDatabase | None = None
) -> AsyncIterator[Shop]:
    """A desk that sells, until the context ends; parameters as of :class:`Shop`."""
    one = Shop(folder, program, database)
    try:
        await one.open()
        yield one
    finally:
        one.close()
