"""Kill a desk while it settles payments, again and again, and see that each settles once.

    python -m tests.money.kill --cycles 200 [--seed 1] [--postgres] [--rash]

A real desk sells, in a separate process. In each cycle payers who share an account, two channels
and a code ask for quotes, then pay them all at once: from a channel, from the account by signature
or by its owner, by the code, with the call itself, several for one quote or the same one twice;
some quotes are passed on, and meanwhile channels are drawn from, added to and opened, and a payment
is given back by hand. At a random moment of that the desk is killed (kill -9) and begun again;
every third time it is killed once more while payers repeat what was cut off. Once all of it is
answered, everything is examined: ``aitp-desk ledger verify``, the invariants of the journal, each
thread as payers read it, and the sums. With ``--rash`` the desk repeats whatever was cut short:
that what is released twice by that is seen shows that it would be seen.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path

import msgspec

from tests.faults.databases import FaultDatabase, fault_database
from tests.money.checks.promises import examine, examine_thread
from tests.money.market.payers import Payers, Purchase, unanswered
from tests.money.market.process import DESK, RASH_DESK, Shop, shop

LONGEST = 0.02
"""Seconds that pass at most between an answer and the kill."""
AGAIN_EVERY = 3
REPEATED = 3
"""Of how many quotes what was answered is sent again."""
GIVEN_BACK = 0.5
"""In how many of the cycles a payment is given back by hand."""


class Cycle(msgspec.Struct, frozen=True):
    """One kill, or two, and what came of it.

    Parameters:
        kills: how often it was killed.
        quotes: how many were to be paid.
        in_flight: payments that were sent, and had no answer when the desk died.
        settled: quotes of those that were paid on disk then; their payers did not know.
        unreleased: calls that were paid for on disk then, and not over.
        held_off: how often a payer was told to come again later.
        unknown: calls of which nobody knows, which may not be repeated.
        problems: whatever did not hold.
    """

    kills: int
    quotes: int
    in_flight: int
    settled: int
    unreleased: int
    held_off: int
    unknown: int
    problems: tuple[str, ...]


class Killing:
    """The cycles of one desk."""

    def __init__(self, desk: Shop, chance: random.Random) -> None:
        self._desk = desk
        self._chance = chance
        self._payers = Payers(chance, desk.credentials)
        self._given_back: set[str] = set()

    async def cycle(self, *, again: bool) -> Cycle:
        """Have quotes paid, kill, begin again and examine.

        Parameters:
            again: whether it is killed once more meanwhile.
        """
        desk, payers = self._desk, self._payers
        earlier, held_off = list(payers.bought), payers.held_off
        bought = await payers.ask(desk.url)
        giving = asyncio.ensure_future(self._give_back(earlier))
        figures = Counter[str]()
        for _ in range(1 + again):
            await self._pay_and_kill(bought, figures)
            await desk.begin()
        await giving
        await payers.settle(desk.url, bought)
        await payers.repeat(desk.url, self._chance.sample(bought, REPEATED))
        await desk.idle()
        kept = await desk.kept(self._given_back, self._payers.added)
        problems = [*await desk.verified(), *examine(kept, payers)]
        for purchase in bought:
            problems += examine_thread(purchase, await payers.said(desk.url, purchase))
        return Cycle(
            quotes=len(bought),
            held_off=payers.held_off - held_off,
            unknown=sum(kept.calls.get(one.offer.call_id) == "unknown" for one in bought),
            problems=tuple(problems),
            kills=1 + again,
            in_flight=figures["in flight"],
            settled=figures["settled"],
            unreleased=figures["unreleased"],
        )

    async def _pay_and_kill(self, bought: Sequence[Purchase], figures: Counter[str]) -> None:
        waiting = unanswered(bought)
        when = self._chance.randrange(len(waiting) + 1)
        later = partial(asyncio.get_running_loop().call_later, self._chance.uniform(0, LONGEST))
        killed = asyncio.Event()

        def kill() -> None:
            self._desk.kill()
            killed.set()

        await self._payers.pay(self._desk.url, bought, when, lambda: later(kill))
        await killed.wait()
        kept = await self._desk.kept(self._given_back, self._payers.added)
        for one in bought:
            cut_off = sum(sent.answer is None and sent.kind != "purse" for sent in one.sent)
            quote = kept.records.get(f"quote:{one.quote_id}", {})
            figures["in flight"] += cut_off
            figures["settled"] += bool(cut_off) and quote.get("state") == "paid"
            figures["unreleased"] += kept.calls.get(one.offer.call_id) == "started"

    async def _give_back(self, earlier: Sequence[Purchase]) -> None:
        """Have a payment given back by people of the site, while others are settled."""
        if self._chance.random() >= GIVEN_BACK or not earlier:
            return
        kept = await self._desk.kept(self._given_back, self._payers.added)
        purchase = self._chance.choice(earlier)
        payment_id = kept.records[f"quote:{purchase.quote_id}"]["payment_id"]
        is_done = kept.calls[purchase.offer.call_id] == "succeeded"
        if is_done and payment_id not in self._given_back:
            code, _, wrong = await self._desk.command("ledger", "refund", payment_id)
            assert code == 0, wrong
            self._given_back.add(payment_id)


async def kill_while_settling(
    folder: Path,
    *,
    cycles: int,
    seed: int,
    program: str = DESK,
    database: FaultDatabase | None = None,
) -> AsyncGenerator[Cycle, None]:
    """Run the cycles.

    Parameters:
        folder: empty; everything is written there.
        seed: of the chances that are ours; those of the machine make each run another.
        program: the desk's module.
        database: what it serves; by default an SQLite file in its data folder.
    """
    async with shop(folder, program, database) as desk:
        killing = Killing(desk, random.Random(seed))
        for number in range(1, cycles + 1):
            yield await killing.cycle(again=number % AGAIN_EVERY == 0)


async def report(cycles: int, seed: int, program: str, *, on_postgres: bool) -> bool:
    """Print a line a cycle and the totals; return whether everything held."""
    began, sums, right, middle = time.monotonic(), Counter[str](), 0, 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aitp-desk-killed-")))
        where = fault_database(folder, folder / "data", on_postgres=on_postgres)
        killing = kill_while_settling(
            folder,
            cycles=cycles,
            seed=seed,
            program=program,
            database=stack.enter_context(where),
        )
        async with aclosing(killing):
            async for one in killing:
                told = msgspec.structs.asdict(one)
                problems = told.pop("problems")
                sums.update(told)
                right += not problems
                middle += bool(one.in_flight)
                print(_told(told), *(problems or ["all holds"]), sep="; ", flush=True)
    print(f"\n{cycles} cycles in {time.monotonic() - began:.0f} s: {_told(sums)}")
    print(f"payments were under way in {middle}; all held after {right}")
    return right == cycles


def _told(figures: dict[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in figures.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.money.kill")
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rash", action="store_const", const=RASH_DESK, default=DESK)
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server")
    given = parser.parse_args()
    reporting = report(given.cycles, given.seed, given.rash, on_postgres=given.postgres)
    sys.exit(0 if asyncio.run(reporting) else 1)
