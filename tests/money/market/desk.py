"""A real desk that sells, in this process, over a store in a folder; it can die and begin again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import aiohttp

from aitp_desk.app.server import open_server
from aitp_desk.capability import Delivery, Effect
from aitp_desk.cli.extension import _judged
from aitp_desk.config import load_config
from aitp_desk.desk.plugins.judge import ATTEMPTS
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.records.capabilities import RecordsMoved
from aitp_desk.store.units.capabilities import apply_from_beside
from aitp_payments.ledger.accounts import Account, digest, open_account, plain_code
from aitp_payments.ledger.journal import NotBooked, move, post
from aitp_payments.ledger.purses import Purse, open_purse
from aitp_payments.messages.signatures import PREFIX, write_key
from aitp_payments.money import MILLION
from aitp_payments.records import After
from tests.money.market.messages import (
    CODE,
    CURRENCY,
    GIFT,
    KEY,
    KEYS,
    MERCHANT_ID,
    PAYER,
    Letter,
    Offer,
)
from tests.money.market.store import Fate, StruckWriter
from tests.support.access.keys import make_key
from tests.support.clients.threads import DATABASE, Talker, Told
from tests.support.desk.first_start import begin_desk
from tests.support.desk.jobs import wake_jobs
from tests.support.doubles.agent import Clock

SECONDS = 30
DUE = (
    "SELECT (SELECT count(*) FROM jobs WHERE state = 'at_work' OR"
    " (state = 'queued' AND available_at <= :now)),"
    " (SELECT count(*) FROM calls WHERE state = 'started' AND NOT EXISTS ("
    "SELECT 1 FROM jobs WHERE ref = calls.id AND state = 'queued' AND available_at > :now))"
)
STORE = f"sqlite:{DATABASE}"
SHARE_BPS = 725
FUNDS, CHANNEL = 200 * MILLION, 60 * MILLION
SITE = "https://market.example"
"""Its address: the same after each start, so that what was written before can be said yet."""
SCHEMA = f"{SITE}/capabilities/payments/v1/schema.json"
SETTINGS = f"""\
[site]
url = "{SITE}"

[capabilities.payments]
merchant_id = "{MERCHANT_ID}"
revenue_share_bps = {SHARE_BPS}
quote_minutes = 10

