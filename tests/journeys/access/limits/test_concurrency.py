"""What the desk does while all its places are taken: who waits, who is turned away, who never."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aitp_desk.app.server import RunningServer
from tests.support.desk.server import serving
from tests.support.http.connection import HEALTH, SECONDS, Line, Thinking, calling, question

LIMITS = ("limits.enabled=true", 'server.trusted_proxies=["127.0.0.1"]')
READY = HEALTH.replace(b"/health", b"/ready")


def from_(address: int) -> str:
    return f"X-Forwarded-For: 198.51.100.{address}"


def post(path: str, body: object, *lines: str) -> bytes:
    sent = json.dumps(body).encode()
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *lines, f"Content-Length: {len(sent)}"]
    return "\r\n".join([*head, "", ""]).encode() + sent


class Busy:
    """A desk whose agent answers when it may, and connections to it."""

    def __init__(self, desk: RunningServer, agent: Thinking, stack: AsyncExitStack) -> None:
        self.desk = desk
        self.agent = agent
        self._stack = stack

    async def send(self, request: bytes) -> Line:
        """Send a request on a separate connection, and have the desk read it."""
        line = await self._stack.enter_async_context(calling(self.desk))
        line.writer.write(request)
        await self.check_alive()
        return line

    async def ask(self, address: int, query: str = "") -> Line:
        return await self.send(question(query or f"From {address}?", from_(address)))

    async def check_alive(self) -> None:
        """A caller who watches is answered at once, whatever goes on; by then all else was read."""
        for request in (HEALTH, READY):
            async with calling(self.desk) as line:
                line.writer.write(request)
                assert (await line.hear())[0] == 200


@asynccontextmanager
async def busy(folder: Path, *settings: str, **bounds: int) -> AsyncIterator[Busy]:
    agent = Thinking()
    bounded = [f"concurrency.{name}={most}" for name, most in bounds.items()]
    async with (
        serving(folder, *LIMITS, *settings, *bounded, agent=agent) as desk,
        AsyncExitStack() as stack,
    ):
        yield Busy(desk, agent, stack)
        agent.may_answer.set()


async def test_past_the_places_requests_wait_and_past_the_queue_they_are_told_when_to_come_again(
    tmp_path: Path,
) -> None:
    async with busy(tmp_path, at_once=2, waiting=2) as desk:
        lines = [await desk.ask(address) for address in range(4)]
        assert len(desk.agent.turns) == 2
        for request in (question("Five?", from_(5)), post("/v1/threads", {}, from_(5))):
            status, headers, body = await (await desk.send(request)).hear()
            assert (status, headers["Retry-After"]) == (503, "5")
            said = json.loads(body)
            code = said["code"] if "code" in said else said["error"]["code"]
            assert code in {"unavailable", "service_unavailable"}
            assert "5 seconds" in json.dumps(said)
        desk.agent.may_answer.set()
        answers = [await line.hear() for line in lines]
    assert [status for status, _, _ in answers] == [200] * 4
    assert [turn.question for turn in desk.agent.turns] == [f"From {n}?" for n in range(4)]


async def test_one_address_has_its_share_and_others_go_on(tmp_path: Path) -> None:
    async with busy(tmp_path, at_once=9, at_once_per_caller=1, waiting=9) as desk:
        first = await desk.ask(1, "First?")
        second = await desk.ask(1, "Second?")
        third = await desk.ask(1, "Third?")
        assert (await third.hear())[0] == 503
        other = await desk.ask(2, "Other?")
        assert [turn.question for turn in desk.agent.turns] == ["First?", "Other?"]
        desk.agent.may_answer.set()
        assert [(await line.hear())[0] for line in (first, other, second)] == [200] * 3


async def test_who_hangs_up_gives_the_place_in_the_queue_to_the_next(tmp_path: Path) -> None:
    async with busy(tmp_path, at_once=1, waiting=1) as desk:
        first = await desk.ask(1)
        gone = await desk.ask(2)
        gone.writer.close()
        await gone.writer.wait_closed()
        await desk.check_alive()
        third = await desk.ask(3)
        desk.agent.may_answer.set()
        assert [(await line.hear())[0] for line in (first, third)] == [200, 200]
    assert [turn.question for turn in desk.agent.turns] == ["From 1?", "From 3?"]


async def test_what_only_waits_holds_no_place(tmp_path: Path) -> None:
    """A run that is waited for, a stream, a body that is still on its way."""
    async with busy(tmp_path, at_once=1, waiting=0) as desk:
        said = {"messages": [{"role": "user", "content": "A question?"}]}
        waiting = await desk.send(post("/v1/threads", said, from_(1), "Prefer: wait=9"))
        async with asyncio.timeout(SECONDS):
            await desk.agent.asked.wait()
        opened = await desk.send(post("/v1/threads", {}, from_(2)))
        thread_id = json.loads((await opened.hear())[2])["id"]
        follow = f"GET /v1/threads/{thread_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        stream = await desk.send(follow.encode())
        async with asyncio.timeout(SECONDS):
            assert b" 200 " in await stream.reader.readuntil(b"\r\n\r\n")
        half = post("/v1/threads", {}, from_(3))[:-1]
        slow = await desk.send(half)
        assert (await (await desk.send(post("/v1/threads", {}, from_(4)))).hear())[0] == 200
        slow.writer.write(b"}")
        assert (await slow.hear())[0] == 200
        desk.agent.may_answer.set()
        replies = json.loads((await waiting.hear())[2])["replies"]
        assert replies[0]["content"] == ["Answer to A question?"]


async def test_where_limits_are_switched_off_nobody_waits(tmp_path: Path) -> None:
    async with busy(tmp_path, "limits.enabled=false", at_once=1, waiting=0) as desk:
        lines = [await desk.ask(address) for address in range(3)]
        assert len(desk.agent.turns) == 3
        desk.agent.may_answer.set()
        assert [(await line.hear())[0] for line in lines] == [200] * 3
