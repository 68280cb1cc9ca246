"""A shop that sells tickets by card at a stand-in for Stripe, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse

from tests.support.clients.threads import Talker, Told
from tests.support.doubles.agent import Clock
from tests.support.payments.stripe_account import KEY, SECRET, Account, account_at
from tests.support.payments.till_plugin import ACTIONS, make_site, selling

SETTINGS = """
[egress]
allow_loopback = true
[capabilities.payments]
quote_minutes = 10
[capabilities.payments.ledger]
enabled = false
[capabilities.payments.stripe]
api = "{api}"
publishable_key = "pk_test_51Public"
return_url = "https://shop.example/thanks"
"""
HOOK = "/hooks/payments/stripe"
SECONDS = 60


class Till:
    """A shop that sells tickets by card, and a buyer.

    Attributes:
        buyer: who is known to the shop.
        site: the shop's folder.
    """

    def __init__(self, account: Account, clock: Clock, site: Path, desk: Talker, buyer: Talker):
        self.account = account
        self.clock = clock
        self.site = site
        self.desk = desk
        self.buyer = buyer
        self.renew()

    def renew(self) -> None:
        """Forget what was before: what is counted is counted from now on."""
        account = self.account
        for things in (account.sessions, account.intents, account.refunds):
            things.clear()
        account.asked.clear()
        account.breaks.clear()
        account.delay = 0.0
        account.refunds_fail = False
        (self.site / "sold.txt").unlink(missing_ok=True)
        self._balances = self._read_balances()
        self._noted = len(self._read_noted())

    async def ask(self, name: str = "Ada") -> dict[str, Any]:
        """Ask for a ticket, and return how it can be paid."""
        asked = await self.buyer.send("POST", "/capabilities/buy_ticket", {"name": name})
        assert asked.status == 402, asked.body
        payment: dict[str, Any] = asked.body["payment"]
        return payment

    async def follow(self, link: str) -> ClientResponse:
        """Follow a link of the desk's, and no redirect."""
        path = "/" + link.split("/", 3)[3]
        async with self.desk.http.get(path, allow_redirects=False) as response:
            await response.read()
            return response

    async def open_page(self, payment: dict[str, Any]) -> str:
        """Follow the link to the page; the id of its session."""
        (link,) = payment["links"]
        led = await self.follow(link["url"])
        assert led.status == 303
        return led.headers["Location"].rpartition("/")[2]

    async def hear(self, event: dict[str, Any], *secrets: str, age: int = 0) -> Told:
        """Have Stripe tell the desk of something."""
        body, header = self.account.signed(event, *secrets, age=age)
        return await self.desk.send("POST", HOOK, body, headers=[("Stripe-Signature", header)])

    async def ended(self, payment: dict[str, Any]) -> dict[str, Any]:
        """How the call has ended, once it has."""
        path = f"/capabilities/buy_ticket/calls/{payment['call_id']}"
        async with asyncio.timeout(SECONDS):
            while True:
                told: dict[str, Any] = (await self.buyer.send("GET", path)).ok
                if told["status"] not in {"pending", "accepted"}:
                    return told
                await asyncio.sleep(0.01)

    async def until(self, payment: dict[str, Any], words: str) -> list[str]:
        """All that was said on the call's thread, once these words are among it."""
        async with asyncio.timeout(SECONDS):
            while True:
                said = await self.buyer.texts(payment["thread_id"])
                if any(words in one for one in said):
                    return said
                await asyncio.sleep(0.01)

    async def until_refunded(self, count: int = 1) -> None:
        """Wait until so many payments were given back, and no money of any is here."""
        await self.until_true(lambda: len(self.account.refunds) == count)
        await self.until_true(lambda: not self.balances())

    async def pass_time(self, seconds: float) -> None:
        """Let time pass; another buyer's page has the desk look what is due."""
        self.clock.advance(seconds)
        await self.look_what_is_due()

    async def look_what_is_due(self) -> None:
        """Have the desk look what is due, as it does whenever something is queued."""
        broken, self.account.breaks = self.account.breaks, []
        await self.open_page(await self.ask("Somebody"))
        self.account.breaks = broken

    async def until_true(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(SECONDS):
            while True:
                if holds():
                    return
                await asyncio.sleep(0.01)

    def audited(self, event: str) -> int:
        """How often something was noted in the audit log."""
        return sum(event in one for one in self._read_noted()[self._noted :])

    def _read_noted(self) -> list[str]:
        noted = "SELECT object FROM audit WHERE action = 'capability.noted' ORDER BY n"
        return [one for (one,) in self.desk.rows(noted)]

    def balances(self) -> dict[str, int]:
        """What accounts hold more, in millionths; those that hold as much are left out."""
        now, before = self._read_balances(), self._balances
        more = {name: now.get(name, 0) - before.get(name, 0) for name in now | before}
        return {name: count for name, count in more.items() if count}

    def _read_balances(self) -> dict[str, int]:
        rows = self.desk.rows(
            "SELECT key, value FROM capability_counters WHERE capability = 'payments'"
        )
        return {key.removeprefix("balance:EUR:"): value for key, value in rows}


@asynccontextmanager
async def selling_by_card(
    folder: Path, *settings: str, key: str = KEY, secret: str = SECRET, sells_all: bool = False
) -> AsyncIterator[Till]:
    """Open a shop, and an account at which it is paid.

    Parameters:
        folder: an empty one.
        settings: as a desk takes them at its start.
        key, secret: of the account, as the shop has them.
        sells_all: whether it also sells what is not for cards.
    """
    clock = Clock()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("STRIPE_API_KEY", key)
        environment.setenv("STRIPE_WEBHOOK_SECRET", secret)
        async with account_at(clock) as account:
            site = make_site(folder, settings=SETTINGS.format(api=account.url))
            by_card, _, _ = ACTIONS.partition(
                '@action(\n    kind="async"'
            )  # the rest costs too little
            if not sells_all:
                (site / "actions.py").write_text(by_card, "utf-8")
            async with selling(folder, site, *settings, clock=clock) as desk:
                buyer = await desk.with_key("actions", "threads")
                yield Till(account, clock, site, desk, buyer)


def card(payment: dict[str, Any], method: str = "pm_card_visa") -> str:
    """A message that pays by a payment method, as a part."""
    given = {"quote_id": payment["quote_id"], "payment_method": method}
    return json.dumps({"$schema": payment["message"]["$schema"], "card_payment": given})
