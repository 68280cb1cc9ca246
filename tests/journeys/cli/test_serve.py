"""`aitp-desk serve` as a process: what it says, how it stops, and tokens made next to it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.support.desk.command import Served, run, run_apart, serving_command


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    site = tmp_path / "site"
    site.mkdir()
    (site / "returns.md").write_text("# Returns\n\nWe take boots back within 30 days.\n")
    (site / "old.org").write_text("Old\n===\n")
    async with serving_command(site, tmp_path / "data") as desk:
        yield desk


@pytest.mark.slow
async def test_it_says_where_it_listens_and_what_it_found(served: Served) -> None:
    report = "\n".join(served.report)
    assert f"SQLite, {served.data}/desk.db" in report
    assert "extractive" in report
    assert re.search(r"1 documents?, 1 passages?", report)
    assert "1 file is not read: 1 .org" in report
    for address in ("/v1/threads", "/agent/converse", "/.well-known/agent.json", "/llms.txt"):
        assert served.url + address in report


@pytest.mark.slow
async def test_it_stops_when_told_with_exit_code_0(served: Served) -> None:
    log = await served.stop()
    assert served.process.returncode == 0
    assert [json.loads(line)["event"] for line in log] == ["stopping", "stopped"]


@pytest.mark.slow
async def test_a_token_made_while_the_desk_serves_works_until_it_is_revoked(served: Served) -> None:
    data = ("--data", served.data)
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


@pytest.mark.slow
async def test_a_second_desk_on_the_same_data_does_not_start(served: Served) -> None:
    code, out, err = await run_apart(
        "serve", served.data.parent / "site", "--port", 0, "--data", served.data
    )
    assert (code, out, len(err)) == (1, [], 1)
    assert str(served.data) in err[0]


@pytest.mark.slow
async def test_a_second_desk_on_the_same_port_does_not_start(served: Served) -> None:
    port = served.url.rpartition(":")[2]
    code, out, err = await run_apart(
        "serve", served.data.parent / "site", "--port", port, "--data", served.data.parent / "other"
    )
    assert (code, out, len(err)) == (1, [], 1)
    assert port in err[0]
