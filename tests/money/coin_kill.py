"""Kill a desk while coins are settled (x402), again and again: each payment moves coins once.

    python -m tests.money.coin_kill --cycles 50 [--seed 1]

A real desk sells stamps, in a separate process; the facilitator and its chain are here. In each
cycle several wallets pay at once, the facilitator loses some of its answers, and the desk is killed
(kill -9) at a random moment, before or after the first question to the facilitator. It is begun
again, and everybody sends the same payment until there is a stamp. By odd seeds the facilitator
knows what it has settled; by even ones it refuses what was used, and the desk finds out on the
chain. Then the coins that moved, the stamps and ``aitp-desk ledger verify`` are examined.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aiohttp
import msgspec

from tests.faults.test_x402 import Killed, shop
from tests.journeys.payments.test_x402 import sold
from tests.support.desk.command import run
from tests.support.payments.facilitator import Facilitator, Mood, Wallet, facilitator
from tests.support.payments.x402_merchant import PAY_TO

WALLETS = 4
"""How many pay at once."""
PRICE = 250_000
"""In the coin's smallest units."""
LONGEST = 0.04
"""Seconds that pass at most before the kill."""
EARLY = 0.4
"""How many of the kills do not wait for the first question to the facilitator."""
MOODS: tuple[Mood, ...] = ("lost", "unwell after", "garbled")
"""How answers get lost after coins have moved."""


class Cycle(msgspec.Struct, frozen=True):
    """One kill and what came of it.

    Parameters:
        in_flight: payments without an answer when the desk died.
        moved: those of them whose coins had moved by then.
        problems: whatever did not hold.
    """

    in_flight: int
    moved: int
    problems: tuple[str, ...]


async def kill_while_settling_coins(
    folder: Path, *, cycles: int, seed: int
) -> AsyncGenerator[Cycle, None]:
    """Run the cycles.

    Parameters:
        folder: empty; everything is written there.
        seed: of the chances that are ours.
    """
    chance = random.Random(seed)
    async with facilitator(time.time(), remembers=bool(seed % 2)) as fake:
        node = {"X402_NODE_BASE_SEPOLIA": f"{fake.url}/node"}
        with patch.dict(os.environ, node):
            async with shop(folder, fake) as desk:
                for number in range(1, cycles + 1):
                    yield await _cycle(desk, fake, chance, folder, number * WALLETS)


async def _cycle(
    desk: Killed, fake: Facilitator, chance: random.Random, folder: Path, paid: int
) -> Cycle:
    """Have stamps paid, kill, begin again and examine.

    Parameters:
        paid: how many stamps are paid for in the end, since the first cycle.
    """
    payloads = [await _written(desk, fake) for _ in range(WALLETS)]
    fake.now = time.time()
    fake.moods.extend(chance.sample(MOODS, chance.randrange(len(MOODS))))
    fake.came.clear()
    paying = [asyncio.ensure_future(_pay(desk, payload)) for payload in payloads]
    asked = asyncio.ensure_future(fake.came.wait())
    if chance.random() >= EARLY:
        await asyncio.wait([asked, *paying], return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(chance.uniform(0, LONGEST))
    desk.kill()
    answered = await asyncio.gather(*paying)
    desk.end()
    asked.cancel()
    cut_off = [p for p, is_answered in zip(payloads, answered, strict=True) if not is_answered]
    moved = sum(_has_moved(fake, payload) for payload in cut_off)
    fake.moods.clear()
    await desk.begin()
    stamped = await asyncio.gather(*(desk.stamped(payload) for payload in payloads))
    again = await asyncio.gather(*(desk.stamped(payload) for payload in payloads))
    problems = [f"{one} is no stamp" for one in (*stamped, *again) if one != "A is stamped."]
    if (coins := fake.chain.holds[PAY_TO.lower()]) != paid * PRICE:
        problems.append(f"{coins} have moved for {paid} payments")
    calls = {line.split()[0] for line in sold(folder / "site")}
    if len(calls) != paid:
        problems.append(f"{len(calls)} calls were made for {paid} payments")
    code, told, wrong = await run("ledger", "verify", "--data", folder / "data")
    problems += [] if code == 0 else [*told, *wrong]
    return Cycle(len(cut_off), moved, tuple(problems))


async def _written(desk: Killed, fake: Facilitator) -> Any:
    """A payment of a stamp, signed by a wallet that has just enough."""
    status, asked = await desk.stamp()
    assert status == 402, asked
    (terms,) = asked["payment"]["x402"]
    wallet = Wallet()
    fake.chain.holds[wallet.address.lower()] = PRICE
    return wallet.sign(terms, int(time.time()))


async def _pay(desk: Killed, payload: Any) -> bool:
    """Send a payment once, and return whether there was a stamp."""
    try:
        status, _ = await desk.stamp(payload)
    except aiohttp.ClientError:
        return False
    return status == 200


def _has_moved(fake: Facilitator, payload: Any) -> bool:
    signed = payload["payload"]["authorization"]
    return (signed["from"].lower(), signed["nonce"]) in fake.chain.used


async def report(cycles: int, seed: int) -> bool:
    """Print a line a cycle and the totals; return whether everything held."""
    began, sums, right, middle = time.monotonic(), Counter[str](), 0, 0
    with tempfile.TemporaryDirectory(prefix="aitp-desk-killed-") as folder:
        killing = kill_while_settling_coins(Path(folder), cycles=cycles, seed=seed)
        async with aclosing(killing):
            async for one in killing:
                sums.update(in_flight=one.in_flight, moved=one.moved)
                right += not one.problems
                middle += bool(one.in_flight)
                told = f"in flight {one.in_flight}, moved {one.moved}"
                print(told, *(one.problems or ["all holds"]), sep="; ", flush=True)
    print(
        f"\n{cycles} cycles in {time.monotonic() - began:.0f} s: {cycles * WALLETS} payments,"
        f" {sums['in_flight']} in flight, the coins of {sums['moved']} of them had moved"
    )
    print(f"payments were under way in {middle}; all held after {right}")
    return right == cycles


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.money.coin_kill")
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(0 if asyncio.run(report(given.cycles, given.seed)) else 1)
