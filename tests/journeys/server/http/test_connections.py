"""Connections: the order of answers, ends, what is held back, and heads that are cached."""

from __future__ import annotations

import asyncio
import gc
import re
import select
import socket
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest

from aitp_desk.app.server import RunningServer
from aitp_desk.auth.credentials.request_credentials import NO_CREDENTIALS
from aitp_desk.http.connection.head_cache import MAX_CACHED_BYTES, MAX_HEADS, HeadCache
from aitp_desk.http.connection.message_head import MessageHead
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.http.dispatcher import Dispatcher, Response
from aitp_desk.http.request import Request
from aitp_desk.http.server import KEEP_ALIVE_SECONDS
from aitp_desk.store.units.keys.tokens import revoke_token
from tests.support.access.keys import SigningKey, make_key, make_signing_key
from tests.support.desk.server import serving
from tests.support.http.connection import HEALTH, MANIFEST, SECONDS, Thinking, calling, question


async def test_what_is_asked_meanwhile_is_answered_in_order(tmp_path: Path) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk, calling(desk) as line:
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        for data in (HEALTH, question("Two?")[:30], question("Two?")[30:] + HEALTH):
            line.writer.write(data)
            await line.writer.drain()
        async with calling(desk) as other:  # nobody else waits for it
            other.writer.write(HEALTH)
            assert (await other.hear())[0] == 200
        assert len(agent.turns) == 1
        agent.may_answer.set()
        bodies = [(await line.hear())[2] for _ in range(4)]
    assert [b"Answer to" in body for body in bodies] == [True, False, True, False]
    assert [b"One?" in bodies[0], b"Two?" in bodies[2]] == [True, True]


async def test_what_is_asked_behind_a_request_that_is_not_cached_waits_for_its_answer(
    tmp_path: Path,
) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk, calling(desk) as line:
        agent.may_answer.set()
        line.writer.write(question("Known?"))  # its head will be known
        assert (await line.hear())[0] == 200
        agent.may_answer.clear()
        agent.asked.clear()
        line.writer.write(question("One?", "Expect: nothing"))  # not cached
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        for query in ("Known?", "Unlike the others?"):
            line.writer.write(question(query))
            await line.writer.drain()
            async with calling(desk) as other:  # by now that was read
                other.writer.write(HEALTH)
                assert (await other.hear())[0] == 200
        assert len(agent.turns) == 2
        agent.may_answer.set()
        bodies = [(await line.hear())[2] for _ in range(3)]
    for asked, body in zip((b"One?", b"Known?", b"Unlike the others?"), bodies, strict=True):
        assert b"Answer to " + asked in body


async def test_a_desk_that_stops_lets_an_answer_come_and_closes(tmp_path: Path) -> None:
    agent = Thinking()
    async with AsyncExitStack() as stack:
        running = AsyncExitStack()
        desk = await running.enter_async_context(serving(tmp_path, agent=agent))
        line = await stack.enter_async_context(calling(desk))
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        stopping = asyncio.create_task(running.aclose())
        await asyncio.sleep(0)
        agent.may_answer.set()
        status, headers, body = await line.hear()
        assert (status, headers["Connection"]) == (200, "close")
        assert b"Answer to One?" in body
        assert await line.is_at_end()
        async with asyncio.timeout(SECONDS):
            await stopping


@pytest.mark.slow
async def test_an_answer_that_takes_too_long_ends_with_the_desk(tmp_path: Path) -> None:
    agent = Thinking()
    setting = "server.shutdown_seconds=1"
    running = AsyncExitStack()
    desk = await running.enter_async_context(serving(tmp_path, setting, agent=agent))
    async with calling(desk) as line:
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
            await running.aclose()
            await agent.was_stopped.wait()
        assert await line.is_at_end()


MOST_SENT = 64 * 1024 * 1024
"""Far more than the system holds between two programs, in bytes."""


@pytest.mark.slow
async def test_what_is_sent_before_the_answer_waits_with_its_sender(tmp_path: Path) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk, calling(desk) as line:
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        sent = 0
        with suppress(TimeoutError):
            while sent < MOST_SENT:
                line.writer.write(HEALTH * 10_000)
                sent += len(HEALTH) * 10_000
                async with asyncio.timeout(0.5):
                    await line.writer.drain()
        assert sent < MOST_SENT
        agent.may_answer.set()
        assert (await line.hear())[0] == 200


