"""Payers of a desk under load, who buy one thing after the other until the line goes dead."""

from __future__ import annotations

import asyncio
import random
from collections import deque

import aiohttp

from tests.money.market.payers import Payers, Purchase, unanswered

PAYING = 8
"""How many buy at once."""
BASKET = 2
"""How many quotes each of them asks for and pays at once."""


class Trade:
    """What is bought, and what of it was cut off.

    Parameters:
        credentials: the headers by which the payers are known.

    Attributes:
        credentials: those.
        payers: who buy.
    """

    def __init__(self, chance: random.Random, credentials: dict[str, str]) -> None:
        self.credentials = credentials
        self.payers = Payers(chance, credentials)
        self._cut_off: deque[Purchase] = deque()

    async def buy(self, url: str, over: asyncio.Event, pause: float = 0) -> None:
        """Buy with all payers at once until the server is gone, or it is over.

        Parameters:
            pause: seconds that a payer waits after each purchase.
        """
        await asyncio.gather(*(self._buy_until_dead(url, over, pause) for _ in range(PAYING)))

    async def settle(self, url: str) -> None:
        """Send again what was cut off, until all of it is answered."""
        await self.payers.settle(url, list(self._cut_off))
        self._cut_off.clear()

    async def _buy_until_dead(self, url: str, over: asyncio.Event, pause: float) -> None:
        lives = True
        while lives and not over.is_set():
            bought = [self._cut_off.popleft() for _ in range(min(BASKET, len(self._cut_off)))]
            try:
                bought = bought or await self.payers.ask(url, BASKET)
            except aiohttp.ClientError:
                return  # a quote that nobody received is not paid
            lives = await self.payers.send(url, bought)
            self._cut_off += (one for one in bought if unanswered([one]))
            await asyncio.sleep(pause)
