"""The agent of the tutorial orders once, at the cheaper stall, and pays no risen price."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.visitor import Signer, load_key
from tests.docs.snippets import ROOT
from tests.support.desk.command import run
from tests.support.desk.server import serving
from tests.support.doubles.agent import Clock

pytestmark = pytest.mark.servers

EXAMPLES = ROOT / "examples"
WITHIN_THE_QUOTE, AFTER_IT = 14 * 60, 16 * 60
NO_FILES_OF_USE = shutil.ignore_patterns(".desk", "*.db*", "__pycache__")


class Stall:
    """A stall that serves, as its owner uses it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.key = ""

    async def command(self, *words: str) -> str:
        """The last line that a command of the desk prints."""
        code, told, wrong = await run(*words, "--data", self.folder / ".desk")
        assert code == 0, wrong
        return told[-1]

    async def orders(self) -> list[tuple[str, int]]:
        """What has to be packed."""
        headers = {"Authorization": f"Bearer {self.key}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(f"{self.url}/capabilities/to_pack", json={}) as response,
        ):
            told = await response.json()
        return [(one["item"], one["count"]) for one in told["result"]]

    def reprice(self, before: str, now: str) -> None:
        goods = self.folder / "goods.csv"
        goods.write_text(goods.read_text("utf-8").replace(before, now), "utf-8")


class Market:
    """Two stalls, and the agent that is a customer of both."""

    def __init__(self, folder: Path, lane: Stall, mill: Stall, clock: Clock) -> None:
        self._folder = folder
        self.lane = lane
        self.mill = mill
        self.clock = clock

    async def agent(self, what: str) -> str:
        """What the agent prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "buyer.py",
            what,
            cwd=self._folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
        return told.decode()

    async def balances(self) -> list[str]:
        """What the agent has at the lane and at the mill."""
        told = [await one.command("ledger", "statement", ACCOUNT) for one in (self.lane, self.mill)]
        return [one.removeprefix(f"{ACCOUNT} holds ") for one in told]


ACCOUNT = "acct_scout"


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Market]:
    """Open the stalls of the tutorial; the honey of the mill is cheaper."""
    clock, stalls = Clock(time.time()), []
    shutil.copytree(EXAMPLES / "buyer", folder, dirs_exist_ok=True, ignore=NO_FILES_OF_USE)
    await openssl("genpkey", "-algorithm", "ed25519", "-out", str(folder / "agent.pem"))
    public = Signer("https://scout.example", load_key(folder / "agent.pem")).jwk["x"]
    settings = (folder / "buyer.toml").read_text("utf-8")
    async with AsyncExitStack() as stack:
        for name, port in (("lane", 8081), ("mill", 8082)):
            site = folder / name
            shutil.copytree(EXAMPLES / "stall", site, ignore=NO_FILES_OF_USE)
            desk = await stack.enter_async_context(
                serving(site / ".desk", folder=site, clock=clock)
            )
            settings = settings.replace(f"http://127.0.0.1:{port}", desk.url)
            stall = Stall(site, desk.url)
            stalls.append(stall)
            await stall.command("ledger", "open", ACCOUNT, "--key", public)
            await stall.command("ledger", "credit", ACCOUNT, "50.00", "EUR")
            scout = ("token", "create", "--name", "scout", "--scope", "actions:order")
            (folder / f"{name}.key").write_text(await stall.command(*scout), "utf-8")
            owner = ("token", "create", "--name", "owner", "--scope", "operator")
            stall.key = await stall.command(*owner)
        (folder / "buyer.toml").write_text(settings, "utf-8")
        lane, mill = stalls
        mill.reprice("7.50", "6.90")
        yield Market(folder, lane, mill, clock)


async def openssl(*words: str) -> None:
    process = await asyncio.create_subprocess_exec("openssl", *words)
    assert await process.wait() == 0


async def test_a_quote_holds_and_is_one_order_at_the_cheaper_stall(tmp_path: Path) -> None:
    async with opened(tmp_path) as market:
        await market.agent("compare")
        market.mill.reprice("6.90", "9.90")
        market.clock.advance(WITHIN_THE_QUOTE)
        assert "Paid now: 13.80 EUR." in await market.agent("buy")
        assert "Paid now: 0.00 EUR." in await market.agent("buy")
        assert await market.mill.orders() == [("linden", 2)]
        assert await market.lane.orders() == []
        assert await market.balances() == ["50.00 EUR.", "36.20 EUR."]


async def test_a_price_that_has_risen_since_the_quote_is_not_paid(tmp_path: Path) -> None:
    async with opened(tmp_path) as market:
        await market.agent("compare")
        market.mill.reprice("6.90", "9.90")
        market.clock.advance(AFTER_IT)
        assert "has expired, and nothing was done" in await market.agent("buy")
        told = await market.agent("again")
        assert told == "Nothing was bought: order was not confirmed: 19.80 EUR.\n"
        assert await market.mill.orders() == await market.lane.orders() == []
        assert await market.balances() == ["50.00 EUR.", "50.00 EUR."]
