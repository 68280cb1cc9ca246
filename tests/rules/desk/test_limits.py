"""Counting requests: as an account of every request would, whoever comes and whenever."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.config import Limits
from aitp_desk.desk.limits import MAX_CALLERS, WINDOW_SECONDS, Limiter
from aitp_desk.model.principal import anonymous
from tests.doubles import Clock

STEPS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), max_size=60)


@given(STEPS, st.integers(1, 4))
def test_a_window_lets_so_many_through_and_no_more(
    steps: list[tuple[int, str]], limit: int
) -> None:
    clock = Clock()
    limiter = Limiter(Limits(converse_per_minute=limit), clock)
    began: dict[str, float] = {}
    passed: dict[str, int] = defaultdict(int)
    for seconds, address in steps:
        clock.advance(seconds)
        if clock() >= began.get(address, float("-inf")) + WINDOW_SECONDS:
            began[address], passed[address] = clock(), 0
        allowance = limiter.count(anonymous(address), "converse")
        assert allowance is not None
        assert allowance.reset_at == began[address] + WINDOW_SECONDS
        assert (allowance.refused is None) == (passed[address] < limit)
        passed[address] += allowance.refused is None
        assert allowance.remaining == limit - passed[address]


def test_what_is_remembered_of_callers_is_bounded() -> None:
    clock = Clock()
    limiter = Limiter(Limits(converse_per_minute=1), clock)
    for n in range(MAX_CALLERS + 10):
        limiter.count(anonymous(str(n)), "converse")
    newest = limiter.count(anonymous(str(MAX_CALLERS + 9)), "converse")
    forgotten = limiter.count(anonymous("0"), "converse")
    assert newest is not None
    assert newest.refused is not None
    assert forgotten is not None
    assert forgotten.refused is None


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    clock = Clock()
    limiter = Limiter(Limits(converse_per_minute=1), clock)
    limiter.count(anonymous("a"), "converse")
    clock.advance(-3600)
    allowance = limiter.count(anonymous("a"), "converse")
    assert allowance is not None
    assert allowance.refused is None
    assert allowance.reset_at == clock() + WINDOW_SECONDS
