"""How streams are kept within bounds: slow readers, leavers, heartbeats, how many at once."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.store.units.keys.tokens import revoke_token
from tests.support.clients.event_stream import BEAT, following, following_by_hand, numbers
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.command import serving_command
from tests.support.desk.server import SITE
from tests.support.doubles.agent import NOON, Clock

MANUAL = [("OpenAI-Beta", "assistants=v2")]


@pytest.mark.slow
async def test_a_slow_reader_is_cut_off_and_misses_nothing_when_it_comes_back(
    tmp_path: Path,
) -> None:
    count = 60
    async with talking(tmp_path) as talker:
        thread_id = (await talker.open()).id
        async with (
            following(talker, thread_id) as quick,
            following_by_hand(talker, thread_id) as slow,
        ):
            reading = asyncio.create_task(quick.until_number(count))
            for number in range(count):
                await talker.post(thread_id, f"{number} " + "x" * 200_000, headers=MANUAL)
            assert numbers(await reading) == list(range(1, count + 1))
            heard = numbers(await slow.rest())
            assert 0 < len(heard) < count
        while len(heard) < count:
            async with following_by_hand(talker, thread_id, last=slow.last or 0) as slow:
                heard += numbers(await slow.until_number(count))
        assert heard == list(range(1, count + 1))


@pytest.mark.slow
async def test_a_follower_who_missed_more_than_a_buffer_gets_all_of_it(tmp_path: Path) -> None:
    count = 60
    async with talking(tmp_path) as talker:
        thread_id = (await talker.open()).id
        for number in range(count):
            await talker.post(thread_id, f"{number} " + "x" * 200_000, headers=MANUAL)
        async with following_by_hand(talker, thread_id) as listener:
            assert numbers(await listener.until_number(count)) == list(range(1, count + 1))


async def test_over_http_1_0_events_come_without_frames(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        thread_id = (await talker.open("one", headers=MANUAL)).id
        async with following_by_hand(talker, thread_id) as listener:
            assert "Transfer-Encoding" not in listener.headers
            assert numbers(await listener.until_number(1)) == [1]


async def test_over_http_1_1_every_event_is_a_chunk(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            assert listener.headers["Transfer-Encoding"] == "chunked"
            await listener.next()
            for number in range(1, 4):
                await talker.post(thread_id, "x", headers=MANUAL)
                assert (await listener.next()).id == number


async def test_a_caller_has_so_many_streams_and_who_leaves_makes_room(tmp_path: Path) -> None:
    async with talking(tmp_path, "events.max_streams_per_caller=2") as talker:
        thread_id = (await talker.open()).id
        events = f"{THREADS}/{thread_id}/events"
        async with following(talker, thread_id):
            async with following(talker, thread_id) as listener:
                await listener.next()
                refused = await talker.send("GET", events)
                assert refused.refusal == (429, "rate_limited", None)
                assert refused.headers["Retry-After"] == "10"
                other = await talker.with_key("threads")
                async with following(other, thread_id) as its_own:
                    assert (await its_own.next()).name == "following"
            await until_there_is_room(talker, events)
            async with following(talker, thread_id) as listener:
                assert (await listener.next()).name == "following"


async def test_visitors_of_one_address_have_streams_for_each_of_their_threads(
    tmp_path: Path,
) -> None:
    bounds = ("events.max_streams_per_caller=1", "events.max_streams_per_address=3")
    async with talking(tmp_path, *bounds) as talker, AsyncExitStack() as open_streams:
        threads = [(await talker.open()).id for _ in range(4)]
        for thread_id in threads[:3]:
            listener = await open_streams.enter_async_context(following(talker, thread_id))
            assert (await listener.next()).name == "following"
        again = await talker.send("GET", f"{THREADS}/{threads[0]}/events")
        assert again.refusal == (429, "rate_limited", None)
        fourth = await talker.send("GET", f"{THREADS}/{threads[3]}/events")
        assert fourth.refusal == (429, "rate_limited", None)
        assert "At most 3 streams may be open at once." in fourth.body["error"]["message"]


async def until_there_is_room(talker: Talker, events: str) -> None:
    """Ask until the desk has noticed that a caller left."""
    async with asyncio.timeout(60):
        while True:
            async with talker.http.head(events) as response:
                if response.status == 200:
                    return


async def test_a_desk_has_so_many_streams_in_all(tmp_path: Path) -> None:
    async with talking(tmp_path, "events.max_streams=1") as talker:
        thread_id = (await talker.open()).id
        other = await talker.with_key("threads")
        async with following(talker, thread_id) as listener:
            await listener.next()
            refused = await other.send("GET", f"{THREADS}/{thread_id}/events")
            assert refused.refusal == (503, "unavailable", None)
            assert refused.headers["Retry-After"] == "10"


async def test_what_was_refused_takes_no_room(tmp_path: Path) -> None:
    async with talking(tmp_path, "events.max_streams=1") as talker:
        thread_id = (await talker.open()).id
        for path in (f"{thread_id}/events?after=9", "thread_nobody/events"):
            assert (await talker.send("GET", f"{THREADS}/{path}")).status in (400, 404)
        async with talker.http.head(f"{THREADS}/{thread_id}/events") as response:
            assert response.status == 200
        async with following(talker, thread_id) as listener:
            assert (await listener.next()).name == "following"


async def test_a_stream_counts_as_one_request(tmp_path: Path) -> None:
    limits = ("limits.enabled=true", "limits.static_per_minute=2")
    async with talking(tmp_path, *limits) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            assert listener.headers["X-RateLimit-Remaining"] == "1"
            for _ in range(5):
                await talker.post(thread_id, "x", headers=MANUAL)
            assert numbers(await listener.until_number(5)) == [1, 2, 3, 4, 5]
            assert (await talker.read(thread_id)).status == 200
            refused = await talker.send("GET", f"{THREADS}/{thread_id}/events")
            assert refused.refusal == (429, "rate_limited", None)


@pytest.mark.slow
async def test_a_heartbeat_keeps_the_connection_and_checks_access_again(tmp_path: Path) -> None:
    clock = Clock(NOON)
    async with talking(tmp_path, "events.heartbeat_seconds=1", clock=clock) as talker:
        keyed = await talker.with_key("threads")
        open_to_all, owned = (await talker.open()).id, (await keyed.open()).id
        async with (
            following(talker, open_to_all) as one,
            following(keyed, owned) as other,
        ):
            for listener in (one, other):
                assert [(await listener.next()).name for _ in range(2)] == ["following", BEAT]
            (name,) = {name for (name,) in talker.rows("SELECT name FROM tokens")}
            await talker.desk.store.run(revoke_token, id_or_name=name, now=int(clock()))
            assert {event.name for event in await other.rest()} <= {BEAT}
            assert (await one.next()).name == BEAT
            clock.advance(31 * 24 * 60 * 60)
            assert {event.name for event in await one.rest()} <= {BEAT}


@contextmanager
def few_open_files(most: int) -> Iterator[None]:
    """Processes that are started here may have so many open files, unless they raise that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