@pytest.mark.slow
async def test_a_caller_who_hangs_up_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk:
        async with calling(desk) as line:
            line.writer.write(question("One?") + HEALTH[:10])
            async with asyncio.timeout(SECONDS):
                await agent.asked.wait()
        async with calling(desk) as line:
            line.writer.write(HEALTH)  # by its answer the other connection is known to be gone
            assert (await line.hear())[0] == 200
            agent.may_answer.set()
            line.writer.write(question("Two?"))
            assert (await line.hear())[0] == 200
    gc.collect()  # what nobody has asked a task for is told then
    assert not caplog.records


async def test_a_connection_stays_open_while_it_is_used_and_is_closed_when_idle(
    tmp_path: Path,
) -> None:
    with patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02):
        async with serving(tmp_path) as desk, calling(desk) as line, calling(desk) as general:
            line.writer.write(question("How do I return a book?"))
            assert (await line.hear())[0] == 200
            general.writer.write(HEALTH)
            assert (await general.hear())[0] == 200
            with patch("aitp_desk.http.server.KEEP_ALIVE_SECONDS", 0.2):
                assert await line.is_at_end()
                assert await general.is_at_end()


async def test_requests_of_every_kind_keep_a_connection_open(tmp_path: Path) -> None:
    loop, passed = asyncio.get_running_loop(), 0.0
    measured = loop.time
    pause = KEEP_ALIVE_SECONDS * 2 / 3
    with (
        patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02),
        patch.object(loop, "time", lambda: measured() + passed),
    ):
        async with serving(tmp_path) as desk, calling(desk) as parsed, calling(desk) as cached:
            async with calling(desk) as idle:
                for line, request in ((idle, HEALTH), (parsed, HEALTH), (cached, MANIFEST)) * 2:
                    line.writer.write(request)
                    assert (await line.hear())[0] == 200
                passed += pause
                for line, request in ((parsed, HEALTH), (cached, MANIFEST)):
                    line.writer.write(request)
                    assert (await line.hear())[0] == 200
                passed += pause
                assert await idle.is_at_end()
            for line, request in ((parsed, HEALTH), (cached, MANIFEST)):
                line.writer.write(request)
                assert (await line.hear())[0] == 200


class CountingFront(Dispatcher):
    """A front that tells of each request that it has answered."""

    answered = asyncio.Event()

    async def handle_request(self, request: Request) -> Response:
        outgoing = await super().handle_request(request)
        CountingFront.answered.set()
        return outgoing


MOST_UNREAD = 5_000
"""Many more answers than fit between two programs."""


@pytest.mark.slow
async def test_who_does_not_take_answers_gets_no_more_and_is_dropped(tmp_path: Path) -> None:
    with (
        patch("aitp_desk.app.server.Dispatcher", CountingFront),
        patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02),
    ):
        async with serving(tmp_path) as desk:
            address = urlsplit(desk.url)
            with socket.create_connection((address.hostname, address.port)) as deaf:
                deaf.setblocking(False)
                for _ in range(MOST_UNREAD):
                    CountingFront.answered.clear()
                    deaf.send(MANIFEST)
                    try:
                        async with asyncio.timeout(0.3):
                            await CountingFront.answered.wait()
                    except TimeoutError:
                        break
                else:
                    raise AssertionError("the desk answers on and on")
                gone = select.poll()
                gone.register(deaf, 0)  # nothing but its end
                assert not gone.poll(0)
                with patch("aitp_desk.http.server.KEEP_ALIVE_SECONDS", 0.5):
                    assert await asyncio.to_thread(gone.poll, SECONDS * 1000)


@pytest.mark.slow
async def test_who_waits_for_an_answer_is_not_idle(tmp_path: Path) -> None:
    agent = Thinking()
    with (
        patch("aitp_desk.http.server.KEEP_ALIVE_SECONDS", 0.2),
        patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02),
    ):
        async with serving(tmp_path, agent=agent) as desk, calling(desk) as line:
            line.writer.write(question("One?"))
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    await line.reader.read(1)
                    raise AssertionError("closed or answered")
            agent.may_answer.set()
            assert (await line.hear())[0] == 200


