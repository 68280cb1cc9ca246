"""A market in every order: quotes, payments, purses and refunds, repeated, raced and cut short."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from aitp_desk.capability import Own
from aitp_desk.commands import own_secret
from aitp_payments.ledger.verifying import Verifying
from aitp_payments.merchant import Merchant
from tests.doubles import Clock
from tests.money import invariants
from tests.money.market import (
    AFFILIATES,
    CODE,
    FUNDS,
    GIFT,
    PAYER,
    STORE,
    Letter,
    Market,
    Offer,
    by_account,
    by_approval,
    by_channel,
    topped_up,
    wrapped,
)
from tests.money.operating import USES, WAYS, cash, pay_by, returned, set_apart, use
from tests.talking import DATABASE

COUNTS = Counter[str]()
"""How often each kind of step was made, in all that ran in this process."""
CENTS = st.sampled_from([1, 3, 99, 100, 333, 500, 999, 2345, 6001])
COUNT = st.sampled_from([1, 7, 10_000, 10_001, 250_000, 1_000_000, 3_333_333, 40_000_000])
"""Millionths."""


CRASH_EVERY = 10
"""A desk runs for so many rules at least before it dies: a start takes as long as some of these."""


def may_crash(states: MarketStates) -> bool:
    """Whether a desk has run for long enough."""
    return states.steps >= CRASH_EVERY


class MarketStates(RuleBasedStateMachine):
    """See the module. Between two steps the desk has nothing left to do."""

    offers = Bundle("offers")
    letters = Bundle("letters")
    purses = Bundle("purses")

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
        self.steps = 0

    @initialize()
    def open(self) -> None:
        self.run("open", self._open())

    async def _open(self) -> None:
        await self.market.begin()
        await self.market.found()
        self.put_in = 2 * FUNDS

    @rule(target=offers, asked=st.lists(st.tuples(CENTS, st.booleans()), min_size=1, max_size=4))
    def quote(self, asked: list[tuple[int, bool]]) -> Any:
        steps = [self.market.quote(cents, works=works) for cents, works in asked]
        return multiple(*self.run("quote", self._race(steps), len(steps)))

    @rule(
        target=letters,
        offer=offers,
        ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=4),
    )
    def write(self, offer: Offer, ways: list[str]) -> Any:
        """Write letters that pay, or say no; they are not sent yet."""
        return multiple(*(pay_by(way, offer, self.number()) for way in ways))

    @rule(
        target=letters,
        offer=offers,
        names=st.lists(st.sampled_from(AFFILIATES), min_size=1, max_size=3, unique=True),
        weights=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    )
    def pass_on(self, offer: Offer, names: list[str], weights: list[int]) -> Letter:
        return wrapped(offer, names, weights[: len(names)])

    @rule(target=letters, offer=offers, channel=st.sampled_from(["ch_0", "ch_1"]), cents=CENTS)
    def top_up(self, offer: Offer, channel: str, cents: int) -> Letter:
        return topped_up(offer, channel, number=self.number(), cents=cents)

    @rule(sent=st.lists(letters, min_size=4, max_size=30))
    def send(self, sent: list[Letter]) -> None:
        """Send letters in order: new ones, old ones again, those of later before earlier ones."""
        steps = [self.market.say(letter) for letter in sent]
        self.run("send", self._one_by_one(steps), len(sent))

    @rule(sent=st.lists(letters, min_size=3, max_size=12))
    def race(self, sent: list[Letter]) -> None:
        """Send several at once, the same one twice perhaps."""
        self.run("race", self._race([self.market.say(one) for one in sent]), len(sent))

    @rule(offer=offers, way=st.sampled_from([by_approval, by_account]))
    def pay(self, offer: Offer, way: Callable[..., Letter]) -> None:
        letter = way(offer, number=self.number()) if way is by_account else way(offer)
        self.run("pay", self.market.say(letter))

    @rule(offer=offers)
    def race_for_one(self, offer: Offer) -> None:
        """Pay one quote in three ways at once."""
        letters = (
            by_channel(offer, "ch_0", number=self.number()),
            by_account(offer, number=self.number()),
            by_approval(offer, code=CODE),
        )
        self.run("race", self._race([self.market.say(one) for one in letters]), len(letters))

    @precondition(may_crash)
    @rule(letter=letters, commits=st.integers(0, 5), is_written=st.booleans())
    def send_and_crash(self, letter: Letter, commits: int, *, is_written: bool) -> None:
        """Have the desk die some commits after a letter was sent."""
        self.run("crash", self._crash(self.market.say(letter), commits, is_written=is_written))

    @precondition(may_crash)
    @rule(offer=offers, commits=st.integers(0, 5), is_written=st.booleans())
    def pay_and_crash(self, offer: Offer, commits: int, *, is_written: bool) -> None:
        paying = self.market.say(by_account(offer, number=self.number()))
        self.run("crash", self._crash(paying, commits, is_written=is_written))

    @precondition(may_crash)
    @rule(offer=offers, first=letters)
    def race_and_crash(self, offer: Offer, first: Letter) -> None:
        others = (by_approval(offer), by_approval(offer, code=CODE))
        racing = self._race([self.market.say(one) for one in (first, *others)])
        self.run("crash", self._crash(racing, 1, is_written=True))

    @rule(
        account=st.sampled_from(
            [PAYER, GIFT, "merchant", "affiliate:friend.service.near", "affiliate:service.near"]
        ),
        count=COUNT,
        goes_out=st.booleans(),
    )
    def book(self, account: str, count: int, *, goes_out: bool) -> None:
        """Have money come from outside, or go there."""
        judge = cash(account, count, str(self.number()), goes_out=goes_out)
        if self.run("book", self.market.operate(judge)):
            self.put_in += -count if goes_out else count

    @rule(
        target=purses,
        kind=st.sampled_from(["channel", "hold"]),
        count=COUNT,
    )
    def open_purse(self, kind: Literal["channel", "hold"], count: int) -> Any:
        id = "ch_1" if kind == "channel" else f"hold_{self.number()}"
        judge = set_apart(kind, id, count)
        return (kind, id) if self.run("open purse", self.market.operate(judge)) else multiple()

    @rule(
        purse=purses,
        uses=st.lists(st.tuples(st.sampled_from(USES), COUNT), min_size=3, max_size=12),
        at_once=st.booleans(),
    )
    def use_purse(
        self, purse: tuple[Any, str], uses: list[tuple[str, int]], *, at_once: bool
    ) -> None:
        """Draw, by an amount or a total, and capture, some of it or all."""
        steps = [self.market.operate(use(purse, *one, str(self.number()))) for one in uses]
        made = self._race(steps) if at_once else self._one_by_one(steps)
        self.run("use purse", made, len(steps))

    @rule(purse=purses, letter=letters, count=COUNT)
    def draw_while_paying(self, purse: tuple[Any, str], letter: Letter, count: int) -> None:
        """Another process draws from a purse, closes it or captures, while somebody pays."""
        drawing = use(purse, "draw", count, str(self.number()))
        self.run("race", self._race([self.market.say(letter), self.market.operate(drawing)]), 2)

    @rule(purse=purses, letter=letters)
    def close_while_paying(self, purse: tuple[Any, str], letter: Letter) -> None:
        closing = use(purse, "close", 0, "")
        self.run("race", self._race([self.market.say(letter), self.market.operate(closing)]), 2)

    @rule(offer=offers, count=st.none() | COUNT, also=st.booleans())
    def give_back(self, offer: Offer, count: int | None, *, also: bool) -> None:
        """Have a part of a payment given back by people, or all of it, while it is paid perhaps."""
        payment_id = self.kept().records[f"quote:{offer.quote['quote_id']}"].get("payment_id")
        if payment_id is None:
            return
        judge = returned(payment_id, count, str(self.number()))
        self.given_back.add(payment_id)
        racing = [self.market.operate(judge)]
        if also:
            racing.append(self.market.operate(judge))
        self.run("give back", self._race(racing), len(racing))

    @rule(seconds=st.sampled_from([1, 30, 120, 700]))
    def wait(self, seconds: int) -> None:
        """Let time pass: quotes expire, and what failed is tried again."""
        self.clock.advance(seconds)
        self.run("wait", asyncio.sleep(0))

    @invariant()
    def all_invariants_hold(self) -> None:
        if self.put_in:
            wrong = invariants.broken(self.kept())
            assert not wrong, wrong

    def teardown(self) -> None:
        """Look at the books as ``aitp-desk ledger verify`` does, and end."""
        try:
            if self.put_in:
                kept = self.kept()
                records = [_Record(*one) for one in kept.records.items()]
                own = Own(
                    "", lambda purpose: own_secret(self.market.data, STORE, "payments", purpose)
                )
                found = Verifying(Merchant(own).has_signed).verify(records, kept.held.items())
                assert not found.problems, found.problems
        finally:
            if self.disk is not None:
                self.disk.close()
            self.runner.run(self.market.die())
            self.runner.close()
            shutil.rmtree(self.folder)

    def kept(self) -> invariants.Kept:
        """What stands on disk."""
        if self.disk is None:
            address = f"{(self.market.data / DATABASE).as_uri()}?mode=ro"
            self.disk = sqlite3.connect(address, uri=True, isolation_level=None)
        return invariants.read(self.disk, self.market.sold, self.put_in, self.given_back)

    def number(self) -> int:
        """A number that is new."""
        self.numbers += 1
        return self.numbers

    def run(self, name: str, step: Any, count: int = 1) -> Any:
        """Make a step, or several, and wait until the desk has done all that comes of it."""
        COUNTS[name] += count
        self.steps = 0 if name == "crash" else self.steps + 1

        async def made() -> Any:
            result = await step
            await self.market.idle()
            return result

        return self.runner.run(made())

    async def _one_by_one(self, steps: Sequence[Any]) -> None:
        for step in steps:
            await step

    async def _race(self, steps: Sequence[Any]) -> list[Any]:
        return await asyncio.gather(*steps)

    async def _crash(self, step: Any, commits: int, *, is_written: bool) -> None:
        fate = self.market.fate
        fate.is_written, fate.commits = is_written, commits
        making = asyncio.ensure_future(step)
        dying = asyncio.ensure_future(fate.died.wait())
        await asyncio.wait([making, dying], return_when=asyncio.FIRST_COMPLETED)
        await self.market.die()
        await making
        dying.cancel()
        await self.market.begin()


class _Record(msgspec.Struct, frozen=True):
    key: str
    value: Any
