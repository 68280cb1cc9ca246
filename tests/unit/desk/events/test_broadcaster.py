"""Waiting for the end of a run, within one process."""

from __future__ import annotations

from aitp_desk.desk.events.broadcaster import Following
from aitp_desk.desk.events.events import HappeningPage


async def nothing(_thread_id: str, _after: int, _limit: int) -> HappeningPage:
    return HappeningPage((), has_more=False)


def test_everybody_who_watches_a_run_is_told_of_its_end() -> None:
    following = Following(nothing)
    watch = following.watch
    with watch("run_1") as one, watch("run_1") as two, watch("run_2") as other:
        following.ended("run_1")
        assert one.is_set()
        assert two.is_set()
        assert not other.is_set()


def test_an_end_that_nobody_watches_is_forgotten() -> None:
    following = Following(nothing)
    following.ended("run_1")
    with following.watch("run_1") as end:
        assert not end.is_set()


def test_who_goes_away_takes_nothing_from_those_who_stay() -> None:
    following = Following(nothing)
    with following.watch("run_1") as stays:
        with following.watch("run_1"):
            pass
        following.ended("run_1")
        assert stays.is_set()
    with following.watch("run_1") as later:
        assert not later.is_set()
