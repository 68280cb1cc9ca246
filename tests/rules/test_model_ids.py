"""Ids that grow with time."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.ids import new_id

times = st.floats(min_value=0, max_value=2**47 / 1000)


@given(times)
def test_an_id_is_a_prefix_and_36_characters(now: float) -> None:
    assert re.fullmatch(r"thread_[0-9a-v]{36}", new_id("thread", now))


@given(times, times)
def test_ids_made_later_sort_later(one: float, other: float) -> None:
    early, late = sorted((int(one * 1000), int(other * 1000)))
    if early != late:
        assert new_id("msg", early / 1000 + 0.0005) < new_id("msg", late / 1000 + 0.0005)


def test_ids_of_the_same_moment_differ() -> None:
    assert len({new_id("msg", 1_800_000_000) for _ in range(1000)}) == 1000
