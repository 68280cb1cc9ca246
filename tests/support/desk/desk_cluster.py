"""A desk of several worker processes on one PostgreSQL database, and a client of each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp
import msgspec

from aitp_desk.app.server import RunningServer
from aitp_desk.store.base import Store
from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.support.access.keys import SigningKey, make_key, make_signing_key
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import Talker
from tests.support.desk.command import Served, serving_command
from tests.support.desk.processes import free_ports
from tests.support.desk.server import SITE
from tests.support.store.postgres import PostgresServer

WITHOUT_LIMITS = ("limits.enabled=false", "content.meaning.enabled=false")


class DeskCluster:
    """The workers of one desk.

    Parameters:
        urls: the address of each worker.
        clients: an HTTP client of each worker.
        store: the database, next to the workers.
    """

    def __init__(
        self,
        served: Served,
        urls: list[str],
        clients: list[aiohttp.ClientSession],
        store: Store,
    ) -> None:
        self.served = served
        self.urls = urls
        self.clients = clients
        self.store = store

    def talkers(self, key: str | None = None) -> list[Talker]:
        """A caller of the Threads API, at each worker."""
        desk = cast("RunningServer", None)  # nothing is looked up past the address
        return [Talker(desk, self.served.data, http, key) for http in self.clients]

    def visitors(self) -> list[Visitor]:
        """A visitor over AHP, at each worker."""
        desk = cast("RunningServer", None)
        return [Visitor(desk, http) for http in self.clients]

    async def make_key(self, *scopes: str, name: str) -> str:
        """Make an API key, as the command line does."""
        return await make_key(self.store, self.served.data, *scopes, name=name)

    async def make_signing_key(self, *scopes: str, name: str) -> SigningKey:
        """Make a key that signs requests."""
        return await make_signing_key(self.store, self.served.data, *scopes, name=name)

    async def until(self, event: str, **fields: object) -> dict[str, Any]:
        """Read the log on to an event with these fields."""
        assert self.served.process.stderr is not None
        async with asyncio.timeout(60):
            while line := await self.served.process.stderr.readline():
                entry = msgspec.json.decode(line, type=dict[str, Any])
                if entry["event"] == event and fields.items() <= entry.items():
                    return entry
        raise AssertionError(f"The log ended without {event}.")


@asynccontextmanager
async def serving_cluster(
    postgres: PostgresServer,
    folder: Path,
    *settings: str,
    site: Path = SITE,
    workers: int = 2,
    database: str = "cluster",
) -> AsyncIterator[DeskCluster]:
    """Serve a site by worker processes, on a database without rows.

    Parameters:
        folder: the data folder will be in it.
        settings: as ``--set`` takes them.
        database: the name of its database, which no other cluster uses at the time.
    """
    url = await postgres.begin(database)
    first = free_ports(workers)
    given = (f"store.url={url}", f"server.worker_port={first}", *WITHOUT_LIMITS, *settings)
    options = [part for setting in given for part in ("--set", setting)]
    data = folder / "data"
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(
            serving_command(site, data, "--workers", workers, *options)
        )
        urls = [f"http://127.0.0.1:{first + number}" for number in range(workers)]
        clients = [await stack.enter_async_context(aiohttp.ClientSession(one)) for one in urls]
        store = await stack.enter_async_context(PostgresStore.open(url, {}))
        yield DeskCluster(served, urls, clients, store)
