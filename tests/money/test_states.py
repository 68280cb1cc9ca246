"""Money in every order, for a hundred steps; ``python -m tests.money.run`` makes 100,000."""

from __future__ import annotations

from tests.money.market.history import COUNTS
from tests.money.run import make_histories

STEPS = 100


def test_no_money_is_made_lost_or_paid_twice_whatever_is_repeated_raced_or_cut_short() -> None:
    before, number = COUNTS.total(), 5
    while COUNTS.total() - before < STEPS:
        make_histories(2, 25, number)
        number += 1
