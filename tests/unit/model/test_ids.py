"""Ids that grow with time."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.ids import first_id, new_id

moments = st.integers(min_value=0, max_value=2**48 - 1)
"""Milliseconds, until the year 10889."""


def seconds(moment: int) -> float:
    """In the middle of the millisecond, clear of rounding."""
    return (moment + 0.5) / 1000


@given(moments)
def test_an_id_is_a_prefix_and_36_characters(moment: int) -> None:
    assert re.fullmatch(r"thread_[0-9a-v]{36}", new_id("thread", seconds(moment)))


@given(moments, moments)
def test_ids_made_later_sort_later(one: int, other: int) -> None:
    early, late = sorted((one, other))
    if early != late:
        assert new_id("msg", seconds(early)) < new_id("msg", seconds(late))


@given(moments)
def test_the_ids_of_a_moment_begin_at_its_first(moment: int) -> None:
    first = first_id("msg", seconds(moment))
    assert first < new_id("msg", seconds(moment))
    if moment:
        assert new_id("msg", seconds(moment - 1)) < first


def test_ids_of_the_same_moment_differ() -> None:
    assert len({new_id("msg", 1_800_000_000) for _ in range(1000)}) == 1000


def test_every_random_digit_is_as_likely_as_the_others() -> None:
    many = 2000
    for place in range(-26, 0):
        seen = Counter(new_id("x", 0)[place] for _ in range(many))
        assert len(seen) == 32
        assert max(seen.values()) < many / 32 * 2.2
