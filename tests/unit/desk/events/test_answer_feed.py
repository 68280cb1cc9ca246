"""Answers that one process writes and subscribers of another see, through a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import pytest

from aitp_desk.agent.base import Delta, Restart
from aitp_desk.desk.events.answer_feed import FORGET_SECONDS, AnswerFeed
from aitp_desk.desk.events.broadcaster import Broadcaster, ReportAnswer
from aitp_desk.desk.jobs.background_task import run_in_background
from aitp_desk.store.valkey import ValkeyServer
from tests.support.doubles.agent import Clock
from tests.support.store.valkey_process import ValkeyProcess
from tests.unit.desk.events.test_channel import (
    THREAD,
    Connection,
    Reader,
    Thread,
    Wording,
    follow,
    pass_ticks,
)

pytestmark = pytest.mark.servers
SECONDS = 60


class Process:
    """One of the processes on a database, with a subscriber of the thread."""

    def __init__(self, name: str, server: ValkeyServer, thread: Thread, clock: Clock) -> None:
        self.thread = thread
        self.events = Broadcaster(thread.read)
        self.feed = AnswerFeed(server, self.events, channel="answers", process=name, clock=clock)
        self.reader = Reader()

    @asynccontextmanager
    async def subscribed(self) -> AsyncIterator[None]:
        connection = Connection(self.reader)
        following = asyncio.create_task(follow(self.events, self.thread, Wording(), connection))
        try:
            async with asyncio.timeout(SECONDS):
                while self.reader.began is None:
                    await pass_ticks(1)
            yield
        finally:
            connection.close()
            await following

    async def until(self, text: str | None) -> None:
        """Return once the subscriber sees this text of an answer."""
        async with asyncio.timeout(SECONDS):
            while self.reader.text != text:
                await pass_ticks(1)


class Pair:
    """A process that answers, and one whose subscribers look on."""

    def __init__(self, server: ValkeyServer) -> None:
        self.clock = Clock()
        self.thread = Thread()
        self.writing = Process("writing", server, self.thread, self.clock)
        self.watching = Process("watching", server, self.thread, self.clock)
        self._server = server

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(run_in_background(self.watching.feed.receive_regularly))
            async with asyncio.timeout(SECONDS):
                while not (await self._server.client.pubsub_numsub("answers"))[0][1]:
                    await pass_ticks(1)
            await stack.enter_async_context(self.watching.subscribed())
            yield

    @contextmanager
    def answering(self, after: int = 1) -> Iterator[ReportAnswer]:
        """Have the run answered."""
        with self.writing.events.broadcast_answer(
            THREAD, "run", "msg_1", after=after, again=False
        ) as tell:
            yield tell

    def begin(self) -> int:
        """The run is claimed: both read it in the store."""
        number = self.thread.add("run.in_progress", "run")
        self.writing.events.notify_change(THREAD)
        self.watching.events.notify_change(THREAD)
        return number


async def test_a_subscriber_of_another_process_sees_an_answer_as_it_is_written(
    valkey: ValkeyServer,
) -> None:
    pair = Pair(valkey)
    async with pair.running():
        after = pair.begin()
        with pair.answering(after) as tell:
            tell(Delta("It is"))
            await pair.writing.feed.publish()
            await pair.watching.until("It is")
            tell(Delta(" a"))
            tell(Delta(" lamp."))
            await pair.writing.feed.publish()
            await pair.watching.until("It is a lamp.")
            tell(Restart())
            tell(Delta("No:"))
            await pair.writing.feed.publish()
            await pair.watching.until("No:")
        await pair.writing.feed.publish()


async def test_who_comes_later_is_shown_what_was_written_before(valkey: ValkeyServer) -> None:
    pair = Pair(valkey)
    async with pair.running():
        after = pair.begin()
        with pair.answering(after) as tell:
            tell(Delta("It is"))
            await pair.writing.feed.publish()
            await pair.watching.until("It is")
            pair.watching.reader = Reader()
            async with pair.watching.subscribed():
                await pair.watching.until("It is")


async def test_an_answer_whose_beginning_was_missed_is_not_shown_from_its_middle(
    valkey: ValkeyServer,
) -> None:
    pair = Pair(valkey)
    with pair.writing.events.broadcast_answer(THREAD, "run", "msg_1", after=1, again=False) as tell:
        tell(Delta("It is"))
        await pair.writing.feed.publish()
        async with pair.running():
            pair.begin()
            tell(Delta(" a lamp."))
            await pair.writing.feed.publish()
            tell(Restart())
            tell(Delta("A lamp."))
            await pair.writing.feed.publish()
            await pair.watching.until("A lamp.")


async def test_an_answer_that_is_abandoned_is_forgotten(valkey: ValkeyServer) -> None:
    pair = Pair(valkey)
    async with pair.running():
        after = pair.begin()
        with pair.answering(after) as tell:
            tell(Delta("It is"))
            await pair.writing.feed.publish()
            await pair.watching.until("It is")
        pair.clock.advance(FORGET_SECONDS + 1)  # that it was over is lost on the way
        other = Process("other", valkey, pair.thread, pair.clock)
        with other.events.broadcast_answer(
            "thread_2", "other", "msg_2", after=1, again=False
        ) as tell:
            tell(Delta("Yes."))
            await other.feed.publish()
            pair.watching.reader = Reader()
            async with pair.watching.subscribed():
                await pass_ticks(500)
                assert not pair.watching.reader.text


async def test_without_the_server_nothing_is_shown_and_nothing_fails(
    valkey_process: ValkeyProcess, valkey: ValkeyServer
) -> None:
    pair = Pair(valkey)
    valkey_process.kill()
    async with pair.writing.subscribed(), run_in_background(pair.watching.feed.receive_regularly):
        after = pair.begin()
        with pair.answering(after) as tell:
            tell(Delta("It is"))
            await pair.writing.feed.publish()
            await pair.writing.until("It is")