[capabilities.payments.affiliates]
""" + "".join(f'"{name}" = "{write_key(key.public_key())}"\n' for name, key in KEYS.items())

ACTIONS = '''
"""What is sold here."""

from decimal import Decimal
from pathlib import Path

from aitp_desk.actions import Context, action
from aitp_desk.actions import Money

SOLD = Path(__file__).parent / "sold.txt"


def price(cents: int) -> Money:
    return Money(Decimal(cents) / 100, "EUR")


@action(
    kind="action", mutability="irreversible", blast_radius="self", cost=price, prepaid=True
)
def sell(cents: int, works: bool, context: Context) -> str:
    """Sells something.

    Args:
        cents: what it costs.
        works: whether it can be sold.
    """
    if not works:
        raise ValueError("it is broken")
    with SOLD.open("a") as file:
        file.write(context.call_id + "\\\\n")
    return "Sold."
'''.replace("\\\\", "\\")


class Market:
    """The desk. All of it runs on the loop of its maker.

    Parameters:
        folder: empty; everything is written there.
        clock: Unix seconds.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.clock = clock
        self.data = folder / "data"
        self.sold = folder / "site" / "sold.txt"
        self._site = folder / "site"
        self._site.mkdir()
        (self._site / "index.md").write_text("# Market\n\nWe sell things.\n", "utf-8")
        (self._site / "actions.py").write_text(ACTIONS, "utf-8")
        (self._site / "desk.toml").write_text(SETTINGS, "utf-8")
        self._keys = ("", "")
        self._life: asyncio.Task[None] | None = None
        self._lasting = AsyncExitStack()

    async def begin(self) -> None:
        """Start the desk, with all that it has on disk."""
        self.fate = Fate()
        ready: asyncio.Future[Talker] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(ready))
        waited: list[asyncio.Future[Any]] = [self._life, ready]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        self.talker = await ready if ready.done() else await self._failed(self._life)

    async def _failed(self, life: asyncio.Task[None]) -> Talker:
        await life
        raise AssertionError("the desk has ended by itself")

    async def die(self) -> None:
        """Drop the desk as it is: nothing more is written by it."""
        assert self._life is not None
        self.fate.die()
        self._life.cancel()
        with suppress(asyncio.CancelledError):
            await self._life

    def has_died(self) -> bool:
        """Whether the desk has died, and nobody has begun again."""
        return self.fate.is_dead

    async def end(self) -> None:
        """Die, and be done with the store."""
        await self.die()
        await self._lasting.aclose()

    async def _live(self, ready: asyncio.Future[Talker]) -> None:
        settings = ("limits.enabled=false", "store.synchronous=normal", "server.shutdown_seconds=1")
        config = load_config(self._site, settings, port=0, data=self.data)
        begin_desk(config)
        async with AsyncExitStack() as stack:
            # commands go by the desk's clock here
            stack.enter_context(
                patch("aitp_desk.cli.extension.time", SimpleNamespace(time=self.clock))
            )
            writer = partial(StruckWriter, self.fate)
            with patch("aitp_desk.store.engine.sqlite.WriterThread", writer):
                desk = await stack.enter_async_context(open_server(config, clock=self.clock))
            http = await stack.enter_async_context(aiohttp.ClientSession(desk.url))
            if not all(self._keys):
                scopes = ("actions", "threads"), ("operator", "threads")
                made = [await make_key(desk.store, self.data, *one, name=one[0]) for one in scopes]
                self._keys = made[0], made[1]
            talker, self.site = (Talker(desk, self.data, http, key) for key in self._keys)
            ready.set_result(talker)
            await asyncio.Event().wait()

    async def found(self) -> None:
        """Have a payer with an account and a channel, and a caller with a code."""
        beside = SqliteStore.open(self.data / DATABASE, synchronous="normal")
        self._beside = await self._lasting.enter_async_context(beside)
        self.thread_id = (await self.talker.open()).id
        owners = self.talker.rows(f"SELECT owner FROM threads WHERE id = '{self.thread_id}'")
        ((owner,),) = owners
        key = write_key(KEY.public_key()).removeprefix(PREFIX).rstrip("=")
        accounts = (
            Account(
                id=PAYER,
                opened_at=int(self.clock()),
                keys=(key.replace("+", "-").replace("/", "_"),),
                owner=digest(owner),
            ),
            Account(id=GIFT, opened_at=int(self.clock()), code=digest(plain_code(CODE) or "")),
        )

        def judge(books: Delivery) -> Sequence[Effect]:
            effects: list[Effect] = []
            for account in accounts:
                legs = move("outside:cash", account.id, CURRENCY, FUNDS)
                effects += open_account(account)
                effects += post(f"cash:{account.id}", legs, kind="credit", at=books.now)
            purse = Purse(
                id="ch_0", kind="channel", account=PAYER, currency=CURRENCY, opened_at=books.now
            )
            return (*effects, *open_purse(After(books, effects), purse, CHANNEL))

        assert await self.operate(judge)

    async def operate(self, judge: Callable[[Delivery], Sequence[Effect]]) -> bool:
        """Have something done by another process, as its commands do; whether it was."""
        now = int(self.clock())
        by = make_own_auditor(AuditKeys(bytes(32), bytes(32)), now)
        for _ in range(ATTEMPTS):
            try:
                effects = await _judged(self._beside, "payments", judge, by, None)
                await self._beside.run(apply_from_beside, effects=effects, now=now)
            except RecordsMoved:
                continue
            except (NotBooked, ValueError):
                return False
            return True
        return False

    async def quote(self, cents: int, *, works: bool) -> Offer | None:
        """Ask for something that is paid first; None where the desk has died meanwhile."""
        arguments = {"cents": cents, "works": works}
        if self.has_died():
            return None
        try:
            asked = await self.talker.send("POST", "/capabilities/sell", arguments)
        except aiohttp.ClientError:
            assert self.has_died()
            return None
        if asked.status != 402 and self.has_died():
            return None
        assert asked.status == 402, asked.body
        told = asked.body["payment"]
        message = told["message"]
        return Offer(told["thread_id"], told["call_id"], message["$schema"], message["quote"])

    async def say(self, letter: Letter) -> Told | None:
        """Say something; None where the desk has died meanwhile."""
        talker = self.site if letter.is_of_site else self.talker
        if self.has_died():
            return None
        try:
            told = await talker.post(letter.thread_id, json.dumps(letter.said))
        except aiohttp.ClientError:
            assert self.has_died()
            return None
        # what is well-formed is taken and answered; who was slower each time is told so
        assert told.status in {200, 409} or self.has_died(), told.body
        return told

    async def idle(self) -> None:
        """Wait until the desk has done all that is due.

        A call over which it has died more than once waits a while before it is made again.
        """
        wake_jobs(self.talker.desk)
        async with asyncio.timeout(SECONDS):
            while any(self._disk.execute(DUE, {"now": int(self.clock())}).fetchone()):
                await self.talker.desk.store.settled()

    @cached_property
    def _disk(self) -> sqlite3.Connection:
        address = f"{(self.data / DATABASE).as_uri()}?mode=ro"
        disk = sqlite3.connect(address, uri=True, isolation_level=None)
        self._lasting.callback(disk.close)
        return disk
