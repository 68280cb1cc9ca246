"""A real desk that sells, in this process, over a store in a folder; it can die and begin again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import aiohttp
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.app import open_server
from aitp_desk.capability import Delivery, Effect
from aitp_desk.commands import _judged
from aitp_desk.config import load_config
from aitp_desk.desk.capabilities.judging import ATTEMPTS
from aitp_desk.model.audit import AuditKeys, own_auditor
from aitp_desk.store.capability_records import RecordsMoved
from aitp_desk.store.sqlite import SqliteStore
from aitp_desk.store.statements import load_statements
from aitp_desk.store.work.capabilities import apply_effects
from aitp_payments.ledger.accounts import Account, digest, open_account, plain_code
from aitp_payments.ledger.journal import NotBooked, move, post
from aitp_payments.ledger.purses import Purse, open_purse
from aitp_payments.money import MILLION
from aitp_payments.records import After
from aitp_payments.signatures import PREFIX, sign, write_key, write_signature
from aitp_payments.wrapping import wrapped_bytes
from tests.beginning import begin_database
from tests.doubles import Clock
from tests.keys import make_key
from tests.money.striking import Fate, StruckWriter
from tests.talking import DATABASE, Talker, Told

_statements, _entry_points = cache(load_statements), cache(entry_points)
SECONDS = 30
CURRENCY = "EUR"
STORE = f"sqlite:{DATABASE}"
CODE = "SC-7K2QX-00000-11111-22222"
PAYER, GIFT = "acct_ada", "acct_gift"
KEY = Ed25519PrivateKey.from_private_bytes(b"a payer's private key, 32 bytes.")
AFFILIATES = ("service.near", "assistant.near", "interface.near")
KEYS = {
    name: Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b".")) for name in AFFILIATES
}
SHARE_BPS = 725
FUNDS, CHANNEL = 200 * MILLION, 60 * MILLION
SETTINGS = f"""\
[capabilities.payments]
merchant_id = "market.example"
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


class Offer(msgspec.Struct, frozen=True):
    """Something that was quoted, and can be paid.

    Parameters:
        url: the address of the schema in which it was said.
    """

    thread_id: str
    call_id: str
    url: str
    quote: Mapping[str, Any]


class Letter(msgspec.Struct, frozen=True):
    """Something that can be said on a thread: now, later, again, and before what was signed first.

    Parameters:
        said: the message as JSON has it.
    """

    thread_id: str
    said: Mapping[str, Any]


