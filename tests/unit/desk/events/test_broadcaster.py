"""Waiting for the end of a run, within one process."""

from __future__ import annotations

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.events import ThreadEventPage


async def nothing(_thread_id: str, _after: int, _limit: int) -> ThreadEventPage:
    return ThreadEventPage((), has_more=False, access_epoch=0)


def test_every_follower_of_a_run_is_notified_of_its_end() -> None:
    events = Broadcaster(nothing)
    watch = events.watch_run
    with watch("run_1") as one, watch("run_1") as two, watch("run_2") as other:
        events.notify_end("run_1")
        assert one.is_set()
        assert two.is_set()
        assert not other.is_set()


def test_an_end_that_nobody_watches_is_forgotten() -> None:
    events = Broadcaster(nothing)
    events.notify_end("run_1")
    with events.watch_run("run_1") as end:
        assert not end.is_set()


def test_who_goes_away_takes_nothing_from_those_who_stay() -> None:
    events = Broadcaster(nothing)
    with events.watch_run("run_1") as stays:
        with events.watch_run("run_1"):
            pass
        events.notify_end("run_1")
        assert stays.is_set()
    with events.watch_run("run_1") as later:
        assert not later.is_set()
