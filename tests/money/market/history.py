"""What all histories of a market have in common: a desk that may die at any commit, and a look."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from hypothesis.stateful import RuleBasedStateMachine, invariant

from aitp_desk.capability import Own
from aitp_desk.cli.extension import own_secret
from aitp_payments.ledger.integrity import LedgerVerifier
from aitp_payments.quotes.merchant import Merchant
from tests.money.checks import invariants
from tests.money.market.desk import FUNDS, STORE, Market
from tests.money.market.messages import Letter, adds, respelled
from tests.support.clients.threads import DATABASE, Told
from tests.support.doubles.agent import Clock

COUNTS = Counter[str]()
"""How often each kind of step was made, in all that ran in this process."""
FAULTS = Counter[str]()
"""How often the desk died, how many letters were said that had been said before, and how many steps
were made at once with others."""
OUTCOMES = Counter[str]()
"""What came of it all, by the books at the end of each history."""


class Strike(msgspec.Struct, frozen=True):
    """When the desk dies during the next step; at its end, if it makes fewer commits.

    Parameters:
        commits: before how many commits from now.
        is_written: whether the commit at which it dies is written, though nobody hears of it.
        again: before how many commits of what it then takes up again; None for once only.
    """

    commits: int
    is_written: bool
    again: int | None = None


class RunningMarket(RuleBasedStateMachine):
    """See the module. Between two steps the desk has nothing left to do.

    Who was faster in a race no seed tells: no rule has the outcome of one decide how many values it
    returns, or a history could not be made again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="aitp-desk-money-"))
        self.disk: sqlite3.Connection | None = None
        self.clock = Clock(1_800_000_000.0)
        self.market = Market(self.folder, self.clock)
        self.runner = asyncio.Runner()
        self.put_in = 0
        self.given_back: set[str] = set()
        self.numbers = 0
        self.said = set[bytes]()
        self.added = Counter[tuple[str, int]]()
        self.strike: Strike | None = None
        self.since_death = 0

    def begin(self) -> None:
        """Have the market, unless it is there."""
        if not self.put_in:
            self.runner.run(self._open())

    def number(self) -> int:
        """A number that is new."""
        self.numbers += 1
        return self.numbers

    def run(self, name: str, step: Awaitable[Any], count: int = 1) -> Any:
        """Make a step, or several, and wait until the desk has done all that comes of it.

        A desk that was struck dies meanwhile, and another goes on with what is on disk.
        """
        self.begin()
        COUNTS[name] += count
        self.since_death += 1
        return self.runner.run(self._made(step))

    def say(self, letter: Letter) -> Awaitable[Any]:
        """Say something, perhaps again."""
        written = msgspec.json.encode(respelled(letter))
        if written in self.said:
            FAULTS["duplicates"] += 1
        elif added := adds(letter):
            self.added[added] += 1
        self.said.add(written)
        return self.market.say(letter)

    async def one_by_one(self, steps: Sequence[Awaitable[Any]]) -> list[Any]:
        """Make steps in order, of which nobody else is in the way."""
        results = [await step for step in steps]
        refused = [one for one in results if isinstance(one, Told) and one.status == 409]
        assert not refused, refused
        return results

    async def race(self, steps: Sequence[Awaitable[Any]]) -> list[Any]:
        """Make steps at once."""
        FAULTS["steps made at once with others"] += len(steps) if len(steps) > 1 else 0
        return await asyncio.gather(*steps)

    def kept(self) -> invariants.Kept:
        """What stands on disk."""
        if self.disk is None:
            address = f"{(self.market.data / DATABASE).as_uri()}?mode=ro"
            self.disk = sqlite3.connect(address, uri=True, isolation_level=None)
        return invariants.read(
            self.disk,
            self.market.sold,
            self.put_in,
            self.given_back,
            self.added,
            int(self.clock()),
        )

    @invariant()
    def all_invariants_hold(self) -> None:
        if self.put_in:
            wrong = invariants.broken(self.kept())
            assert not wrong, wrong

    def teardown(self) -> None:
        """Look at the books as ``aitp-desk ledger verify`` does, and end."""
        try:
            if self.put_in:
                self._verify(self.kept())
        finally:
            if self.disk is not None:
                self.disk.close()
            if self.put_in:
                self.runner.run(self.market.end())
            self.runner.close()
            shutil.rmtree(self.folder)

    def _verify(self, kept: invariants.Kept) -> None:
        records = [_Record(*one) for one in kept.records.items()]
        own = Own("", lambda purpose: own_secret(self.market.data, STORE, "payments", purpose))
        found = LedgerVerifier(Merchant(own).has_signed).verify(records, kept.held.items())
        assert not found.problems, found.problems
        OUTCOMES.update(invariants.told(kept))
        OUTCOMES["histories"] += 1

    async def _open(self) -> None:
        await self.market.begin()
        await self.market.found()
        self.put_in = 2 * FUNDS

    async def _made(self, step: Awaitable[Any]) -> Any:
        strike, self.strike = self.strike, None
        if strike is None:
            result = await step
        else:
            self.since_death = 0
            self._arm(strike.commits, is_written=strike.is_written)
            result = await self._until_death(step)
            if strike.again is not None:
                self._arm(strike.again, is_written=strike.is_written)
                await self._until_death(asyncio.sleep(0))
        await self.market.idle()
        return result

    def _arm(self, commits: int, *, is_written: bool) -> None:
        fate = self.market.fate
        fate.is_written, fate.commits = is_written, commits
        FAULTS["deaths of the desk"] += 1

    async def _until_death(self, step: Awaitable[Any]) -> Any:
        """Make a step, and what follows until the desk dies; then have it begin again."""
        making = asyncio.ensure_future(step)
        dying = asyncio.ensure_future(self.market.fate.died.wait())
        await asyncio.wait([making, dying], return_when=asyncio.FIRST_COMPLETED)
        if not dying.done():
            idling = asyncio.ensure_future(self.market.idle())
            await asyncio.wait([idling, dying], return_when=asyncio.FIRST_COMPLETED)
            idling.cancel()
            with suppress(asyncio.CancelledError):
                await idling
        await self.market.die()
        result = await making
        dying.cancel()
        await self.market.begin()
        return result


class _Record(msgspec.Struct, frozen=True):
    key: str
    value: Any
