"""A site that sells by the payments that come with the desk: by account and code, and by x402.

Coins move at the facilitator of :mod:`tests.support.payments.facilitator`, which verifies what
wallets sign.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from aitp_desk.app.server import open_server
from aitp_desk.capability import Delivery, Effect
from aitp_desk.cli.extension import have_done
from aitp_desk.config import load_config
from aitp_payments.ledger.accounts import Account, digest, open_account, plain_code
from aitp_payments.ledger.journal import move, post
from aitp_payments.money import counted
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk
from tests.support.desk.server import UNLIMITED
from tests.support.payments.facilitator import Facilitator, Wallet, facilitator
from tests.support.payments.x402_merchant import PAY_TO
from tests.support.payments.x402_site import ACTIONS

if TYPE_CHECKING:
    from x402 import x402Client

CODE = "SC-7K2QX-00000-11111-22222"
"""A code of store credit, of 100 USD."""
SLOW = '''

import asyncio


@action(open_to="anyone", cost="0.10 USD", prepaid=True)
async def develop(film: str) -> str:
    """Develops a film, once it is dark.

    Args:
        film: which.
    """
    while not LEDGER.with_name("dark").exists():
        await asyncio.sleep(0.01)
    return f"{film} is developed."


@action(open_to="anyone", cost="0.20 USD", prepaid=True)
def divide(number: int) -> str:
    """Divides by a number.

    Args:
        number: by which.
    """
    write(f"divided by {number}")
    return str(100 // number)
'''


class Market:
    """The site, and who comes to it.

    Attributes:
        talker: a caller without a credential.
        coins: the facilitator, and the network on which its coins move.
    """

    def __init__(self, talker: Talker, coins: Facilitator, folder: Path) -> None:
        self.talker = talker
        self.coins = coins
        self._folder = folder

    @property
    def url(self) -> str:
        """The desk's address."""
        return self.talker.desk.url

    @property
    def sold(self) -> list[str]:
        """What was done, a line each."""
        ledger = self._folder / "site" / "sold.txt"
        return ledger.read_text().splitlines() if ledger.exists() else []

    def darken(self) -> None:
        """Let films be developed."""
        (self._folder / "site" / "dark").touch()

    def wallet(self, coins: int = 10_000_000) -> Wallet:
        """A wallet that holds so many millionths of a dollar."""
        one = Wallet()
        self.coins.chain.holds[one.address.lower()] = coins
        return one

    def payer(self) -> x402Client:
        """A payer with the package's client."""
        from x402 import x402Client
        from x402.mechanisms.evm.exact.register import register_exact_evm_client
        from x402.mechanisms.evm.signers import EthAccountSigner

        client = x402Client()
        register_exact_evm_client(client, EthAccountSigner(self.wallet().account))
        return client


@asynccontextmanager
async def market(folder: Path, *settings: str) -> AsyncIterator[Market]:
    """The site on a port of the loopback."""
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Weather\n\nWe sell the weather.\n", "utf-8")
    (site / "actions.py").write_text(ACTIONS + SLOW, "utf-8")
    async with facilitator(time.time(), remembers=True) as coins:
        chosen = {"pay_to": PAY_TO, "networks": ["base-sepolia"], "facilitator": coins.url}
        written = "".join(f"{name} = {json.dumps(value)}\n" for name, value in chosen.items())
        (site / "desk.toml").write_text(f"[capabilities.payments.x402]\n{written}", "utf-8")
        data = folder / "data"
        settings = (*UNLIMITED, "egress.allow_loopback=true", *settings)
        config = load_config(site, settings, port=0, data=data)
        begin_desk(config)
        async with open_server(config) as desk, aiohttp.ClientSession(desk.url) as http:
            await asyncio.to_thread(have_done, data, "sqlite:desk.db", "payments", _credit)
            yield Market(Talker(desk, data, http), coins, folder)


def _credit(books: Delivery) -> Sequence[Effect]:
    """Give a caller a code."""
    holder = Account(id="acct_gift", opened_at=books.now, code=digest(plain_code(CODE) or ""))
    legs = move("outside:cash", holder.id, "USD", counted("100"))
    booked = post(f"credit:{holder.id}", legs, kind="credit", at=books.now)
    return (*open_account(holder), *booked)
