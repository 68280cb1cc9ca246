"""Jobs whose process is killed are all done, and what they make is there once."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.processes.jobs import ACKNOWLEDGED
from tests.support.desk.first_start import begin_database
from tests.support.store.integrity import check_whole

KILLED_AFTER = (3, 40, 11, 90, 25, 1, 60)
"""After how many acknowledged jobs each process is killed."""
SECONDS = 60


async def begin(*arguments: object) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.processes.jobs", *map(str, arguments)),
        stdout=asyncio.subprocess.PIPE,
    )


@pytest.mark.servers
async def test_what_was_acknowledged_is_done_and_what_it_makes_is_there_once(
    tmp_path: Path,
) -> None:
    database, log = tmp_path / "desk.db", tmp_path / "sent"
    begin_database(database)
    acknowledged: set[str] = set()
    async with asyncio.timeout(SECONDS):
        for number, count in enumerate(KILLED_AFTER):
            process = await begin(database, log, number * 100_000)
            assert process.stdout is not None
            told = [await process.stdout.readline() for _ in range(count)]
            process.kill()
            rest, _ = await process.communicate()
            lines = b"".join((*told, rest)).decode().split("\n")[:-1]
            acknowledged.update(
                line.removeprefix(ACKNOWLEDGED).strip()
                for line in lines
                if line.startswith(ACKNOWLEDGED)
            )
        process = await begin(database, log, -1)
        assert await process.wait() == 0
    with closing(sqlite3.connect(database)) as connection:
        states = connection.execute("SELECT state, count(*) FROM jobs GROUP BY 1").fetchall()
        refs = {ref for (ref,) in connection.execute("SELECT ref FROM jobs")}
        ((made,),) = connection.execute("SELECT sum(tokens) FROM tokens_used")
        ((again,),) = connection.execute("SELECT sum(attempts) - count(*) FROM jobs")
    assert states == [("done", len(refs))]
    assert acknowledged <= refs
    assert made == len(refs)
    sent = Counter(log.read_text().split())
    assert sent.keys() == refs
    assert sum(sent.values()) - len(refs) <= again  # only what was begun again was sent again
    assert again > 0  # or no kill has met a job at work
    check_whole(database)
