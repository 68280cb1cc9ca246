"""An erasure whose process is killed, while a desk serves, is finished by the next one."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from tests.support.clients.threads import DATABASE
from tests.support.desk.command import run, serving_command, start
from tests.support.desk.server import SHOP
from tests.support.store.erasure import found, mark
from tests.support.store.integrity import check_whole

MESSAGES = 600
SECONDS = 60
OFF = ("--set", "limits.enabled=false")


def left(database: Path) -> int:
    """How many messages of visitors are there."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        said = connection.execute(
            "SELECT count(*) FROM messages WHERE origin = 'visitor' AND content IS NOT NULL"
        )
        count: int = said.fetchone()[0]
        return count


@pytest.mark.servers
async def test_a_killed_erasure_is_finished_by_the_next(tmp_path: Path) -> None:
    data = tmp_path / "data"
    words = [mark(f"{number:04}") for number in range(MESSAGES)]
    async with serving_command(SHOP, data, *OFF) as desk:
        headers = {"OpenAI-Beta": "assistants=v2"}
        async with aiohttp.ClientSession(desk.url, headers=headers) as http:
            async with http.post("/v1/threads", json={}) as opened:
                thread = (await opened.json())["id"]
            for word in words:
                message = {"role": "user", "content": word}
                async with http.post(f"/v1/threads/{thread}/messages", json=message) as said:
                    assert said.status == 200
        erase = ("erase", "--data", data, "--thread", thread)
        killed = await start(*erase)
        async with asyncio.timeout(SECONDS):
            while await asyncio.to_thread(left, data / DATABASE) == MESSAGES:
                pass
        killed.kill()
        await killed.communicate()
        assert 0 < left(data / DATABASE) < MESSAGES
        assert found(data, *words)
        code, _, problems = await run(*erase)
        assert (code, problems) == (0, [])
        assert found(data, *words) == set()
        code, told, _ = await run("audit", "verify", "--data", data)
        assert code == 0
        assert (
            told[0] == "The audit log is complete and unchanged: 3 rows."
        )  # begun, begun again, done
    check_whole(data / DATABASE)