@pytest.mark.slow
async def test_a_body_that_arrives_later_is_no_head_that_takes_too_long(tmp_path: Path) -> None:
    agent = Thinking()
    asked = question("One?")
    with patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02):
        async with (
            serving(tmp_path, "server.header_seconds=1", agent=agent) as desk,
            calling(desk) as line,
            calling(desk) as other,
        ):
            line.writer.write(asked[:-10])
            other.writer.write(HEALTH)
            assert (await other.hear())[0] == 200  # by now that was read
            line.writer.write(asked[-10:])
            with suppress(TimeoutError):
                async with asyncio.timeout(1.3):
                    await line.reader.read(1)
                    raise AssertionError("answered before it may be")
            agent.may_answer.set()
            assert (await line.hear())[0] == 200


async def test_an_answer_that_cannot_be_written_ends_the_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as desk, calling(desk) as line:
        with patch(
            "aitp_desk.http.connection.http_connection.write_response", side_effect=ValueError
        ):
            line.writer.write(question("How do I return a book?"))
            assert await line.is_at_end()


async def test_a_head_that_was_read_before_opens_nothing_once_its_key_is_revoked(
    tmp_path: Path,
) -> None:
    heads = HeadCache()
    with (
        patch("aitp_desk.http.server.HeadCache", lambda: heads),
        patch("aitp_desk.auth.credentials.proof_cache.EPOCH_SECONDS", 0),
    ):
        async with serving(tmp_path) as desk, calling(desk) as line, calling(desk) as other:
            key = await make_key(desk.store, tmp_path)
            asked = question("When are you open?", f"Authorization: Bearer {key}")
            head = asked[: asked.index(b"{")]
            for caller in (line, line, other):
                caller.writer.write(asked)
                assert (await caller.hear())[0] == 200
            assert heads.find(head) is not None
            await desk.store.run(revoke_token, id_or_name="bot", now=0)
            for caller in (line, other):
                caller.writer.write(asked)
                assert (await caller.hear())[0] == 401
            assert heads.find(head) is None
            line.writer.write(question("When are you open?"))
            assert (await line.hear())[0] == 200


def signed(key: SigningKey, query: str, *lines: str) -> bytes:
    """A question that is signed with a key."""
    body = question(query).partition(b"\r\n\r\n")[2]
    return question(query, ": ".join(key.sign("POST", "/agent/converse", body)), *lines)


def head_of(request: bytes) -> bytes:
    return request[: request.index(b"{")]


async def test_a_signed_request_s_head_is_known_without_its_credential_and_opens_nothing(
    tmp_path: Path,
) -> None:
    heads = HeadCache()
    with (
        patch("aitp_desk.http.server.HeadCache", lambda: heads),
        patch("aitp_desk.auth.credentials.proof_cache.EPOCH_SECONDS", 0),
    ):
        async with serving(tmp_path) as desk, calling(desk) as line:
            key = await make_signing_key(desk.store, tmp_path)
            stranger = SigningKey(key.id, "0" * 64)

            async def status(request: bytes) -> int:
                line.writer.write(request)
                return (await line.hear())[0]

            one, two, three = (signed(key, "When are you open?") for _ in range(3))
            assert heads.find_signed(head_of(one)) is None
            assert [await status(one), await status(two)] == [200, 200]
            forged = signed(stranger, "When are you open?")
            for refused in (one, two, forged):
                assert await status(refused) == 401
            assert heads.find_signed(head_of(three)) is not None
            kept = repr(vars(heads))
            assert "AITP-HMAC-SHA256 " in kept
            for text in re.findall('"([^"]{16,})"', (one + two + forged).decode("ascii")):
                assert text == "When are you open?" or text not in kept
            await desk.store.run(revoke_token, id_or_name="signer", now=0)
            assert await status(three) == 401


