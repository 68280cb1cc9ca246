"""A market in every order: quotes, payments, purses and refunds, repeated, raced and cut short."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, multiple, precondition, rule

from tests.money.market.desk import SCHEMA
from tests.money.market.history import RunningMarket, Strike
from tests.money.market.messages import (
    AFFILIATES,
    CODE,
    GIFT,
    PAYER,
    Letter,
    Offer,
    Purse,
    by_account,
    by_approval,
    by_channel,
    opening,
    passed_on,
    respelled,
    topped_up,
    using,
)
from tests.money.market.operations import USES, WAYS, cash, pay_by, returned, use

CENTS = st.sampled_from([1, 3, 99, 100, 333, 500, 999, 2345, 6001])
COUNT = st.sampled_from([1, 7, 10_000, 10_001, 250_000, 1_990_000, 3_333_333, 40_000_000])
"""Millionths."""
SIZES = st.sampled_from([10_000, 250_000, 3_333_333, 40_000_000])
"""Of purses, in millionths."""
PARTS = st.sampled_from([1, 10_000, 10_000, 20_000, 70_000, 1_990_000])
"""Of payments, in millionths."""
WORKS = st.sampled_from([True, True, False])
"""Whether what is sold can be delivered."""
PLACES = st.integers(0, 99)
"""Which of those that there are, counted from the newest."""
NAMES = st.sampled_from(["a", "b:a", "total:10000", "new"])
"""What draws and top-ups of a purse are called by their payer; ``new`` for what none was."""
ASKED = ("draw", "draw", "total", "top up", "capture", "capture", "capture last", "close")
STRIKES = st.builds(Strike, st.integers(0, 5), st.booleans(), st.none() | st.integers(0, 3))
STRIKE_AFTER = 4
"""A desk makes so many steps at least before it dies again: a start takes as long as some."""


def may_be_struck(states: MarketStates) -> bool:
    """Whether a desk has run for long enough."""
    return states.strike is None and states.since_death >= STRIKE_AFTER


class MarketStates(RunningMarket):
    """See the module."""

    offers = Bundle("offers")
    letters = Bundle("letters")
    purses = Bundle("purses")

    @precondition(may_be_struck)
    @rule(strike=STRIKES)
    def strike_during_next_step(self, strike: Strike) -> None:
        self.strike = strike

    @rule(target=offers, asked=st.lists(st.tuples(CENTS, WORKS), min_size=1, max_size=4))
    def quote(self, asked: list[tuple[int, bool]]) -> Any:
        return multiple(*self.new_offers(asked))

    def new_offers(self, asked: list[tuple[int, bool]]) -> list[Offer]:
        """New quotes, asked for at once; by another desk where one has died over it."""
        offers: list[Offer] = []
        while lacking := asked[len(offers) :]:
            steps = [self.market.quote(cents, works=works) for cents, works in lacking]
            given = self.run("quote", self.race(steps), len(steps))
            offers += [offer for offer in given if offer]
        return offers

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
        asked=st.tuples(CENTS, WORKS),
        ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=3),
        twice=st.booleans(),
    )
    def buy(self, asked: tuple[int, bool], ways: list[str], *, twice: bool) -> Any:
        """Ask for something and pay it in one way or several at once, each twice perhaps."""
        (offer,) = self.new_offers([asked])
        letters = [pay_by(way, offer, self.number()) for way in ways]
        sent = [*letters, *letters] if twice else letters
        self.run("buy", self.race([self.say(one) for one in sent]), len(sent))
        return multiple(*letters)

    @rule(
        target=letters,
        asked=st.tuples(CENTS, WORKS),
        names=st.lists(st.sampled_from(AFFILIATES), min_size=1, max_size=3, unique=True),
        weights=st.lists(st.integers(1, 9), min_size=3, max_size=3),
        way=st.sampled_from(WAYS),
    )
    def pass_on(
        self, asked: tuple[int, bool], names: list[str], weights: list[int], way: str
    ) -> Any:
        """Have a quote passed on by several, one after the other, and then paid."""
        (offer,) = self.new_offers([asked])
        letters = [
            *passed_on(offer, names, weights[: len(names)]),
            pay_by(way, offer, self.number()),
        ]
        self.run("pass on", self.one_by_one([self.say(one) for one in letters]), len(letters))
        return multiple(*letters)

    @rule(target=letters, offer=offers, channel=st.sampled_from(["ch_0", "ch_1"]), cents=CENTS)
    def top_up(self, offer: Offer, channel: str, cents: int) -> Letter:
        return topped_up(offer, channel, number=self.number(), cents=cents)

    @rule(target=letters, purse=purses, what=st.sampled_from(ASKED), count=COUNT, name=NAMES)
    def ask_of_purse(self, purse: Purse, what: str, count: int, name: str) -> Letter:
        """Write what is asked of a channel or a hold; it is not sent yet."""
        return self.asked(purse, what, count, name)

    def asked(self, purse: Purse, what: str, count: int, name: str) -> Letter:
        """What is asked of a channel or a hold."""
        name = str(self.number()) if name == "new" else name
        return using(self.market.thread_id, SCHEMA, purse, what, count, name)

    @rule(sent=st.lists(letters, min_size=4, max_size=30))
    def send(self, sent: list[Letter]) -> None:
        """Send letters in order: new ones, old ones again, those of later before earlier ones."""
        self.run("send", self.one_by_one([self.say(one) for one in sent]), len(sent))

    @rule(sent=st.lists(letters, min_size=2, max_size=12), twice=st.booleans())
    def send_at_once(self, sent: list[Letter], *, twice: bool) -> None:
        """Send several at once, each of them twice perhaps, and then not in the same spelling."""
        sent = [*sent, *map(respelled, sent)] if twice else sent
        self.run("send at once", self.race([self.say(one) for one in sent]), len(sent))

    @rule(offer=offers, way=st.sampled_from(["channel", "account", "owner", "code"]))
    def pay_twice_at_once(self, offer: Offer, way: str) -> None:
        """Have two requests bring the same payment at the same moment."""
        letter = pay_by(way, offer, self.number())
        self.run("pay twice", self.race([self.say(letter), self.say(letter)]), 2)

    @rule(offer=consumes(offers))
    def pay_in_three_ways_at_once(self, offer: Offer) -> None:
        letters = (
            by_channel(offer, "ch_0", number=self.number()),
            by_account(offer, number=self.number()),
            by_approval(offer, code=CODE),
        )
        self.run("pay in three ways", self.race([self.say(one) for one in letters]), len(letters))

    @precondition(may_be_struck)
    @rule(offer=offers, strike=STRIKES, is_raced=st.booleans())
    def pay_and_die(self, offer: Offer, strike: Strike, *, is_raced: bool) -> None:
        """Have the desk die some commits after a caller has paid, and the payment sent again."""
        letter = by_account(offer, number=self.number())
        other = by_approval(offer, code=CODE)
        self.strike = strike
        paying = [self.say(letter), self.say(other)] if is_raced else [self.say(letter)]
        self.run("pay", self.race(paying), len(paying))
        self.run("pay again", self.one_by_one([self.say(letter), self.say(other)]), 2)

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
        count=SIZES,
        seconds=st.sampled_from([60, 900, 3600]),
        id=st.sampled_from(["new", "shared", "shared:a", "ch_0", "ch_1", "ch_1:a", "ch_1:b"]),
    )
    def open_purse(self, kind: str, count: int, seconds: int, id: str) -> Purse:
        """Have a channel or a hold opened, as it is asked for twice at once."""
        self.begin()
        id = f"shared_{self.number()}" if id == "new" else id
        ends_at = int(self.clock()) + seconds
        letter = opening(self.market.thread_id, SCHEMA, (kind, id), count, ends_at)
        self.run("open purse", self.race([self.say(letter), self.say(letter)]), 2)
        return kind, id

    @rule(
        target=letters,
        purse=purses,
        asked=st.lists(st.tuples(st.sampled_from(ASKED), COUNT, NAMES), min_size=2, max_size=8),
        at_once=st.booleans(),
    )
    def spend(self, purse: Purse, asked: list[tuple[str, int, str]], *, at_once: bool) -> Any:
        """Ask for several things of a channel or a hold, in order or at once."""
        letters = [self.asked(purse, *one) for one in asked]
        steps = [self.say(one) for one in letters]
        made = self.race(steps) if at_once else self.one_by_one(steps)
        self.run("spend", made, len(letters))
        again = [self.say(respelled(one)) for one in letters]
        self.run("spend again", self.one_by_one(again), len(again))
        return multiple(*letters)

    @rule(
        purse=purses,
        uses=st.lists(st.tuples(st.sampled_from(USES), COUNT), min_size=2, max_size=8),
        at_once=st.booleans(),
    )
    def use_purse(self, purse: Purse, uses: list[tuple[str, int]], *, at_once: bool) -> None:
        """Draw, by an amount or a total, and capture, some of it or all."""
        steps = [self.market.operate(use(purse, *one, str(self.number()))) for one in uses]
        made = self.race(steps) if at_once else self.one_by_one(steps)
        self.run("use purse", made, len(steps))

    @rule(purse=purses, letter=letters, what=st.sampled_from(["draw", "close"]), count=COUNT)
    def use_while_paying(self, purse: Purse, letter: Letter, what: str, count: int) -> None:
        """Another process draws from a purse, or closes it, while a caller pays."""
        using_it = self.market.operate(use(purse, what, count, str(self.number())))
        self.run("use while paying", self.race([self.say(letter), using_it]), 2)

    @rule(
        place=PLACES,
        parts=st.lists(st.none() | PARTS, min_size=1, max_size=4),
        is_shared=st.booleans(),
        twice=st.booleans(),
    )
    def give_back(
        self, place: int, parts: list[int | None], *, is_shared: bool, twice: bool
    ) -> None:
        """Have people give back parts of what was paid, or all of it; each twice at once perhaps.

        Parameters:
            is_shared: of what affiliates share in, if there is such a payment.
        """
        if not self.put_in:
            return
        kept = self.kept()
        paid = [id for id, payment, _ in kept.payments if payment["state"] != "refunded"]
        among = [id for id, _, legs in kept.payments if id in paid and len(legs) > 2]
        paid = among if is_shared and among else paid
        if not paid:
            return
        payment_id = paid[-1 - place % len(paid)]
        self.given_back.add(payment_id)
        for count in parts:
            judge = returned(payment_id, count, f"back_{self.number()}")
            steps = [self.market.operate(judge) for _ in range(1 + twice)]
            self.run("give back", self.race(steps), len(steps))

    @rule(seconds=st.sampled_from([1, 5, 30, 120, 700]))
    def wait(self, seconds: int) -> None:
        """Let time pass: quotes and holds expire, and what failed is tried again."""
        self.clock.advance(seconds)
        self.run("wait", self.one_by_one([]))
