"""What a database and a shop hold of payments, against what their payers were promised."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import msgspec

from tests.faults.databases import open_database
from tests.money.checks import invariants
from tests.money.checks.promises import examine, examine_thread
from tests.money.market.process import FUNDS
from tests.money.market.trade import Trade


class PaymentFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        mispaid: of what holds of money, how often it does not: a quote paid twice or not at all,
            something booked or released twice, a sum that is not exact to the cent, an answer that
            is not on its thread.
    """

    mispaid: int = 0


class PaymentCounts(msgspec.Struct, frozen=True):
    """What there was.

    Parameters:
        quotes: that were paid.
        payments: messages and calls about money that were answered.
        cut_off: those that had no answer when a desk died, and were sent again.
    """

    quotes: int = 0
    payments: int = 0
    cut_off: int = 0


class PaymentCheck:
    """Examines the payments of a trade, each thread once.

    Parameters:
        sold: the file in which a sale leaves a line.
    """

    def __init__(self, trade: Trade, sold: Path) -> None:
        self._trade = trade
        self._sold = sold
        self._read = 0
        self._problems: list[str] = []

    async def read(self, url: str) -> None:
        """Settle what was cut off, and read the threads of what was bought since the last time."""
        await self._trade.settle(url)
        payers = self._trade.payers
        for purchase in payers.bought[self._read :]:
            said = await payers.said(url, purchase)
            self._problems += examine_thread(purchase, said)
        self._read = len(payers.bought)

    def examine(self, database: Path) -> tuple[list[str], PaymentCounts]:
        """Return whatever does not hold while the desk is idle, and what there was."""
        payers = self._trade.payers
        with closing(open_database(database)) as disk:
            kept = invariants.read(disk, self._sold, 2 * FUNDS, (), payers.added, int(time.time()))
        answered = sum(bool(one.answer) for bought in payers.bought for one in bought.sent)
        return (
            [*self._problems, *examine(kept, payers)],
            PaymentCounts(len(payers.bought), answered, payers.cut_off),
        )
