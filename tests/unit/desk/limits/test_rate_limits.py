"""Counting requests: as an account of every request would, in any order of callers."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.config import Limits
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.counters import MAX_COUNTED, WINDOW_SECONDS
from tests.support.doubles.agent import Clock

STEPS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), max_size=60)


@given(STEPS, st.integers(1, 4))
def test_a_window_lets_so_many_through_and_no_more(
    steps: list[tuple[int, str]], limit: int
) -> None:
    clock = Clock()
    limiter = RateLimiter(Limits(converse_per_minute=limit), clock)
    began: dict[str, float] = {}
    passed: dict[str, int] = defaultdict(int)
    for seconds, address in steps:
        clock.advance(seconds)
        if clock() >= began.get(address, float("-inf")) + WINDOW_SECONDS:
            began[address], passed[address] = clock(), 0
        allowance = limiter.count(make_anonymous(address), "converse")
        assert allowance is not None
        assert allowance.reset_at == began[address] + WINDOW_SECONDS
        assert (allowance.refused is None) == (passed[address] < limit)
        passed[address] += allowance.refused is None
        assert allowance.remaining == limit - passed[address]


@pytest.mark.slow
def test_what_is_remembered_of_callers_is_bounded() -> None:
    clock = Clock()
    limiter = RateLimiter(Limits(converse_per_minute=1), clock)
    for n in range(MAX_COUNTED + 10):
        limiter.count(make_anonymous(str(n)), "converse")
    assert is_refused(limiter, str(MAX_COUNTED + 9))
    assert not is_refused(limiter, "0")


@pytest.mark.slow
def test_no_crowd_of_newcomers_makes_a_caller_forgotten_who_is_being_refused() -> None:
    clock = Clock()
    limiter = RateLimiter(Limits(converse_per_minute=2), clock)
    for address in ("refused", "refused", "half"):
        limiter.count(make_anonymous(address), "converse")
    for n in range(MAX_COUNTED):
        limiter.count(make_anonymous(str(n)), "converse")
    assert is_refused(limiter, "refused")
    assert [is_refused(limiter, "half") for _ in range(3)] == [False, False, True]


def test_names_that_are_invented_use_up_what_their_address_may_ask() -> None:
    """However many names there are: each question was counted against the address before."""
    limiter = RateLimiter(Limits(converse_per_minute=3, agent_per_minute=2), Clock())
    caller = make_anonymous("203.0.113.7")
    for name in ("one", "other", "third"):
        allowance = limiter.count(caller, "converse")
        assert allowance is not None
        assert allowance.refused is None
        limiter.count_agent(caller, name, allowance)
    assert is_refused(limiter, "203.0.113.7")


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 60, exclude_max=True))
def test_a_caller_who_waits_the_announced_time_may_ask_again(begin: float, later: float) -> None:
    clock = Clock()
    clock.advance(begin)
    limiter = RateLimiter(Limits(converse_per_minute=1), clock)
    limiter.count(make_anonymous("a"), "converse")
    clock.advance(later)
    allowance = limiter.count(make_anonymous("a"), "converse")
    assert allowance is not None
    if allowance.refused is None:  # so near to the end that the clock's precision has reached it
        assert later > 59
        return
    wait = allowance.refused.retry_after
    assert wait is not None
    assert 1 <= wait <= WINDOW_SECONDS
    clock.advance(wait)
    assert not is_refused(limiter, "a")


@pytest.mark.parametrize("seconds", [-3600, -60, -1])
def test_a_clock_that_is_set_back_locks_nobody_out(seconds: int) -> None:
    clock = Clock()
    limiter = RateLimiter(Limits(converse_per_minute=1), clock)
    limiter.count(make_anonymous("a"), "converse")
    clock.advance(seconds)
    allowance = limiter.count(make_anonymous("a"), "converse")
    assert allowance is not None
    assert allowance.refused is None
    assert allowance.reset_at == clock() + WINDOW_SECONDS


def test_a_clock_that_is_set_forward_starts_every_window_again() -> None:
    clock = Clock()
    limiter = RateLimiter(Limits(converse_per_minute=1), clock)
    assert not is_refused(limiter, "a")
    assert is_refused(limiter, "a")
    clock.advance(3600)
    assert not is_refused(limiter, "a")


def is_refused(limiter: RateLimiter, address: str) -> bool:
    allowance = limiter.count(make_anonymous(address), "converse")
    assert allowance is not None
    return allowance.refused is not None
