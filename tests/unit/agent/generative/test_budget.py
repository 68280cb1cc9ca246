"""What may be used in a reply and on a day, and what it comes to."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from aitp_desk.agent.base import Usage
from aitp_desk.agent.generative.budget import (
    BudgetSpent,
    DailyBudget,
    DailyBudgetSpent,
    ReplyBudget,
)
from aitp_desk.config import Model
from tests.support.doubles.agent import Clock


def test_what_is_being_used_counts_before_it_is_known() -> None:
    day = DailyBudget(1000, Clock())
    settings = Model(day_tokens=1000)
    first, second = ReplyBudget(settings, day), ReplyBudget(settings, day)
    call = first.begin(500, 100, Model())
    with pytest.raises(BudgetSpent):
        second.begin(450, 100, Model())
    call.add(Usage(300, 0, 20))
    call.end()
    assert second.begin(450, 100, Model()).longest == 100


def test_the_day_ends_at_midnight_utc() -> None:
    clock = Clock(86_400 * 20_000 - 1)
    day = DailyBudget(100, clock)
    day.reserve(100)
    with pytest.raises(BudgetSpent):
        day.reserve(1)
    clock.advance(1)
    day.reserve(100)


def test_a_reply_that_has_begun_is_finished_past_the_day() -> None:
    settings = Model(day_tokens=1000)
    day = DailyBudget(1000, Clock())
    reply = ReplyBudget(settings, day)
    reply.begin(800, 100, Model()).end()
    day.reserve(1000)
    assert reply.begin(800, 100, Model()).longest == 100
    with pytest.raises(DailyBudgetSpent):
        ReplyBudget(settings, day).begin(1, 40, Model())
    # one that went on from the caller's results began before
    assert ReplyBudget(settings, day, is_begun=True).begin(1, 40, Model()).longest == 40


def test_a_day_is_spent_while_what_was_refused_has_no_room() -> None:
    clock = Clock()
    day = DailyBudget(1000, clock, used=400)
    told = [day.is_spent]
    taken_on = day.reserve(500)
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(DailyBudgetSpent):
                day.reserve(300)
    assert [line["event"] for line in logs] == ["day_tokens_spent"]
    told.append(day.is_spent)
    day.settle(taken_on, 500, Usage(prompt=60, completion=40))
    told.append(day.is_spent)
    day.reserve(300)
    with pytest.raises(DailyBudgetSpent):
        day.reserve(300)
    told.append(day.is_spent)
    clock.advance(24 * 3600)
    told.append(day.is_spent)
    day.reserve(300)
    assert told == [False, True, False, True, False]


def test_what_is_taken_is_kept_before_it_is_used_and_set_right_after() -> None:
    """So a process that is killed in the middle of a call has counted it."""
    kept: list[tuple[int, int]] = []
    clock = Clock()
    day = DailyBudget(1000, clock, keep=lambda *what: kept.append(what))
    today = int(clock() // 86_400)
    call = ReplyBudget(Model(), day).begin(500, 100, Model())
    assert kept == [(today, 600)]
    call.add(Usage(450, 0, 50))
    clock.advance(24 * 3600)
    call.end()
    assert kept == [(today, 600), (today, -100)]


def test_no_limit_of_the_day_is_no_limit() -> None:
    day = DailyBudget(0, Clock())
    day.reserve(10**9)
    day.reserve(10**9)
    assert not day.is_spent


def test_an_answer_gets_the_space_that_the_reply_has_left() -> None:
    budget = ReplyBudget(Model(reply_tokens=1000), DailyBudget(0, Clock()))
    call = budget.begin(600, 600, Model())
    assert call.longest == 400
    call.add(Usage(600, 0, 350))
    call.end()
    with pytest.raises(BudgetSpent):
        budget.begin(30, 600, Model())


def test_a_short_answer_is_not_refused_for_being_short() -> None:
    budget = ReplyBudget(Model(), DailyBudget(0, Clock()))
    assert budget.begin(600, 1, Model()).longest == 1


def test_every_try_of_a_call_is_paid_for() -> None:
    priced = Model(price_in=1, price_cached=0.1, price_out=10)
    budget = ReplyBudget(Model(), DailyBudget(0, Clock()))
    call = budget.begin(600, 600, priced)
    call.add(Usage(1_000_000, 500_000, 0))
    call.add(Usage(1_000_000, 0, 1_000_000))
    call.end()
    assert budget.usage == Usage(2_000_000, 500_000, 1_000_000)
    assert budget.cost == pytest.approx(1.5 + 0.05 + 10)


def test_a_call_of_yesterday_takes_no_space_today() -> None:
    clock = Clock(86_400 * 20_000 - 1)
    day = DailyBudget(1000, clock)
    late = ReplyBudget(Model(), day).begin(500, 500, Model())
    clock.advance(1)
    day.reserve(900)
    late.end()
    with pytest.raises(BudgetSpent):
        day.reserve(101)


def test_a_call_is_not_repeated_past_what_the_reply_may_use() -> None:
    budget = ReplyBudget(Model(reply_tokens=1000), DailyBudget(0, Clock()))
    call = budget.begin(450, 50, Model())
    assert call.may_repeat
    call.add(Usage(450, 0, 1))
    assert call.may_repeat
    call.add(Usage(450, 0, 1))
    assert not call.may_repeat


async def test_what_other_processes_have_used_counts_too() -> None:
    known: int | None = 60

    async def read_used() -> int | None:
        return known

    day = DailyBudget(100, lambda: 0.0, used=10, read_used=read_used)
    day.reserve(20)
    await day.refresh()
    assert day.used == 60
    with pytest.raises(DailyBudgetSpent):
        day.reserve(41)
    known = None  # the store does not answer: what is known here goes on counting
    await day.refresh()
    assert day.reserve(40) == 0
    assert day.is_spent
