"""A thread's followers, whatever the order in which things come about."""

from __future__ import annotations

import ast
import asyncio
import gc
import weakref
from contextlib import ExitStack
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.base import Delta, Restart
from aitp_desk.desk.events.broadcaster import Broadcaster, ReportAnswer
from aitp_desk.desk.events.channel import EVERYTHING, NOTHING, PIECE_BYTES, Upto
from aitp_desk.desk.events.events import ThreadEvent, ThreadEventPage

THREAD = "thread_1"


async def pass_ticks(count: int) -> None:
    """Let everybody else do what is ready, so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


class Thread:
    """A thread in a store that takes its time.

    Attributes:
        access_epoch: how often access to it was revoked.
    """

    def __init__(self) -> None:
        self.happened: list[ThreadEvent] = []
        self.access_epoch = 0
        self.delays: list[int] = []

    @property
    def last(self) -> int:
        return len(self.happened)

    def add(self, kind: str = "message.created", ref: str = "") -> int:
        n = self.last + 1
        self.happened.append(ThreadEvent(n, kind, ref, None))
        return n

    async def read(self, _thread_id: str, after: int, limit: int) -> ThreadEventPage:
        await self._pause()
        found = tuple(self.happened[after : after + limit])
        await self._pause()
        access_epoch = self.access_epoch
        await self._pause()
        return ThreadEventPage(found, len(found) == limit, access_epoch)

    async def _pause(self) -> None:
        await pass_ticks(self.delays.pop() if self.delays else 0)


class Wording:
    """Words events as tuples in text, which `Reader` reads again."""

    beat = b"('beat',)\n"

    def format_begin(self, _thread_id: str, after: int) -> bytes:
        return b"%a\n" % (("begin", after),)

    def format_event(self, event: ThreadEvent) -> bytes:
        return b"%a\n" % (("event", event.n, event.kind),)

    def format_snapshot(self, _run_id: str, text: str) -> bytes:
        return b"%a\n" % (("snapshot", text),)

    def format_delta(self, _run_id: str, text: str) -> bytes:
        return b"%a\n" % (("delta", text),)

    def format_restart(self, _run_id: str) -> bytes:
        return b"%a\n" % (("restarted",),)

    def format_typing(self, actor: str) -> bytes:
        return b"%a\n" % (("typing", actor),)


class Reader:
    """A follower that comes and goes, and keeps what it has heard.

    Attributes:
        numbers: of the events that it was told of.
        began: the number after which it was told first.
        text: what the answer in progress says; None while it cannot know.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.began: int | None = None
        self.text: str | None = None

    @property
    def last(self) -> int | None:
        return self.numbers[-1] if self.numbers else self.began

    def hear(self, data: bytes) -> None:
        """Take what was written to one of its connections."""
        for line in data.decode().splitlines():
            self._hear(ast.literal_eval(line))

    def _hear(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("begin", after):
                assert self.last in (None, after)
                self.began = after if self.began is None else self.began
                self.text = None
            case ("event", n, kind):
                self.numbers.append(n)
                if kind.startswith("run."):
                    self.text = "" if kind == "run.in_progress" else None
            case ("snapshot", text):
                self.text = text
            case ("restarted",):
                self.text = ""
            case ("delta", text):
                assert self.text is not None, "a piece of an answer whose beginning it never heard"
                self.text += text

            case _:
                assert event == ("beat",)


class Connection:
    """One of the connections that a reader has had."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._closed = asyncio.Event()

    def write(self, data: bytes) -> bool:
        if self._closed.is_set():
            return False
        self.reader.hear(data)
        return True

    async def drain(self) -> bool:
        await asyncio.sleep(0)
        return not self._closed.is_set()

    async def is_authorized(self) -> bool:
        return True

    def set_deadline(self, ends_at: float | None) -> None:
        return

    async def wait_closed(self) -> None:
        await self._closed.wait()

    def close(self) -> None:
        self._closed.set()


async def everything() -> int:
    return EVERYTHING


async def follow(
    events: Broadcaster,
    thread: Thread,
    wording: Wording,
    connection: Connection,
    upto: Upto = everything,
) -> None:
    """What `desk.streams` does: look where the thread ends, then follow."""
    last, known = thread.last, connection.reader.last
    await asyncio.sleep(0)
    with events.open_channel(THREAD, wording, last) as channel:
        await channel.follow(connection, last if known is None else known, upto)


class Play:
    """A thread, its readers and one answer at a time, driven step by step."""

    def __init__(self) -> None:
        self.thread = Thread()
        self.wording = Wording()
        self.events = Broadcaster(self.thread.read)
        self.readers: list[Reader] = []
        self.here: dict[int, Connection] = {}
        self.tasks: list[asyncio.Task[None]] = []
        self.answering = ExitStack()
        self.tell: ReportAnswer | None = None
        self.said = ""
        self.is_due = False

    def post(self) -> None:
        self.thread.add()
        self._changed()

    def post_unheard(self) -> None:
        """A commit whose wake-up comes later, with another's."""
        self.thread.add()
        self.is_due = True

    def come(self) -> None:
        self.readers.append(Reader())
        self._follow(len(self.readers) - 1)

    def leave(self) -> None:
        for number in self.here:
            self.here.pop(number).close()
            break

    def come_back(self) -> None:
        for number in range(len(self.readers)):
            if number not in self.here:
                self._follow(number)
                break

    def take_up(self) -> None:
        if self.tell is None:
            n = self.thread.add("run.in_progress", "run")
            self._changed()
            self._begin(n, again=False)

    def take_up_again(self) -> None:
        """The run's worker was lost, and another one begins."""
        if self.tell is not None:
            self.answering.close()
            self._begin(self.thread.last, again=True)

    def say(self) -> None:
        if self.tell is not None:
            piece = f"{len(self.said)},"
            self.said += piece
            self.tell(Delta(piece))

    def restart(self) -> None:
        if self.tell is not None:
            self.said = ""
            self.tell(Restart())

    def finish(self) -> None:
        if self.tell is not None:
            self.thread.add()
            self.thread.add("run.completed", "run")
            self.answering.close()
            self.tell = None
            self._changed()

    async def settle(self) -> None:
        """Have everybody come back, and let all that is under way come to its end."""
        while len(self.here) < len(self.readers):
            self.come_back()
        if self.is_due:
            self._changed()
        await pass_ticks(150)

    async def end(self) -> None:
        for connection in self.here.values():
            connection.close()
        await asyncio.gather(*self.tasks)

    def _changed(self) -> None:
        self.is_due = False
        self.events.notify_change(THREAD)

    def _begin(self, after: int, *, again: bool) -> None:
        self.said = ""
        self.tell = self.answering.enter_context(
            self.events.broadcast_answer(THREAD, "run", "msg", after=after, again=again)
        )

    def _follow(self, number: int) -> None:
        self.here[number] = connection = Connection(self.readers[number])
        following = follow(self.events, self.thread, self.wording, connection)
        self.tasks.append(asyncio.create_task(following))


STEPS = {
    Play.post: 2,
    Play.post_unheard: 1,
    Play.come: 3,
    Play.leave: 1,
    Play.come_back: 1,
    Play.take_up: 3,
    Play.take_up_again: 1,
    Play.say: 6,
    Play.restart: 1,
    Play.finish: 1,
}
"""What may happen, and how often it does."""


@given(st.randoms(use_true_random=False), st.integers(5, 60))
def test_every_reader_hears_every_number_once_and_all_of_the_answer_in_progress(
    random: Random, length: int
) -> None:
    async def play() -> None:
        played = Play()
        played.thread.delays = [random.randrange(5) for _ in range(length)]
        for step in random.choices(list(STEPS), list(STEPS.values()), k=length):
            step(played)
            await pass_ticks(random.randrange(4))
        await played.settle()
        for reader in played.readers:
            assert reader.began is not None
            assert reader.numbers == list(range(reader.began + 1, played.thread.last + 1))
            if played.tell is not None:
                assert reader.text == played.said
        await played.end()

    asyncio.run(play())


async def test_nothing_is_kept_of_readers_that_have_left() -> None:
    thread = Thread()
    events = Broadcaster(thread.read)
    connection = Connection(Reader())
    gone = weakref.ref(connection)
    task = asyncio.create_task(follow(events, thread, Wording(), connection))
    await pass_ticks(20)
    thread.add()
    events.notify_change(THREAD)
    await pass_ticks(20)
    assert connection.reader.numbers == [1]
    connection.close()
    await task
    del connection, task
    gc.collect()
    assert gone() is None


async def test_a_follower_who_may_not_go_on_is_ended_at_the_next_beat() -> None:
    thread = Thread()
    events = Broadcaster(thread.read)
    allowed = EVERYTHING

    async def upto() -> int:
        return allowed

    connection = Connection(Reader())
    task = asyncio.create_task(follow(events, thread, Wording(), connection, upto))
    await pass_ticks(20)
    await events.send_keepalives()
    await pass_ticks(20)
    assert not task.done()
    allowed = 0
    await events.send_keepalives()
    async with asyncio.timeout(60):
        await task


class Guest:
    """A reader whose access is looked up in a store that takes its time.

    Attributes:
        known: the number of the thread's last event when its access ended; None before.
    """

    def __init__(self, random: Random) -> None:
        self.connection = Connection(Reader())
        self.known: int | None = None
        self._random = random

    async def upto(self) -> int:
        await pass_ticks(self._random.randrange(5))
        found = EVERYTHING if self.known is None else NOTHING
        await pass_ticks(self._random.randrange(5))
        return found


@given(st.integers(), st.integers(20, 80))
def test_nothing_that_happens_after_access_has_ended_is_sent(seed: int, length: int) -> None:
    async def play() -> None:
        random = Random(seed)
        thread, wording = Thread(), Wording()
        thread.delays = [random.randrange(5) for _ in range(6 * length)]
        events = Broadcaster(thread.read)
        guests: list[Guest] = []
        tasks = []
        steps = ("post", "come", "revoke", "revoke elsewhere", "late notice")
        for step in random.choices(steps, (3, 2, 1, 1, 1), k=length):
            welcome = [guest for guest in guests if guest.known is None]
            if step == "post":
                thread.add()
                events.notify_change(THREAD)
            elif step == "late notice":
                events.recheck_access(THREAD)
            elif step == "come":
                guests.append(guest := Guest(random))
                guest.connection.reader.began = random.randint(0, thread.last)
                following = follow(events, thread, wording, guest.connection, guest.upto)
                tasks.append(asyncio.create_task(following))
            elif welcome:
                random.choice(welcome).known = thread.last
                thread.access_epoch += 1
                if step == "revoke":
                    events.recheck_access(THREAD)
            await pass_ticks(random.choice((0, 1, 2, 3, 40)))
        await pass_ticks(3000)
        for guest in guests:
            heard = guest.connection.reader.numbers
            if guest.known is None:
                assert guest.connection.reader.last == thread.last
            else:
                assert all(number <= guest.known for number in heard)
            guest.connection.close()
        await asyncio.gather(*tasks)

    asyncio.run(play())


class LongWording(Wording):
    """Words each event so long that it is written alone, and counts them."""

    def __init__(self) -> None:
        self.worded = 0

    def format_event(self, event: ThreadEvent) -> bytes:
        self.worded += 1
        return super().format_event(event).replace(b"\n", b" " * PIECE_BYTES + b"\n")


async def test_however_many_come_back_others_run_after_each_long_event() -> None:
    thread, wording, count = Thread(), LongWording(), 10
    for _ in range(5):
        thread.add()
    events = Broadcaster(thread.read)
    readers = [Reader() for _ in range(count)]
    for reader in readers:
        reader.began = 0
    connections = [Connection(reader) for reader in readers]
    tasks = [
        asyncio.create_task(follow(events, thread, wording, connection))
        for connection in connections
    ]
    async with asyncio.timeout(60):
        while wording.worded < count * thread.last:
            before = wording.worded
            await asyncio.sleep(0)
            assert wording.worded - before <= 1
    await pass_ticks(20)
    assert [reader.numbers for reader in readers] == [[1, 2, 3, 4, 5]] * count
    for connection in connections:
        connection.close()
    await asyncio.gather(*tasks)


async def test_readers_are_let_go_when_the_store_fails_and_may_come_back() -> None:
    thread = Thread()
    fails = True

    async def read(thread_id: str, after: int, limit: int) -> ThreadEventPage:
        if fails:
            raise ZeroDivisionError
        return await thread.read(thread_id, after, limit)

    events = Broadcaster(read)
    reader = Reader()
    async with asyncio.timeout(60):
        await follow(events, thread, Wording(), Connection(reader))
    fails = False
    thread.add()
    connection = Connection(reader)
    task = asyncio.create_task(follow(events, thread, Wording(), connection))
    await pass_ticks(20)
    assert reader.numbers == [1]
    connection.close()
    await task
