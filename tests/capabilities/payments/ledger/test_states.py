"""Whatever is done to the ledger, late or twice: no money is made or lost, nobody owes any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from aitp_desk.capability import Effect
from aitp_payments.ledger import names
from aitp_payments.ledger.journal import (
    BALANCE,
    ENTRY,
    Entry,
    NotBooked,
    balance,
    cover,
    entry_key,
    is_booked,
    move,
    post,
)
from aitp_payments.ledger.purses import (
    Purse,
    PurseKind,
    capture,
    close,
    draw,
    draw_up_to,
    open_purse,
    purse_of,
    top_up,
)
from aitp_payments.ledger.refunds import refund, refundable, returned
from aitp_payments.ledger.shares import RevenueSplit, paid
from aitp_payments.money import is_whole
from tests.support.payments.books import Look, Moved, Shelf

ACCOUNTS = st.sampled_from(["acct_a", "acct_b"])
AMOUNTS = st.one_of(
    st.integers(1, 300).map(lambda cents: cents * 10_000), st.integers(1, 3 * 10**6)
)
SPLITS = st.builds(
    RevenueSplit,
    st.integers(0, 10_000),
    st.dictionaries(st.sampled_from(["x.example", "y", "Größe"]), st.integers(1, 9), max_size=3),
)
KINDS: tuple[PurseKind, PurseKind] = ("channel", "hold")
Named = tuple[PurseKind, str]


class LedgerStates(RuleBasedStateMachine):
    """Payers, channels, holds, payments and refunds, each of which may come late or again."""

    purses = Bundle("purses")
    payments = Bundle("payments")
    late = Bundle("late")

    def __init__(self) -> None:
        super().__init__()
        self.shelf = Shelf()
        self.names = 0
        self.put_in = Counter[str]()

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def do(self, judge: Callable[[Look], Sequence[Effect]]) -> bool:
        """Judge and write at once, as where nobody else is about."""
        try:
            look = Look(self.shelf)
            self.shelf.commit(look, judge(look))
        except NotBooked:
            return False
        return True

    @initialize(target=purses)
    def begin(self) -> object:
        """A caller has money, and a channel and a hold."""
        self.credit("acct_a", 20_000_000)
        opened = [self.open(kind, "acct_a", 5_000_000) for kind in KINDS]
        return multiple(*opened)

    @rule(account=ACCOUNTS, count=AMOUNTS)
    def credit(self, account: str, count: int) -> None:
        legs = move(names.outside("cash"), account, "EUR", count)
        assert self.do(lambda look: post(f"cash:{self.name()}", legs, kind="credit", at=look.now))
        self.put_in["EUR"] += count

    @rule(
        target=purses,
        kind=st.sampled_from(KINDS),
        account=ACCOUNTS,
        count=AMOUNTS,
    )
    def open(self, kind: PurseKind, account: str, count: int) -> object:
        purse = Purse(
            id=self.name(),
            kind=kind,
            account=account,
            currency="EUR",
            opened_at=self.shelf.now,
            ends_at=self.shelf.now + 50 if kind == "hold" else 0,
        )
        done = self.do(lambda look: open_purse(look, purse, count))
        return (kind, purse.id) if done else multiple()

    @rule(target=payments, purse=purses, count=AMOUNTS, split=SPLITS)
    def pay_from_purse(self, purse: Named, count: int, split: RevenueSplit) -> object:
        return self.paid(self.purse(Look(self.shelf), purse).pot, count, split)

    @rule(target=payments, account=ACCOUNTS, count=AMOUNTS, split=SPLITS)
    def pay(self, account: str, count: int, split: RevenueSplit) -> object:
        return self.paid(account, count, split)

    def paid(self, source: str, count: int, split: RevenueSplit) -> object:
        transaction, legs = f"pay:{self.name()}", paid(source, count, "EUR", split)

        def judge(look: Look) -> Sequence[Effect]:
            cover(look, legs)
            return post(transaction, legs, kind="payment", at=look.now)

        return transaction if self.do(judge) else multiple()

    def purse(self, look: Look, named: Named) -> Purse:
        purse = purse_of(look, *named)
        assert purse is not None
        return purse

    @rule(purse=purses, count=AMOUNTS, reference=st.sampled_from(["r1", "r2", "r3"]))
    def top_up(self, purse: Named, count: int, reference: str) -> None:
        if purse[0] == "channel":
            self.do(lambda look: top_up(look, self.purse(look, purse), count, reference))

    @rule(
        target=payments,
        purse=purses,
        count=AMOUNTS,
        reference=st.sampled_from(["r1", "r2", "r3", "r4"]),
    )
    def draw(self, purse: Named, count: int, reference: str) -> object:
        transaction = f"draw:{purse[0]}:{purse[1]}/{reference}"
        was_drawn = is_booked(self.shelf, transaction)
        done = self.do(lambda look: draw(look, self.purse(look, purse), count, reference))
        return transaction if done and not was_drawn else multiple()

    @rule(purse=purses, total=AMOUNTS)
    def draw_up_to(self, purse: Named, total: int) -> None:
        before = self.purse(Look(self.shelf), purse).signed
        done = self.do(lambda look: draw_up_to(look, self.purse(look, purse), total))
        after = self.purse(Look(self.shelf), purse).signed
        assert after == (max(before, total) if done else before)

    @rule(purse=purses, count=st.none() | AMOUNTS, split=SPLITS)
    def capture(self, purse: Named, count: int | None, split: RevenueSplit) -> None:
        before = self.purse(Look(self.shelf), purse).captured
        done = self.do(lambda look: capture(look, self.purse(look, purse), count, split))
        after = self.purse(Look(self.shelf), purse).captured
        assert is_whole(after, "EUR")
        if count is not None:
            assert after - before == (count if done else 0)

    @rule(purse=purses)
    def close(self, purse: Named) -> None:
        assert self.do(lambda look: close(look, self.purse(look, purse)))

    @rule(payment=payments, count=st.none() | AMOUNTS, reference=st.sampled_from(["f1", "f2"]))
    def refund(self, payment: str, count: int | None, reference: str) -> None:
        was_given = is_booked(self.shelf, f"refund:{reference}:{payment}")
        before = refundable(self.shelf, payment)
        done = self.do(lambda look: refund(look, payment, count, reference=reference))
        given = before - refundable(self.shelf, payment)
        wanted = before if count is None else count
        assert given == (wanted if done and not was_given else 0)

    @rule(
        target=late,
        purse=purses,
        count=AMOUNTS,
        what=st.sampled_from(["draw", "capture", "capture all", "close"]),
    )
    def begin_late(self, purse: Named, count: int, what: str) -> object:
        """Judge something now that is written later, when others have been faster."""
        look = Look(self.shelf)
        known = self.purse(look, purse)
        try:
            match what:
                case "draw":
                    return look, draw(look, known, count, self.name())
                case "capture":
                    return look, capture(look, known, count)
                case "capture all":
                    return look, capture(look, known)
                case _:
                    return look, close(look, known)
        except NotBooked:
            return multiple()

    @rule(target=late, payment=payments, count=AMOUNTS)
    def begin_late_refund(self, payment: str, count: int) -> object:
        look = Look(self.shelf)
        try:
            return look, refund(look, payment, count, reference=self.name())
        except NotBooked:
            return multiple()

    @rule(late=late)
    def end_late(self, late: tuple[Look, Sequence[Effect]]) -> None:
        """Write it: all is as it was, or nothing is written, nor is it a second time."""
        look, effects = late
        try:
            self.shelf.commit(look, effects)
        except Moved:
            return
        if effects:
            before = dict(self.shelf.counters)
            try:
                self.shelf.commit(look, effects)
            except Moved:
                assert self.shelf.counters == before
            else:
                raise AssertionError("it was written twice")

    @rule(seconds=st.integers(0, 60))
    def wait(self, seconds: int) -> None:
        self.shelf.now += seconds

    @invariant()
    def nobody_has_less_than_nothing(self) -> None:
        for counter, held in self.shelf.counters.items():
            assert held >= 0 or ":outside:" in counter, counter

    @invariant()
    def no_money_is_made_or_lost(self) -> None:
        assert sum(self.shelf.counters.values()) == 0
        held = sum(held for held in self.shelf.counters.values() if held > 0)
        assert held == self.put_in["EUR"]

    @invariant()
    def the_journal_says_what_the_accounts_hold(self) -> None:
        booked = Counter[str]()
        for key, record in self.shelf.records.items():
            if key.startswith(ENTRY):
                entry = msgspec.convert(record.value, Entry)
                assert entry_key(entry.transaction) == key
                assert sum(leg.millionths for leg in entry.legs) == 0
                for leg in entry.legs:
                    booked[f"{BALANCE}{leg.currency}:{leg.account}"] += leg.millionths
        assert +booked == +Counter(self.shelf.counters)
        assert -booked == -Counter(self.shelf.counters)

    @invariant()
    def no_more_goes_back_than_was_paid_and_everybody_gives_what_they_got(self) -> None:
        for key in self.shelf.records:
            if key.startswith("returned:"):
                transaction = key.removeprefix("returned:")
                back = returned(self.shelf, transaction)
                assert refundable(self.shelf, transaction) >= 0
                assert sum(back.parts.values()) == back.count
                record = self.shelf.record(entry_key(transaction))
                assert record is not None
                for leg in msgspec.convert(record.value, Entry).legs:
                    assert back.parts.get(leg.account, 0) <= max(leg.millionths, 0)

    @invariant()
    def what_is_closed_is_empty(self) -> None:
        for key, record in self.shelf.records.items():
            if key.startswith(("channel:", "hold:")):
                purse = msgspec.convert(record.value, Purse)
                if not purse.is_open:
                    assert balance(self.shelf, purse.pot, "EUR") == 0
                    assert balance(self.shelf, purse.drawn, "EUR") == 0


TestLedgerStates = LedgerStates.TestCase
TestLedgerStates.settings = settings(stateful_step_count=40)
