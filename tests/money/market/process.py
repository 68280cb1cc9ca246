"""A desk that sells, in a separate process, which is killed and begun again on its data."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path

import aiohttp

from aitp_desk.cli.extension import have_done
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_payments.money import MILLION
from tests.money.checks import invariants
from tests.money.market.site import found, make_site
from tests.support.access.keys import make_key
from tests.support.clients.threads import DATABASE
from tests.support.desk.command import run
from tests.support.desk.first_start import begin_database
from tests.support.desk.processes import Server, desk_command, free_port, serving_process

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

    Attributes:
        key: an API key of the payer, who owns the account.
    """

    def __init__(self, folder: Path, program: str = DESK) -> None:
        self.data = folder / "data"
        self.database = self.data / DATABASE
        self.sold = folder / "site" / "sold.txt"
        self.key = ""
        self._folder = folder
        self._program = program
        self._port = free_port()
        self._stack = ExitStack()
        self._server: Server | None = None

    @property
    def url(self) -> str:
        """Where it listens, and by which its messages are known: the same after each start."""
        return f"http://127.0.0.1:{self._port}"

    async def begin(self) -> None:
        """Start it; return once it answers."""
        port = self._port
        command = desk_command(self.data, port, "log.level=error", folder=self._folder / "site")
        command[command.index(DESK)] = self._program
        starting = serving_process(command, port, log=self._folder / "log")
        self._server = await asyncio.to_thread(self._stack.enter_context, starting)

    def kill(self) -> None:
        """End it at once (kill -9)."""
        assert self._server is not None
        self._server.kill()

    async def open(self) -> None:
        """Make the site, its payer and their money, and begin."""
        make_site(self._folder / "site")
        begin_database(self.database)
        async with SqliteStore.open(self.database) as store:
            self.key = await make_key(store, self.data, "actions", "threads")
        await self.begin()
        async with (
            aiohttp.ClientSession(self.url) as http,
            http.post("/v1/threads", json={}, headers=self.credentials) as opened,
        ):
            assert opened.status == 200, await opened.text()
        with self._disk() as disk:
            ((owner,),) = disk.execute("SELECT owner FROM threads").fetchall()
        founding = found(owner, FUNDS, CHANNELS, CHANNEL)
        store_url = f"sqlite:{DATABASE}"
        await asyncio.to_thread(have_done, self.data, store_url, "payments", founding)

    def close(self) -> None:
        """End it, if it runs."""
        self._stack.close()

    @property
    def credentials(self) -> dict[str, str]:
        """The headers by which the payer is known."""
        return {"Authorization": f"Bearer {self.key}"}

    async def idle(self) -> None:
        """Wait until it has done all that was promised."""
        await asyncio.to_thread(self._wait_until_idle)

    def _wait_until_idle(self) -> None:
        ends_at = time.monotonic() + SECONDS
        with self._disk() as disk:
            while any(due := disk.execute(_DUE).fetchone()):
                assert time.monotonic() < ends_at, due
                time.sleep(0.02)

    def kept(self, given_back: set[str], added: Mapping[tuple[str, int], int]) -> invariants.Kept:
        """What stands on disk; parameters as of what it returns."""
        now = int(time.time())
        with self._disk() as disk:
            return invariants.read(disk, self.sold, 2 * FUNDS, given_back, added, now)

    async def verified(self) -> list[str]:
        """What ``aitp-desk ledger verify`` complains of."""
        code, told, wrong = await run("ledger", "verify", "--data", self.data)
        return [] if code == 0 else [*told, *wrong]

    @contextmanager
    def _disk(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.database.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as disk:
            yield disk


@asynccontextmanager
async def shop(folder: Path, program: str = DESK) -> AsyncIterator[Shop]:
    """A desk that sells, until the context ends."""
    one = Shop(folder, program)
    try:
        await one.open()
        yield one
    finally:
        one.close()
