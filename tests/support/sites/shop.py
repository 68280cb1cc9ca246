"""The example shop, for tests: its actions with a separate database, and a caller."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from aitp_desk.actions.base import Context
from aitp_desk.actions.loader.loader import Actions
from tests.support.clients.threads import Talker, Told, talking
from tests.support.desk.server import SHOP
from tests.support.doubles.agent import NOON, Clock

DAY = 24 * 60 * 60
STOVE, TENT, BOOT, FILTER = "TO-5103", "TO-2201", "TO-1104", "TO-5308"
ON_SALE = "TO-4097"
SAM = {"order_id": "TH10482317", "email": "sam@customer.example"}
"""Of an order that was placed the day before the database is made."""
RUTH = {"order_id": "TH10482201", "email": "ruth@customer.example"}
"""Of an order that was collected twelve days before."""


def make_shop(folder: Path) -> Path:
    """A shop with the example's actions, a separate database and one page."""
    site = folder / "shop"
    shutil.copytree(SHOP / "actions", site / "actions")
    (site / "content").mkdir()
    (site / "content" / "about.md").write_text("# About\n\nWe sell gear.\n", "utf-8")
    settings = '[content]\nfolder = "content"\n\n[capabilities.payments]\n'
    (site / "desk.toml").write_text(settings, "utf-8")
    return site


class Shopper:
    """An agent that calls the shop's actions by arguments."""

    def __init__(self, talker: Talker, site: Path) -> None:
        self.talker = talker
        self._site = site

    async def with_key(self, *scopes: str) -> Shopper:
        """Another agent."""
        return Shopper(await self.talker.with_key(*scopes), self._site)

    async def ask(self, capability: str, query: str, **more: Any) -> Told:
        body = {"capability": capability, "query": query, **more}
        return await self.talker.send("POST", "/agent/converse", body)

    async def call(self, capability: str, **arguments: Any) -> Told:
        """Call an action by arguments."""
        accepts = ["application/data", "application/action-result"]
        return await self.ask(capability, json.dumps(arguments), context={"accept_types": accepts})

    async def do(self, capability: str, **arguments: Any) -> Any:
        """What a call gives that has to succeed."""
        body = (await self.call(capability, **arguments)).ok
        assert body["status"] == "success", body
        payload = body["response"]["payload"]
        return payload["data"] if "data" in payload else payload["result"]

    async def refused(self, capability: str, **arguments: Any) -> tuple[int, str]:
        """Status and message of a call that has to be refused."""
        told = await self.call(capability, **arguments)
        assert told.body["status"] == "error", told.body
        return told.status, told.body["message"]

    async def buy(self, *, total: str, **arguments: Any) -> Any:
        """Place an order, and agree to what it costs."""
        agreed = {"amount": total, "currency": "USD"}
        return await self.do("place_order", **arguments, _confirm=agreed)

    def rows(self, statement: str) -> list[Any]:
        """What stands in the shop's own database."""
        with closing(sqlite3.connect(self._site / "shop.db")) as shop:
            return shop.execute(statement).fetchall()

    def change(self, statement: str) -> None:
        """Change the shop's own database, as people of the shop do."""
        with closing(sqlite3.connect(self._site / "shop.db")) as shop, shop:
            shop.execute(statement)

    def count(self, sku: str, store: str) -> int:
        """How many pieces are in stock."""
        ((count,),) = self.rows(
            f"SELECT count FROM stock WHERE sku = '{sku}' AND store = '{store}'"
        )
        return int(count)


@asynccontextmanager
async def shopping(
    folder: Path, *settings: str, now: float = NOON
) -> AsyncIterator[tuple[Shopper, Clock]]:
    """The shop, an agent with a key for its actions, and the clock of both."""
    site, clock = make_shop(folder), Clock(now)
    async with talking(folder, *settings, site=site, clock=clock) as talker:
        yield await Shopper(talker, site).with_key("actions"), clock


def perform(shop: Actions, name: str, context: Context, **arguments: Any) -> Any:
    """Carry out an action whose preconditions were looked at."""
    (offered,) = (one for one in shop.offered if one.action.name == name)

    async def carry_out() -> Any:
        return (await offered.perform(offered.read(arguments), context)).result

    return asyncio.run(carry_out())