class Market:
    """The desk. All of it runs on the loop of whoever made it.

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
        self._key = ""
        self._life: asyncio.Task[None] | None = None

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

    async def again(self) -> None:
        """Die, and begin again."""
        await self.die()
        await self.begin()

    async def _live(self, ready: asyncio.Future[Talker]) -> None:
        settings = ("limits.enabled=false", "store.synchronous=normal", "server.shutdown_seconds=1")
        config = load_config(self._site, settings, port=0, data=self.data)
        begin_database(config.database)
        async with AsyncExitStack() as stack:
            # commands go by the desk's clock here, and a start reads nothing twice
            stack.enter_context(patch("aitp_desk.commands.time", SimpleNamespace(time=self.clock)))
            stack.enter_context(patch("aitp_desk.store.sqlite.load_statements", _statements))
            stack.enter_context(patch("importlib.metadata.entry_points", _entry_points))
            beside = SqliteStore.open(config.database, synchronous="normal")
            self._beside = await stack.enter_async_context(beside)
            writer = partial(StruckWriter, self.fate)
            with patch("aitp_desk.store.sqlite.Writer", writer):
                desk = await stack.enter_async_context(open_server(config, clock=self.clock))
            http = await stack.enter_async_context(aiohttp.ClientSession(desk.url))
            if not self._key:
                self._key = await make_key(desk.store, self.data, "actions", "threads")
            ready.set_result(Talker(desk, self.data, http, self._key))
            await asyncio.Event().wait()

    async def found(self) -> None:
        """Have a payer with an account and a channel, and somebody with a code."""
        thread = (await self.talker.open()).id
        ((owner,),) = self.talker.rows(f"SELECT owner FROM threads WHERE id = '{thread}'")
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
        """Have something done from beside the desk, as its commands do; whether it was."""
        now = int(self.clock())
        by = own_auditor(AuditKeys(bytes(32), bytes(32)), now)
        for _ in range(ATTEMPTS):
            try:
                effects = await _judged(self._beside, "payments", judge, by, None)
                await self._beside.run(apply_effects, effects=effects, thread_id=None, now=now)
            except RecordsMoved:
                continue
            except (NotBooked, ValueError):
                return False
            return True
        return False

    async def quote(self, cents: int, *, works: bool) -> Offer:
        """Ask for something that is paid first."""
        arguments = {"cents": cents, "works": works}
        asked = await self.talker.send("POST", "/capabilities/sell", arguments)
        assert asked.status == 402, asked.body
        told = asked.body["payment"]
        message = told["message"]
        return Offer(told["thread_id"], told["call_id"], message["$schema"], message["quote"])

    async def say(self, letter: Letter) -> Told | None:
        """Say something; None where the desk has died meanwhile."""
        try:
            return await self.talker.post(letter.thread_id, json.dumps(letter.said))
        except aiohttp.ClientError:
            assert self.fate.is_dead
            return None

    async def idle(self) -> None:
        """Wait until the desk has done all that is due."""
        # who has moved the clock has to say that there may be more to do
        self.talker.desk.desk._worker._jobs.wake()  # noqa: SLF001
        due = (
            "SELECT (SELECT count(*) FROM jobs WHERE state = 'at_work' OR"
            f" (state = 'queued' AND available_at <= {int(self.clock())})), "
            "(SELECT count(*) FROM calls WHERE state = 'started')"
        )
        address = f"{(self.data / DATABASE).as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as disk:
            async with asyncio.timeout(SECONDS):
                while any(disk.execute(due).fetchone()):
                    await self.talker.desk.store.settled()


def by_channel(offer: Offer, channel: str, *, number: int, cents: int | None = None) -> Letter:
    """A signed payment of a quote from a channel."""
    (option,) = offer.quote["payment_options"]
    method = {
        "type": "near_payment_channel",
        "token": f"ledger:{CURRENCY}",
        "channel_id": channel,
        "amount": option["amount"] if cents is None else f"{cents // 100}.{cents % 100:02}",
        "currency": CURRENCY,
    }
    return _payment(offer, method, number)


def by_account(offer: Offer, *, number: int) -> Letter:
    """A signed payment of a quote from an account."""
    method = {"type": "ledger", "account": PAYER, "currency": CURRENCY}
    return _payment(offer, method, number)


def by_approval(offer: Offer, *, code: str = "") -> Letter:
    """A quote approved by the owner of an account, or by a code."""
    paid = {"quote_id": offer.quote["quote_id"], **({"code": code} if code else {})}
    return Letter(offer.thread_id, {"$schema": offer.url, "approve_quote": paid})


def declined(offer: Offer) -> Letter:
    """A quote that nobody wants."""
    given = {"quote_id": offer.quote["quote_id"]}
    return Letter(offer.thread_id, {"$schema": offer.url, "decline_quote": given})


def topped_up(offer: Offer, channel: str, *, number: int, cents: int) -> Letter:
    """More for a channel, signed by its payer."""
    response = {
        "channel_id": channel,
        "amount": f"{cents // 100}.{cents % 100:02}",
        "currency": CURRENCY,
        "payer_id": "user.near",
        "timestamp": _moment(number),
    }
    signed = sign(KEY, response, "payer_signature")
    return Letter(offer.thread_id, {"$schema": offer.url, "top_up_response": signed})


def wrapped(offer: Offer, names: Sequence[str], weights: Sequence[int]) -> Letter:
    """A quote that was passed on, by each of those names in order."""
    wrappers: list[dict[str, Any]] = []
    for place, (name, weight) in enumerate(zip(names, weights, strict=True)):
        wrapper = {
            "affiliate_id": name,
            "role": "service",
            "added_affiliates": [{"id": f"friend.{name}", "role": "friend", "weight": weight}],
            "next_recipient": (*names, "user.near")[place + 1],
            "timestamp": _moment(0),
        }
        signature = write_signature(KEYS[name], wrapped_bytes(offer.quote, wrappers, wrapper))
        wrappers.append({**wrapper, "signature": signature})
    given = {"original_quote": offer.quote, "wrappers": wrappers}
    return Letter(offer.thread_id, {"$schema": offer.url, "wrapped_quote": given})


def _payment(offer: Offer, method: Mapping[str, Any], number: int) -> Letter:
    paid = {
        "quote_id": offer.quote["quote_id"],
        "payment_method": method,
        "payer_id": "user.near",
        "timestamp": _moment(number),
    }
    signed = sign(KEY, paid, "payer_signature")
    return Letter(offer.thread_id, {"$schema": offer.url, "payment": signed})


def _moment(number: int) -> str:
    """Another moment for each number, so that two payments are two."""
    return f"2027-01-15T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
