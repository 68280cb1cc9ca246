"""The serving process as its operator meets it: what it reports, what it logs, how it stops."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest

from tests.support.clients.ahp import CONVERSE
from tests.support.desk.command import COMMAND, SECONDS, Served, run, run_apart, serving_command
from tests.support.desk.server import SITE

pytestmark = pytest.mark.servers

QUESTION = b'{"capability":"content_search","query":"What does gift wrapping cost?"}'


# --- its start ------------------------------------------------------------------------------


async def test_every_address_that_it_reports_answers(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "good.md").write_text("# Good\n\nText.\n\n## More\n\nMore text.\n")
    (site / "bad.txt").write_bytes(b"caf\xe9")
    name = ("--set", "site.name=Pine Street Books")
    async with serving_command(site, tmp_path / "data", *name) as served:
        first, *rest = served.report
        assert first == f"aitp-desk serves Pine Street Books on {served.url}"
        told = dict(line.split(maxsplit=1) for line in rest)
        assert told["store"] == f"SQLite, {served.data}/desk.db"
        assert told["agent"].startswith("extractive")
        assert told["level"].endswith("any model by [model] (3)")
        assert re.fullmatch(rf"1 document, \d passages from {site}", told["content"])
        (unread,) = [line for line in rest if line.startswith("  problem")]
        assert "bad.txt" in unread
        addresses = re.findall(r"http://\S+?(?=,|$)", "\n".join(rest), re.MULTILINE)
        doors = {"home", "threads", "AHP", "A2A", "MCP", "OpenAPI", "declared", "console"}
        assert doors | {"metrics", "health"} <= told.keys()
        assert len(addresses) == 16
        async with aiohttp.ClientSession() as http:
            for address in addresses:
                async with http.get(address) as response:
                    asked = dict.fromkeys(["threads", "converse", "a2a", "mcp"], 405)
                    asked |= {"metrics": 401, "ask": 400}
                    right = asked.get(address.rpartition("/")[2], 200)
                    assert response.status == right, address


async def test_of_many_files_that_cannot_be_read_the_start_names_the_first(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for number in range(25):
        (site / f"page{number:02}.html").write_text("<h1>Page</h1><p>Text.</p>")
        (site / f"page{number:02}.txt").write_text("Text.")
    async with serving_command(site, tmp_path / "data") as served:
        told = [line for line in served.report if line.startswith("  problem")]
    assert [line.split()[1] for line in told[:-1]] == [f"page{at:02}.txt:" for at in range(10)]
    assert told[-1] == "  problems   and 15 more; aitp-desk check lists them all"
    code, _, err = await run("check", site)
    assert (code, len(err)) == (1, 25)


async def test_all_errors_of_the_settings_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").write_text(
        "[server]\nprot = 8080\n[limits]\nconverse_per_minute = 0\n[content]\nfolder = 7\n"
    )
    code, out, err = await run("serve", tmp_path, "--set", "threads.max_wait=soon")
    assert (code, out) == (1, [])
    assert [line.split(": ")[0] for line in err] == [
        "server.prot",
        "limits.converse_per_minute",
        "content.folder",
        "threads.max_wait",
    ]
    assert "did you mean server.port?" in err[0]


async def test_a_file_that_is_no_database_is_reported_in_one_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "desk.db").write_text("This is no database, but quite a long text. " * 100)
    code, out, err = await run_apart("serve", SITE, "--port", 0, "--data", data)
    assert (code, out, len(err)) == (1, [], 1)
    assert f"{data}/desk.db" in err[0]


# --- its log --------------------------------------------------------------------------------


async def test_its_log_is_json_a_line_an_event_and_says_nothing_of_what_was_said(
    tmp_path: Path,
) -> None:
    async with serving_command(SITE, tmp_path / "data") as served:
        async with aiohttp.ClientSession(served.url) as http:
            body = {"capability": "content_search", "query": "a private question"}
            async with http.post(CONVERSE, json=body, headers={"X-AHP-Key": "desk_x"}) as response:
                assert response.status == 401
            async with http.post(CONVERSE, json=body) as response:
                assert response.status == 200
        await send_nonsense(served)
        log = await served.stop()
    entries = [json.loads(line) for line in log]
    assert [entry["event"] for entry in entries][-2:] == ["stopping", "stopped"]
    for entry in entries:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", entry["timestamp"])
        assert entry["level"] == "info"
    assert "private" not in "\n".join(log)
    assert "desk_x" not in "\n".join(log)


async def send_nonsense(served: Served) -> None:
    async with connected(served) as (reader, writer):
        writer.write(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"400"


async def test_on_a_terminal_its_log_is_for_people(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        COMMAND, "serve", SITE, "--port", "0", "--data", tmp_path / "data",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    assert process.stdout is not None
    async with asyncio.timeout(SECONDS):
        while b"/ready" not in await process.stdout.readline():
            pass
        process.terminate()
        assert await process.wait() == 0
    written = os.read(ours, 65536).decode()
    os.close(ours)
    assert "stopping" in written
    assert not written.startswith("{")


# --- its end --------------------------------------------------------------------------------


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(served: Served) -> AsyncIterator[Connection]:
    host, _, port = served.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def asking(served: Served) -> AsyncIterator[Connection]:
    """Send a question up to its last byte, and see that the desk has begun to read it."""
    async with connected(served) as (reader, writer):
        writer.write(
            f"POST {CONVERSE} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(QUESTION)}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(QUESTION[:-1])
        await writer.drain()
        yield reader, writer


async def until_nobody_is_let_in(served: Served) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                async with connected(served):
                    pass
            except ConnectionError:  # refused, or reset while it waited to be let in
                return


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
async def test_it_answers_what_is_under_way_and_lets_nobody_in_when_told_to_stop(
    tmp_path: Path, signum: signal.Signals
) -> None:
    async with serving_command(SITE, tmp_path / "data") as served:
        async with asking(served) as (reader, writer):
            served.process.send_signal(signum)
            await until_nobody_is_let_in(served)
            writer.write(QUESTION[-1:])
            async with asyncio.timeout(SECONDS):
                answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"Gift wrapping costs 2 EUR a book." in answer
        log = await served.stop()
        assert served.process.returncode == 0
    assert [json.loads(line)["event"] for line in log] == ["stopping", "stopped"]


async def test_a_second_signal_to_stop_does_not_make_it_a_failure(tmp_path: Path) -> None:
    async with serving_command(SITE, tmp_path / "data") as served:
        ended = asyncio.create_task(served.stop())
        with suppress(ProcessLookupError):
            while served.process.returncode is None:
                os.kill(served.process.pid, signal.SIGTERM)
                await asyncio.sleep(0)
        await ended
        assert served.process.returncode == 0


async def test_it_does_not_wait_for_ever_for_who_never_ends_a_request(tmp_path: Path) -> None:
    deadline = ("--set", "server.shutdown_seconds=1")
    async with serving_command(SITE, tmp_path / "data", *deadline) as served, asking(served):
        await served.stop()
        assert served.process.returncode == 0


async def test_a_run_that_was_waited_for_is_answered_before_it_stops(tmp_path: Path) -> None:
    async with serving_command(SITE, tmp_path / "data") as served:
        async with aiohttp.ClientSession(served.url) as http:
            body = {"messages": ["What does gift wrapping cost?"]}
            async with http.post(
                "/v1/threads", json=body, headers={"Prefer": "wait=20"}
            ) as response:
                answered = await response.json()
        await served.stop()
        assert served.process.returncode == 0
    assert answered["run"]["status"] == "completed"
    assert "2 EUR" in answered["replies"][0]["content"][0]


async def test_after_it_was_killed_the_next_one_starts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with serving_command(SITE, data) as served:
        served.process.kill()
        await served.process.wait()
    async with serving_command(SITE, data) as served, aiohttp.ClientSession(served.url) as http:
        async with http.get("/ready") as response:
            assert response.status == 200
        await served.stop()
        assert served.process.returncode == 0
