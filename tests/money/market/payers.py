"""Payers of a desk that will be killed: they ask for quotes, pay all at once, and repeat what was
cut off, until it is answered."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal

import aiohttp
import msgspec

from tests.money.checks.invariants import CENT
from tests.money.market.messages import (
    AFFILIATES,
    CODE,
    Letter,
    Offer,
    by_account,
    by_approval,
    by_channel,
    opening,
    passed_on,
    using,
)
from tests.money.market.process import CHANNELS

QUOTES = 16
"""How many a burst has."""
PRICES = (1, 3, 99, 100, 333, 500, 999, 2345)
"""In cents."""
BROKEN = 0.1
"""How many of what is sold cannot be done, so that their money goes back."""
SECONDS = 120
"""How long something may stay unanswered after a restart."""
Kind = Literal["payment", "call", "purse"]


class Sent(msgspec.Struct):
    """Something to be sent, and again, until it is answered.

    Parameters:
        kind: a message that pays, a call with the payment, or a message about a purse.
        answer: the id of the message, or what came of the call; None while there is none.
    """

    kind: Kind
    path: str
    body: dict[str, Any]
    answer: str | None = None


class Purchase(msgspec.Struct):
    """A quote, and all that is sent for it.

    Parameters:
        cents: what it costs.
    """

    offer: Offer
    action: str
    cents: int
    works: bool
    sent: list[Sent] = []

    @property
    def quote_id(self) -> str:
        """The quote's."""
        return str(self.offer.quote["quote_id"])


