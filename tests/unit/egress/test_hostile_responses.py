"""Servers that answer without end, measure or manners are left in time, and keep nobody waiting."""

from __future__ import annotations

import asyncio
import itertools
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import pytest

from aitp_desk.auth.web_bot_auth.directories import MAX_FETCHES
from aitp_desk.egress import Egress, EgressError, TooLarge, TooSlow, Unreachable
from tests.support.doubles.remote_server import (
    MEGABYTE,
    SECONDS,
    SOON,
    Way,
    canary,
    each_way,
    fetch,
)
from tests.support.doubles.website import website

# --- Answers: what never ends, what is too much, what is none ----------------------------------


OK = b"HTTP/1.1 200 OK\r\n"

IN_CHUNKS = OK + b"Transfer-Encoding: chunked\r\n\r\n"

MUCH = 65536


def packed(window: int, data: bytes = bytes(MEGABYTE), times: int = 4) -> bytes:
    packer = zlib.compressobj(9, wbits=window)
    return b"".join(packer.compress(data) for _ in range(times)) + packer.flush()


def coded(coding: bytes, body: bytes) -> bytes:
    return OK + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (coding, len(body)) + body


def endless(*begins: bytes, again: bytes) -> Iterable[bytes]:
    return itertools.chain(begins, itertools.repeat(again))


BOMB = packed(31)

