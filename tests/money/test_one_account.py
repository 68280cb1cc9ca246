"""Many who pay out of one account at once, and many refunds at once, wait for nobody."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from tests.money.checks import invariants
from tests.money.market.desk import FUNDS, Market
from tests.money.market.messages import Offer, by_approval
from tests.support.clients.threads import DATABASE
from tests.support.doubles.agent import Clock

COUNT = 12


@asynccontextmanager
async def market_in(folder: Path) -> AsyncIterator[Market]:
    """A desk that sells, and a payer."""
    market = Market(folder, Clock(1_800_000_000.0))
    await market.begin()
    try:
        await market.found()
        yield market
    finally:
        await market.end()


def broken(market: Market) -> Sequence[str]:
    """What does not hold of what stands on disk."""
    address = f"{(market.data / DATABASE).as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as disk:
        now = int(market.clock())
        return invariants.broken(invariants.read(disk, market.sold, 2 * FUNDS, (), {}, now))


async def _paid(market: Market, offer: Offer | None) -> None:
    """Have the owner of the account pay; no caller is asked to retry."""
    assert offer is not None
    told = await market.say(by_approval(offer))
    assert told is not None
    assert told.status == 200, told.body


async def test_payments_and_refunds_at_once_are_not_in_each_others_way(tmp_path: Path) -> None:
    async with market_in(tmp_path) as market:
        offers = [await market.quote(100, works=n % 2 == 0) for n in range(COUNT)]
        await asyncio.gather(*(_paid(market, offer) for offer in offers))
        await market.idle()
        rows = market.talker.rows
        paid = "SELECT count(*) FROM capability_records WHERE key LIKE 'entry:pay:%'"
        assert rows(paid) == [(COUNT,)]
        back = "SELECT state, failures, count(*) FROM jobs WHERE kind = 'payments.refund'"
        assert rows(f"{back} GROUP BY 1, 2") == [("done", 0, COUNT // 2)]
        held = "SELECT value FROM capability_counters WHERE key = 'balance:EUR:merchant'"
        assert rows(held) == [(COUNT // 2 * 1_000_000,)]
        assert not broken(market)


async def test_no_more_is_paid_out_of_an_account_at_once_than_there_is(tmp_path: Path) -> None:
    async with market_in(tmp_path) as market:
        ((left,),) = market.talker.rows(
            "SELECT value FROM capability_counters WHERE key = 'balance:EUR:acct_ada'"
        )
        cents = left // 10_000 // 3 - 1
        offers = [await market.quote(cents, works=True) for _ in range(COUNT)]
        await asyncio.gather(*(_paid(market, offer) for offer in offers))
        await market.idle()
        paid = "SELECT count(*) FROM capability_records WHERE key LIKE 'entry:pay:%'"
        assert market.talker.rows(paid) == [(3,)]
        assert not broken(market)