async def test_a_signed_head_that_was_refused_when_it_first_came_is_not_remembered(
    tmp_path: Path,
) -> None:
    heads = HeadCache()
    with patch("aitp_desk.http.server.HeadCache", lambda: heads):
        async with serving(tmp_path) as desk, calling(desk) as line:
            key = await make_signing_key(desk.store, tmp_path)
            for secret, expected in (("0" * 64, 401), (key.secret, 200)):
                asked = signed(SigningKey(key.id, secret), "When are you open?")
                line.writer.write(asked)
                assert (await line.hear())[0] == expected
                assert (heads.find_signed(head_of(asked)) is not None) == (expected == 200)


async def test_one_head_from_two_places_counts_as_two_callers(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", 'server.trusted_proxies=["127.0.0.2/32"]')
    asked = question("When are you open?", "X-Forwarded-For: 192.0.2.7")
    places = ("127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.1", "127.0.0.3")
    left = []
    async with serving(tmp_path, *settings) as desk:
        for place in places:
            async with calling(desk, place) as line:
                line.writer.write(asked)
                left.append(int((await line.hear())[1]["X-RateLimit-Remaining"]))
        async with calling(desk, "127.0.0.2") as line:
            line.writer.write(asked.replace(b"192.0.2.7", b"127.0.0.1"))
            left.append(int((await line.hear())[1]["X-RateLimit-Remaining"]))
    most = left[0]
    assert left == [most, most, most - 1, most - 1, most, most - 2]


async def test_few_and_short_heads_are_remembered() -> None:
    heads, read = (
        HeadCache(),
        MessageHead(
            cast("RequestHead", SimpleNamespace(presented=NO_CREDENTIALS, is_named=False)), {}, 0
        ),
    )
    heads.store(b"x" * (MAX_CACHED_BYTES + 1), read)
    assert heads.find(b"x" * (MAX_CACHED_BYTES + 1)) is None
    heads.store(b"x" * MAX_CACHED_BYTES, read)
    assert heads.find(b"x" * MAX_CACHED_BYTES) is read
    for number in range(MAX_HEADS + 1):
        heads.store(b"%d" % number, read)
    assert [heads.find(b"0"), heads.find(b"1")] == [None, read]


ASKED = question("How do I return a book?")
BEGUN = HEALTH[:20]
BEHIND = {
    "an answer": [ASKED, BEGUN],
    "a request": [ASKED + BEGUN],
    "a request that is not cached": [HEALTH + BEGUN],
    "two requests": [HEALTH + ASKED + BEGUN],
    "a body that came later": [ASKED[:-10], ASKED[-10:] + BEGUN],
    "a head that came in two parts": [HEALTH[:9], HEALTH[9:] + BEGUN],
}
WHOLE = {
    "two requests": [HEALTH + ASKED],
    "a body that came later": [ASKED[:-10], ASKED[-10:]],
    "a head that came in two parts": [HEALTH[:9], HEALTH[9:]],
    "a head whose end came in two parts": [HEALTH[:-1], HEALTH[-1:]],
    "empty lines before it": [b"\r\n\r\n" + HEALTH],
    "empty lines behind it": [HEALTH + b"\r\n\r\n"],
}


@pytest.mark.slow
async def test_a_head_that_began_behind_a_request_has_its_time_too(tmp_path: Path) -> None:
    async def said(desk: RunningServer, parts: list[bytes]) -> list[int]:
        """The statuses of all answers within a time in which a head has to come."""
        heard = b""
        async with calling(desk) as line:
            for part in parts:
                line.writer.write(part)
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.1 if part is not parts[-1] else 1.3):
                        while data := await line.reader.read(65536):
                            heard += data
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", heard)]

    with patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02):
        async with serving(tmp_path, "server.header_seconds=1") as desk:
            heard = await asyncio.gather(
                *(said(desk, parts) for parts in (*BEHIND.values(), *WHOLE.values()))
            )
    begun, whole = heard[: len(BEHIND)], heard[len(BEHIND) :]
    for name, statuses in zip(BEHIND, begun, strict=True):
        assert statuses[-1] == 408, name
        assert set(statuses[:-1]) == {200}, name
    for name, statuses in zip(WHOLE, whole, strict=True):
        assert set(statuses) == {200}, name