ANSWERS: dict[str, tuple[Callable[[], Iterable[bytes]], type[EgressError]]] = {
    # no end
    "nothing at all": (lambda: endless(again=b""), TooSlow),
    "a head that drips": (lambda: endless(OK, again=b"X"), TooSlow),
    "a body that drips": (lambda: endless(OK, b"\r\n", again=b""), TooSlow),
    "empty lines": (lambda: endless(again=b"\r\n" * MUCH), TooSlow),
    "interim answers": (lambda: endless(again=b"HTTP/1.1 100 Go on\r\n\r\n" * 100), Unreachable),
    "early hints": (
        lambda: endless(again=b"HTTP/1.1 103 Hint\r\nA: b\r\n\r\n" * 2000),
        Unreachable,
    ),
    "headers": (lambda: endless(OK, again=b"X-A: b\r\n" * 1000), Unreachable),
    "a long header": (lambda: endless(OK, b"X: ", again=b"a" * MUCH), Unreachable),
    "a long reason": (lambda: endless(b"HTTP/1.1 200 ", again=b"a" * MUCH), Unreachable),
    "a long first line": (lambda: endless(again=b"a" * MUCH), Unreachable),
    "a chunk's extension": (lambda: endless(IN_CHUNKS, b"5;", again=b"a" * MUCH), TooSlow),
    "a chunk's size": (lambda: endless(IN_CHUNKS, again=b"0" * MUCH), TooSlow),
    "trailers": (lambda: endless(IN_CHUNKS, b"0\r\n", again=b"X: a\r\n" * 1000), Unreachable),
    # too much
    "a body": (lambda: endless(OK, b"\r\n", again=b"a" * MUCH), TooLarge),
    "chunks": (lambda: endless(IN_CHUNKS, again=b"10000\r\n" + b"a" * MUCH + b"\r\n"), TooLarge),
    "chunks of a byte": (lambda: endless(IN_CHUNKS, again=b"1\r\na\r\n" * 1000), TooLarge),
    "a length": (lambda: [OK, b"Content-Length: 999999999999\r\n\r\n"], TooLarge),
    "a gzip bomb": (lambda: [coded(b"gzip", BOMB)], TooLarge),
    "a gzip bomb of many members": (lambda: [coded(b"gzip", BOMB * 3)], TooLarge),
    "a zlib bomb": (lambda: [coded(b"deflate", packed(15))], TooLarge),
    "a deflate bomb": (lambda: [coded(b"deflate", packed(-15))], TooLarge),
    "a bomb in a bomb": (lambda: [coded(b"gzip, gzip", packed(31, BOMB, 1))], Unreachable),
    "a bomb in another coding": (lambda: [coded(b"br", BOMB)], Unreachable),
    "a bomb in two headers": (
        lambda: [OK, b"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n", BOMB],
        Unreachable,
    ),
    "a bomb on its way": (
        lambda: [OK, b"Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"],
        Unreachable,
    ),
    # none
    "silence": (list, Unreachable),
    "a body without a head": (lambda: [b"<html>hello</html>\n"], Unreachable),
    "another protocol": (lambda: [b"SSH-2.0-OpenSSH_9.2\r\n"], Unreachable),
    "half a body": (lambda: [OK, b"Content-Length: 10\r\n\r\nhalf"], Unreachable),
    "half a chunk": (lambda: [IN_CHUNKS, b"10\r\nhalf"], Unreachable),
    "no packed body": (lambda: [coded(b"gzip", b"hello")], Unreachable),
    "two lengths": (lambda: [OK, b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"], Unreachable),
    "a length and chunks": (
        lambda: [OK, b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
        Unreachable,
    ),
    "a length below none": (lambda: [OK, b"Content-Length: -1\r\n\r\na"], Unreachable),
    "more than its length": (lambda: [OK, b"Content-Length: 1\r\n\r\nabc"], Unreachable),
    "a status of two digits": (lambda: [b"HTTP/1.1 20 OK\r\n\r\n"], Unreachable),
    "a status of five digits": (lambda: [b"HTTP/1.1 20000 OK\r\n\r\n"], Unreachable),
    "a chunk of no number": (lambda: [IN_CHUNKS, b"zz\r\na\r\n0\r\n\r\n"], Unreachable),
    "a NUL in a header": (lambda: [OK, b"X: a\x00b\r\nContent-Length: 0\r\n\r\n"], Unreachable),
}
"""What a server says, and what becomes of it."""


@asynccontextmanager
async def saying(parts: Callable[[], Iterable[bytes]]) -> AsyncIterator[str]:
    """A server that answers whatever it is asked with these bytes; its address."""

    saying: set[asyncio.Task[None]] = set()

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        saying.add(task)
        try:
            await reader.readuntil(b"\r\n\r\n")
            for part in parts():
                if len(part) < 2:  # it drips
                    await asyncio.sleep(0.001)
                writer.write(part)
                await writer.drain()
        except (ConnectionError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for task in saying:
            task.cancel()
        await asyncio.gather(*saying)


async def refusal_of(way: Way, egress: Egress, name: str) -> EgressError:
    """Ask who answers so; why there is no answer."""
    parts, refusal = ANSWERS[name]
    seconds = SOON if refusal is TooSlow else SECONDS
    async with saying(parts) as url:
        try:
            answer = await way(egress, f"{url}/hunter2?key=hunter2", seconds)
        except EgressError as error:
            return error
    pytest.fail(f"{name} was an answer: {answer}")


@pytest.mark.slow
@each_way
async def test_an_answer_without_end_or_measure_is_left_in_time(way: Way) -> None:
    waited_for = [name for name, (_, refusal) in ANSWERS.items() if refusal is TooSlow]
    began = time.monotonic()
    async with Egress(allow_loopback=True) as egress:
        found = await asyncio.gather(*(refusal_of(way, egress, name) for name in waited_for))
        told = dict(zip(waited_for, found, strict=True))
        for name in ANSWERS.keys() - told.keys():
            tracemalloc.start()
            try:
                told[name] = await refusal_of(way, egress, name)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert peak < 8 * MEGABYTE, name
    assert {name: type(error) for name, error in told.items()} == {
        name: refusal for name, (_, refusal) in ANSWERS.items()
    }
    assert not any("hunter2" in str(error) for error in told.values())
    assert time.monotonic() - began < len(ANSWERS) * SECONDS


@each_way
async def test_a_second_answer_behind_the_first_is_nobodys(way: Way) -> None:
    two = [OK, b"Content-Length: 2\r\n\r\nok", OK, b"Content-Length: 4\r\n\r\nevil"]
    async with saying(lambda: [b"".join(two)]) as url, Egress(allow_loopback=True) as egress:
        for _ in range(3):
            assert (await way(egress, f"{url}/")).body == b"ok"


async def test_a_host_that_keeps_its_callers_waiting_keeps_no_other_hosts_callers() -> None:
    async with saying(lambda: endless(again=b"")) as slow, website() as site:
        site.put("/", "hello")
        async with Egress(allow_loopback=True) as egress:
            waiting = [asyncio.create_task(fetch(egress, f"{slow}/", SOON)) for _ in range(40)]
            await asyncio.sleep(0)
            assert (await fetch(egress, f"{site.url}/")).body == b"hello"
            kinds = {type(one) for one in await asyncio.gather(*waiting, return_exceptions=True)}
            assert kinds == {TooSlow}


async def test_as_many_slow_hosts_as_strangers_may_name_leave_space_for_others() -> None:
    async with canary(says_nothing=True) as (port, _), website() as site:
        site.put("/", "hello")
        hosts = [f"127.0.1.{number}" for number in range(1, MAX_FETCHES + 1)]
        async with Egress(allow_loopback=True) as egress:
            waiting = [
                asyncio.create_task(fetch(egress, f"http://{host}:{port}/", SECONDS))
                for host in hosts
            ]
            await asyncio.sleep(0)
            assert (await fetch(egress, f"{site.url}/")).body == b"hello"
            assert not any(task.done() for task in waiting)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
