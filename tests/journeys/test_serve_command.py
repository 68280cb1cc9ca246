"""`aitp-desk serve` as a process: what it says, how it stops, and tokens made beside it."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import msgspec
import pytest

COMMAND = Path(sys.executable).with_name("aitp-desk")
SECONDS = 30


class Served(msgspec.Struct):
    """A desk in a process of its own, with what it said at its start."""

    process: asyncio.subprocess.Process
    folder: Path
    url: str
    report: list[str]

    async def stop(self) -> list[str]:
        """Ask it to stop as a service manager does; its log."""
        if self.process.returncode is None:
            self.process.terminate()
        async with asyncio.timeout(SECONDS):
            _, log = await self.process.communicate()
        return log.decode().splitlines()


async def run(*arguments: object) -> tuple[int | None, list[str], list[str]]:
    """Run the command to its end: exit code, lines of stdout, lines of stderr."""
    async with asyncio.timeout(SECONDS):
        process = await start(*arguments)
        out, err = await process.communicate()
    return process.returncode, out.decode().splitlines(), err.decode().splitlines()


async def start(*arguments: object) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        COMMAND,
        *map(str, arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    site = tmp_path / "site"
    site.mkdir()
    (site / "returns.md").write_text("# Returns\n\nWe take boots back within 30 days.\n")
    process = await start("serve", site, "--port", 0, "--data", tmp_path / "data")
    assert process.stdout is not None
    report: list[str] = []
    async with asyncio.timeout(SECONDS):
        while not report or "/ready" not in report[-1]:
            line = await process.stdout.readline()
            assert line, (await process.communicate())[1].decode()
            report.append(line.decode().rstrip())
    found = re.search(r"http://127\.0\.0\.1:\d+", report[0])
    assert found, report
    desk = Served(process, tmp_path, found[0], report)
    yield desk
    await desk.stop()


async def test_it_says_where_it_listens_and_what_it_found(served: Served) -> None:
    report = "\n".join(served.report)
    assert f"SQLite, {served.folder}/data/desk.db" in report
    assert "extractive" in report
    assert re.search(r"1 documents?, 1 passages?", report)
    for address in ("/v1/threads", "/agent/converse", "/.well-known/agent.json", "/llms.txt"):
        assert served.url + address in report


async def test_it_stops_when_told_with_exit_code_0(served: Served) -> None:
    log = await served.stop()
    assert served.process.returncode == 0
    assert [json.loads(line)["event"] for line in log] == ["stopping", "stopped"]


async def test_a_token_made_beside_it_works_until_it_is_revoked(served: Served) -> None:
    data = ("--data", served.folder / "data")
    code, made, _ = await run("token", "create", *data, "--name", "bot", "--scope", "threads")
    assert code == 0
    headers = {"Authorization": f"Bearer {made[-1]}"}
    async with aiohttp.ClientSession(served.url, headers=headers) as session:

        async def status() -> int:
            async with session.post("/v1/threads", json={}) as response:
                return response.status

        assert await status() == 200
        code, _, _ = await run("token", "revoke", *data, "bot")
        assert code == 0
        revoked = time.monotonic()
        while await status() != 401:
            assert time.monotonic() < revoked + 1
    log = await served.stop()
    assert made[-1].rpartition("_")[2] not in "\n".join(log)


async def test_a_second_desk_on_the_same_data_does_not_start(served: Served) -> None:
    code, out, err = await run(
        "serve", served.folder / "site", "--port", 0, "--data", served.folder / "data"
    )
    assert (code, out, len(err)) == (1, [], 1)
    assert str(served.folder / "data") in err[0]


async def test_a_second_desk_on_the_same_port_does_not_start(served: Served) -> None:
    port = served.url.rpartition(":")[2]
    code, out, err = await run(
        "serve", served.folder / "site", "--port", port, "--data", served.folder / "other"
    )
    assert (code, out, len(err)) == (1, [], 1)
    assert port in err[0]