async def test_the_serving_process_takes_the_files_that_its_streams_need_and_ends_them_when_stopped(
    tmp_path: Path,
) -> None:
    count = 300
    settings = ("--set", "limits.enabled=false", "--set", "events.max_streams_per_caller=1000")
    async with AsyncExitStack() as stack:
        with few_open_files(256):
            served = await stack.enter_async_context(
                serving_command(SITE, tmp_path / "data", *settings)
            )
        connector = aiohttp.TCPConnector(limit=0)
        http = await stack.enter_async_context(
            aiohttp.ClientSession(served.url, connector=connector)
        )
        async with http.post(THREADS, json={}) as response:
            thread_id = (await response.json())["id"]
        streams = [
            await stack.enter_async_context(http.get(f"{THREADS}/{thread_id}/events"))
            for _ in range(count)
        ]
        assert {response.status for response in streams} == {200}
        async with http.post(
            f"{THREADS}/{thread_id}/messages", json={"content": "Hello"}, headers=MANUAL
        ) as response:
            assert response.status == 200
        for response in streams:
            await response.content.readuntil(b"event: message.created\n")
        async with asyncio.timeout(60):
            await served.stop()
        assert served.process.returncode == 0
        rest = [await response.content.read() for response in streams]
        assert all(b"Hello" in events for events in rest)


@pytest.mark.parametrize(
    "path", ["/v1/threads/x/events/", "/v1/threads/events", "/v1/threads//events"]
)
async def test_there_is_no_stream_but_the_threads(tmp_path: Path, path: str) -> None:
    async with talking(tmp_path) as talker:
        assert (await talker.send("GET", path)).status == 404
