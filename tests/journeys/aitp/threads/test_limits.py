"""How much a request to the Threads API may bring, and in which form."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aitp_desk.model.conversation.thread import MAX_CONTENT_BYTES
from tests.support.clients.threads import DATABASE, THREADS, Talker, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024
JSON = {"Content-Type": "application/json"}
MANUAL = [("OpenAI-Beta", "assistants=v2")]
TOO_LARGE = (413, "request_too_large", None)
NOT_JSON = (400, "invalid_request", None)


def padded(size: int) -> bytes:
    """A body of an empty thread that is so many bytes long."""
    return b"{" + b" " * (size - 2) + b"}"


def nested(depth: int) -> bytes:
    """A body that nests so deep."""
    return b'{"foreign":' * (depth - 1) + b"[]" + b"}" * (depth - 1)


async def test_a_body_has_at_most_one_mebibyte(talker: Talker) -> None:
    thread = (await talker.open()).id
    before = talker.counts()
    for path in (THREADS, f"{THREADS}/{thread}", f"{THREADS}/{thread}/messages"):
        refused = await talker.send("POST", path, padded(MIB + 1))
        assert refused.refusal == TOO_LARGE
        assert str(MIB) in refused.body["error"]["message"]
    assert talker.counts() == before
    assert (await talker.send("POST", THREADS, padded(MIB))).ok


async def test_a_body_of_unknown_length_is_read_no_further_than_the_limit(tmp_path: Path) -> None:
    async with talking(tmp_path, "threads.max_body=2048") as talker:

        async def in_pieces(count: int) -> Any:
            yield b"{"
            for _ in range(count):
                yield b" " * 512
            yield b"}"

        for count, status in ((3, 200), (4, 413)):
            async with talker.http.post(THREADS, data=in_pieces(count), headers=JSON) as response:
                assert response.status == status
                assert (await response.json()).keys() >= ({"id"} if count == 3 else {"error"})


async def test_one_message_says_at_most_256_kibibytes(talker: Talker) -> None:
    thread = (await talker.open()).id
    for most in ("a" * MAX_CONTENT_BYTES, ["é" * (MAX_CONTENT_BYTES // 4)] * 2):
        posted = await talker.post(thread, most, headers=MANUAL)
        assert "".join(part["text"]["value"] for part in posted.ok["content"]) == "".join(most)
        refused = await talker.post(thread, [*([most] if isinstance(most, str) else most), "a"])
        assert refused.refusal == (413, "request_too_large", "content")


async def test_one_call_brings_at_most_a_hundred_messages(talker: Talker) -> None:
    assert (await talker.open(*["Hello."] * 100, headers=MANUAL)).ok
    refused = await talker.open(*["Hello."] * 101)
    assert refused.refusal == (400, "invalid_request", "messages")


@pytest.mark.parametrize(
    "body",
    [
        nested(33),
        b"[" * 100_000,
        b'{"a":1,"a":2}',
        b'{"messages":["a"],"messages":["b"]}',
        b'{"a":{"\\u0062":1,"b":2}}',
        b'{"messages":["NUL: \\u0000"]}',
        b'{"messages":["NUL: \x00"]}',
        b'{"\\u0000":1}',
        b'{"messages":["half: \\ud83d"]}',
        b'{"messages":["swapped: \\ude42\\ud83d"]}',
        b'{"messages":["half: \xed\xa0\xbd"]}',
        b'{"messages":["latin: \xe9"]}',
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\x00}\x00",
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":1e999}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":01}',
        b'{"a":1,}',
        b"{'a':1}",
        b'{"a":1} {}',
        b'{"a":"\n"}',
        b'{"messages":["Hel',
        b"{",
        b"null and void",
        b"[]" * 40 + b'"' + b'\\"' * 50_000,
    ],
    ids=lambda body: str(body[:32]),
)
async def test_json_that_two_readers_could_read_differently_is_refused(
    talker: Talker, body: bytes
) -> None:
    thread = (await talker.open()).id
    before = talker.counts()
    for path in (THREADS, f"{THREADS}/{thread}", f"{THREADS}/{thread}/messages"):
        async with asyncio.timeout(60):
            assert (await talker.send("POST", path, body)).refusal == NOT_JSON
    assert talker.counts() == before


async def test_what_is_strict_json_is_taken_also_where_it_looks_strange(talker: Talker) -> None:
    for body in (
        nested(32),
        b' \t\r\n{"messages"\t:\n["pair: \\ud83d\\ude42", "\xf0\x9f\x99\x82 \\u0001"]} ',
        b'{"a":1.5e-300,"b":-0,"c":123456789012345678901234567890}',
        b'{"' + b"[" * 100 + b'":"' + b"{" * 100 + b'"}',
    ):
        assert (await talker.send("POST", THREADS, body, headers=MANUAL)).ok


@pytest.mark.parametrize("body", [b"[]", b'"Hello."', b"7", b"true"])
async def test_a_body_that_is_no_object_is_refused(talker: Talker, body: bytes) -> None:
    thread = (await talker.open()).id
    for path in (THREADS, f"{THREADS}/{thread}", f"{THREADS}/{thread}/messages"):
        assert (await talker.send("POST", path, body)).refusal == NOT_JSON


@pytest.mark.parametrize(
    ("metadata", "param"),
    [
        ({f"k{n}": "v" for n in range(16)}, None),
        ({f"k{n}": "v" for n in range(17)}, ""),
        ({"k" * 64: "v" * 512}, None),
        ({"é" * 64: "é" * 512}, None),
        ({"k" * 65: "v"}, ""),
        ({"": "v"}, ""),
        ({"k": "v" * 513}, ".k"),
        ({"k": 1}, ".k"),
        ({"k": None}, ".k"),
        ({"k": {"deep": "v"}}, ".k"),
        ({"k" * 100: 1}, "." + "k" * 64),
        (["k"], ""),
        ("k", ""),
    ],
)
async def test_metadata_has_16_keys_of_64_characters_with_values_of_512(
    talker: Talker, metadata: Any, param: str | None
) -> None:
    thread = (await talker.open()).id
    path = f"{THREADS}/{thread}"
    for told in (
        await talker.open(metadata=metadata),
        await talker.send("POST", path, {"metadata": metadata}),
        await talker.post(thread, "Hello.", metadata=metadata, headers=MANUAL),
    ):
        if param is None:
            assert told.ok["metadata"].items() >= metadata.items()
        else:
            assert told.refusal == (400, "invalid_request", f"metadata{param}")


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Content-Type", "application/json; charset=utf-8", 200),
        ("Content-Type", "APPLICATION/JSON", 200),
        ("Content-Type", "application/vnd.api+json", 200),
        ("Content-Type", "text/plain", 415),
        ("Content-Type", "application/x-www-form-urlencoded", 415),
        ("Content-Type", "multipart/form-data; boundary=x", 415),
        ("Content-Type", "", 415),
        ("Content-Encoding", "gzip", 415),
        ("Content-Encoding", "identity", 200),
    ],
)
async def test_a_body_is_plain_json_or_refused(
    talker: Talker, name: str, value: str, status: int
) -> None:
    body = b'{"messages":[]}'
    told = await talker.send("POST", THREADS, body, headers=[(name, value)])
    assert told.status == status
    if status == 415:
        assert told.refusal[1] == "unsupported_media"


@pytest.mark.slow
@pytest.mark.requirement("AHP-3.2-3")
async def test_a_head_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    async with talking(tmp_path, "server.header_seconds=1") as talker:
        answer = await say(talker, b"X-Slow: 1", b"")
        head, _, body = answer.partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 408 ")
        assert 'rel="agent-manifest"' in head
        assert "Connection: close" in head
        assert json.loads(body)["error"]["code"] == "request_timeout"


async def test_the_rest_of_an_unread_body_is_no_request(tmp_path: Path) -> None:
    async with talking(tmp_path, "server.header_seconds=1") as talker:
        address = urlsplit(talker.desk.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"POST /nope HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 2\r\n\r\n"
        writer.write(head.encode())
        async with asyncio.timeout(60):
            answered = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"{}")
            rest = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert answered.startswith(b"HTTP/1.1 404 ")
    assert b"Connection: close" in answered
    assert b"HTTP/1.1" not in rest


@pytest.mark.slow
async def test_a_body_that_stops_half_way_is_not_waited_for(tmp_path: Path) -> None:
    async with talking(tmp_path, "server.body_idle_seconds=1") as talker:
        answer = await say(talker, b"Content-Length: 20\r\n\r\n", b'{"messages":')
        head, _, body = answer.partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 408 ")
        assert "Connection: close" in head
        assert json.loads(body)["error"]["code"] == "request_timeout"
        assert talker.rows("SELECT id FROM threads") == []


async def test_expect_100_is_answered_with_continue(talker: Talker) -> None:
    head = b"Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    answer = await say(talker, head, b"{}")
    assert answer.startswith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


async def test_when_too_many_writes_wait_the_next_is_turned_away(tmp_path: Path) -> None:
    async with talking(tmp_path, "store.queue=5") as talker:
        await talker.desk.store.settled()
        with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as other:
            other.execute("BEGIN IMMEDIATE")  # nobody else can commit
            opening = {asyncio.create_task(talker.open("a", headers=MANUAL)) for _ in range(9)}
            waiting = opening
            while len(waiting) > 5:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                assert all(task.result().status == 503 for task in done)
            other.rollback()
            told = await asyncio.gather(*opening)
        refused = [one for one in told if one.status != 200]
        assert len(refused) >= 4  # the desk's own work may have some of the places
        for one in refused:
            assert one.refusal == (503, "unavailable", None)
            assert one.headers["Retry-After"] == "1"
        assert talker.counts()["threads"] == 9 - len(refused) > 0


async def say(talker: Talker, head: bytes, body: bytes) -> str:
    """Open a thread byte by byte; what the desk says until its JSON has ended."""
    address = urlsplit(talker.desk.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(f"POST {THREADS} HTTP/1.1\r\nHost: {address.netloc}\r\n".encode() + head)
        writer.write(body)
        await writer.drain()
        async with asyncio.timeout(60):
            return (await reader.readuntil(b"}}")).decode()
    finally:
        writer.close()
        await writer.wait_closed()
