"""What may be used in a reply and on a day, and what it comes to."""

from __future__ import annotations

import pytest

from aitp_desk.agent.base import Usage
from aitp_desk.agent.budget import BudgetSpent, Day, Spending
from aitp_desk.config import Claude
from tests.doubles import Clock


def test_what_is_being_used_counts_before_it_is_known() -> None:
    day = Day(1000, Clock())
    settings = Claude(day_tokens=1000)
    first, second = Spending(settings, day), Spending(settings, day)
    call = first.begin(500, 100)
    with pytest.raises(BudgetSpent):
        second.begin(450, 100)
    call.add(Usage(300, 0, 20))
    call.end()
    assert second.begin(450, 100).longest == 100


def test_the_day_ends_at_midnight_utc() -> None:
    clock = Clock(86_400 * 20_000 - 1)
    day = Day(100, clock)
    day.take(100)
    with pytest.raises(BudgetSpent):
        day.take(1)
    clock.advance(1)
    day.take(100)


def test_no_limit_of_the_day_is_no_limit() -> None:
    day = Day(0, Clock())
    day.take(10**9)
    day.take(10**9)


def test_an_answer_gets_what_room_the_reply_has_left() -> None:
    spending = Spending(Claude(reply_tokens=1000), Day(0, Clock()))
    call = spending.begin(600, 600)
    assert call.longest == 400
    call.add(Usage(600, 0, 350))
    call.end()
    with pytest.raises(BudgetSpent):
        spending.begin(30, 600)


def test_a_short_answer_is_not_refused_for_being_short() -> None:
    spending = Spending(Claude(), Day(0, Clock()))
    assert spending.begin(600, 1).longest == 1


def test_every_try_of_a_call_is_paid_for() -> None:
    spending = Spending(Claude(price_in=1, price_cached=0.1, price_out=10), Day(0, Clock()))
    call = spending.begin(600, 600)
    call.add(Usage(1_000_000, 500_000, 0))
    call.add(Usage(1_000_000, 0, 1_000_000))
    call.end()
    assert spending.usage == Usage(2_000_000, 500_000, 1_000_000)
    assert spending.cost == pytest.approx(1.5 + 0.05 + 10)


def test_what_a_call_took_yesterday_makes_no_room_today() -> None:
    clock = Clock(86_400 * 20_000 - 1)
    day = Day(1000, clock)
    late = Spending(Claude(), day).begin(500, 500)
    clock.advance(1)
    day.take(900)
    late.end()
    with pytest.raises(BudgetSpent):
        day.take(101)


def test_a_call_is_not_repeated_past_what_the_reply_may_use() -> None:
    spending = Spending(Claude(reply_tokens=1000), Day(0, Clock()))
    call = spending.begin(450, 50)
    assert call.may_repeat
    call.add(Usage(450, 0, 1))
    assert call.may_repeat
    call.add(Usage(450, 0, 1))
    assert not call.may_repeat
