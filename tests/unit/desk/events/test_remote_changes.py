"""What one process does reaches the subscribers of another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.events import ThreadEventPage
from aitp_desk.desk.runs.remote_changes import RemoteChanges
from aitp_desk.store.base import Params, Row
from aitp_desk.store.changes import CatchUp, Change, Receive

SECONDS = 60


async def nothing(_thread_id: str, _after: int, _limit: int) -> ThreadEventPage:
    return ThreadEventPage((), has_more=False, access_epoch=0)


class Feed:
    """Delivers to this process what a test sends, and keeps what it sends itself."""

    def __init__(self) -> None:
        self.published: list[Change] = []
        self.receive: Receive
        self.catch_up: CatchUp

    def publish(self, change: Change) -> None:
        self.published.append(change)

    @asynccontextmanager
    async def deliver(self, receive: Receive, catch_up: CatchUp) -> AsyncIterator[None]:
        self.receive, self.catch_up = receive, catch_up
        yield


class Worker:
    """A run worker and job queue that only says what it was asked."""

    def __init__(self) -> None:
        self.stopped: list[str] = []
        self.woken = 0
        self.offers = 0

    def stop_held(self, run_id: str) -> bool:
        self.stopped.append(run_id)
        return True

    def wake(self) -> None:
        self.woken += 1

    def take_offered(self) -> None:
        self.offers += 1


class Calls:
    """A store in which every run and call is gone."""

    async def read(self, _statement: str, _params: Params) -> list[Row]:
        return []


@asynccontextmanager
async def process() -> AsyncIterator[tuple[Broadcaster, Feed, Worker]]:
    feed, worker, store = Feed(), Worker(), Calls()
    events = Broadcaster(nothing, feed.publish)
    doubles: Any = (store, worker)
    changes = RemoteChanges(doubles[0], events, doubles[1], doubles[1])
    async with changes.receive_from(feed):
        yield events, feed, worker


async def test_a_thread_and_the_end_of_a_run_wake_who_waits_and_are_not_sent_back() -> None:
    async with process() as (events, feed, _):
        with events.watch_thread("thread_1") as news, events.watch_run("run_1") as end:
            news.clear()
            feed.receive(Change("thread", "thread_2"))
            assert not news.is_set()
            feed.receive(Change("thread", "thread_1"))
            feed.receive(Change("end", "run_1"))
            assert news.is_set()
            assert end.is_set()
        assert feed.published == []


async def test_what_happens_here_is_sent_to_the_others() -> None:
    async with process() as (events, feed, _):
        events.notify_change("thread_1")
        events.notify_end("run_1")
        events.recheck_access("thread_1")
        events.notify_typing("thread_1", "ann")
        events.request_stop("run_2")
        events.offer_work()
    assert feed.published == [
        Change("thread", "thread_1"),
        Change("end", "run_1"),
        Change("access", "thread_1"),
        Change("typing", "thread_1", "ann"),
        Change("stop", "run_2"),
        Change("work", ""),
    ]


async def test_a_run_is_stopped_where_it_is_executed() -> None:
    async with process() as (_, feed, worker):
        feed.receive(Change("stop", "run_1"))
        assert worker.stopped == ["run_1"]


async def test_runs_and_jobs_that_wait_elsewhere_are_looked_for() -> None:
    async with process() as (_, feed, worker):
        feed.receive(Change("work", ""))
        assert (worker.woken, worker.offers) == (1, 1)


async def test_after_an_interruption_everybody_looks_and_ends_are_found() -> None:
    async with process() as (events, feed, _):
        called = asyncio.Event()
        events.on_end("run_2", called.set)
        with events.watch_thread("thread_1") as news, events.watch_run("run_1") as end:
            news.clear()
            feed.catch_up()
            async with asyncio.timeout(SECONDS):
                await asyncio.gather(news.wait(), end.wait(), called.wait())