class Payers:
    """All of them, who share an account, two channels and a code.

    Attributes:
        bought: all quotes that were ever asked for.
        drawn: how many cents were drawn from channels.
        opened: how many channels of a euro were opened.
        added: how often so much was to be added to a channel, by its id and the millionths.
        held_off: how often one was told to come again later.
        tried: how often anything was sent.
        cut_off: how many payments had no answer when a desk died.
        refusals: answers to payments that should have been accepted.
    """

    def __init__(self, chance: random.Random, credentials: dict[str, str]) -> None:
        self.bought: list[Purchase] = []
        self.refusals: list[str] = []
        self.drawn = self.opened = self.held_off = self.tried = self.cut_off = 0
        self.added = Counter[tuple[str, int]]()
        self._chance = chance
        self._credentials = credentials
        self._number = 0

    async def ask(self, url: str, count: int = QUOTES) -> list[Purchase]:
        """Ask for quotes, and write what pays them; nothing of it is sent yet."""
        asked = await self.quote(url, count)
        for purchase in asked:
            purchase.sent += self._written(purchase)
        return asked

    async def quote(self, url: str, count: int) -> list[Purchase]:
        """Ask for quotes, for which nothing is written yet."""
        async with self._client(url) as http:
            asked = await asyncio.gather(*(self._ask(http) for _ in range(count)))
        self.bought += asked
        return asked

    async def pay(
        self, url: str, bought: Sequence[Purchase], when: int, then: Callable[[], object]
    ) -> None:
        """Send all that is unanswered at once, each once.

        Parameters:
            when, then: what happens once so many are answered; at the end, where fewer are.
        """
        is_told = False

        def tell() -> None:
            nonlocal is_told, when
            when -= 1
            if when < 0 and not is_told:
                is_told = True
                then()

        async def send(http: aiohttp.ClientSession, one: Sent) -> None:
            if await self._try(http, one):
                tell()

        async with self._client(url) as http:
            sending = asyncio.gather(*(send(http, one) for one in unanswered(bought)))
            tell()
            await sending
        if not is_told:
            then()

    async def send(self, url: str, bought: Sequence[Purchase]) -> bool:
        """Send what is unanswered, each once; return whether nothing was cut off meanwhile."""
        cut_off = self.cut_off
        async with self._client(url) as http:
            await asyncio.gather(*(self._try(http, one) for one in unanswered(bought)))
        return self.cut_off == cut_off

    async def settle(self, url: str, bought: Sequence[Purchase]) -> None:
        """Send what is unanswered until all of it is."""
        async with asyncio.timeout(SECONDS):
            while unanswered(bought):
                await self.send(url, bought)

    async def said(self, url: str, purchase: Purchase) -> list[tuple[str, str]]:
        """What stands on a quote's thread, in order: ids of messages, and their texts.

        It is empty where there is no such thread.
        """
        path = f"/v1/threads/{purchase.offer.thread_id}/messages?order=asc&limit=100"
        async with self._client(url) as http, http.get(path) as listed:
            if listed.status == 404:
                return []
            assert listed.status == 200, await listed.text()
            told = await listed.json()
        return [(one["id"], one["content"][0]) for one in told["data"]]

    async def repeat(self, url: str, bought: Sequence[Purchase]) -> None:
        """Send again what was answered, and see that calls are answered the same."""
        async with asyncio.timeout(SECONDS), self._client(url) as http:
            for purchase in bought:
                for one in purchase.sent:
                    again = msgspec.structs.replace(one, answer=None)
                    while again.answer is None:
                        await self._try(http, again)
                    assert one.kind != "call" or again.answer == one.answer, (one, again)

    def _client(self, url: str) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0)
        return aiohttp.ClientSession(url, headers=self._credentials, connector=connector)

    async def _ask(self, http: aiohttp.ClientSession) -> Purchase:
        action = self._chance.choice(("sell", "deliver"))
        cents = self._chance.choice(PRICES)
        works = self._chance.random() >= BROKEN
        arguments = {"cents": cents, "works": works}
        async with http.post(f"/capabilities/{action}", json=arguments) as asked:
            assert asked.status == 402, await asked.text()
            told = (await asked.json())["payment"]
        message = told["message"]
        offer = Offer(told["thread_id"], told["call_id"], message["$schema"], message["quote"])
        actor = {"id": "https://agent.example", "capabilities": [{"schema": offer.url}]}
        async with http.post(f"/v1/threads/{offer.thread_id}/actors", json=actor) as declared:
            assert declared.status == 200, await declared.text()
        return Purchase(offer, action, cents, works)

    def _written(self, purchase: Purchase) -> list[Sent]:
        """What is sent for a quote: one payment or several that race, the same twice perhaps."""
        chance, offer = self._chance, purchase.offer
        sent = [self._payment(purchase) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        if chance.random() < 0.2:
            sent.append(msgspec.structs.replace(sent[0]))
        if chance.random() < 0.2:
            names = chance.sample(AFFILIATES, 2)
            sent.append(posted("purse", passed_on(offer, names, (1, 2))[-1]))
        if chance.random() < 0.3:
            sent.append(self._of_purse(offer))
        return sent

    def _payment(self, purchase: Purchase) -> Sent:
        offer, number = purchase.offer, self._next()
        match self._chance.choice(("channel", "account", "owner", "code", "call")):
            case "channel":
                letter = by_channel(offer, self._chance.choice(CHANNELS), number=number)
            case "account":
                letter = by_account(offer, number=number)
            case "owner":
                letter = by_approval(offer)
            case "code":
                letter = by_approval(offer, code=CODE)
            case _:
                letter = by_channel(offer, self._chance.choice(CHANNELS), number=number)
                return called(purchase, letter)
        return posted("payment", letter)

    def _of_purse(self, offer: Offer) -> Sent:
        number, channel = self._next(), self._chance.choice(CHANNELS)
        on, purse = (offer.thread_id, offer.url), ("channel", channel)
        match self._chance.choice(("draw", "top up", "open")):
            case "draw":
                self.drawn += 1
                letter = using(*on, purse, "draw", CENT, f"draw{number}")
            case "top up":
                self.added[channel, 2 * CENT] += 1
                letter = using(*on, purse, "top up", 2 * CENT, f"add{number}")
            case _:
                self.opened += 1
                letter = opening(*on, ("channel", f"own_{number}"), 100 * CENT, 0)
        return posted("purse", letter)

    def _next(self) -> int:
        self._number += 1
        return self._number

    async def _try(self, http: aiohttp.ClientSession, one: Sent) -> bool:
        """Send it once, and return whether it was answered: not cut off, and not too soon."""
        self.tried += 1
        try:
            async with http.post(one.path, json=one.body) as told:
                body = await told.json()
        except aiohttp.ClientError:
            self.cut_off += 1
            return False
        if "Retry-After" in told.headers:
            self.held_off += 1
            return False
        if one.kind == "call":
            one.answer = f"{told.status} {json.dumps(body, sort_keys=True)}"
        elif told.status == 200:
            one.answer = body["id"]
        else:
            one.answer = ""
            self.refusals.append(f"{told.status} {body}")
        return True


def unanswered(bought: Sequence[Purchase]) -> list[Sent]:
    """All that was not answered yet."""
    return [one for purchase in bought for one in purchase.sent if one.answer is None]


def called(purchase: Purchase, letter: Letter) -> Sent:
    """A call with a payment that a letter has."""
    body = {
        "cents": purchase.cents,
        "works": purchase.works,
        "_payment": {"payment": letter.said["payment"]},
    }
    return Sent("call", f"/capabilities/{purchase.action}", body)


def posted(kind: Kind, letter: Letter) -> Sent:
    """A letter as a message on its thread."""
    path = f"/v1/threads/{letter.thread_id}/messages"
    return Sent(kind, path, {"role": "user", "content": json.dumps(letter.said)})
