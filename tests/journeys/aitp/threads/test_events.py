"""Following a thread: what is sent, in which order, and from where on."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn
from tests.support.clients.event_stream import following, numbers
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANUAL = [("OpenAI-Beta", "assistants=v2")]
"""Sent with what is to be kept without being answered."""


async def test_a_follower_receives_the_start_and_then_every_event(talker: Talker) -> None:
    thread_id = (await talker.open()).id
    async with following(talker, thread_id) as listener:
        begin = await listener.next()
        assert (begin.name, begin.id) == ("following", 0)
        assert begin.data == {"thread_id": thread_id, "after": 0}
        posted = await talker.post(thread_id, "What is your return policy?")
        heard = await listener.until_named("run.completed")
    durable = [event for event in heard if event.id is not None]
    assert [(event.id, event.name) for event in durable] == [
        (1, "message.created"),
        (2, "run.queued"),
        (3, "run.in_progress"),
        (4, "message.created"),
        (5, "run.completed"),
    ]
    said, queued, taken, reply, completed = (event.data for event in durable)
    assert said == posted.ok
    assert queued["status"] == "queued"
    assert taken["status"] == "in_progress"
    assert completed["status"] == "completed"
    assert queued["id"] == taken["id"] == completed["id"] == said["run_id"]
    listed = (await talker.messages(thread_id)).ok["data"]
    assert reply == listed[0]


async def test_the_response_tells_proxies_and_caches_to_leave_it_alone(talker: Talker) -> None:
    thread_id = (await talker.open()).id
    async with following(talker, thread_id) as listener:
        headers = listener.headers
    assert headers["Content-Type"] == "text/event-stream"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Accel-Buffering"] == "no"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Content-Length" not in headers


async def test_a_returning_follower_gets_what_it_missed_and_nothing_twice(talker: Talker) -> None:
    thread_id = (await talker.open()).id
    for text in ("one", "two", "three"):
        await talker.post(thread_id, text, headers=MANUAL)
    async with following(talker, thread_id, "?after=0") as listener:
        heard = await listener.until_number(2)
        assert [event.name for event in heard] == [
            "following",
            "message.created",
            "message.created",
        ]
        last = listener.last
    await talker.post(thread_id, "four", headers=MANUAL)
    async with following(
        talker, thread_id, "?after=0", headers=[("Last-Event-ID", str(last))]
    ) as listener:
        heard = await listener.until_number(4)
    assert [(event.name, event.id) for event in heard] == [
        ("following", 2),
        ("message.created", 3),
        ("message.created", 4),
    ]
    assert [event.data["content"] for event in heard[1:]] == [["three"], ["four"]]


async def test_without_a_number_a_stream_begins_with_what_comes_next(talker: Talker) -> None:
    thread_id = (await talker.open({"role": "user", "content": "before"}, headers=MANUAL)).id
    async with following(talker, thread_id) as listener:
        assert (await listener.next()).id == 1
        await talker.post(thread_id, "after", headers=MANUAL)
        heard = await listener.next()
    assert (heard.id, heard.data["content"]) == (2, ["after"])


async def test_followers_hear_every_number_once_while_many_post(talker: Talker) -> None:
    thread_id = (await talker.open()).id

    async def listen(query: str) -> list[int]:
        async with following(talker, thread_id, query) as listener:
            return numbers(await listener.until_number(120))

    async def come_back_again_and_again() -> list[int]:
        heard: list[int] = []
        while len(heard) < 120:
            async with following(talker, thread_id, f"?after={len(heard)}") as listener:
                heard += numbers(await listener.until_number(len(heard) + 8))
        return heard

    async def post(who: int) -> None:
        for number in range(30):
            told = await talker.post(thread_id, f"{who}: {number}", headers=MANUAL)
            assert told.status == 200

    followers = [
        asyncio.create_task(listen("?after=0")),
        asyncio.create_task(listen("?after=0")),
        asyncio.create_task(come_back_again_and_again()),
    ]
    await asyncio.gather(*map(post, range(4)))
    followers.append(asyncio.create_task(listen("?after=0")))
    for heard in await asyncio.gather(*followers):
        assert heard == list(range(1, 121))


@pytest.mark.parametrize("after", ["-1", "x", "1.0", "1e3", "+1", "9" * 40, "²"])
async def test_what_is_no_number_of_an_event_is_refused(talker: Talker, after: str) -> None:
    thread_id = (await talker.open()).id
    events = f"{THREADS}/{thread_id}/events"
    by_header = await talker.send("GET", events, headers=[("Last-Event-ID", after)])
    assert by_header.refusal == (400, "invalid_request", "Last-Event-ID")
    by_query = await talker.send("GET", f"{events}?after={after.replace('+', '%2B')}")
    assert by_query.refusal == (400, "invalid_request", "after")


async def test_a_number_that_the_thread_has_not_reached_is_refused(talker: Talker) -> None:
    thread_id = (await talker.open({"role": "user", "content": "one"}, headers=MANUAL)).id
    events = f"{THREADS}/{thread_id}/events"
    by_query = await talker.send("GET", f"{events}?after=2")
    by_header = await talker.send("GET", events, headers=[("Last-Event-ID", "2")])
    for told, param in [(by_query, "after"), (by_header, "Last-Event-ID")]:
        assert told.refusal == (400, "invalid_request", param)
        assert "the number 1" in told.body["error"]["message"]


async def test_another_callers_thread_cannot_be_followed(talker: Talker) -> None:
    owner, other = await talker.with_key("threads"), await talker.with_key("threads")
    thread_id = (await owner.open()).id
    for stranger in (other, talker):
        told = await stranger.send("GET", f"{THREADS}/{thread_id}/events")
        assert told.refusal == (404, "thread_not_found", "thread_id")
    missing = await talker.send("GET", f"{THREADS}/thread_nobody/events")
    assert missing.refusal == (404, "thread_not_found", "thread_id")
    async with following(owner, thread_id) as listener:
        assert (await listener.next()).name == "following"


async def test_a_head_request_gets_the_headers_and_no_stream(talker: Talker) -> None:
    thread_id = (await talker.open()).id
    async with talker.http.head(f"{THREADS}/{thread_id}/events") as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        assert await response.read() == b""


async def test_a_follower_too_far_behind_is_asked_to_read_the_thread(tmp_path: Path) -> None:
    async with talking(tmp_path, "events.max_behind=2") as talker:
        thread_id = (await talker.open("one", "two", "three", headers=MANUAL)).id
        told = await talker.send("GET", f"{THREADS}/{thread_id}/events?after=0")
        assert told.refusal == (410, "events_gone", "after")
        assert "read its messages" in told.body["error"]["message"]
        async with following(talker, thread_id, "?after=1") as listener:
            assert numbers(await listener.until_number(3)) == [2, 3]


async def test_streams_end_at_once_and_go_on_after_a_restart_of_the_desk(tmp_path: Path) -> None:
    async with AsyncExitStack() as running:
        data = tmp_path / "data"
        desk = await running.enter_async_context(serving(data, "server.shutdown_seconds=3600"))
        async with aiohttp.ClientSession(desk.url) as http:
            talker = Talker(desk, data, http)
            thread_id = (await talker.open("one", headers=MANUAL)).id
            async with following(talker, thread_id, "?after=0") as listener:
                assert numbers(await listener.until_number(1)) == [1]
                async with asyncio.timeout(60):
                    await running.aclose()
                assert await listener.rest() == []
    async with talking(tmp_path) as talker:
        await talker.post(thread_id, "two", headers=MANUAL)
        reconnects = [("Last-Event-ID", str(listener.last))]
        async with following(talker, thread_id, headers=reconnects) as again:
            assert numbers(await again.until_number(2)) == [2]


async def test_a_failed_run_shows_its_error(tmp_path: Path) -> None:
    async def fail(turn: Turn) -> Outcome:
        raise ZeroDivisionError(turn.question)

    async with talking(tmp_path, agent=ScriptedAgent(fail)) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            await talker.post(thread_id, "Divide!")
            heard = await listener.until_named("run.failed")
    by_name = {event.name: event.data for event in heard}
    assert by_name["run.failed"]["last_error"]["code"] == "server_error"
    assert by_name["run.in_progress"]["last_error"] is None


async def test_two_followers_are_told_the_same(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> Outcome:
        return Answer(f"You said: {turn.question}")

    async with talking(tmp_path, agent=ScriptedAgent(answer)) as talker:
        thread_id = (await talker.open()).id
        async with (
            following(talker, thread_id) as one,
            following(talker, thread_id) as two,
        ):
            await talker.post(thread_id, "Hello\nthere\r\n\u2028.")
            first = await one.until_named("run.completed")
            assert await two.until_named("run.completed") == first
    assert first[1].data["content"] == ["Hello\nthere\r\n\u2028."]


async def test_each_follower_is_notified_in_its_own_dialect(talker: Talker) -> None:
    thread_id = (await talker.open()).id
    async with (
        following(talker, thread_id) as plain,
        following(talker, thread_id, headers=MANUAL) as openai,
    ):
        await talker.post(thread_id, "Hello", headers=MANUAL)
        (said,) = (await plain.until_number(1))[1:]
        (same,) = (await openai.until_number(1))[1:]
    assert said.data["id"] == same.data["id"]
    assert said.data["content"] == ["Hello"]
    assert same.data["content"] == [{"type": "text", "text": {"value": "Hello", "annotations": []}}]
